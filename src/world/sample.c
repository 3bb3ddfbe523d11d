/* Sampling of shapes without a world. */
#include "core/core.h"
#include "geometry/shape.h"
#include "sampling/sampling.h"

ScreeSampleOptions scree_sample_options_default(double radius) {
  return (ScreeSampleOptions){.radius = radius, .seed = 1};
}

static Status sample(Core *core, const ScreeShapeDef *definition, const ScreeSampleOptions *options,
                     ScreeSamples *result) {
  Shape shape;
  const char *file = definition->kind == SCREE_SHAPE_MESH ? definition->mesh.file : NULL;
  TRY(shape_create(core, definition, false, file, NULL, &shape));
  if (!options->surface && !(shape.mass.volume > 0)) {
    double nothing = shape.mass.volume;
    shape_destroy(core, &shape);
    return fail_at(core, SCREE_BAD_INPUT, file, (ScreeSource){0, 0},
                   "encloses nothing (volume %g m^3): it cannot be filled", nothing);
  }
  SamplingPlan plan = {.radius = options->radius,
                       .seed = options->seed,
                       .dense = options->dense,
                       .maximal = options->maximal,
                       .position = definition->position,
                       .rotation = definition->rotation};
  Samples samples;
  Status status = options->surface ? sample_surface(core, &shape, 2 * options->radius, &plan, &samples)
                                   : sample_volume(core, &shape, &plan, &samples);
  double volume = shape.mass.volume;
  shape_destroy(core, &shape);
  TRY(status);
  *result = (ScreeSamples){.count = samples.count,
                           .origin = samples.origin,
                           .x = samples.x,
                           .y = samples.y,
                           .z = samples.z,
                           .fraction = samples.fraction,
                           .volume = volume};
  return SCREE_OK;
}

ScreeStatus scree_sample_shape(const ScreeShapeDef *shape, const ScreeSampleOptions *options, ScreeSamples *samples,
                               ScreeError *error) {
  *samples = (ScreeSamples){0};
  ScreeWorldOptions settings = {.threads = options->threads, .log_level = SCREE_LOG_ERROR};
  Core core;
  Status status = core_create(&core, &settings);
  if (status == SCREE_OK) status = sample(&core, shape, options, samples);
  status = core_report(&core, status, error);
  if (core.pool) core_destroy(&core);
  return status;
}

void scree_samples_free(ScreeSamples *samples) {
  Memory memory; /* the one they were taken from is gone; blocks know their size themselves */
  memory_create(&memory, 0);
  memory_free(&memory, samples->x);
  memory_free(&memory, samples->y);
  memory_free(&memory, samples->z);
  *samples = (ScreeSamples){0};
}
