/* output/: compact frames. What comes back is as near as promised, the bytes do not depend on threads, and files that
 * lie are refused. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/files.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "output/compact.h"
#include "output/frame_reader.h"
#include "output/frames.h"
#include "output/particles_file.h"

static char path[64];

static int choose_path(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/scree_compact_%ld.compact", (long)getpid());
  return 0;
}

static int remove_file(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

typedef struct Cloud {
  ScreeParticles view;
  float *columns[7]; /* x y z vx vy vz radius */
  uint32_t *ids;
  uint8_t *materials;
} Cloud;

static double unit(int64_t i, int purpose) { return rng_unit(rng_bits(5, (uint64_t)i, (uint64_t)purpose, RNG_TEST)); }

/* In a box of `size`, in no order; ids from the top down. */
static Cloud cloud_make(Core *core, int64_t count, ScreeVec3 origin, double size) {
  Cloud cloud;
  for (int c = 0; c < 7; c++) assert_ok(core, memory_new(core, &cloud.columns[c], count + 1, "test"));
  assert_ok(core, memory_new(core, &cloud.ids, count + 1, "test"));
  assert_ok(core, memory_new(core, &cloud.materials, count + 1, "test"));
  for (int64_t i = 0; i < count; i++) {
    for (int c = 0; c < 3; c++) {
      cloud.columns[c][i] = (float)(size * (unit(i, c) - 0.5));
      cloud.columns[3 + c][i] = (float)((unit(i, 3 + c) - 0.5) * pow(10, 8 * unit(i, 6) - 4));
    }
    cloud.columns[6][i] = 0.01f;
    cloud.ids[i] = UINT32_MAX - (uint32_t)i;
    cloud.materials[i] = (uint8_t)i;
  }
  float **c = cloud.columns;
  cloud.view = (ScreeParticles){count, origin, c[0], c[1], c[2], c[3], c[4], c[5], c[6], cloud.ids, cloud.materials};
  return cloud;
}

static void cloud_drop(Core *core, Cloud *cloud) {
  for (int c = 0; c < 7; c++) memory_drop(core, &cloud->columns[c]);
  memory_drop(core, &cloud->ids);
  memory_drop(core, &cloud->materials);
}

static Status write_cloud(Core *core, const ScreeParticles *particles, unsigned columns, double time) {
  FrameWriter writer = {.format = FRAME_COMPACT, .columns = columns};
  Status status = particles_write(core, &writer, path, particles, time);
  compact_buffers_destroy(core, &writer.buffers);
  return status;
}

static FrameColumns read_cloud(Core *core, CompactHeader *header, int64_t *size) {
  char *data = NULL;
  FrameColumns columns = {0};
  assert_ok(core, files_read(core, path, INT64_MAX - 1, &data, size));
  memcpy(header, data, sizeof *header);
  assert_ok(core, frame_read_compact(core, path, data, *size, &columns));
  memory_drop(core, &data);
  return columns;
}

/* The largest errors: of positions and radii as a share of the radius, of velocities as a share of the largest part. */
typedef struct Errors {
  double position, radius, velocity;
} Errors;

