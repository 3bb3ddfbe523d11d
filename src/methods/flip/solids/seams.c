#include "methods/flip/solids/seams.h"

#include <math.h>
#include <string.h>

#include "methods/flip/solids/solids.h"

/* Points of the lattice: so many along the side of a cell, in the cells of a strip and in those round it. */
enum {
  ALONG_CELL = 4,
  CELLS_X = STRIP + 2,
  CELLS_YZ = 3,
  NODES_X = CELLS_X * ALONG_CELL,
  NODES_YZ = CELLS_YZ * ALONG_CELL,
  NODES = NODES_X * NODES_YZ * NODES_YZ,
  NODES_OF_CELL = ALONG_CELL * ALONG_CELL * ALONG_CELL,
};

/* A ball of that radius, in cells, goes from one point to the next. A particle's is a quarter. Slots narrower than 0.3
 * cells are closed to it, wherever they lie on the lattice, and those wider than 0.65 are open. */
#define BALL 0.19f
/* Surfaces of a cell that look at each other, and not to the same side, may be a seam: the cosine. */
#define FACING 0.1f
/* So far in front of each other, in cells. */
#define BEFORE 0.02f
/* A point that is deeper in the solids leaves nothing free, in cells. */
#define DEEP -0.25f
/* Shares of cells and faces that seams leave below this are none. */
#define SLIVER_AT_SEAM 0.1f
/* Ways that narrow by less do not: beside an edge between two walls all are as wide. Cells. */
#define AS_WIDE 1e-3f
/* Free points that the ball does not reach belong to the part that is so many points away at most. */
enum { NARROW_STEPS = 3 };

enum { NO_PART = -1, NO_SIDE = 6 };

typedef struct Lattice {
  float distance[NODES]; /* cells */
  int16_t part[NODES];   /* of the free space; NO_PART: a solid, or too narrow */
  int16_t main_part[CELLS_X * CELLS_YZ * CELLS_YZ];
} Lattice;

static inline int node_index(int x, int y, int z) { return (z * NODES_YZ + y) * NODES_X + x; }
static inline int cell_index(int x, int y, int z) { return (z * CELLS_YZ + y) * CELLS_X + x; }
/* Node k of a cell; cells count from those before the strip. */
static inline int node_of_cell(int x, int y, int z, int k) {
  return node_index(x * ALONG_CELL + k % ALONG_CELL, y * ALONG_CELL + k / ALONG_CELL % ALONG_CELL,
                    z * ALONG_CELL + k / (ALONG_CELL * ALONG_CELL));
}

/* ---- where seams may be ---- */

/* Whether each of two surfaces of one solid lies before the other: those beside a convex edge do not. */
static bool lie_before(const NearSurface *one, Vec3 from_one, const NearSurface *other, Vec3 from_other) {
  float before = 0, behind = 0;
  for (int a = 0; a < 3; a++) {
    float apart = (float)vec3_get(from_other, a) - other->d * other->normal[a] - (float)vec3_get(from_one, a) +
                  one->d * one->normal[a];
    before += apart * one->normal[a];
    behind -= apart * other->normal[a];
  }
  return before > BEFORE && behind > BEFORE;
}

static bool turned_apart(const NearSurface *one, const NearSurface *other) {
  const float *n = one->normal, *m = other->normal;
  return n[0] * m[0] + n[1] * m[1] + n[2] * m[2] < FACING;
}

/* Whether surfaces near a cell look at each other, from the middles of its octants and of the quarters of its lower
 * faces and from its corners. */
static bool surfaces_meet(const StripUnion *all, int lane) {
  enum { POINTS = ASK_LANE + 8 };
  int points[POINTS], count = 0;
  for (int k = 0; k < POINTS; k++) {
    int point = k < ASK_LANE ? lane * ASK_LANE + k : ASK_CORNERS + lane * 4 + (k - ASK_LANE);
    const NearSurface *at = &all->nearest[point];
    if (at->solid < 0 || at->d < DEEP || at->d >= 0.5f) continue;
    if (at->d > 0 && all->second[point].d < 0.5f && turned_apart(at, &all->second[point])) return true;
    for (int p = 0; p < count; p++) {
      const NearSurface *to = &all->nearest[points[p]];
      if (!turned_apart(at, to)) continue;
      if (at->solid != to->solid || lie_before(at, query_point(point), to, query_point(points[p]))) return true;
    }
    points[count++] = point;
  }
  return false;
}

