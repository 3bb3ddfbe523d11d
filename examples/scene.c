/* Loads a scene file, runs a few frames, reads where the grains and the bodies are.
 *
 *   cc scene.c $(pkg-config --cflags --libs scree) -o scene
 *   ./scene SCENE [FRAMES]      SCENE: a path, or the name of a shipped scene */
#include <scree/scree.h>
#include <stdio.h>
#include <stdlib.h>

static void print_warning(void *context, const char *line) {
  (void)context;
  fprintf(stderr, "%s\n", line);
}

static void print_frame(const ScreeWorld *world) {
  ScreeParticles grains = scree_world_particles(world);
  double top = 0;
  for (int64_t i = 0; i < grains.count; i++)
    if (i == 0 || grains.z[i] > top) top = grains.z[i];
  printf("frame %lld, t = %.3f s: %lld grains", (long long)scree_world_frame_index(world), scree_world_time(world),
         (long long)grains.count);
  if (grains.count > 0) printf(", highest at %.3f m", grains.origin.z + top);
  for (ScreeBodyId id = 1; id <= scree_world_body_count(world); id++) {
    ScreeBodyState body;
    if (scree_world_body(world, id, &body) != SCREE_OK || body.is_boundary) continue;
    printf(", %s at (%.3f, %.3f, %.3f)", body.name, body.center.x, body.center.y, body.center.z);
  }
  printf("\n");
}

static ScreeStatus run(const char *name, int frames, ScreeError *error) {
  char path[SCREE_FILE_MAX];
  ScreeStatus status = scree_scene_find(name, path, sizeof path, error);
  if (status != SCREE_OK) return status;
  ScreeScene *scene = NULL;
  ScreeSceneOptions options = {.warning = print_warning};
  status = scree_scene_load(path, &options, &scene, error);
  if (status != SCREE_OK) return status;

  ScreeWorld *world = NULL;
  status = scree_world_create(scree_scene_definition(scene), NULL, &world, error);
  scree_scene_free(scene); /* the world has copied what it needs */
  for (int k = 0; status == SCREE_OK && k < frames; k++) {
    status = scree_world_frame(world, error);
    if (status == SCREE_OK) print_frame(world);
  }
  scree_world_destroy(world);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s SCENE [FRAMES]\n", argv[0]);
    return 2;
  }
  ScreeError error;
  if (run(argv[1], argc > 2 ? atoi(argv[2]) : 10, &error) == SCREE_OK) return 0;
  char line[SCREE_FILE_MAX + SCREE_MESSAGE_MAX + 64];
  fprintf(stderr, "%s\n", scree_error_line(&error, line, sizeof line));
  return scree_exit_code(error.status);
}
