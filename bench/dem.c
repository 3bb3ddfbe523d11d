/* Discrete elements: nanoseconds of processor time per grain and step on a settled box, here and in LAMMPS.
 *
 * A box is filled densely, cut to a round number of grains and left to settle; a larger one is tiled with it and its
 * mirror images, so that it is settled from the start but for the seams. LAMMPS then starts from the same positions
 * with the same radii, walls, stiffness, friction and step. Both run batches of steps, and the best batch counts: the
 * machine may be busy with other things. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/scene.h"
#include "core/timer.h"
#include "world/world.h"

#define RADIUS 0.001
#define DENSITY 2500.0 /* of a grain */
#define YOUNG 5e7
#define POISSON 0.3
#define FRICTION 0.5
#define TIME_STEP 8e-6

enum { LARGE = 100000, QUICK = 1000, TILES_X = 3, TILES_Y = 4 };

/* Steps of a frame, frames that settle the box, steps of a batch and batches that count. Lists are made at the start of
 * a frame and when grains have moved; batches begin behind the start, as LAMMPS' loops do. Large boxes take few: a
 * benchmark should end. */
enum { FRAME = 500, FRAME_START = 10 };
static int settling_for(int64_t grains) { return grains > LARGE || grains <= QUICK ? 1 : 16; }
static int batch_for(int64_t grains) { return grains > LARGE ? 90 : 240; }
static int batches_for(int64_t grains) { return grains > LARGE ? 5 : grains <= QUICK ? 1 : 8; }

typedef struct Box {
  double wide, deep, height; /* m */
  int64_t grains;
  const Vec3 *tile; /* positions to tile it with; NULL: it is filled */
  int64_t tile_grains;
  double tile_side;
} Box;

/* A square box about twice as high as wide once settled, as the usual comparison has it. */
static Box box_for(int64_t grains) {
  double volume = (double)grains * 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS / 0.55;
  double side = cbrt(volume / 2);
  return (Box){.wide = side, .deep = side, .height = 2.2 * side, .grains = grains};
}

static Status make_world(const Box *box, int threads, const Core *like, ScreeWorld **world, Core *report) {
  ScreeMaterialDef sand = scree_material_default("sand");
  sand.grain_density = DENSITY;
  sand.density = 0.6 * DENSITY;
  sand.young = YOUNG;
  sand.poisson = POISSON;
  sand.friction_static = sand.friction_kinetic = FRICTION;
  sand.rolling_friction = 0;
  sand.restitution = 0.3;
  ScreeVec3 low = {0, 0, 0}, high = {box->wide, box->deep, box->height};
  ScreeGrainsDef grains = scree_grains_default("sand", scree_shape_box(low, high));
  grains.start = SCREE_START_DENSE;
  ScreeBoundaryDef walls =
      scree_boundary_default(scree_shape_box(low, (ScreeVec3){box->wide, box->deep, 2 * box->height}));
  walls.inside = true;
  walls.friction_static = walls.friction_kinetic = FRICTION;
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "bench";
  scene.frame_rate = 1 / (FRAME * TIME_STEP);
  scene.method = scree_method_default("dem");
  scene.method.radius = RADIUS;
  scene.method.time_step = TIME_STEP;
  scene.materials = &sand;
  scene.material_count = 1;
  scene.grains = &grains;
  scene.grains_count = box->tile ? 0 : 1;
  ScreeEmitterDef nothing = scree_emitter_default("sand"); /* a scene needs a source */
  nothing.rate = 0;
  nothing.shape.disc = (ScreeDiscDef){{0, 0, 0}, 10 * RADIUS, {0, 0, -1}};
  scene.emitters = &nothing;
  scene.emitter_count = box->tile ? 1 : 0;
  scene.boundaries = &walls;
  scene.boundary_count = 1;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = threads;
  options.baseline_simd = like->baseline_simd;
  ScreeError error;
  Status status = scree_world_create(&scene, &options, world, &error);
  return status == SCREE_OK ? status : fail(report, status, "%s", error.message);
}