static bool may_have_seams(const StripUnion *all) {
  if (all->count == 1 && all->solids[0]->solid->shape.kind != SCREE_SHAPE_MESH) return false;
  for (int lane = 0; lane < STRIP; lane++)
    if (surfaces_meet(all, lane)) return true;
  return false;
}

/* ---- the parts of the free space ---- */

static void find_distances(const FlipWork *work, Vec3 origin, const StripUnion *all, Lattice *lattice) {
  double cell = work->grid->cell, step = cell / ALONG_CELL;
  for (int k = 0; k < NODES; k++) lattice->distance[k] = FAR;
  for (int32_t s = 0; s < all->count; s++) {
    const SolidQuery *query = all->solids[s];
    Vec3 first = vec3_add(origin, vec3(0.5 * step - cell, 0.5 * step - cell, 0.5 * step - cell));
    for (int row = 0; row < NODES_YZ * NODES_YZ; row++) {
      float x[NODES_X], y[NODES_X], z[NODES_X], d[NODES_X];
      Vec3 from = vec3_add(first, vec3(0, row % NODES_YZ * step, row / NODES_YZ * step)),
           local = solid_query_from(query, from), ahead = mat3_apply(&query->back, vec3(step, 0, 0));
      for (int k = 0; k < NODES_X; k++) {
        x[k] = (float)(local.x + k * ahead.x);
        y[k] = (float)(local.y + k * ahead.y);
        z[k] = (float)(local.z + k * ahead.z);
      }
      shape_distance_only(work->core, &query->solid->shape, NODES_X, x, y, z, (double)FAR * cell, d);
      float *to = lattice->distance + row * NODES_X;
      for (int k = 0; k < NODES_X; k++) to[k] = fminf(to[k], d[k] / (float)cell);
    }
  }
}

/* The node beside another, of six; -1: beyond the lattice. */
static int node_beside(int node, int side) {
  int at[3] = {node % NODES_X, node / NODES_X % NODES_YZ, node / (NODES_X * NODES_YZ)};
  int axis = side / 2;
  at[axis] += side & 1 ? 1 : -1;
  if (at[axis] < 0 || at[axis] >= (axis == 0 ? NODES_X : NODES_YZ)) return -1;
  return node_index(at[0], at[1], at[2]);
}

static int16_t flood(Lattice *lattice) {
  int16_t waiting[NODES], parts = 0;
  for (int seed = 0; seed < NODES; seed++) {
    if (lattice->part[seed] != NO_PART || lattice->distance[seed] < BALL) continue;
    int count = 0;
    lattice->part[seed] = parts;
    waiting[count++] = (int16_t)seed;
    while (count > 0) {
      int node = waiting[--count];
      for (int side = 0; side < 6; side++) {
        int next = node_beside(node, side);
        if (next < 0 || lattice->part[next] != NO_PART || lattice->distance[next] < BALL) continue;
        lattice->part[next] = parts;
        waiting[count++] = (int16_t)next;
      }
    }
    parts++;
  }
  return parts;
}

/* What is too narrow for the ball belongs to the part that widening ways lead to. */
static void grow_parts(Lattice *lattice) {
  for (int step = 0; step < NARROW_STEPS; step++) {
    int16_t before[NODES];
    memcpy(before, lattice->part, sizeof before);
    for (int node = 0; node < NODES; node++) {
      float most = lattice->distance[node] - AS_WIDE;
      if (before[node] != NO_PART || !(lattice->distance[node] > 0)) continue;
      for (int side = 0; side < 6; side++) {
        int next = node_beside(node, side);
        if (next < 0 || before[next] == NO_PART || !(lattice->distance[next] > most)) continue;
        most = lattice->distance[next];
        lattice->part[node] = before[next];
      }
    }
  }
}

