/* Signed distance against a mesh of 100,000 triangles, exact and cached; loading a binary STL of a million. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/rng.h"
#include "core/timer.h"
#include "geometry/shape.h"

enum { REPEATS = 3 };

/* A torus with waves: concave, with points both far from and near the surface in its box. */
static Status make_torus(Core *core, int detail, Mesh *mesh) {
  TRY(mesh_make_torus(core, 1, 0.4, detail, mesh));
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    Vec3 p = mesh->vertices[v];
    mesh->vertices[v] = vec3_scale(p, 1 + 0.02 * sin(20 * p.x) * sin(20 * p.y) * cos(20 * p.z));
  }
  return SCREE_OK;
}

static Status torus_shape(Core *core, int side, Shape *shape) {
  Mesh mesh = {0};
  int64_t *triangles = NULL;
  Status status = make_torus(core, side, &mesh);
  if (status == SCREE_OK) status = memory_new(core, &triangles, 3 * mesh.triangle_count, "benchmark");
  if (status == SCREE_OK) {
    for (int64_t k = 0; k < 3 * mesh.triangle_count; k++) triangles[k] = mesh.triangles[k / 3][k % 3];
    ScreeShapeDef definition = {.kind = SCREE_SHAPE_MESH, .scale = 1, .rotation = {1, 0, 0, 0}};
    definition.mesh = (ScreeMeshDef){NULL, &mesh.vertices[0].x, triangles, mesh.vertex_count, mesh.triangle_count};
    status = shape_create(core, &definition, false, NULL, NULL, shape);
  }
  memory_drop(core, &triangles);
  mesh_destroy(core, &mesh);
  return status;
}

typedef struct Queries {
  int64_t count;
  float *field[7]; /* x y z, distance, normal */
} Queries;

static Status queries_create(Core *core, Queries *queries, int64_t count) {
  queries->count = count;
  for (int k = 0; k < 7; k++) TRY(memory_new(core, &queries->field[k], count, "benchmark"));
  return SCREE_OK;
}

static void queries_destroy(Core *core, Queries *queries) {
  for (int k = 0; k < 7; k++) memory_drop(core, &queries->field[k]);
}

/* Random points of the box, or points of a lattice through it, row by row, as sorted grains would come. */
static void queries_fill(Queries *queries, bool sorted) {
  int64_t side = (int64_t)ceil(cbrt((double)queries->count));
  static const double low[3] = {-1.5, -1.5, -0.5}, size[3] = {3, 3, 1};
  for (int64_t i = 0; i < queries->count; i++) {
    const int64_t lattice[3] = {i % side, i / side % side, i / side / side};
    for (int k = 0; k < 3; k++) {
      double at = rng_unit(rng_bits(1, (uint64_t)i, (uint64_t)k, RNG_TEST));
      if (sorted) at = ((double)lattice[k] + at) / (double)side;
      queries->field[k][i] = (float)(low[k] + size[k] * at);
    }
  }
}

static Status distance_row(Core *core, BenchTable *table, const Shape *shape, const Queries *queries, double reach,
                           const char *name, const char *note) {
  double best = INFINITY;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double began = timer_now();
    shape_distance_many(core, shape, queries->count, queries->field[0], queries->field[1], queries->field[2], reach,
                        queries->field[3], queries->field[4], queries->field[5], queries->field[6]);
    best = fmin(best, timer_now() - began);
  }
  BenchRow row = {.ours = (double)queries->count / best, .reference = NAN, .unit = "queries/s"};
  snprintf(row.name, sizeof row.name, "%s", name);
  snprintf(row.note, sizeof row.note, "%s", note);
  return bench_row(core, table, row);
}

static Status distance_rows(Core *core, BenchTable *table, Shape *shape, Queries *queries) {
  const double band = table->quick ? 0.2 : 0.04, cell = table->quick ? 0.05 : 0.01;
  queries_fill(queries, false);
  TRY(distance_row(core, table, shape, queries, INFINITY, "distance, exact, random points", "any distance"));
  TRY(distance_row(core, table, shape, queries, band, "distance, exact, reach 0.04",
                   "random points; size of the mesh 2.8"));
  queries_fill(queries, true);
  TRY(distance_row(core, table, shape, queries, INFINITY, "distance, exact, sorted points", "any distance"));
  double began = timer_now();
  TRY(shape_cache_distance(core, shape, cell, band, 0));
  TRY(bench_row(core, table,
                (BenchRow){.name = "grid of cells 0.01, band 0.04",
                           .ours = timer_now() - began,
                           .reference = NAN,
                           .unit = "s",
                           .note = "building it"}));
  TRY(distance_row(core, table, shape, queries, band, "distance, grid, sorted points", "value and unit normal"));
  queries_fill(queries, false);
  return distance_row(core, table, shape, queries, band, "distance, grid, random points", "value and unit normal");
}

