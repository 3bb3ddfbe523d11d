/* Order and lists made on a device are those of the CPU: same indices, same rows, in the same order. In tests the
 * device is PoCL. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "core/rng.h"
#include "neighbors/lists_device.h"

enum { AXES = 3 };

typedef struct Cloud {
  int64_t count;
  float *at[AXES], *radius;
  uint32_t *id;
} Cloud;

static void *room(int64_t count) { return calloc((size_t)count + 1, 8); }

/* Points of a box, some of them in the same place; radii that differ; ids in no order. */
static Cloud cloud_new(int64_t count, float low, float size) {
  Cloud cloud = {.count = count, .radius = room(count), .id = room(count)};
  for (int a = 0; a < AXES; a++) {
    cloud.at[a] = room(count);
    for (int64_t i = 0; i < count; i++) {
      const int64_t who = i % 7 == 0 ? i / 2 : i;
      cloud.at[a][i] = low + size * (float)rng_unit(rng_bits(5, (uint64_t)who, (uint64_t)a, RNG_TEST));
    }
  }
  for (int64_t i = 0; i < count; i++) {
    cloud.radius[i] = 0.5f + 0.5f * (float)rng_unit(rng_bits(5, (uint64_t)i, AXES, RNG_TEST));
    cloud.id[i] = (uint32_t)((i * 7919 + 13) % (count | 1)) + 1;
  }
  return cloud;
}

static void cloud_free(Cloud *cloud) {
  for (int a = 0; a < AXES; a++) free(cloud->at[a]);
  free(cloud->radius);
  free(cloud->id);
}

/* By the CPU, of points that stand in its order then. */
static void lists_of_cpu(Core *core, Cloud *cloud, float cell, float reach, bool radii, float share, int32_t *order,
                         NeighborList *list) {
  CellGrid *grid = NULL;
  Points points = {cloud->count, cloud->at[0], cloud->at[1], cloud->at[2], cloud->id};
  assert_ok(core, cell_grid_create(core, &grid));
  assert_ok(core, cell_grid_order(core, grid, NULL, points, cell, order));
  Cloud sorted = cloud_new(cloud->count, 0, 1);
  for (int64_t k = 0; k < cloud->count; k++) {
    for (int a = 0; a < AXES; a++) sorted.at[a][k] = cloud->at[a][order[k]];
    sorted.radius[k] = cloud->radius[order[k]] + share;
    sorted.id[k] = cloud->id[order[k]];
  }
  points = (Points){cloud->count, sorted.at[0], sorted.at[1], sorted.at[2], sorted.id};
  const float *of = radii ? sorted.radius : NULL;
  assert_ok(core, cell_grid_build(core, grid, points, cell));
  assert_ok(core, neighbor_list_build(core, grid, points, points, reach, of, of, list));
  cell_grid_destroy(core, grid);
  cloud_free(&sorted);
}

typedef struct There {
  Device *device;
  ListMaker *maker;
  ListDevice list;
  DeviceBuffer at[AXES], radius, id;
} There;

static void send(Core *core, There *there, DeviceBuffer *to, const void *from, int64_t count) {
  assert_ok(core, device_reserve(core, there->device, to, 4 * count + 4, 0, "points"));
  assert_ok(core, device_write(core, there->device, to, 0, 4 * count, from));
}

static void compare(Core *core, There *there, int64_t count, float low, float size, bool radii) {
  Cloud cloud = cloud_new(count, low, size);
  const float share = radii ? 0.05f : 0, reach = radii ? 1.1f : 1.9f, cell = radii ? 2.4f : 1.95f;
  int32_t *order = room(count), *order_there = room(count);
  NeighborList cpu = {0}, fetched = {0};
  lists_of_cpu(core, &cloud, cell, reach, radii, share, order, &cpu);
  for (int a = 0; a < AXES; a++) send(core, there, &there->at[a], cloud.at[a], count);
  send(core, there, &there->radius, cloud.radius, count);
  send(core, there, &there->id, cloud.id, count);
  const ListPoints points = {
      count, &there->at[0], &there->at[1], &there->at[2], &there->id, radii ? &there->radius : NULL, share};
  const DeviceBuffer *found = NULL;
  bool finite = false;
  assert_ok(core, list_maker_order(core, there->maker, &points, cell, &finite, &found));
  assert_true(finite);
  const DeviceRead with = {found, 0, 4 * count, order_there};
  assert_ok(core, list_maker_find(core, there->maker, reach, &with, 1, &there->list));
  assert_ok(core, list_device_fetch(core, there->device, &there->list, &fetched));
  assert_memory_equal(order, order_there, 4 * (size_t)count);
  assert_int_equal(cpu.entries, fetched.entries);
  assert_int_equal(cpu.count, fetched.count);
  assert_memory_equal(cpu.start, fetched.start, sizeof *cpu.start * (size_t)(count + 1));
  assert_memory_equal(cpu.index, fetched.index, sizeof *cpu.index * (size_t)cpu.entries);
  assert_true(count == 0 || list_maker_outermost(there->maker) >= (double)fabsf(cloud.at[0][0]));
  neighbor_list_destroy(core, &cpu);
  neighbor_list_destroy(core, &fetched);
  free(order);
  free(order_there);
  cloud_free(&cloud);
}

/* Cells are counted in the first ones and sorted by their numbers in the others; the last is beyond the outermost cell
 * on all sides. */
static void lists_are_those_of_the_cpu(void **state) {
  (void)state;
  static const struct {
    int64_t count;
    float low, size;
  } clouds[] = {{0, 0, 1},        {1, 3, 1},           {500, -5, 10},    {20000, -17, 40},
                {3000, 90, 0.5f}, {2000, -2000, 4000}, {700, 0, 300000}, {300, -1e9f, 2e9f}};
  Core core = test_core(2);
  There there = {0};
  assert_ok(&core, device_open(&core, 0, &there.device));
  assert_ok(&core, list_maker_open(&core, there.device, &there.maker));
  for (size_t k = 0; k < sizeof clouds / sizeof *clouds; k++)
    for (int radii = 0; radii < 2; radii++)
      compare(&core, &there, clouds[k].count, clouds[k].low, clouds[k].size, radii);
  list_device_close(there.device, &there.list);
  DeviceBuffer *const buffers[] = {&there.at[0], &there.at[1], &there.at[2], &there.radius, &there.id};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) device_release(there.device, buffers[k]);
  list_maker_close(&core, there.maker);
  device_close(&core, there.device);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_those_of_the_cpu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