/* The part that most free nodes of a cell belong to; of several the one that comes first. */
static int16_t part_of_cell(const Lattice *lattice, int x, int y, int z) {
  int16_t most = NO_PART;
  int largest = 0;
  for (int k = 0; k < NODES_OF_CELL; k++) {
    int16_t part = lattice->part[node_of_cell(x, y, z, k)];
    int count = 0;
    if (part == NO_PART || part == most) continue;
    for (int n = k; n < NODES_OF_CELL; n++) count += lattice->part[node_of_cell(x, y, z, n)] == part;
    if (count <= largest) continue;
    largest = count;
    most = part;
  }
  return most;
}

/* Whether the free space is in several parts, or too narrow somewhere in the strip. */
static bool find_parts(Lattice *lattice) {
  for (int k = 0; k < NODES; k++) lattice->part[k] = NO_PART;
  bool parted = flood(lattice) > 1;
  grow_parts(lattice);
  for (int x = 1; x <= STRIP; x++)
    for (int k = 0; k < NODES_OF_CELL && !parted; k++) {
      int node = node_of_cell(x, 1, 1, k);
      parted = lattice->part[node] == NO_PART && lattice->distance[node] > 0;
    }
  return parted;
}

/* ---- shares ---- */

/* The point has no more than that share free. */
static void close_to(StripUnion *all, int point, float share) {
  NearSurface *closing = &all->closing[point];
  if (!(share < all->share[point])) return;
  all->share[point] = share;
  if (all->nearest[point].solid >= 0) *closing = all->nearest[point];
  else closing->solid = all->solids[0]->index;
}

/* The first node of octant o of a cell, along an axis. */
static int first_node(int cell, int upper) { return cell * ALONG_CELL + (upper ? ALONG_CELL / 2 : 0); }

/* Whether one of the nodes beside a closed octant is of the part. */
static bool beside_part(const Lattice *lattice, const int first[3], int16_t part) {
  for (int k = 0; k < 8; k++) {
    int node = node_index(first[0] + (k & 1), first[1] + (k >> 1 & 1), first[2] + (k >> 2));
    for (int side = 0; side < 6; side++) {
      int next = node_beside(node, side);
      if (next >= 0 && lattice->part[next] == part) return true;
    }
  }
  return false;
}

static void close_octants(const Lattice *lattice, int lane, StripUnion *all) {
  int16_t part = lattice->main_part[cell_index(lane + 1, 1, 1)];
  for (int o = 0; o < ASK_QUARTERS; o++) {
    int first[3] = {first_node(lane + 1, o & 1), first_node(1, o >> 1 & 1), first_node(1, o >> 2)}, own = 0, other = 0;
    for (int k = 0; k < 8; k++) {
      int node = node_index(first[0] + (k & 1), first[1] + (k >> 1 & 1), first[2] + (k >> 2));
      if (!(lattice->distance[node] > 0)) continue;
      own += lattice->part[node] == part && part != NO_PART;
      other += lattice->part[node] != part || part == NO_PART;
    }
    float free_share = all->share[lane * ASK_LANE + o];
    if (other > 0) free_share *= (float)own / (float)(own + other);
    else if (own == 0 && !beside_part(lattice, first, part)) free_share = 0;
    close_to(all, lane * ASK_LANE + o, free_share);
  }
}

/* What a seam leaves of the lower face of a cell along an axis, quarter by quarter. Returns whether the face lies
 * between two parts. */
static bool open_of_face(const Lattice *lattice, const int cell[3], int axis, float open[4]) {
  int below[3] = {cell[0], cell[1], cell[2]}, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  below[axis]--;
  int16_t part = lattice->main_part[cell_index(cell[0], cell[1], cell[2])];
  bool parted = part != lattice->main_part[cell_index(below[0], below[1], below[2])];
  for (int q = 0; q < 4; q++) {
    int own = 0, other = 0;
    for (int k = 0; k < 4; k++) {
      int at[3];
      at[axis] = cell[axis] * ALONG_CELL;
      at[u] = first_node(cell[u], q & 1) + (k & 1);
      at[v] = first_node(cell[v], q >> 1) + (k >> 1);
      int upper = node_index(at[0], at[1], at[2]), lower = node_beside(upper, 2 * axis);
      if (!(lattice->distance[upper] > 0) || !(lattice->distance[lower] > 0)) continue;
      if (lattice->part[upper] == part && lattice->part[lower] == part && part != NO_PART) own++;
      else other++;
    }
    open[q] = parted ? 0 : other > 0 ? (float)own / (float)(own + other) : 1;
  }
  return parted;
}

