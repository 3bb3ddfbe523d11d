/* Fills of methods whose particles are parcels of bulk material: a lattice at rest density. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/region.h"

enum { LATTICE_GRAIN = 1024, LATTICE_CUBE = 16 };

/* A parcel may begin that much nearer to a wall than its radius: fitted boxes squeeze their spacing a little. */
#define WALL_SHARE 0.9
/* A box is fitted by stretching its lattice when that changes the spacing by less than this. */
#define MOST_STRETCH 0.06
/* A lattice that holds more or less than the shape's volume by up to this share is left as it is. */
#define MASS_OFF 0.01

typedef struct Lattice {
  const Region *region;
  Vec3 first; /* relative to the region's centre, in the shape's axes */
  Vec3 spacing;
  int64_t count[3];
  double jitter; /* m */
  bool whole;    /* a box: every point of it is inside */
  uint8_t *inside;
  double *depth; /* of the points, where the nearest to the surface are counted */
} Lattice;

/* Layers of an axis: as many as fit, stretched to reach from side to side where that takes little. */
static void fit_axis(double side, double wanted, double *spacing, int64_t *count) {
  double layers = fmax(round(side / wanted), 1), stretched = side / layers;
  *spacing = stretched;
  *count = (int64_t)layers;
  if (fabs(stretched / wanted - 1) <= MOST_STRETCH) return;
  *spacing = wanted;
  *count = (int64_t)fmax(floor(side / wanted + 0.01), 1);
}

static void fit_box(Lattice *lattice, Vec3 size, double wanted) {
  double x, y, z;
  fit_axis(size.x, wanted, &x, &lattice->count[0]);
  fit_axis(size.y, wanted, &y, &lattice->count[1]);
  z = wanted * wanted * wanted / (x * y); /* what the sides stretch the height takes back: rest density */
  double layers = size.z / z, whole_layers = fmax(round(layers), 1);
  /* Where whole layers would weigh something else, the last one is thinned. */
  lattice->count[2] = (int64_t)(fabs(whole_layers / layers - 1) <= MASS_OFF ? whole_layers : fmax(ceil(layers), 1));
  lattice->spacing = vec3(x, y, z);
  lattice->first = vec3(-0.5 * x * (double)(lattice->count[0] - 1), -0.5 * y * (double)(lattice->count[1] - 1),
                        0.5 * (wanted - size.z));
  lattice->whole = true;
}

/* Other shapes: the lattice stands on the shape's lowest point and is symmetric about the axis. */
static void fit_other(Lattice *lattice, Vec3 size, double wanted) {
  for (int axis = 0; axis < 2; axis++) lattice->count[axis] = 2 * (int64_t)ceil(0.5 * vec3_get(size, axis) / wanted);
  lattice->count[2] = (int64_t)ceil(size.z / wanted);
  lattice->spacing = vec3(wanted, wanted, wanted);
  lattice->first = vec3(-0.5 * wanted * (double)(lattice->count[0] - 1),
                        -0.5 * wanted * (double)(lattice->count[1] - 1), 0.5 * (wanted - size.z));
}

/* Where point k lies, in world axes relative to the region's origin. */
static Vec3 lattice_point(const Lattice *lattice, int64_t k, bool jittered) {
  int64_t x = k % lattice->count[0], y = k / lattice->count[0] % lattice->count[1],
          z = k / lattice->count[0] / lattice->count[1];
  Vec3 at = vec3_add(lattice->first, vec3((double)x * lattice->spacing.x, (double)y * lattice->spacing.y,
                                          (double)z * lattice->spacing.z));
  if (jittered && lattice->jitter > 0) {
    uint64_t bits = rng_bits(lattice->region->plan->seed, (uint64_t)k, 0, RNG_VOLUME_SAMPLE);
    double off[3];
    for (int axis = 0; axis < 3; axis++, bits = rng_mix(bits)) off[axis] = lattice->jitter * (2 * rng_unit(bits) - 1);
    at = vec3_add(at, vec3(off[0], off[1], off[2]));
  }
  return mat3_apply(&lattice->region->to_world, at);
}

