/* Pictures: a heap on the ground with a box and two glasses, at 1280 x 720, read back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/rng.h"
#include "core/timer.h"
#include "render/render.h"

enum { REPEATS = 15 };

typedef struct Heap {
  int64_t count;
  float *x, *y, *z, *radius;
  uint32_t *id;
  uint8_t *material;
} Heap;

/* A cone as steep as a heap, its grains on a lattice, shaken. */
static Status heap_create(Core *core, int64_t count, Heap *heap) {
  const float radius = 0.008f;
  heap->count = count;
  float **columns[] = {&heap->x, &heap->y, &heap->z, &heap->radius};
  for (int k = 0; k < 4; k++) TRY(memory_new(core, columns[k], count, "benchmark"));
  TRY(memory_new(core, &heap->id, count, "benchmark"));
  TRY(memory_new(core, &heap->material, count, "benchmark"));
  double step = 1.9 * (double)radius, volume = (double)count * step * step * step;
  double high = cbrt(volume * 3 / M_PI * 0.35), wide = high / 0.6; /* height over radius 0.6: 31 degrees */
  int64_t made = 0, layers = (int64_t)(2 * high / step), half = (int64_t)(2 * wide / step);
  for (int64_t k = 0; k < layers; k++)
    for (int64_t j = -half; j <= half; j++)
      for (int64_t i = -half; i <= half; i++) {
        if (made == count) return SCREE_OK;
        double z = ((double)k + 0.5) * step, out = (high * 1.3 - z) / 0.6;
        if (!(hypot((double)i, (double)j) * step < out)) continue;
        double shake[3];
        for (int c = 0; c < 3; c++)
          shake[c] = (rng_unit(rng_bits(7, (uint64_t)made, (uint64_t)c, RNG_TEST)) - 0.5) * step * 0.5;
        heap->x[made] = (float)((double)i * step + shake[0]);
        heap->y[made] = (float)((double)j * step + shake[1]);
        heap->z[made] = (float)(z + shake[2]);
        heap->radius[made] = radius;
        heap->id[made] = (uint32_t)made + 1;
        made++;
      }
  heap->count = made;
  return SCREE_OK;
}

static void heap_destroy(Core *core, Heap *heap) {
  memory_drop(core, &heap->x);
  memory_drop(core, &heap->y);
  memory_drop(core, &heap->z);
  memory_drop(core, &heap->radius);
  memory_drop(core, &heap->id);
  memory_drop(core, &heap->material);
}

static const float box_vertices[] = {-.5f, -.5f, 0, .5f, -.5f, 0, .5f, .5f, 0, -.5f, .5f, 0,
                                     -.5f, -.5f, 1, .5f, -.5f, 1, .5f, .5f, 1, -.5f, .5f, 1};