static Errors compare(const Cloud *cloud, const FrameColumns *columns) {
  const ScreeParticles *p = &cloud->view;
  Errors errors = {0};
  int64_t n = columns->count;
  assert_int_equal(n, p->count);
  for (int64_t k = 0; k < n; k++) {
    int64_t i = (int64_t)(UINT32_MAX - columns->ids[k]); /* who it is */
    assert_true(i >= 0 && i < n);
    const float *at = columns->numbers + k;
    double radius = (double)p->radius[i];
    double dx = columns->origin.x - p->origin.x + (double)at[COLUMN_X * n] - (double)p->x[i];
    double dy = columns->origin.y - p->origin.y + (double)at[COLUMN_Y * n] - (double)p->y[i];
    double dz = columns->origin.z - p->origin.z + (double)at[COLUMN_Z * n] - (double)p->z[i];
    double fastest = fmax(fabs((double)p->vx[i]), fmax(fabs((double)p->vy[i]), fabs((double)p->vz[i])));
    double dv = fmax(
        fabs((double)at[COLUMN_VX * n] - (double)p->vx[i]),
        fmax(fabs((double)at[COLUMN_VY * n] - (double)p->vy[i]), fabs((double)at[COLUMN_VZ * n] - (double)p->vz[i])));
    errors.position = fmax(errors.position, sqrt(dx * dx + dy * dy + dz * dz) / radius);
    errors.radius = fmax(errors.radius, fabs((double)at[COLUMN_RADIUS * n] - radius) / radius);
    errors.velocity = fmax(errors.velocity, (dv - 0x1p-24) / fastest);
    assert_int_equal(columns->materials[k], p->material[i]);
  }
  return errors;
}

/* The bound of a place: half a step an axis, sqrt(3)/2 of the 128th part of the radius. */
#define POSITION_ERROR (0.8661 / COMPACT_STEPS_RADIUS)
/* Half a step of at most 2/255.5 of the largest part; below 2^-23 m/s a step is as large. */
#define VELOCITY_ERROR (1.01 / 255.5)

static Errors round_trip(Core *core, const Cloud *cloud, CompactHeader *header, int64_t *size) {
  assert_ok(core, write_cloud(core, &cloud->view, FRAME_VELOCITY | FRAME_ID, 0.25));
  FrameColumns columns = read_cloud(core, header, size);
  assert_true(columns.time == 0.25);
  assert_int_equal(columns.columns, FRAME_VELOCITY | FRAME_ID);
  Errors errors = compare(cloud, &columns);
  assert_true(errors.position <= POSITION_ERROR && POSITION_ERROR < 0.02);
  assert_true(errors.velocity <= VELOCITY_ERROR);
  frame_columns_destroy(core, &columns);
  return errors;
}

static void grains_come_back(void **state) {
  (void)state;
  Core core = test_core(2);
  static const int64_t counts[] = {1, 2, 511, 513, 32768, 32769, 70001};
  /* Near zero, far from it, and with borders of blocks (5.12 m) through the middle. */
  static const ScreeVec3 origins[] = {{0, 0, 0}, {1e6, -3e6, 50}, {-5.12, 10.24, 0.003}};
  CompactHeader header;
  int64_t size;
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (size_t o = 0; o < sizeof origins / sizeof *origins; o++) {
      Cloud cloud = cloud_make(&core, counts[k], origins[o], 2);
      assert_true(round_trip(&core, &cloud, &header, &size).radius == 0);
      assert_int_equal(header.radii, 1);
      assert_true(header.blocks <= 8);
      cloud_drop(&core, &cloud);
    }
  Cloud none = cloud_make(&core, 0, origins[1], 2);
  round_trip(&core, &none, &header, &size);
  assert_int_equal(header.blocks, 0);
  assert_int_equal(size, sizeof header);
  cloud_drop(&core, &none);
  assert_int_equal(core.memory.used, memory_size(core.pool) + 64);
  core_destroy(&core);
}

/* Few radii come back as they were, many within a share of themselves, and positions are right for the smallest. */
static void radii_come_back(void **state) {
  (void)state;
  Core core = test_core(2);
  CompactHeader header;
  int64_t size;
  static const struct {
    int kinds; /* 0: as many as grains */
    double ratio, error;
  } cases[] = {{3, 4, 0}, {256, 2, 0}, {257, 2, 1 / 510.0}, {0, 1.001, 1 / 510.0}, {0, 2, 1 / 510.0}, {0, 1000, 0.02}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Cloud cloud = cloud_make(&core, 40000, (ScreeVec3){100, 0, 0}, 1);
    for (int64_t i = 0; i < cloud.view.count; i++) {
      double where = cases[k].kinds ? (double)(i % cases[k].kinds) / (cases[k].kinds - 1) : unit(i, 7);
      cloud.columns[6][i] = (float)(0.01 * pow(cases[k].ratio, where));
    }
    Errors errors = round_trip(&core, &cloud, &header, &size);
    assert_true(errors.radius <= cases[k].error * 1.001);
    if (cases[k].error == 0) assert_int_equal(header.radii, cases[k].kinds);
    cloud_drop(&core, &cloud);
  }
  core_destroy(&core);
}

