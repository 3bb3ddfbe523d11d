/* What a training or robot simulator does with scree: each frame it says where its tool is and reads the force that
 * comes back. Here the tool is a blade that is drawn through a bin of soil.
 *
 *   cc tool.c $(pkg-config --cflags --libs scree) -o tool */
#include <scree/scree.h>
#include <stdio.h>

enum { SETTLING = 30, DRAWING = 90 }; /* frames of 1/60 s */

static int report(const ScreeError *error) {
  char line[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
  fprintf(stderr, "%s\n", scree_error_line(error, line, sizeof line));
  return scree_exit_code(error->status);
}

/* A bin 1.2 m long and 0.5 m wide with 0.2 m of soil, and a blade 0.3 m wide that stands at its end, 0.1 m deep. */
static ScreeStatus make_world(ScreeWorld **world, ScreeError *error) {
  ScreeMaterialDef soil = scree_material_default("soil");
  soil.friction_static = 0.4;
  soil.friction_kinetic = 0.35;
  ScreeGrainsDef bed =
      scree_grains_default("soil", scree_shape_box((ScreeVec3){-0.6, -0.25, 0}, (ScreeVec3){0.6, 0.25, 0.2}));
  bed.start = SCREE_START_DENSE;
  ScreeBoundaryDef bin =
      scree_boundary_default(scree_shape_box((ScreeVec3){-0.6, -0.25, 0}, (ScreeVec3){0.6, 0.25, 1}));
  bin.inside = true;
  ScreeBodyDef blade =
      scree_body_default("blade", scree_shape_box((ScreeVec3){-0.02, -0.15, -0.1}, (ScreeVec3){0.02, 0.15, 0.1}));
  blade.motion = SCREE_MOTION_FIXED; /* it goes where scree_world_set_pose says, whatever the soil does */
  blade.shape.position = (ScreeVec3){-0.5, 0, 0.4};

  ScreeSceneDef scene = scree_scene_default();
  scene.name = "tool";
  scene.method = scree_method_default("pbd");
  scene.method.radius = 0.015;
  scene.materials = &soil, scene.material_count = 1;
  scene.grains = &bed, scene.grains_count = 1;
  scene.boundaries = &bin, scene.boundary_count = 1;
  scene.bodies = &blade, scene.body_count = 1;
  return scree_world_create(&scene, NULL, world, error);
}

/* Lowered into the soil while it settles, then drawn forward at 0.5 m/s. */
static ScreeVec3 path(int frame) {
  double lowered = frame < SETTLING ? (double)frame / SETTLING : 1;
  double drawn = frame < SETTLING ? 0 : (frame - SETTLING) / 60.0;
  return (ScreeVec3){-0.5 + 0.5 * drawn, 0, 0.4 - 0.2 * lowered};
}

static ScreeStatus draw_blade(ScreeWorld *world, ScreeError *error) {
  ScreeBodyId blade = scree_world_find_body(world, "blade");
  for (int frame = 1; frame <= SETTLING + DRAWING; frame++) {
    ScreePose pose = {path(frame), {1, 0, 0, 0}};
    ScreeStatus status = scree_world_set_pose(world, blade, pose, error);
    if (status == SCREE_OK) status = scree_world_frame(world, error);
    ScreeBodyState state;
    if (status == SCREE_OK) status = scree_world_body(world, blade, &state);
    if (status != SCREE_OK) return status;
    if (frame % 15 == 0)
      printf("t = %.2f s: blade at x = %+.3f m, draft %6.1f N, lift %+6.1f N\n", scree_world_time(world),
             state.pose.position.x, 0 - state.force.x, state.force.z);
  }
  return SCREE_OK;
}

int main(void) {
  ScreeWorld *world = NULL;
  ScreeError error;
  ScreeStatus status = make_world(&world, &error);
  if (status == SCREE_OK) status = draw_blade(world, &error);
  scree_world_destroy(world);
  return status == SCREE_OK ? 0 : report(&error);
}
