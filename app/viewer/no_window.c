/* Stands in for the window where it was built without GLFW or Dear ImGui. */
#include <stdio.h>

#include "app/viewer/viewer.h"

ScreeStatus viewer_run(const ViewerOptions *options, ScreeError *error) {
  (void)options;
  *error = (ScreeError){.status = SCREE_BAD_INPUT};
  snprintf(error->message, sizeof error->message, "this scree was built without a window (GLFW and Dear ImGui)");
  return SCREE_BAD_INPUT;
}