/* Blocks with a grain or none each; one grain that has flown away takes no precision from the others. */
static void spread_clouds_come_back(void **state) {
  (void)state;
  Core core = test_core(2);
  CompactHeader header;
  int64_t size;
  Cloud cloud = cloud_make(&core, 50000, (ScreeVec3){0, 0, 0}, 1);
  for (int64_t i = 0; i < cloud.view.count; i++) cloud.columns[6][i] = 1e-5f; /* blocks are 5 mm */
  round_trip(&core, &cloud, &header, &size);
  assert_true(header.blocks > 49000);
  cloud_drop(&core, &cloud);
  cloud = cloud_make(&core, 50000, (ScreeVec3){7e5, 0, 0}, 1);
  assert_ok(&core, write_cloud(&core, &cloud.view, FRAME_ID, 0));
  FrameColumns before = read_cloud(&core, &header, &size);
  cloud.columns[0][20] = 3e9f;
  cloud.columns[1][21] = -3e9f;
  assert_ok(&core, write_cloud(&core, &cloud.view, FRAME_ID, 0));
  FrameColumns after = read_cloud(&core, &header, &size);
  assert_true(before.origin.x == after.origin.x && before.origin.y == after.origin.y);
  int64_t same = 0;
  for (int64_t k = 0; k < after.count; k++)
    for (int64_t j = k > 2 ? k - 2 : 0; j <= k + 2 && j < before.count; j++)
      if (after.ids[k] == before.ids[j]) same += after.numbers[k] == before.numbers[j];
  assert_int_equal(same, 49998); /* all but the two */
  frame_columns_destroy(&core, &before);
  frame_columns_destroy(&core, &after);
  cloud_drop(&core, &cloud);
  core_destroy(&core);
}

static void bytes_are_few(void **state) {
  (void)state;
  Core core = test_core(2);
  Cloud cloud = cloud_make(&core, 100000, (ScreeVec3){0, 0, 0}, 1);
  static const struct {
    unsigned columns;
    int bytes;
  } cases[] = {{0, 8}, {FRAME_VELOCITY, 12}, {FRAME_ID, 12}, {FRAME_VELOCITY | FRAME_ID, 16}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    CompactHeader header;
    int64_t size;
    assert_ok(&core, write_cloud(&core, &cloud.view, cases[k].columns, 0));
    FrameColumns columns = read_cloud(&core, &header, &size);
    assert_int_equal(columns.columns, cases[k].columns);
    assert_true(size - cases[k].bytes * columns.count <= 64 + 4 + 8 * 16);
    if (!(cases[k].columns & FRAME_ID))
      for (uint32_t i = 0; i < columns.count; i++) assert_int_equal(columns.ids[i], i);
    for (int64_t i = 0; i < columns.count && !(cases[k].columns & FRAME_VELOCITY); i++)
      assert_true(columns.numbers[COLUMN_VX * columns.count + i] == 0);
    frame_columns_destroy(&core, &columns);
  }
  cloud_drop(&core, &cloud);
  core_destroy(&core);
}

static uint64_t hash_file(Core *core) {
  char *data = NULL;
  int64_t size = 0;
  assert_ok(core, files_read(core, path, INT64_MAX - 1, &data, &size));
  uint64_t hash = 1469598103934665603u;
  for (int64_t k = 0; k < size; k++) hash = (hash ^ (unsigned char)data[k]) * 1099511628211u;
  memory_drop(core, &data);
  return hash;
}

