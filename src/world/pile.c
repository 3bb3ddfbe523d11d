#include "world/pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/portable.h"

enum { RINGS_MAX = 512, RUNOUT_CHUNK = 1024, RUNOUT_RINGS = 256 };

/* Rings one grain diameter wide, cut into pieces about two diameters long, so that each has room for two grains side by
 * side wherever it lies: with as many pieces in an inner ring as in an outer one, most of the inner ones would hold no
 * grain, and the higher of an outer one's many would stand for all. The highest top of a grain in each piece is the
 * free surface there, and the mean over a ring's pieces is the profile. A piece without grains counts as bare ground,
 * so that a lopsided pile is not taken for a full one. */
typedef struct SurfaceProfile {
  int rings;
  double width;
  double ground;
  float *top; /* of the pieces, ring after ring: see first_piece */
} SurfaceProfile;

/* Of a ring whose middle is (ring + 1/2) diameters from the axis. */
static int64_t pieces_in(int ring) {
  int64_t pieces = (int64_t)(M_PI * (ring + 0.5));
  return pieces > 1 ? pieces : 1;
}
static int64_t first_piece(int ring) {
  int64_t first = 0;
  for (int r = 0; r < ring; r++) first += pieces_in(r);
  return first;
}

static double farthest(const State *state, ScreeVec2 axis) {
  double largest = 0;
  for (int64_t i = 0; i < state->particles.count; i++) {
    Vec3 at = state_position(state, i);
    double square = (at.x - axis.x) * (at.x - axis.x) + (at.y - axis.y) * (at.y - axis.y);
    if (square > largest) largest = square;
  }
  return sqrt(largest);
}

static void size_profile(const State *state, ScreeVec2 axis, SurfaceProfile *profile) {
  double reach = farthest(state, axis);
  profile->width = fmax(2 * state->radius, reach / (RINGS_MAX - 1));
  profile->rings = (int)(reach / profile->width) + 1;
}

static void measure_surface(const State *state, ScreeVec2 axis, SurfaceProfile *profile) {
  const Particles *p = &state->particles;
  int64_t first[RINGS_MAX + 1] = {0};
  for (int ring = 0; ring < profile->rings; ring++) first[ring + 1] = first[ring] + pieces_in(ring);
  profile->ground = INFINITY;
  for (int64_t i = 0; i < p->count; i++)
    profile->ground = fmin(profile->ground, state_position(state, i).z - (double)p->radius[i]);
  for (int64_t k = 0; k < first[profile->rings]; k++) profile->top[k] = 0;
  for (int64_t i = 0; i < p->count; i++) {
    Vec3 at = state_position(state, i);
    double x = at.x - axis.x, y = at.y - axis.y;
    int ring = (int)(sqrt(x * x + y * y) / profile->width);
    if (ring >= profile->rings) ring = profile->rings - 1;
    int64_t pieces = pieces_in(ring), piece = (int64_t)((portable_atan2(y, x) / (2 * M_PI) + 0.5) * (double)pieces);
    if (piece >= pieces) piece = pieces - 1;
    float top = (float)(at.z + (double)p->radius[i] - profile->ground), *highest = &profile->top[first[ring] + piece];
    if (top > *highest) *highest = top;
  }
}

Status pile_angle(Core *core, Scratch *scratch, const State *state, ScreeVec2 axis, double *degrees) {
  *degrees = 0;
  if (state->particles.count < 8) return SCREE_OK;
  int mark = scratch_mark(scratch);
  SurfaceProfile profile = {0};
  size_profile(state, axis, &profile);
  TRY(scratch_take(core, scratch, &profile.top, first_piece(profile.rings), "surface profile"));
  measure_surface(state, axis, &profile);
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
  double *mass = runout->mass[b / RUNOUT_CHUNK];
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
  int64_t chunks = parallel_chunks(0, p->count, RUNOUT_CHUNK), some = 0;
  double wanted;
  Reach *reach = NULL;
  *radius = 0;
  int mark = scratch_mark(scratch);
  TRY(scratch_take(core, scratch, &runout.radius, p->count, "runout"));
  TRY(scratch_take(core, scratch, &runout.mass, chunks, "runout"));
  TRY(scratch_take(core, scratch, &reach, p->count, "runout"));
  double largest = parallel_max(core, 0, p->count, RUNOUT_CHUNK, 0, reach_chunk, &runout);
  runout.per_metre = largest > 0 ? RUNOUT_RINGS / largest : 0;
  parallel_for(core, 0, p->count, RUNOUT_CHUNK, rings_chunk, &runout);
  int ring = ring_of_mass(&runout, chunks, fraction, &wanted);
  for (int64_t i = 0; i < p->count; i++)
    if (ring_of(&runout, i) == ring) reach[some++] = (Reach){runout.radius[i], (double)p->mass[i]};
  *radius = radius_of_mass(reach, some, wanted);
  scratch_release(core, scratch, mark);
  return SCREE_OK;
}