/* Points of the lattice, without jitter: the lattice says what fits, and jitter loses nothing at walls. */
static int64_t lattice_index(const Lattice *lattice, const int64_t at[3]) {
  return (at[2] * lattice->count[1] + at[1]) * lattice->count[0] + at[0];
}

typedef struct LatticeCube {
  int64_t low[3], high[3]; /* points [low, high) */
} LatticeCube;

static void set_cube(const Lattice *lattice, const LatticeCube *cube, bool in) {
  int64_t at[3];
  for (at[2] = cube->low[2]; at[2] < cube->high[2]; at[2]++)
    for (at[1] = cube->low[1]; at[1] < cube->high[1]; at[1]++)
      for (at[0] = cube->low[0]; at[0] < cube->high[0]; at[0]++) lattice->inside[lattice_index(lattice, at)] = in;
}

/* Which points are inside. Whether one is, is dear to find out for a mesh, and the same for all points of a cube that
 * the surface does not come near. */
static void test_cube(const Lattice *lattice, const LatticeCube *cube) {
  const Region *region = lattice->region;
  int64_t last[3];
  int longest = 0;
  for (int axis = 0; axis < 3; axis++) {
    last[axis] = cube->high[axis] - 1;
    if (cube->high[axis] - cube->low[axis] > cube->high[longest] - cube->low[longest]) longest = axis;
  }
  Vec3 low = lattice_point(lattice, lattice_index(lattice, cube->low), false);
  Vec3 high = lattice_point(lattice, lattice_index(lattice, last), false);
  Vec3 middle = vec3_scale(vec3_add(low, high), 0.5);
  double half = 0.5 * vec3_length(vec3_sub(high, low)) * 1.000001;
  if (cube->high[longest] - cube->low[longest] == 1 ||
      (region->closed && region_surface_distance(region, middle, half * 1.01) > half)) {
    set_cube(lattice, cube, region_contains(region, middle));
    return;
  }
  LatticeCube parts[2] = {*cube, *cube};
  parts[0].high[longest] = parts[1].low[longest] = (cube->low[longest] + cube->high[longest]) / 2;
  for (int k = 0; k < 2; k++) test_cube(lattice, &parts[k]);
}

static void test_cubes(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Lattice *lattice = context;
  int64_t nx = parallel_chunks(0, lattice->count[0], LATTICE_CUBE),
          ny = parallel_chunks(0, lattice->count[1], LATTICE_CUBE);
  for (int64_t k = b; k < e; k++) {
    LatticeCube cube = {.low = {k % nx, k / nx % ny, k / nx / ny}};
    for (int axis = 0; axis < 3; axis++) {
      cube.low[axis] *= LATTICE_CUBE;
      cube.high[axis] =
          cube.low[axis] + LATTICE_CUBE < lattice->count[axis] ? cube.low[axis] + LATTICE_CUBE : lattice->count[axis];
    }
    if (lattice->whole) set_cube(lattice, &cube, true);
    else test_cube(lattice, &cube);
  }
}

static void test_blocked(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Lattice *lattice = context;
  const Region *region = lattice->region;
  for (int64_t k = b; k < e; k++)
    if (lattice->inside[k] &&
        region_blocked(region, lattice_point(lattice, k, false), WALL_SHARE * region->plan->radius))
      lattice->inside[k] = 0;
}

static void depth_body(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Lattice *lattice = context;
  for (int64_t k = b; k < e; k++)
    lattice->depth[k] =
        -region_distance(lattice->region, lattice_point(lattice, k, false), 2 * lattice->spacing.x).distance;
}

typedef struct Ranked {
  double depth;
  uint64_t random; /* points that lie alike are taken at random */
  int64_t point;
} Ranked;

static int deepest_first(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  return (x->random > y->random) - (x->random < y->random);
}