static void close_faces(const Lattice *lattice, int lane, StripUnion *all, StripSolids *to) {
  for (int axis = 0; axis < 3; axis++) {
    int cell[3] = {lane + 1, 1, 1}, point = lane * ASK_LANE + ASK_QUARTERS + axis * 4;
    float open[4];
    to->parted[axis] |= (uint8_t)(open_of_face(lattice, cell, axis, open) << lane);
    for (int q = 0; q < 4; q++) close_to(all, point + q, all->share[point + q] * open[q]);
    cell[axis]++;
    to->parted_above[axis] |= (uint8_t)(open_of_face(lattice, cell, axis, open) << lane);
    to->open_above[axis][lane] = 0.25f * (open[0] + open[1] + open[2] + open[3]);
  }
}

/* What is left of `count` points from `first` on, if it is little, is none. */
static void close_sliver(StripUnion *all, int first, int count) {
  float sum = 0;
  for (int k = 0; k < count; k++) sum += all->share[first + k];
  for (int k = 0; k < count && sum < SLIVER_AT_SEAM * (float)count; k++) close_to(all, first + k, 0);
}

static uint64_t nodes_of_others(const Lattice *lattice, int lane) {
  int16_t part = lattice->main_part[cell_index(lane + 1, 1, 1)];
  uint64_t others = 0;
  for (int k = 0; k < NODES_OF_CELL; k++) {
    int16_t at = lattice->part[node_of_cell(lane + 1, 1, 1, k)];
    others |= (uint64_t)(at != NO_PART && at != part) << k;
  }
  return others;
}

/* Where the other part of a cell goes on: the side on which the next cell keeps most of it; NO_SIDE: on none. */
static uint8_t way_out(const Lattice *lattice, int lane) {
  int16_t part = lattice->main_part[cell_index(lane + 1, 1, 1)];
  uint8_t found = NO_SIDE;
  int largest = 0;
  for (uint8_t side = 0; side < NO_SIDE; side++) {
    int at[3] = {lane + 1, 1, 1}, own = 0, beside = 0;
    at[side / 2] += side & 1 ? 1 : -1;
    int16_t other = lattice->main_part[cell_index(at[0], at[1], at[2])];
    if (other == part || other == NO_PART) continue;
    for (int k = 0; k < NODES_OF_CELL; k++) {
      own += lattice->part[node_of_cell(lane + 1, 1, 1, k)] == other;
      beside += lattice->part[node_of_cell(at[0], at[1], at[2], k)] == other;
    }
    if (own == 0 || beside <= largest) continue;
    largest = beside;
    found = side;
  }
  return found;
}

void seams_close(const FlipWork *work, Vec3 origin, StripUnion *all, StripSolids *to) {
  if (!may_have_seams(all)) return;
  Lattice lattice;
  find_distances(work, origin, all, &lattice);
  if (!find_parts(&lattice)) return;
  for (int z = 0; z < CELLS_YZ; z++)
    for (int y = 0; y < CELLS_YZ; y++)
      for (int x = 0; x < CELLS_X; x++) lattice.main_part[cell_index(x, y, z)] = part_of_cell(&lattice, x, y, z);
  to->seams = true;
  for (int lane = 0; lane < STRIP; lane++) {
    close_octants(&lattice, lane, all);
    close_faces(&lattice, lane, all, to);
    close_sliver(all, lane * ASK_LANE, ASK_QUARTERS);
    for (int axis = 0; axis < 3; axis++) close_sliver(all, lane * ASK_LANE + ASK_QUARTERS + axis * 4, 4);
    to->other_part[lane] = nodes_of_others(&lattice, lane);
    to->way_out[lane] = way_out(&lattice, lane);
  }
}

