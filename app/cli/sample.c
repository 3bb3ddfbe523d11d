/* scree sample: fill or cover a mesh with points. */
#include <stdio.h>

#include "app/cli/commands.h"
#include "app/cli/scene_arguments.h"
#include "output/folder.h"
#include "output/output.h"

typedef struct Sample {
  double radius;
  bool volume, surface, dense, maximal, quiet;
  int64_t seed, threads;
  const char *path;
} Sample;

static int sample_mesh(const char *mesh, const Sample *sample) {
  ScreeShapeDef shape = scree_shape_mesh_file(mesh);
  ScreeSampleOptions options = scree_sample_options_default(sample->radius);
  options.surface = sample->surface;
  options.dense = sample->dense;
  options.maximal = sample->maximal;
  options.seed = (uint64_t)sample->seed;
  options.threads = (int32_t)sample->threads;
  ScreeSamples samples = {0};
  ScreeError error;
  if (scree_sample_shape(&shape, &options, &samples, &error) != SCREE_OK) return print_error(&error);
  ScreeStatus status = output_points(sample->path, &samples, sample->radius, &error);
  if (status == SCREE_OK && !sample->quiet) {
    printf("%s: %lld points of radius %g m", sample->path, (long long)samples.count, sample->radius);
    if (!sample->surface) printf(", solid fraction %.3f of %.6g m^3", samples.fraction, samples.volume);
    printf("\n");
  }
  scree_samples_free(&samples);
  return status == SCREE_OK ? 0 : print_error(&error);
}

int command_sample(int argc, char **argv) {
  Sample sample = {.path = "points.ply", .seed = 1};
  const Option options[] = {
      {'r', "--radius", OPTION_REAL, &sample.radius, "R", "radius of a point in m (needed)", 1e-9, 1e6},
      {'o', "--output", OPTION_TEXT, &sample.path, "FILE", "PLY file to write (default points.ply)", 0, 0},
      {0, "--volume", OPTION_FLAG, &sample.volume, NULL, "whole spheres inside (default)", 0, 0},
      {0, "--surface", OPTION_FLAG, &sample.surface, NULL, "points on the surface, 2 R apart", 0, 0},
      {0, "--dense", OPTION_FLAG, &sample.dense, NULL, "relax towards settled packing", 0, 0},
      {0, "--maximal", OPTION_FLAG, &sample.maximal, NULL, "go on until no further point fits", 0, 0},
      {0, "--seed", OPTION_INTEGER, &sample.seed, "N", "seed of all randomness (default 1)", 0, 9007199254740992.0},
      {0, "--threads", OPTION_INTEGER, &sample.threads, "N", "threads (default 0: one per core)", 0, 256},
      {'q', "--quiet", OPTION_FLAG, &sample.quiet, NULL, "print nothing but errors", 0, 0}};
  const Usage usage = {.command = "sample",
                       .arguments = "MESH --radius R",
                       .summary = "fill or cover a mesh with points",
                       .details = "Writes a PLY file with the columns of a frame; velocities are zero.",
                       .example = "scree sample assets/hourglass.obj --radius 0.01 --dense -o points.ply",
                       USAGE_TABLE(options, 1, 1)};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  if (sample.radius <= 0) return usage_error("--radius R is needed");
  if (sample.volume && sample.surface) return usage_error("--volume and --surface exclude each other");
  if (sample.dense && sample.surface) return usage_error("--dense is for volumes, not for --surface");
  if (folder_same_file(arguments.items[0], sample.path))
    return usage_error("-o '%s' is the mesh that is read", sample.path);
  return sample_mesh(arguments.items[0], &sample);
}