static int by_height(const void *a, const void *b) {
  const float *x = a, *y = b;
  return x[0] < y[0] ? -1 : x[0] > y[0] ? 1 : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Takes the topmost grains away until so many are left. */
static Status trim(ScreeWorld *world, int64_t keep, Core *report) {
  const Particles *p = &world->state.particles;
  if (p->count < keep) return fail(report, SCREE_FAILED, "the box holds %lld grains only", (long long)p->count);
  float(*order)[2] = malloc(sizeof *order * (size_t)p->count);
  if (!order) return fail(report, SCREE_NO_MEMORY, "out of memory");
  for (int64_t i = 0; i < p->count; i++) {
    order[i][0] = p->z[i];
    order[i][1] = (float)i;
  }
  qsort(order, (size_t)p->count, sizeof *order, by_height);
  Status status = SCREE_OK;
  for (int64_t k = keep; k < p->count && status == SCREE_OK; k++)
    status = queue_death(&world->core, &world->state.queue, p->id[(int64_t)order[k][1]], REASON_SINK, 0);
  free(order);
  return status;
}

/* Tiles lie side by side, each the mirror image of its neighbours; a little apart, for what touched the wall would
 * overlap its image twice as deep. */
#define SEAM (0.01 * RADIUS)

static Status lay_tiles(ScreeWorld *world, const Box *box) {
  const double mass = 4.0 / 3 * M_PI * RADIUS * RADIUS * RADIUS * DENSITY;
  for (int64_t k = 0; k < TILES_X * TILES_Y * box->tile_grains; k++) {
    int64_t tile = k / box->tile_grains, column = tile % TILES_X, row = tile / TILES_X;
    Vec3 at = box->tile[k % box->tile_grains];
    if (column % 2) at.x = box->tile_side - at.x;
    if (row % 2) at.y = box->tile_side - at.y;
    at.x += (double)column * (box->tile_side + SEAM);
    at.y += (double)row * (box->tile_side + SEAM);
    Birth birth = {.key = (uint64_t)k, .position = at, .radius = (float)RADIUS, .mass = (float)mass};
    TRY(queue_birth(&world->core, &world->state.queue, &birth));
  }
  return world_births_and_deaths(world);
}

typedef struct Timing {
  double processor, wall; /* ns per grain and step, best batch */
  double bytes;           /* held per grain */
  double peak;
  double contacts; /* with other grains, per grain */
} Timing;

static Status frames(ScreeWorld *world, int count, Core *report) {
  ScreeError error;
  for (int k = 0; k < count; k++) {
    Status status = scree_world_frame(world, &error);
    if (status != SCREE_OK) return fail(report, status, "%s", error.message);
  }
  return SCREE_OK;
}

static Status steps(ScreeWorld *world, int count, Core *report) {
  ScreeError error;
  for (int k = 0; k < count; k++) {
    Status status = scree_world_step(world, &error);
    if (status != SCREE_OK) return fail(report, status, "%s", error.message);
  }
  return SCREE_OK;
}

static Status batches(ScreeWorld *world, int64_t grains, Timing *timing, Core *report) {
  int count = batch_for(grains), done = FRAME; /* of this frame */
  double scale = 1e9 / ((double)grains * count);
  for (int k = 0; k < batches_for(grains); k++) {
    if (done + count > FRAME) {
      TRY(steps(world, FRAME - done + FRAME_START, report));
      done = FRAME_START;
    }
    done += count;
    double processor = timer_processor(), wall = timer_now();
    TRY(steps(world, count, report));
    processor = (timer_processor() - processor) * scale;
    wall = (timer_now() - wall) * scale;
    if (k == 0 || processor < timing->processor) timing->processor = processor;
    if (k == 0 || wall < timing->wall) timing->wall = wall;
  }
  return SCREE_OK;
}

/* Each pair counts for both. */
static double touching(const ScreeWorld *world) {
  const State *state = &world->state;
  const Particles *p = &state->particles;
  const NeighborList *list = &state->contacts.particles.list;
  int64_t count = 0;
  for (int64_t i = 0; i < list->count && list->count == p->count; i++)
    for (int64_t k = list->start[i]; k < list->start[i + 1]; k++) {
      int32_t j = list->index[k];
      float x = p->x[i] - p->x[j], y = p->y[i] - p->y[j], z = p->z[i] - p->z[j], radii = p->radius[i] + p->radius[j];
      count += x * x + y * y + z * z < radii * radii;
    }
  return (double)count;
}

static void measure_memory(ScreeWorld *world, Timing *timing) {
  double grains = (double)world->state.particles.count;
  timing->bytes = (double)atomic_load(&world->core.memory.used) / grains;
  timing->peak = (double)atomic_load(&world->core.memory.peak) / grains;
  timing->contacts = touching(world) / grains;
}

/* ---- LAMMPS ---- */

static Status write_positions(const ScreeWorld *world, const Box *box, const char *folder, Core *report) {
  char path[SCREE_FILE_MAX];
  snprintf(path, sizeof path, "%s/box.data", folder);
  FILE *file = fopen(path, "w");
  if (!file) return fail(report, SCREE_CANNOT_WRITE, "%s: cannot be written", path);
  const State *state = &world->state;
  fprintf(
      file,
      "settled box\n\n%lld atoms\n1 atom types\n\n0 %.9g xlo xhi\n0 %.9g ylo yhi\n0 %.9g zlo zhi\n\nAtoms # sphere\n\n",
      (long long)state->particles.count, box->wide, box->deep, 2 * box->height);
  for (int64_t i = 0; i < state->particles.count; i++) {
    Vec3 at = state_position(state, i);
    fprintf(file, "%u 1 %.9g %.9g %.9g %.9g %.9g\n", state->particles.id[i], 2 * RADIUS, DENSITY, at.x, at.y, at.z);
  }
  return fclose(file) == 0 ? SCREE_OK : fail(report, SCREE_CANNOT_WRITE, "%s: cannot be written", path);
}

static Status write_script(const Box *box, const char *folder, Core *report) {
  char path[SCREE_FILE_MAX];
  snprintf(path, sizeof path, "%s/in.box", folder);
  FILE *file = fopen(path, "w");
  if (!file) return fail(report, SCREE_CANNOT_WRITE, "%s: cannot be written", path);
  /* its k_n is 4/3 of the effective modulus, as ours; k_t twice the slope ratio times it; dampers of like size */
  double kn = 2.0 / 3 * YOUNG / (1 - POISSON * POISSON), kt = 1.5 * 2 * (1 - POISSON) / (2 - POISSON) * kn;
  char law[160];
  snprintf(law, sizeof law, "%.6g %.6g %.6g NULL %g 1", kn, kt, 1e6, FRICTION);
  fprintf(
      file,
      "units si\natom_style sphere\nboundary f f f\nnewton off\ncomm_modify vel yes\nread_data %s/box.data\n"
      "neighbor %.6g bin\nneigh_modify delay 0 every 1 check yes\npair_style gran/hertz/history %s\npair_coeff * *\n"
      "timestep %g\nfix 1 all nve/sphere\nfix 2 all gravity 9.81 vector 0 0 -1\n"
      "fix 3 all wall/gran hertz/history %s zplane 0 NULL\nfix 4 all wall/gran hertz/history %s xplane 0 %.9g\n"
      "fix 5 all wall/gran hertz/history %s yplane 0 %.9g\nthermo 1000000\nrun %d\n",
      folder, 0.3 * RADIUS, law, TIME_STEP, law, law, box->wide, law, box->deep, batch_for(box->grains));
  for (int k = 0; k < batches_for(box->grains); k++) fprintf(file, "run %d\n", batch_for(box->grains));
  return fclose(file) == 0 ? SCREE_OK : fail(report, SCREE_CANNOT_WRITE, "%s: cannot be written", path);
}

/* Best of the runs but the first; NaN when the program failed. */
static double run_lammps(const char *folder, int64_t grains) {
  char command[SCREE_FILE_MAX + 80], line[512];
  snprintf(command, sizeof command, "OMP_NUM_THREADS=1 lmp -log none -in %s/in.box 2>/dev/null", folder);
  FILE *pipe = popen(command, "r");
  if (!pipe) return (double)NAN;
  double best = (double)NAN, loop = (double)NAN;
  int run = 0;
  while (fgets(line, sizeof line, pipe)) {
    double percent;
    if (sscanf(line, "Loop time of %lf", &loop) == 1) continue;
    if (sscanf(line, "%lf%% CPU use", &percent) != 1) continue;
    double ns = loop * percent / 100 * 1e9 / ((double)grains * batch_for(grains));
    if (run++ > 0 && !(best <= ns)) best = ns;
  }
  return pclose(pipe) == 0 ? best : (double)NAN;
}

static void remove_files(const char *folder) {
  char path[SCREE_FILE_MAX];
  snprintf(path, sizeof path, "%s/box.data", folder);
  remove(path);
  snprintf(path, sizeof path, "%s/in.box", folder);
  remove(path);
  rmdir(folder);
}

static Status time_lammps(const ScreeWorld *world, const Box *box, double *ns, Core *report) {
  *ns = (double)NAN;
  if (system("command -v lmp >/dev/null 2>&1") != 0) return SCREE_OK;
  char folder[SCREE_FILE_MAX - 32];
  bench_temporary_name(folder, sizeof folder);
  if (!mkdtemp(folder)) return fail(report, SCREE_CANNOT_WRITE, "%s: cannot be made", folder);
  Status status = write_positions(world, box, folder, report);
  if (status == SCREE_OK) status = write_script(box, folder, report);
  if (status == SCREE_OK) *ns = run_lammps(folder, box->grains);
  remove_files(folder);
  return status;
}

/* ---- rows ---- */

/* A settled box: made, cut and left to settle, or taken from a file where another was saved. */
static Status settled_world(const Box *box, int threads, const char *file, Core *core, ScreeWorld **world) {
  ScreeError error;
  TRY(make_world(box, threads, core, world, core));
  if (threads > 1) {
    Status status = scree_world_load(*world, file, &error);
    return status == SCREE_OK ? status : fail(core, status, "%s", error.message);
  }
  if (box->tile) TRY(lay_tiles(*world, box));
  TRY(trim(*world, box->grains, core));
  TRY(frames(*world, settling_for(box->grains), core));
  Status status = scree_world_save(*world, file, &error);
  return status == SCREE_OK ? status : fail(core, status, "%s", error.message);
}

static Status speed_row(Core *core, BenchTable *table, const char *words, int threads, const Timing *timing,
                        double lammps) {
  BenchRow row = {.ours = timing->processor, .reference = lammps, .unit = "ns/grain/step/core"};
  snprintf(row.name, sizeof row.name, "settled box, %s grains, %s", words, bench_threads(threads).text);
  snprintf(
      row.note, sizeof row.note,
      "%.3g million grain-steps/s; %.1f contacts per grain; reference: LAMMPS gran/hertz/history, 1 core, this run",
      1e3 / timing->wall, timing->contacts);
  return bench_row(core, table, row);
}

static void keep_positions(const ScreeWorld *world, Vec3 *positions) {
  for (int64_t i = 0; i < world->state.particles.count; i++) positions[i] = state_position(&world->state, i);
}

/* `positions` are filled where they are given. */
static Status box_rows(Core *core, BenchTable *table, Box box, const char *words, const char *file, Vec3 *positions,
                       double *ratio) {
  int64_t grains = box.grains;
  double lammps = (double)NAN;
  for (int t = 0; t < bench_thread_counts(table); t++) {
    int threads = t ? table->threads : 1;
    ScreeWorld *world = NULL;
    Timing timing = {0};
    Status status = settled_world(&box, threads, file, core, &world);
    if (status == SCREE_OK && threads == 1) status = time_lammps(world, &box, &lammps, core);
    if (status == SCREE_OK) status = batches(world, grains, &timing, core);
    if (status == SCREE_OK) measure_memory(world, &timing);
    if (status == SCREE_OK && positions) keep_positions(world, positions);
    scree_world_destroy(world);
    TRY(status);
    TRY(speed_row(core, table, words, threads, &timing, lammps));
    if (threads == 1) *ratio = lammps / timing.processor;
    if (threads == 1 && table->threads > 1) continue;
    /* of the world that was loaded: the other one keeps what its making took */
    BenchRow bytes = {.ours = timing.bytes, .reference = NAN, .unit = "bytes/grain"};
    snprintf(bytes.name, sizeof bytes.name, "memory held, %s grains", words);
    snprintf(bytes.note, sizeof bytes.note, "peak %.0f", timing.peak);
    TRY(bench_row(core, table, bytes));
  }
  return SCREE_OK;
}

Status bench_dem(Core *core, BenchTable *table) {
  char file[SCREE_FILE_MAX];
  TRY(bench_temporary_file(core, file, sizeof file));
  double small = (double)NAN, large = (double)NAN;
  table->counts = "the best of several batches of steps, in processor time";
  Box box = box_for(bench_amount(table, 16848, QUICK)), many = box;
  Vec3 *positions = NULL;
  Status status = memory_new(core, &positions, box.grains, "positions");
  if (status == SCREE_OK)
    status = box_rows(core, table, box, table->quick ? "1,000" : "16,848", file, positions, &small);
  many.wide = TILES_X * (box.wide + SEAM) - SEAM;
  many.deep = TILES_Y * (box.deep + SEAM) - SEAM;
  many.grains = 200000;
  many.tile = positions;
  many.tile_grains = box.grains;
  many.tile_side = box.wide;
  if (status == SCREE_OK && !table->quick) status = box_rows(core, table, many, "200,000", file, NULL, &large);
  memory_drop(core, &positions);
  remove(file);
  TRY(status);
  if (isfinite(small)) bench_figure(table, "lammps_ratio_per_core", small);
  if (isfinite(large)) bench_figure(table, "lammps_ratio_per_core_200000", large);
  return bench_exchange(core, table);
}
