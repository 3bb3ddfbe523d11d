/* Fills of methods whose particles are parcels of bulk material: a lattice at rest density. */
#include <math.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/region.h"

enum { LATTICE_GRAIN = 1024 };

/* A parcel may begin that much nearer to a wall than its radius: fitted boxes squeeze their spacing a little. */
#define WALL_SHARE 0.9
/* A box is fitted by stretching its lattice when that changes the spacing by less than this. */
#define MOST_STRETCH 0.06

typedef struct Lattice {
  const Region *region;
  Vec3 first; /* relative to the region's centre, in the shape's axes */
  Vec3 spacing;
  int64_t count[3];
  double jitter; /* m */
  bool whole;    /* a box: every point of it is inside */
  uint8_t *inside;
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
  lattice->count[2] = (int64_t)fmax(round(size.z / z), 1);
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

static void test_points(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Lattice *lattice = context;
  const Region *region = lattice->region;
  for (int64_t k = b; k < e; k++) {
    Vec3 at = lattice_point(lattice, k, false); /* the lattice says what fits; jitter loses nothing at walls */
    bool in = lattice->whole || region_contains(region, at);
    lattice->inside[k] = in && !region_blocked(region, at, WALL_SHARE * region->plan->radius);
  }
}

static Status keep_points(Core *core, const Lattice *lattice, int64_t points, Samples *samples) {
  int64_t count = 0;
  for (int64_t k = 0; k < points; k++) count += lattice->inside[k];
  TRY(memory_new(core, &samples->x, count, "samples"));
  TRY(memory_new(core, &samples->y, count, "samples"));
  TRY(memory_new(core, &samples->z, count, "samples"));
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
  parallel_for(core, 0, points, LATTICE_GRAIN, test_points, &lattice);
  samples->origin = region.origin;
  Status status = keep_points(core, &lattice, points, samples);
  memory_drop(core, &lattice.inside);
  samples->fraction = (double)samples->count * wanted * wanted * wanted / region.volume;
  return status;
}
