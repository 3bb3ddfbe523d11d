#include "world/pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"

enum { RINGS_MAX = 512, PILE_CHUNK = 1024, RUNOUT_RINGS = 256 };

/* Rings one grain diameter wide, cut into pieces about two diameters long, so that each has room for two grains side by
 * side wherever it lies: with as many pieces in an inner ring as in an outer one, most of the inner ones would hold no
 * grain, and the higher of an outer one's many would stand for all. The highest top of a grain in each piece is the
 * free surface there, and the mean over a ring's pieces is the profile. A piece without grains counts as bare ground,
 * so that a lopsided pile is not taken for a full one. */
typedef struct SurfaceProfile {
  int rings;
  double width;
  double ground;
  float *top; /* of the pieces, ring after ring */
} SurfaceProfile;

/* Of a ring whose middle is (ring + 1/2) diameters from the axis. */
static int64_t pieces_in(int ring) {
  int64_t pieces = (int64_t)(M_PI * (ring + 0.5));
  return pieces > 1 ? pieces : 1;
}

/* Where grains are above the ground, for the loops over them. */
typedef struct Surface {
  const State *state;
  ScreeVec2 axis;
  const SurfaceProfile *profile;
  int64_t *first; /* piece of each ring */
  int32_t *piece; /* of each grain */
  float *grain_top;
} Surface;

static double square_of_axis(const Surface *surface, Vec3 at) {
  double x = at.x - surface->axis.x, y = at.y - surface->axis.y;
  return x * x + y * y;
}

static double farthest_chunk(void *context, int64_t b, int64_t e) {
  const Surface *surface = context;
  double largest = 0;
  for (int64_t i = b; i < e; i++) largest = fmax(largest, square_of_axis(surface, state_position(surface->state, i)));
  return largest;
}

static double depth_chunk(void *context, int64_t b, int64_t e) {
  const State *state = ((const Surface *)context)->state;
  double deepest = -INFINITY;
  for (int64_t i = b; i < e; i++)
    deepest = fmax(deepest, (double)state->particles.radius[i] - state_position(state, i).z);
  return deepest;
}

static void pieces_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Surface *surface = context;
  const SurfaceProfile *profile = surface->profile;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(surface->state, i);
    double angle = portable_atan2(at.y - surface->axis.y, at.x - surface->axis.x);
    int ring = (int)(sqrt(square_of_axis(surface, at)) / profile->width);
    if (ring >= profile->rings) ring = profile->rings - 1;
    int64_t pieces = pieces_in(ring), piece = (int64_t)((angle / (2 * M_PI) + 0.5) * (double)pieces);
    if (piece >= pieces) piece = pieces - 1;
    surface->piece[i] = (int32_t)(surface->first[ring] + piece);
    surface->grain_top[i] = (float)(at.z + (double)surface->state->particles.radius[i] - profile->ground);
  }
}

static Status measure_surface(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis,
                              SurfaceProfile *profile) {
  int64_t count = state->particles.count, first[RINGS_MAX + 1] = {0};
  Surface surface = {.state = state, .axis = axis, .profile = profile, .first = first};
  double reach = sqrt(parallel_max(core, 0, count, PILE_CHUNK, 0, farthest_chunk, &surface));
  profile->width = fmax(2 * state->radius, reach / (RINGS_MAX - 1));
  profile->rings = (int)(reach / profile->width) + 1;
  profile->ground = -parallel_max(core, 0, count, PILE_CHUNK, -INFINITY, depth_chunk, &surface);
  for (int ring = 0; ring < profile->rings; ring++) first[ring + 1] = first[ring] + pieces_in(ring);
  TRY(scratch_take(core, scratch, &profile->top, first[profile->rings], "surface profile"));
  TRY(scratch_take(core, scratch, &surface.piece, count, "surface profile"));
  TRY(scratch_take(core, scratch, &surface.grain_top, count, "surface profile"));
  parallel_for(core, 0, count, PILE_CHUNK, pieces_chunk, &surface);
  for (int64_t k = 0; k < first[profile->rings]; k++) profile->top[k] = 0;
  for (int64_t i = 0; i < count; i++) {
    float *highest = &profile->top[surface.piece[i]];
    if (surface.grain_top[i] > *highest) *highest = surface.grain_top[i];
  }
  return SCREE_OK;
}

Status pile_angle(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis, double *degrees) {
  *degrees = 0;
  if (state->particles.count < 8) return SCREE_OK;
  int mark = scratch_mark(scratch);
  SurfaceProfile profile = {0};
  TRY(measure_surface(core, scratch, state, axis, &profile));
  double mean[RINGS_MAX], height = 0;
  const float *top = profile.top;
  for (int ring = 0; ring < profile.rings; ring++) {
    int64_t pieces = pieces_in(ring);
    mean[ring] = 0;
    for (int64_t k = 0; k < pieces; k++) mean[ring] += (double)*top++ / (double)pieces;
    height = fmax(height, mean[ring]);
  }
  /* Least squares of height over radius, weighted by circumference. */
  double n = 0, sr = 0, sh = 0, srr = 0, srh = 0;
  for (int ring = 0; ring < profile.rings; ring++) {
    if (mean[ring] < 0.15 * height || mean[ring] > 0.85 * height) continue;
    double r = (ring + 0.5) * profile.width, w = r;
    n += w;
    sr += w * r;
    sh += w * mean[ring];
    srr += w * r * r;
    srh += w * r * mean[ring];
  }
  double spread = n * srr - sr * sr;
  if (spread > 0) *degrees = fmax(0, -portable_atan((n * srh - sr * sh) / spread) * 180 / M_PI);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}