static const uint32_t box_triangles[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                         1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

typedef struct Scene {
  Heap heap;
  RenderMaterial sand;
  RenderSolid solids[3];
  RenderGround ground;
  RenderFrame frame;
  Camera camera;
} Scene;

static void scene_fill(Scene *scene) {
  const Heap *heap = &scene->heap;
  double size = 0;
  for (int64_t i = 0; i < heap->count; i++) size = fmax(size, fabs((double)heap->x[i]));
  scene->sand = (RenderMaterial){{0.85f, 0.70f, 0.45f}, 2650};
  scene->ground = (RenderGround){{0, 0, 0}, {0, 0, 1}};
  for (int k = 0; k < 3; k++)
    scene->solids[k] = (RenderSolid){.mesh = {8, 12, box_vertices, box_triangles},
                                     .mesh_key = 1,
                                     .pose = {{size * (k - 1), size * 0.9, 0}, {1, 0, 0, 0}},
                                     .color = {0.6f, 0.7f, 0.8f},
                                     .look = k == 1 ? RENDER_SOLID : RENDER_GLASS};
  scene->frame = (RenderFrame){.grains = {.count = heap->count,
                                          .x = heap->x,
                                          .y = heap->y,
                                          .z = heap->z,
                                          .radius = heap->radius,
                                          .id = heap->id,
                                          .material = heap->material},
                               .gravity = 9.81,
                               .material_count = 1,
                               .materials = &scene->sand,
                               .solid_count = 3,
                               .solids = scene->solids,
                               .ground_count = 1,
                               .grounds = &scene->ground};
  scene->camera = (Camera){{1.9 * size, -2.4 * size, 1.3 * size}, {0, 0, 0.2 * size}, 35};
}

/* Seconds of the best of several pictures, each of a frame that is new. */
static ScreeStatus draw(Renderer *renderer, Scene *scene, int64_t repeats, bool shadows, double *best,
                        RenderStatistics *stages, ScreeError *error) {
  RenderSettings settings = render_settings_default();
  settings.shadows = shadows;
  Image image = {0};
  *best = INFINITY;
  ScreeStatus status = SCREE_OK;
  for (int k = 0; k < repeats && status == SCREE_OK; k++) {
    double began = timer_now();
    scene->frame.version++;
    status = renderer_draw(renderer, &scene->frame, &scene->camera, &settings, error);
    if (status == SCREE_OK) status = renderer_read(renderer, &image, error);
    double seconds = timer_now() - began;
    if (seconds < *best && k > 0) *best = seconds, *stages = renderer_statistics(renderer);
  }
  image_destroy(&image);
  return status;
}

static ScreeStatus measure(Core *core, BenchTable *table, Renderer *renderer, int64_t count, ScreeError *error) {
  static const char *const stages[] = {
#define STAGE_WORD(constant, word) word,
      RENDER_STAGES(STAGE_WORD)
#undef STAGE_WORD
  };
  Scene scene = {0};
  ScreeStatus status = heap_create(core, count, &scene.heap);
  scene_fill(&scene);
  for (int shadows = 0; shadows < 2 && status == SCREE_OK; shadows++) {
    double seconds;
    RenderStatistics parts;
    status = draw(renderer, &scene, bench_amount(table, REPEATS, 2), shadows, &seconds, &parts, error);
    BenchRow row = {.ours = 1e3 * seconds, .reference = NAN, .unit = "ms"};
    snprintf(row.name, sizeof row.name, "%lldk grains%s", (long long)(scene.heap.count + 500) / 1000,
             shadows ? ", shadows" : "");
    int used = snprintf(row.note, sizeof row.note, "%lld drawn;", (long long)parts.drawn);
    for (int k = 0; k < RENDER_STAGE_COUNT && used < (int)sizeof row.note - 16; k++)
      used +=
          snprintf(row.note + used, sizeof row.note - (size_t)used, " %.8s %.0f", stages[k], 1e3 * parts.seconds[k]);
    if (status == SCREE_OK) status = bench_row(core, table, row);
  }
  heap_destroy(core, &scene.heap);
  return status;
}

Status bench_render(Core *core, BenchTable *table) {
  RenderContext *context = NULL;
  Renderer *renderer = NULL;
  ScreeError error = {0};
  ScreeStatus status = render_context_create(RENDER_GL, &context, &error);
  if (status == SCREE_OK) status = renderer_create(render_context_loader(context), table->threads, &renderer, &error);
  if (status == SCREE_OK) {
    renderer_set_timing(renderer, true);
    if (table->progress) fprintf(table->progress, "%s\n", renderer_statistics(renderer).device);
    static const int64_t counts[] = {100000, 500000, 2000000};
    table->counts = "the shortest of 14 pictures";
    for (int64_t k = 0; k < bench_amount(table, 3, 1) && status == SCREE_OK; k++)
      status = measure(core, table, renderer, bench_amount(table, counts[k], 5000), &error);
  }
  renderer_destroy(renderer);
  render_context_destroy(context);
  return status == SCREE_OK ? SCREE_OK : fail(core, status, "%s", error.message);
}
