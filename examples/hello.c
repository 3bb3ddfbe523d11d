/* A world made from definition structs alone, no scene file: a ball of sand is thrown and followed in flight.
 *
 *   cc hello.c $(pkg-config --cflags --libs scree) -o hello */
#include <scree/scree.h>
#include <stdio.h>

static double mean_height(const ScreeWorld *world) {
  ScreeParticles grains = scree_world_particles(world); /* a view: nothing is copied */
  double sum = 0;
  for (int64_t i = 0; i < grains.count; i++) sum += grains.z[i];
  return grains.origin.z + sum / (double)grains.count;
}

static int report(const ScreeError *error) {
  char line[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
  fprintf(stderr, "%s\n", scree_error_line(error, line, sizeof line));
  return scree_exit_code(error->status);
}

int main(void) {
  ScreeMaterialDef sand = scree_material_default("sand");
  ScreeGrainsDef ball = scree_grains_default("sand", scree_shape_sphere((ScreeVec3){0, 0, 1}, 0.25));
  ball.velocity = (ScreeVec3){2, 0, 3};

  ScreeSceneDef scene = scree_scene_default();
  scene.name = "hello";
  scene.method = scree_method_default("none");
  scene.method.radius = 0.01;
  scene.frame_rate = 10;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &ball;
  scene.grains_count = 1;

  ScreeWorld *world = NULL;
  ScreeError error;
  if (scree_world_create(&scene, NULL, &world, &error) != SCREE_OK) return report(&error);

  ScreeStatistics statistics;
  scree_world_statistics(world, &statistics);
  printf("scree %s: %lld grains, %.1f kg\n", scree_version(), (long long)statistics.coarse, statistics.mass_initial);

  double start = mean_height(world);
  for (int frame = 0; frame < 6; frame++) {
    if (scree_world_frame(world, &error) != SCREE_OK) {
      scree_world_destroy(world);
      return report(&error);
    }
    double t = scree_world_time(world);
    printf("t = %.1f s: mean height %.4f m, a thrown stone's %.4f m\n", t, mean_height(world),
           start + 3 * t - 0.5 * 9.81 * t * t);
  }
  scree_world_destroy(world);
  return 0;
}