typedef struct Reach {
  double radius, mass;
} Reach;

static void swap_reach(Reach *a, Reach *b) {
  Reach t = *a;
  *a = *b;
  *b = t;
}

/* The smallest radius that holds so much mass: only the part where it lies is sorted any further. */
static double radius_of_mass(Reach *reach, int64_t count, double wanted) {
  int64_t low = 0, high = count;
  double below = 0, radius = 0;
  while (low < high && below < wanted) {
    double pivot = reach[low + (high - low) / 2].radius, less_mass = 0, equal_mass = 0;
    int64_t less = low, at = low, more = high; /* [low, less) below the pivot, [less, at) equal, [more, high) above */
    while (at < more) {
      if (reach[at].radius > pivot) swap_reach(&reach[at], &reach[--more]);
      else if (reach[at].radius < pivot) {
        less_mass += reach[at].mass;
        swap_reach(&reach[at++], &reach[less++]);
      } else equal_mass += reach[at++].mass;
    }
    if (less > low && below + less_mass >= wanted) {
      high = less;
      continue;
    }
    below += less_mass + equal_mass;
    radius = pivot;
    low = more;
  }
  return radius;
}

/* Mass in rings round the axis, so that only the ring in which the radius lies need be sorted. */
typedef struct Runout {
  const State *state;
  ScreeVec2 axis;
  double *radius;               /* of each particle */
  double per_metre;             /* rings */
  double (*mass)[RUNOUT_RINGS]; /* of each chunk's particles */
} Runout;

static double reach_chunk(void *context, int64_t b, int64_t e) {
  const Runout *runout = context;
  double largest = 0;
  for (int64_t i = b; i < e; i++) {
    Vec3 at = state_position(runout->state, i);
    double x = at.x - runout->axis.x, y = at.y - runout->axis.y;
    runout->radius[i] = sqrt(x * x + y * y);
    largest = runout->radius[i] > largest ? runout->radius[i] : largest;
  }
  return largest;
}

static int ring_of(const Runout *runout, int64_t i) {
  double ring = runout->radius[i] * runout->per_metre;
  return ring < RUNOUT_RINGS - 1 ? (int)ring : RUNOUT_RINGS - 1;
}

static void rings_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Runout *runout = context;
  double *mass = runout->mass[b / PILE_CHUNK];
  memset(mass, 0, sizeof *runout->mass);
  for (int64_t i = b; i < e; i++) mass[ring_of(runout, i)] += (double)runout->state->particles.mass[i];
}

/* The ring in which the wanted share of the mass is reached; *wanted becomes what of it lies there. */
static int ring_of_mass(const Runout *runout, int64_t chunks, double fraction, double *wanted) {
  double rings[RUNOUT_RINGS] = {0}, total = 0;
  for (int64_t c = 0; c < chunks; c++)
    for (int ring = 0; ring < RUNOUT_RINGS; ring++) rings[ring] += runout->mass[c][ring];
  for (int ring = 0; ring < RUNOUT_RINGS; ring++) total += rings[ring];
  *wanted = fraction * total;
  int ring = 0;
  for (; ring < RUNOUT_RINGS - 1 && rings[ring] < *wanted; ring++) *wanted -= rings[ring];
  return ring;
}

Status pile_runout(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis, double fraction, double *radius) {
  const Particles *p = &state->particles;
  Runout runout = {.state = state, .axis = axis};
  int64_t chunks = parallel_chunks(0, p->count, PILE_CHUNK), some = 0;
  double wanted;
  Reach *reach = NULL;
  *radius = 0;
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &runout.radius, p->count, "runout"));
  TRY(scratch_take(core, scratch, &runout.mass, chunks, "runout"));
  TRY(scratch_take(core, scratch, &reach, p->count, "runout"));
  double largest = parallel_max(core, 0, p->count, PILE_CHUNK, 0, reach_chunk, &runout);
  runout.per_metre = largest > 0 ? RUNOUT_RINGS / largest : 0;
  parallel_for(core, 0, p->count, PILE_CHUNK, rings_chunk, &runout);
  int ring = ring_of_mass(&runout, chunks, fraction, &wanted);
  for (int64_t i = 0; i < p->count; i++)
    if (ring_of(&runout, i) == ring) reach[some++] = (Reach){runout.radius[i], (double)p->mass[i]};
  *radius = radius_of_mass(reach, some, wanted);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}
