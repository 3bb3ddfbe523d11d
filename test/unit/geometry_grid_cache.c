/* Distance grids kept from run to run: the same bits, and no harm from a damaged file. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "geometry/distance_grid.h"

enum { HEADER = 48, BLOCKS_AT = 32, SUM_AT = 40, PATH = 512, NAME = 128 };

static char folder[PATH];

static Shape make_torus(Core *core) {
  Mesh mesh;
  assert_ok(core, mesh_make_torus(core, 0.5, 0.2, 32, &mesh));
  int64_t(*triangles)[3] = malloc((size_t)mesh.triangle_count * sizeof *triangles);
  for (int64_t t = 0; t < mesh.triangle_count; t++)
    for (int k = 0; k < 3; k++) triangles[t][k] = mesh.triangles[t][k];
  ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .rotation = {1, 0, 0, 0}, .scale = 1};
  definition.mesh = (ScreeMeshDef){.vertices = &mesh.vertices[0].x,
                                   .triangles = triangles[0],
                                   .vertex_count = mesh.vertex_count,
                                   .triangle_count = mesh.triangle_count};
  Shape shape;
  assert_ok(core, shape_create(core, &definition, false, NULL, NULL, &shape));
  free(triangles);
  mesh_destroy(core, &mesh);
  return shape;
}

static uint64_t grid_hash(Core *core, const Shape *shape, double cell) {
  DistanceGrid *grid = NULL;
  assert_ok(core, distance_grid_build(core, shape, cell, 0.1, &grid));
  size_t places = (size_t)grid->blocks[0] * (size_t)grid->blocks[1] * (size_t)grid->blocks[2];
  uint64_t hash = hash_bytes(grid->table, places * sizeof *grid->table, (uint64_t)grid->block_count);
  hash = hash_bytes(grid->values, (size_t)grid->block_count * GRID_NODES * sizeof *grid->values, hash);
  distance_grid_destroy(core, grid);
  return hash;
}

/* How many files there are; the path of one. */
static int kept_files(char path[PATH + NAME]) {
  DIR *directory = opendir(folder);
  int count = 0;
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    if (entry->d_name[0] != '.') {
      snprintf(path, PATH + NAME, "%s/%.*s", folder, NAME - 2, entry->d_name);
      count++;
    }
  if (directory) closedir(directory);
  return count;
}

static void test_kept(void **state) {
  (void)state;
  Core core = test_core(2);
  Shape shape = make_torus(&core);
  char path[PATH + NAME];
  setenv("SCREE_CACHE", "off", 1);
  uint64_t expected = grid_hash(&core, &shape, 0.02);
  assert_int_equal(kept_files(path), 0);
  setenv("SCREE_CACHE", folder, 1);
  for (int k = 0; k < 3; k++) {
    assert_true(grid_hash(&core, &shape, 0.02) == expected);
    assert_int_equal(kept_files(path), 1);
  }
  assert_true(grid_hash(&core, &shape, 0.021) != expected); /* another grid, another file */
  assert_int_equal(kept_files(path), 2);
  setenv("SCREE_CACHE", "/dev/null/nowhere", 1); /* a folder that cannot be: no harm */
  assert_true(grid_hash(&core, &shape, 0.02) == expected);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

/* Changes the kept file at `at`, with the check sum made anew where `summed`, and makes the grid again. */
static void try_damaged(Core *core, const Shape *shape, const char *path, long at, bool summed, uint64_t expected) {
  int64_t size = 0;
  char *data = file_read(path, &size);
  data[at] ^= 0x55;
  if (summed) {
    int64_t blocks = 0;
    memcpy(&blocks, data + BLOCKS_AT, sizeof blocks);
    size_t values = (size_t)blocks * GRID_NODES * sizeof(float), table = (size_t)size - HEADER - values;
    uint64_t sum = hash_bytes(data + HEADER, table, (uint64_t)blocks);
    sum = hash_bytes(data + HEADER + table, values, sum);
    memcpy(data + SUM_AT, &sum, sizeof sum);
  }
  file_write(path, data, size);
  free(data);
  assert_true(grid_hash(core, shape, 0.02) == expected);
}

static void test_damaged(void **state) {
  (void)state;
  Core core = test_core(1);
  Shape shape = make_torus(&core);
  char path[PATH + NAME];
  setenv("SCREE_CACHE", folder, 1);
  while (kept_files(path) > 0) assert_int_equal(unlink(path), 0);
  uint64_t expected = grid_hash(&core, &shape, 0.02);
  assert_int_equal(kept_files(path), 1);
  for (long at = 0; at < HEADER; at++) try_damaged(&core, &shape, path, at, false, expected);
  /* A table that leads out of the values, with the right check sum. */
  for (long at = HEADER; at < HEADER + 8; at++) try_damaged(&core, &shape, path, at, true, expected);
  int64_t size = 0;
  char *data = file_read(path, &size);
  const int64_t sizes[] = {0, 7, HEADER - 1, HEADER, HEADER + 100, size - 1};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    file_write(path, data, sizes[k]);
    assert_true(grid_hash(&core, &shape, 0.02) == expected);
  }
  memset(data + size - 4, 0xff, 4); /* a value that is no number */
  file_write(path, data, size);
  try_damaged(&core, &shape, path, HEADER, true, expected);
  free(data);
  shape_destroy(&core, &shape);
  core_destroy(&core);
}

static int make_folder(void **state) {
  (void)state;
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/scree_grids_XXXXXX", parent && *parent ? parent : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char path[PATH + NAME];
  while (kept_files(path) > 0)
    if (unlink(path) != 0) return -1;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kept),
      cmocka_unit_test(test_damaged),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
