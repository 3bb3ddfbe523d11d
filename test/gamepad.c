/* A gamepad for machines that have none: loaded in front of GLFW by the window's test, its left stick is held as far to
 * the side as SCREE_GAMEPAD says. What the window makes of a stick is tried with it; what GLFW makes of a device is
 * not. */
#include <stdlib.h>
#include <string.h>

#include <GLFW/glfw3.h>

__attribute__((visibility("default"))) int glfwGetGamepadState(int joystick, GLFWgamepadstate *state) {
  const char *held = getenv("SCREE_GAMEPAD");
  memset(state, 0, sizeof *state);
  if (joystick != GLFW_JOYSTICK_1 || !held) return GLFW_FALSE;
  state->axes[GLFW_GAMEPAD_AXIS_LEFT_X] = strtof(held, NULL);
  return GLFW_TRUE;
}
