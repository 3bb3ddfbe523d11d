/* Mouse, keys and gamepad.
 *
 * Left drag turns round the target, right drag looks around, middle drag (or shift and left) shifts, the wheel goes
 * nearer; W A S D and Q E fly. Arrows, U J, I K, O L and , . drive the machine; see viewer_key for the rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/viewer/viewer_internal.h"

/* ---- pointing at the sand ---- */

/* The grain that the ray meets first, or else the point at the distance of the target. */
static ScreeVec3 viewer_pick(const Viewer *viewer, double x, double y) {
  double aspect = (double)viewer->settings.width / viewer->settings.height;
  ScreeVec3 ray = camera_ray(&viewer->camera, aspect, x, y), eye = viewer->camera.eye;
  double nearest = INFINITY;
  if (viewer->frame) {
    const ScreeParticles *g = &viewer->frame->frame.grains;
    ScreeVec3 from = {eye.x - g->origin.x, eye.y - g->origin.y, eye.z - g->origin.z};
    for (int64_t i = 0; i < g->count; i++) {
      double px = g->x[i] - from.x, py = g->y[i] - from.y, pz = g->z[i] - from.z;
      double along = px * ray.x + py * ray.y + pz * ray.z;
      double off2 = px * px + py * py + pz * pz - along * along, r = 1.5 * g->radius[i];
      if (along > 0 && along < nearest && off2 < r * r) nearest = along;
    }
  }
  if (!isfinite(nearest)) nearest = camera_distance(&viewer->camera);
  return (ScreeVec3){eye.x + ray.x * nearest, eye.y + ray.y * nearest, eye.z + ray.z * nearest};
}

void viewer_blast(Viewer *viewer, double x, double y) {
  if (!viewer->simulation) return;
  simulation_impulse(viewer->simulation, viewer_pick(viewer, x, y), viewer->panel.blast_radius,
                     viewer->panel.blast_speed);
  viewer_say(viewer, "boom");
}

void viewer_drop(Viewer *viewer, double x, double y) {
  if (!viewer->simulation) return;
  ScreeVec3 at = viewer_pick(viewer, x, y);
  at.z += 0.25 * camera_distance(&viewer->camera);
  simulation_drop(viewer->simulation, (SimulationObject)viewer->panel.drop_object, at, viewer->panel.drop_size,
                  viewer->panel.drop_density);
}

static void viewer_cursor(const Viewer *viewer, double *x, double *y) {
  int width, height;
  glfwGetWindowSize(viewer->window, &width, &height);
  glfwGetCursorPos(viewer->window, x, y);
  *x = width > 0 ? *x / width : 0.5;
  *y = height > 0 ? *y / height : 0.5;
  if (*x < 0 || *x > 1 || *y < 0 || *y > 1) *x = *y = 0.5;
}

void viewer_number_picture(Viewer *viewer) {
  char path[64];
  snprintf(path, sizeof path, "picture_%03d.png", ++viewer->pictures);
  viewer_picture(viewer, path);
}

/* ---- keys that are pressed once ---- */

static void viewer_change_speed(Viewer *viewer, double factor) {
  double speed = viewer->panel.speed > 0 ? viewer->panel.speed * factor : factor < 1 ? 8 : 0;
  viewer->panel.speed = speed > 8 ? 0 : speed < 1 / 16.0 ? 1 / 16.0 : speed;
  simulation_speed(viewer->simulation, viewer->panel.speed);
}

static void viewer_key(GLFWwindow *window, int key, int code, int action, int modifiers) {
  (void)code, (void)modifiers;
  Viewer *viewer = glfwGetWindowUserPointer(window);
  if (action == GLFW_RELEASE || panel_takes_keys() || !viewer->simulation) return;
  double x, y;
  viewer_cursor(viewer, &x, &y);
  switch (key) {
  case GLFW_KEY_ESCAPE: glfwSetWindowShouldClose(window, GLFW_TRUE); break;
  case GLFW_KEY_SPACE:
    viewer->panel.paused = !viewer->panel.paused;
    simulation_pause(viewer->simulation, viewer->panel.paused || viewer->film);
    break;
  case GLFW_KEY_N: simulation_step(viewer->simulation); break;
  case GLFW_KEY_R: viewer_restart(viewer, true); break;
  case GLFW_KEY_MINUS:
  case GLFW_KEY_KP_SUBTRACT: viewer_change_speed(viewer, 0.5); break;
  case GLFW_KEY_EQUAL:
  case GLFW_KEY_KP_ADD: viewer_change_speed(viewer, 2); break;
  case GLFW_KEY_C: viewer->settings.color = (RenderColor)((viewer->settings.color + 1) % RENDER_COLOR_COUNT); break;
  case GLFW_KEY_F:
    viewer->panel.fine = !viewer->panel.fine;
    simulation_fine(viewer->simulation, viewer->panel.fine);
    break;
  case GLFW_KEY_H: viewer->show_panel = !viewer->show_panel; break;
  case GLFW_KEY_P: viewer_number_picture(viewer); break;
  case GLFW_KEY_V: viewer_record(viewer); break;
  case GLFW_KEY_B: viewer_blast(viewer, x, y); break;
  case GLFW_KEY_G: viewer_drop(viewer, x, y); break;
  case GLFW_KEY_HOME: viewer->camera = viewer->home; break;
  default: break;
  }
}