void seams_close_faces(FlipWork *work, int64_t strip) {
  bool known = work->solids.strips[strip]->seams; /* both strips say the same of the face */
  for (int axis = 0; axis < 3; axis++) {
    const StripSolids *below = work->solids.strips[work->grid->near[strip][2 * axis]];
    float *open = work->fields.solid.open[axis] + strip * STRIP;
    for (int lane = 0; below->seams && lane < (axis == 0 ? 1 : STRIP); lane++) {
      int of = axis == 0 ? STRIP - 1 : lane;
      if (below->parted_above[axis] >> of & 1) open[lane] = 0;
      else if (!known) open[lane] *= below->open_above[axis][of];
    }
  }
}

/* ---- particles ---- */

bool seams_near(const FlipWork *work, int32_t strip) {
  if (!work->fields.solid.near[strip]) return false;
  for (int row = 0; row < 9; row++) {
    int32_t at = grid_row(work->grid, strip, row % 3 - 1, row / 3 - 1);
    const int32_t *near = work->grid->near[at];
    if (work->solids.strips[near[X_LOW]]->seams || work->solids.strips[at]->seams ||
        work->solids.strips[near[X_HIGH]]->seams)
      return true;
  }
  return false;
}

/* The cell of a point that counts from a place of the grid. */
static int32_t cell_of(const FlipWork *work, const int32_t place[3], const int32_t at[3]) {
  int32_t x = place[0] + at[0];
  return grid_find(work->grid, strip_key(x, place[1] + at[1], place[2] + at[2])) * STRIP + (x & (STRIP - 1));
}

/* Whether the point lies in a part that its cell has given up. */
static bool in_other_part(const FlipWork *work, int32_t cell, const int32_t at[3], const float point[3]) {
  int node = 0;
  for (int a = 2; a >= 0; a--) {
    int k = (int)((point[a] - (float)at[a]) * ALONG_CELL);
    node = node * ALONG_CELL + (k < 0 ? 0 : k < ALONG_CELL ? k : ALONG_CELL - 1);
  }
  return work->solids.strips[cell / STRIP]->other_part[cell % STRIP] >> node & 1;
}

/* Whether two cells that share a face, an edge or a corner keep parts that are joined, from face to face. */
static bool cells_joined(const FlipWork *work, const int32_t place[3], const int32_t from[3], const int32_t to[3]) {
  for (int a = 0; a < 3; a++) {
    if (from[a] == to[a]) continue;
    int32_t next[3] = {from[0], from[1], from[2]};
    next[a] = to[a];
    bool up = from[a] < to[a];
    int32_t upper = cell_of(work, place, up ? next : from), lower = cell_of(work, place, up ? from : next);
    bool parted = (work->solids.strips[upper / STRIP]->parted[a] >> upper % STRIP & 1) ||
                  (work->solids.strips[lower / STRIP]->parted_above[a] >> lower % STRIP & 1);
    if (!parted && cells_joined(work, place, next, to)) return true;
  }
  return from[0] == to[0] && from[1] == to[1] && from[2] == to[2];
}

/* A point is so far beyond the face that it is moved through, in cells. */
#define BEYOND 1e-3f

void seams_put_out(const FlipWork *work, const int32_t place[3], float point[3]) {
  int32_t at[3] = {(int32_t)floorf(point[0]), (int32_t)floorf(point[1]), (int32_t)floorf(point[2])};
  int32_t cell = cell_of(work, place, at);
  if (!in_other_part(work, cell, at, point)) return;
  int side = work->solids.strips[cell / STRIP]->way_out[cell % STRIP];
  if (side == NO_SIDE) return;
  point[side / 2] = (float)at[side / 2] + (side & 1 ? 1 + BEYOND : -BEYOND);
}

bool seams_part(const FlipWork *work, const int32_t place[3], const float from[3], const float to[3]) {
  int32_t here[3], there[3];
  for (int a = 0; a < 3; a++) {
    here[a] = (int32_t)floorf(from[a]);
    there[a] = (int32_t)floorf(to[a]);
    if (there[a] < here[a] - 1 || there[a] > here[a] + 1) return false;
  }
  bool apart = in_other_part(work, cell_of(work, place, here), here, from) !=
               in_other_part(work, cell_of(work, place, there), there, to);
  return cells_joined(work, place, here, there) ? apart : !apart;
}