/* Nor on the width of the machine's vectors; and what is read and written again has the same bytes. */
static void bytes_do_not_depend_on_threads(void **state) {
  (void)state;
  uint64_t first = 0;
  for (int threads = 1; threads <= 7; threads += 2)
    for (int baseline = 0; baseline < 2; baseline++) {
      Core core = test_core(threads);
      core.baseline_simd = baseline;
      Cloud cloud = cloud_make(&core, 200001, (ScreeVec3){3, 4, 5}, 11);
      for (int64_t i = 0; i < cloud.view.count; i++) cloud.columns[6][i] = (float)(0.01 + 0.01 * unit(i, 8));
      assert_ok(&core, write_cloud(&core, &cloud.view, FRAME_VELOCITY | FRAME_ID, 1));
      uint64_t hash = hash_file(&core);
      if (first == 0) first = hash;
      assert_true(hash == first);
      CompactHeader header;
      int64_t size;
      FrameColumns columns = read_cloud(&core, &header, &size);
      const float *numbers = columns.numbers;
      int64_t n = columns.count;
      ScreeParticles again = {n,
                              columns.origin,
                              numbers,
                              numbers + n,
                              numbers + 2 * n,
                              numbers + 3 * n,
                              numbers + 4 * n,
                              numbers + 5 * n,
                              numbers + 6 * n,
                              columns.ids,
                              columns.materials};
      assert_ok(&core, write_cloud(&core, &again, FRAME_VELOCITY | FRAME_ID, 1));
      assert_true(hash_file(&core) == first);
      frame_columns_destroy(&core, &columns);
      cloud_drop(&core, &cloud);
      core_destroy(&core);
    }
}

static void bad_grains_are_named(void **state) {
  (void)state;
  static const struct {
    int column;
    float value;
    const char *message;
  } cases[] = {{0, NAN, "nowhere"},     {1, INFINITY, "nowhere"}, {2, -3e15f, "too far"},   {3, NAN, "no velocity"},
               {5, INFINITY, "no vel"}, {6, 0, "no radius"},      {6, -0.01f, "no radius"}, {6, NAN, "no radius"},
               {6, INFINITY, "radius"}, {6, 1e-30f, "too small"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Core core = test_core(2);
    Cloud cloud = cloud_make(&core, 40000, (ScreeVec3){0, 0, 0}, 1);
    unlink(path);
    cloud.columns[cases[k].column][33333] = cases[k].value;
    assert_int_equal(write_cloud(&core, &cloud.view, FRAME_VELOCITY, 0), SCREE_CANNOT_WRITE);
    assert_non_null(strstr(core.error.message, cases[k].message));
    if (cases[k].value != 1e-30f) assert_non_null(strstr(core.error.message, "grain 4294933962 "));
    assert_int_equal(access(path, F_OK), -1);
    cloud_drop(&core, &cloud);
    core_destroy(&core);
  }
}

/* ---- files that lie ---- */

static Status read_bytes(Core *core, const char *data, int64_t size) {
  FrameColumns columns = {0};
  char *exact = malloc((size_t)size + 1); /* so that a sanitizer sees every byte too far */
  memcpy(exact, data, (size_t)size);
  exact[size] = 0;
  Status status = frame_read_compact(core, path, exact, size, &columns);
  free(exact);
  for (int64_t i = 0; status == SCREE_OK && i < COLUMN_FLOATS * columns.count; i++)
    assert_true(isfinite(columns.numbers[i]));
  frame_columns_destroy(core, &columns);
  if (status != SCREE_OK) assert_string_equal(core->error.file, path);
  core_report(core, SCREE_OK, NULL);
  return status;
}

static void damaged_files_are_refused(void **state) {
  (void)state;
  Core core = test_core(1);
  Cloud cloud = cloud_make(&core, 7, (ScreeVec3){0, 0, 0}, 12);
  cloud.columns[6][3] = 0.02f;
  assert_ok(&core, write_cloud(&core, &cloud.view, FRAME_VELOCITY | FRAME_ID, 0));
  char *data = NULL, *changed = NULL;
  int64_t size = 0;
  assert_ok(&core, files_read(&core, path, 1 << 20, &data, &size));
  assert_ok(&core, memory_new(&core, &changed, size + 16, "test"));
  for (int64_t cut = 0; cut < size; cut++) assert_int_equal(read_bytes(&core, data, cut), SCREE_BAD_INPUT);
  memcpy(changed, data, (size_t)size);
  assert_int_equal(read_bytes(&core, changed, size), SCREE_OK);
  assert_int_equal(read_bytes(&core, changed, size + 1), SCREE_BAD_INPUT);
  /* Every bit of the header but those of the time, then those of radii and blocks. */
  for (int64_t bit = 0; bit < 8 * size; bit++) {
    memcpy(changed, data, (size_t)size);
    changed[bit / 8] = (char)(changed[bit / 8] ^ 1 << bit % 8);
    Status status = read_bytes(&core, changed, size);
    bool time = bit / 8 >= 32 && bit / 8 < 40, step = bit / 8 >= 46 && bit / 8 < 48;
    if (bit / 8 < 64 && !time && !step) assert_int_equal(status, SCREE_BAD_INPUT);
  }
  static const double steps[] = {NAN, INFINITY, 0, -0x1p-10, 0.3, 0x1p-61, 0x1p41};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    memcpy(changed, data, (size_t)size);
    memcpy(changed + offsetof(CompactHeader, step), &steps[k], sizeof steps[k]);
    assert_int_equal(read_bytes(&core, changed, size), SCREE_BAD_INPUT);
  }
  static const uint64_t counts[] = {UINT64_MAX, 1ull << 61, 1ull << 32, 8};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (size_t at = offsetof(CompactHeader, count); at <= offsetof(CompactHeader, blocks); at += 8) {
      memcpy(changed, data, (size_t)size);
      memcpy(changed + at, &counts[k], sizeof counts[k]);
      assert_int_equal(read_bytes(&core, changed, size), SCREE_BAD_INPUT);
    }
  memory_drop(&core, &changed);
  memory_drop(&core, &data);
  cloud_drop(&core, &cloud);
  core_destroy(&core);
}