static void viewer_scroll(GLFWwindow *window, double x, double y) {
  (void)x;
  Viewer *viewer = glfwGetWindowUserPointer(window);
  if (!panel_takes_mouse()) viewer->camera = camera_turn(viewer->camera, 0, 0, pow(0.9, y));
}

/* Set before the panel is made, which puts its own in front and passes events on. */
void viewer_watch_input(Viewer *viewer) {
  glfwSetWindowUserPointer(viewer->window, viewer);
  glfwSetKeyCallback(viewer->window, viewer_key);
  glfwSetScrollCallback(viewer->window, viewer_scroll);
  /* A key that was pressed and let go between two slow pictures counts once. */
  glfwSetInputMode(viewer->window, GLFW_STICKY_KEYS, GLFW_TRUE);
}

/* ---- what is held ---- */

static void viewer_drag(Viewer *viewer) {
  double x, y, dx, dy;
  int width, height;
  glfwGetCursorPos(viewer->window, &x, &y);
  glfwGetWindowSize(viewer->window, &width, &height);
  dx = x - viewer->cursor_x;
  dy = y - viewer->cursor_y;
  viewer->cursor_x = x;
  viewer->cursor_y = y;
  if (panel_takes_mouse() || height < 1) return;
  bool left = glfwGetMouseButton(viewer->window, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
  bool middle = glfwGetMouseButton(viewer->window, GLFW_MOUSE_BUTTON_MIDDLE) == GLFW_PRESS;
  bool right = glfwGetMouseButton(viewer->window, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
  bool shift = glfwGetKey(viewer->window, GLFW_KEY_LEFT_SHIFT) == GLFW_PRESS;
  double across = camera_distance(&viewer->camera) * 2 * tan(viewer->camera.fov_deg * 3.14159265 / 360) / height;
  if (middle || (left && shift)) viewer->camera = camera_move(viewer->camera, -dx * across, dy * across, 0);
  else if (left) viewer->camera = camera_turn(viewer->camera, -0.35 * dx, 0.35 * dy, 1);
  else if (right) viewer->camera = camera_look(viewer->camera, -0.15 * dx, -0.15 * dy);
}

static double viewer_held(const Viewer *viewer, int plus, int minus) {
  return (glfwGetKey(viewer->window, plus) == GLFW_PRESS) - (glfwGetKey(viewer->window, minus) == GLFW_PRESS);
}

static void viewer_fly(Viewer *viewer, double seconds) {
  double by = 0.7 * camera_distance(&viewer->camera) * seconds;
  double right = viewer_held(viewer, GLFW_KEY_D, GLFW_KEY_A), forward = viewer_held(viewer, GLFW_KEY_W, GLFW_KEY_S);
  double up = viewer_held(viewer, GLFW_KEY_E, GLFW_KEY_Q);
  if (right != 0 || forward != 0 || up != 0)
    viewer->camera = camera_move(viewer->camera, right * by, up * by, forward * by);
}

/* Sticks as operators of excavators know them: left swings and moves the stick, right moves boom and bucket. */
static double viewer_stick(int axis) {
  GLFWgamepadstate state;
  if (!glfwGetGamepadState(GLFW_JOYSTICK_1, &state)) return 0;
  double value = state.axes[axis];
  return fabs(value) < 0.15 ? 0 : value;
}

void viewer_drive_to(Viewer *viewer, int32_t control, double value) {
  /* From the first touch on all motors keep what they were last told. */
  if (viewer->driven_count == 0) {
    viewer->driven_count = viewer->report.control_count;
    for (int32_t k = 0; k < viewer->driven_count; k++) viewer->driven[k] = viewer->report.controls[k].value;
  }
  if (control < 0 || control >= viewer->driven_count) return;
  const SimulationControl *limits = &viewer->report.controls[control];
  if (value < limits->low) value = limits->low;
  if (value > limits->high) value = limits->high;
  viewer->driven[control] = value;
  for (int32_t k = 0; k < viewer->driven_count; k++) simulation_control(viewer->simulation, k, viewer->driven[k]);
}

/* What a lever moves: a motor that stays where it was left, or one that goes back to nothing (a speed, a wheel). */
typedef struct Lever {
  const char *name;
  int plus, minus, axis;
  double sign;
  bool springs_back;
} Lever;

/* The first four also drive the first four motors of machines with other names. */
static const Lever LEVERS[] = {{"swing", GLFW_KEY_LEFT, GLFW_KEY_RIGHT, GLFW_GAMEPAD_AXIS_LEFT_X, -1, false},
                               {"boom", GLFW_KEY_UP, GLFW_KEY_DOWN, GLFW_GAMEPAD_AXIS_RIGHT_Y, 1, false},
                               {"stick", GLFW_KEY_U, GLFW_KEY_J, GLFW_GAMEPAD_AXIS_LEFT_Y, -1, false},
                               {"bucket", GLFW_KEY_I, GLFW_KEY_K, GLFW_GAMEPAD_AXIS_RIGHT_X, 1, false},
                               {"drive", GLFW_KEY_UP, GLFW_KEY_DOWN, GLFW_GAMEPAD_AXIS_LEFT_Y, -1, true},
                               {"steer", GLFW_KEY_LEFT, GLFW_KEY_RIGHT, GLFW_GAMEPAD_AXIS_LEFT_X, -1, true},
                               {"bed", GLFW_KEY_U, GLFW_KEY_J, GLFW_GAMEPAD_AXIS_RIGHT_Y, -1, false}};
enum { LEVER_COUNT = sizeof LEVERS / sizeof *LEVERS, LEVERS_FOR_ANY = 4 };

static int32_t viewer_control(const Viewer *viewer, const char *name) {
  for (int32_t k = 0; k < viewer->report.control_count; k++)
    if (strcmp(viewer->report.controls[k].name, name) == 0) return k;
  return -1;
}

/* Holds a motor at a share of what it can do, for as long as there is a push. */
static void viewer_hold(Viewer *viewer, int32_t control, double push) {
  if (control < 0 || control >= 64) return;
  uint64_t bit = 1ull << control;
  if (push != 0) viewer_drive_to(viewer, control, push * viewer->report.controls[control].high);
  else if (viewer->pushed & bit) viewer_drive_to(viewer, control, 0);
  viewer->pushed = push != 0 ? viewer->pushed | bit : viewer->pushed & ~bit;
}

/* Tracks: O and L go on and back, comma and full stop turn, and so does the cross of a gamepad. */
static bool viewer_drive_tracks(Viewer *viewer) {
  int32_t left = viewer_control(viewer, "left"), right = viewer_control(viewer, "right");
  if (left < 0 || right < 0) return false;
  GLFWgamepadstate pad;
  double ahead = viewer_held(viewer, GLFW_KEY_O, GLFW_KEY_L);
  double turn = viewer_held(viewer, GLFW_KEY_COMMA, GLFW_KEY_PERIOD);
  if (glfwGetGamepadState(GLFW_JOYSTICK_1, &pad)) {
    ahead += pad.buttons[GLFW_GAMEPAD_BUTTON_DPAD_UP] - pad.buttons[GLFW_GAMEPAD_BUTTON_DPAD_DOWN];
    turn += pad.buttons[GLFW_GAMEPAD_BUTTON_DPAD_LEFT] - pad.buttons[GLFW_GAMEPAD_BUTTON_DPAD_RIGHT];
  }
  viewer_hold(viewer, left, ahead - turn);
  viewer_hold(viewer, right, ahead + turn);
  return true;
}

static void viewer_drive(Viewer *viewer, double seconds) {
  bool known = viewer_drive_tracks(viewer);
  for (int lever = 0; lever < LEVER_COUNT; lever++) known = known || viewer_control(viewer, LEVERS[lever].name) >= 0;
  for (int index = 0; index < LEVER_COUNT; index++) {
    const Lever *lever = &LEVERS[index];
    int32_t control = known ? viewer_control(viewer, lever->name) : index < LEVERS_FOR_ANY ? index : -1;
    if (control < 0 || control >= viewer->report.control_count) continue;
    double push = viewer_held(viewer, lever->plus, lever->minus) + lever->sign * viewer_stick(lever->axis);
    if (lever->springs_back) viewer_hold(viewer, control, push);
    if (push == 0 || lever->springs_back) continue;
    const SimulationControl *limits = &viewer->report.controls[control];
    double now = viewer->driven_count ? viewer->driven[control] : limits->value;
    /* The whole way takes about four seconds. */
    viewer_drive_to(viewer, control, now + push * 0.25 * seconds * (limits->high - limits->low));
  }
}

void viewer_input(Viewer *viewer, double seconds) {
  if (seconds > 0.2) seconds = 0.2;
  viewer_drag(viewer);
  if (panel_takes_keys()) return;
  viewer_fly(viewer, seconds);
  if (viewer->simulation && viewer->report.ready) viewer_drive(viewer, seconds);
}