static void keep_deepest(const Lattice *lattice, int64_t points, int64_t wanted, Ranked *ranked) {
  double spacing = lattice->spacing.x;
  for (int64_t k = 0; k < points; k++) {
    int64_t layer = k / lattice->count[0] / lattice->count[1];
    /* In a box all layers are alike, but that the last is taken last. Else what differs by rounding lies alike. */
    double depth = lattice->whole ? (layer + 1 < lattice->count[2]) : round(1e6 * lattice->depth[k] / spacing);
    ranked[k] = (Ranked){depth, rng_bits(lattice->region->plan->seed, (uint64_t)k, 2, RNG_VOLUME_SAMPLE), k};
  }
  qsort(ranked, (size_t)points, sizeof *ranked, deepest_first);
  for (int64_t k = 0; k < points; k++) lattice->inside[ranked[k].point] = k < wanted;
}

/* A small lattice that is cut off at a surface, or a box of a few layers, holds some percents too much or too little.
 * Then the deepest points are taken, as many as have the volume. */
static Status keep_volume(Core *core, Lattice *lattice, int64_t points) {
  double spacing = 2 * lattice->region->plan->radius, wanted = lattice->region->volume / (spacing * spacing * spacing);
  int64_t count = 0;
  for (int64_t k = 0; k < points; k++) count += lattice->inside[k];
  if (fabs((double)count - wanted) <= fmax(MASS_OFF * wanted, 0.5)) return SCREE_OK;
  Ranked *ranked = NULL;
  Status status = memory_new(core, &ranked, points, "lattice");
  if (status == SCREE_OK && !lattice->whole) status = memory_new(core, &lattice->depth, points, "lattice");
  if (status == SCREE_OK) {
    if (lattice->depth) parallel_for(core, 0, points, LATTICE_GRAIN, depth_body, lattice);
    keep_deepest(lattice, points, (int64_t)round(wanted), ranked);
  }
  memory_drop(core, &lattice->depth);
  memory_drop(core, &ranked);
  return status;
}

static Status keep_points(Core *core, const Lattice *lattice, int64_t points, Samples *samples) {
  int64_t count = 0;
  for (int64_t k = 0; k < points; k++) count += lattice->inside[k];
  TRY(samples_new(core, count, false, samples));
  for (int64_t k = 0; k < points; k++) {
    if (!lattice->inside[k]) continue;
    Vec3 at = lattice_point(lattice, k, true);
    samples->x[samples->count] = (float)at.x;
    samples->y[samples->count] = (float)at.y;
    samples->z[samples->count++] = (float)at.z;
  }
  return SCREE_OK;
}

Status sample_lattice(Core *core, const Shape *shape, const SamplingPlan *plan, double jitter, Samples *samples) {
  *samples = (Samples){0};
  Region region;
  TRY(region_create(core, shape, plan, &region));
  if (!(plan->radius > 0)) return fail(core, SCREE_BAD_ARGUMENT, "the radius of a lattice must be positive");
  Vec3 size = vec3_sub(shape->bounds_high, shape->bounds_low);
  double wanted = 2 * plan->radius;
  double most = (size.x / wanted + 2) * (size.y / wanted + 2) * (size.z / wanted + 2);
  if (!(most < 1e11)) return fail(core, SCREE_BAD_INPUT, "a lattice of about %.3g points cannot be made", most);
  Lattice lattice = {.region = &region, .jitter = jitter * plan->radius};
  if (shape->kind == SCREE_SHAPE_BOX && !shape->inside) fit_box(&lattice, size, wanted);
  else fit_other(&lattice, size, wanted);
  int64_t points = lattice.count[0] * lattice.count[1] * lattice.count[2];
  TRY(memory_new(core, &lattice.inside, points, "lattice"));
  int64_t cubes = 1;
  for (int axis = 0; axis < 3; axis++) cubes *= parallel_chunks(0, lattice.count[axis], LATTICE_CUBE);
  parallel_for(core, 0, cubes, 1, test_cubes, &lattice);
  Status status = keep_volume(core, &lattice, points);
  if (status == SCREE_OK && plan->obstacle) parallel_for(core, 0, points, LATTICE_GRAIN, test_blocked, &lattice);
  samples->origin = region.origin;
  if (status == SCREE_OK) status = keep_points(core, &lattice, points, samples);
  memory_drop(core, &lattice.inside);
  samples->fraction = (double)samples->count * wanted * wanted * wanted / region.volume;
  return status;
}