/* A binary STL of the mesh; the caller frees it. */
static Status write_stl(Core *core, const Mesh *mesh, int file) {
  char *data = NULL;
  int64_t size = 84 + 50 * mesh->triangle_count;
  TRY(memory_new(core, &data, size, "benchmark"));
  uint32_t count = (uint32_t)mesh->triangle_count;
  memcpy(data + 80, &count, 4);
  for (int64_t t = 0; t < mesh->triangle_count; t++) {
    for (int k = 0; k < 3; k++) {
      Vec3 p = mesh->vertices[mesh->triangles[t][k]];
      const float corner[3] = {(float)p.x, (float)p.y, (float)p.z};
      memcpy(data + 84 + 50 * t + 12 * (k + 1), corner, sizeof corner);
    }
  }
  int64_t written = 0;
  while (written < size) {
    ssize_t now = write(file, data + written, (size_t)(size - written));
    if (now <= 0) break;
    written += now;
  }
  memory_drop(core, &data);
  return written == size ? SCREE_OK : fail(core, SCREE_CANNOT_WRITE, "cannot write a mesh to measure its loading");
}

static Status load_rows(Core *core, BenchTable *table, const Mesh *mesh) {
  char path[512];
  snprintf(path, sizeof path, "%s/scree_bench_XXXXXX.stl", P_tmpdir);
  int file = mkstemps(path, 4);
  if (file < 0) return fail(core, SCREE_CANNOT_WRITE, "cannot make a file in %s", P_tmpdir);
  Status status = write_stl(core, mesh, file);
  close(file);
  double load = INFINITY, check = INFINITY, tree = INFINITY;
  for (int repeat = 0; repeat < REPEATS && status == SCREE_OK; repeat++) {
    Mesh loaded = {0};
    MeshFindings findings;
    Bvh *bvh = NULL;
    double began = timer_now();
    status = mesh_load(core, path, &loaded);
    double read = timer_now();
    if (status == SCREE_OK) status = mesh_check(core, &loaded, &findings);
    double checked = timer_now();
    if (status == SCREE_OK) status = bvh_build(core, &loaded, &bvh);
    load = fmin(load, read - began);
    check = fmin(check, checked - read);
    tree = fmin(tree, timer_now() - checked);
    bvh_destroy(core, bvh);
    mesh_destroy(core, &loaded);
  }
  unlink(path);
  TRY(status);
  TRY(bench_row(core, table,
                (BenchRow){.name = "binary STL, 1M triangles: load",
                           .ours = load,
                           .reference = NAN,
                           .unit = "s",
                           .note = "vertices merged"}));
  TRY(bench_row(core, table,
                (BenchRow){.name = "binary STL, 1M triangles: check",
                           .ours = check,
                           .reference = NAN,
                           .unit = "s",
                           .note = "edges matched, no area dropped"}));
  return bench_row(
      core, table,
      (BenchRow){
          .name = "binary STL, 1M triangles: tree", .ours = tree, .reference = NAN, .unit = "s", .note = "one thread"});
}

Status bench_geometry(Core *core, BenchTable *table) {
  table->counts = "the shortest of several repeats";
  Shape shape = {0};
  Queries queries = {0};
  Status status = torus_shape(core, (int)bench_amount(table, 320, 40), &shape);
  if (status == SCREE_OK) status = queries_create(core, &queries, bench_amount(table, 1000000, 1000));
  if (status == SCREE_OK) status = distance_rows(core, table, &shape, &queries);
  queries_destroy(core, &queries);
  shape_destroy(core, &shape);
  Mesh mesh = {0};
  if (status == SCREE_OK) status = make_torus(core, (int)bench_amount(table, 1000, 40), &mesh);
  if (status == SCREE_OK) status = load_rows(core, table, &mesh);
  mesh_destroy(core, &mesh);
  return status == SCREE_OK ? bench_sampling(core, table) : status;
}