static void velocities_are_near(void **state) {
  (void)state;
  for (int64_t k = 0; k < 200000; k++) {
    float size = (float)pow(2, 40 * unit(k, 0) - 25);
    float v[3] = {size * (float)(2 * unit(k, 1) - 1), size * (float)(2 * unit(k, 2) - 1), size};
    uint32_t packed = compact_velocity(v[0], v[1], v[2]);
    for (int c = 0; c < 3; c++)
      assert_true(fabs((double)compact_velocity_read(packed, c) - (double)v[c]) <= VELOCITY_ERROR * size + 0x1p-24);
    /* Once rounded it stays. */
    assert_int_equal(compact_velocity(compact_velocity_read(packed, 0), compact_velocity_read(packed, 1),
                                      compact_velocity_read(packed, 2)),
                     packed);
  }
  assert_true(compact_velocity_read(compact_velocity(0, 0, 0), 1) == 0);
  assert_true(compact_velocity_read(compact_velocity(-3e38f, 1, 3e38f), 0) == -255 * 256.0f);
  assert_true(compact_velocity_read(compact_velocity(-3e38f, 1, 3e38f), 2) == 255 * 256.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grains_come_back),
                                     cmocka_unit_test(radii_come_back),
                                     cmocka_unit_test(spread_clouds_come_back),
                                     cmocka_unit_test(bytes_are_few),
                                     cmocka_unit_test(bytes_do_not_depend_on_threads),
                                     cmocka_unit_test(bad_grains_are_named),
                                     cmocka_unit_test(damaged_files_are_refused),
                                     cmocka_unit_test(velocities_are_near)};
  return cmocka_run_group_tests(tests, choose_path, remove_file);
}
