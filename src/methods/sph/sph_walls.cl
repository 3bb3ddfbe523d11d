/* Boundary contacts of sph, and pairs that a solid hides, on a device: loops over the texts that walls.c, view.c and
 * shield.c are made of, with sums in the CPU's order. For solids that are met by their distance.
 *
 * A parcel near solids has a row; which number it gets, and where its contacts stand, is a matter of chance and of no
 * consequence. */
#include "core/lane.h"
#include "methods/sph/trace_shared.h"
#include "methods/sph/walls_shared.h"
#define SOLIDS_WITHOUT_HEIGHTS
#include "state/solids.cl"
#include "state/wrench_sums.cl"

typedef struct PlainFloats {
  float a[3], b[3], radius, height;
} PlainFloats;
#undef PLAIN_REAL
#undef PLAIN_SHAPE
#undef PLAIN
#undef PLAIN_SQRT
#define PLAIN_REAL float
#define PLAIN_SHAPE PlainFloats
#define PLAIN(name) plainf_##name
#define PLAIN_SQRT sqrt
#include "geometry/shape_plain.h"

/* Of a pair, in spacings. */
#define SUPPORT 2.0f

/* What is known of solids, and which are near a parcel. */
typedef struct Walls {
  SolidsThere there;
  global const SphSolidShared *own;
  global const uint *near;
  int words;
} Walls;
#define WALL_SOLIDS global const uint *near, global const SphSolidShared *solids, SOLIDS_THERE
#define WALL_SOLIDS_OF(shared) {solids_there(solid, numbers, values, triangle), solids, near, (shared).words}

/* The next solid near parcel i behind `last`, which is -1 at first; -1: none. */
static int next_solid(Walls walls, int i, int last) {
  const int from = last + 1;
  for (int word = from / 32; word < walls.words; word++) {
    uint bits = walls.near[i * walls.words + word];
    if (word == from / 32) bits &= ~0u << (from % 32);
    if (bits != 0) return 32 * word + 31 - (int)clz(bits & (0u - bits));
  }
  return -1;
}

static Vec3 of_doubles(global const double *from) { return vec3(from[0], from[1], from[2]); }

/* From the solid's frame to the world's, or back. */
static Vec3 turned(global const SphSolidShared *own, Vec3 v) {
  return vec3(own->turn[0] * v.x + own->turn[1] * v.y + own->turn[2] * v.z,
              own->turn[3] * v.x + own->turn[4] * v.y + own->turn[5] * v.z,
              own->turn[6] * v.x + own->turn[7] * v.y + own->turn[8] * v.z);
}
static Vec3 turned_back(global const SphSolidShared *own, Vec3 v) {
  return vec3(own->turn[0] * v.x + own->turn[3] * v.y + own->turn[6] * v.z,
              own->turn[1] * v.x + own->turn[4] * v.y + own->turn[7] * v.z,
              own->turn[2] * v.x + own->turn[5] * v.y + own->turn[8] * v.z);
}
static LaneVec3 to_floats(Vec3 v) { return vec_make((float)v.x, (float)v.y, (float)v.z); }

/* ---- distances in single precision, as shape_distance_range ---- */

static GridPoint plain_floats(global const SolidThere *solid, LaneVec3 p) {
  const float sign = solid->inside ? -1.0f : 1.0f;
  PlainFloats shape;
  plainf_Point at;
  GridPoint point;
  for (int k = 0; k < 3; k++) shape.a[k] = (float)solid->a[k], shape.b[k] = (float)solid->b[k];
  shape.radius = (float)solid->radius;
  shape.height = (float)solid->height;
  switch (solid->form) {
  case SOLID_PLANE: at = plainf_plane_point(p.x, p.y, p.z, &shape); break;
  case SOLID_SPHERE: at = plainf_sphere_point(p.x, p.y, p.z, &shape); break;
  case SOLID_CAPSULE: at = plainf_capsule_point(p.x, p.y, p.z, &shape); break;
  case SOLID_BOX: at = plainf_box_point(p.x, p.y, p.z, &shape); break;
  default: at = plainf_cylinder_point(p.x, p.y, p.z, &shape); break;
  }
  point.distance = sign * at.distance;
  point.normal = vec_make(sign * at.x, sign * at.y, sign * at.z);
  return point;
}

static GridPoint grid_floats(Walls walls, int index, LaneVec3 p) {
  global const SolidThere *solid = walls.there.solid + index;
  global const SphSolidShared *own = walls.own + index;
  const float sign = solid->inside ? -1.0f : 1.0f;
  GridFrame frame = {{own->low[0], own->low[1], own->low[2]}, own->inverse_cell, solid->band, {0, 0, 0}};
  Corners corners;
  for (int k = 0; k < 3; k++) frame.blocks[k] = solid->grid.blocks[k];
  const GridPlace place = grid_locate(frame, p);
  const int entry = walls.there.numbers[solid->table + place.block];
  const Mask known = grid_known(place, entry);
  for (int k = 0; k < 8; k++) corners.v[k] = 0;
  if (known) corners = grid_corners_from(walls.there.values + (uint)solid->values + (uint)(entry + place.corner));
  GridPoint point = grid_point(frame, corners, place.at, known, grid_inside_far(place, entry));
  point.distance = sign * point.distance;
  point.normal = vec_mul(point.normal, sign);
  return point;
}

static GridPoint floats_there(Walls walls, int index, LaneVec3 p) {
  global const SolidThere *solid = walls.there.solid + index;
  return solid->form == SOLID_MESH ? grid_floats(walls, index, p) : plain_floats(solid, p);
}

/* What a line has met. */
typedef struct BeamMet {
  bool meets;
  float t;
  LaneVec3 normal;
} BeamMet;

static BeamMet trace(Walls walls, int index, LaneVec3 from, LaneVec3 along, float t, float end, float spacing) {
  global const SolidThere *solid = walls.there.solid + index;
  BeamMet met = {false, 0, {0, 0, 0}};
  for (int pass = 0; pass < TRACE_PASSES; pass++) {
    const GridPoint at = floats_there(walls, index, vec_add(from, vec_mul(along, t)));
    const BeamStep step = beam_step(solid->form == SOLID_MESH, solid->inside != 0, pass, at.distance, at.normal, along,
                                    t, end, spacing);
    t = step.t;
    if (step.end == BEAM_GOES_ON) continue;
    met.meets = step.end == BEAM_MEETS;
    met.t = step.t;
    met.normal = at.normal;
    return met;
  }
  return met;
}

/* ---- when lists are new: who is near solids ---- */

kernel void sph_wall_rows(SphWallShared shared, WALL_SOLIDS, global const long *start, global int *row, global int *who,
                          global int *begin, global int *shielded, global long *hidden_start, global SphGrip *grip,
                          global int *counters) {
  int i = (int)get_global_id(0), some = 0, shields = 0, plane = 0;
  if (i >= shared.count) return;
  const Walls walls = WALL_SOLIDS_OF(shared);
  for (int s = next_solid(walls, i, -1); s >= 0; s = next_solid(walls, i, s)) {
    some++;
    shields |= solids[s].shields;
    plane = solid[s].form == SOLID_PLANE;
  }
  row[i] = 0;
  if (some == 0) {
    const SphGrip none = {{0, 0, 0}, 0};
    if (grip[SPH_GRIPS * (long)i].face == 0) return;
    for (int k = 0; k < SPH_GRIPS; k++) grip[SPH_GRIPS * (long)i + k] = none;
    return;
  }
  const int r = atomic_inc(&counters[SPH_NEAR_ROWS]);
  row[i] = r + 1;
  who[r] = i;
  begin[r] = atomic_add(&counters[SPH_WALL_ROOM], some == 1 && plane ? 1 : min(SIDES * some, (int)VIEW_RAYS));
  hidden_start[r] = shields ? start[i] / 8 + i : -1; /* those of others do not reach as far */
  if (shields) shielded[atomic_inc(&counters[SPH_SHIELDED])] = i;
}

/* ---- pairs with a solid between them ---- */

static LaneVec3 in_frame(Walls walls, int index, SphWallShared shared, float x, float y, float z) {
  global const SolidThere *solid = walls.there.solid + index;
  const Vec3 shift = vec3_sub(vec3(shared.origin[0], shared.origin[1], shared.origin[2]), solid->position);
  return to_floats(
      turned_back(walls.own + index, vec3((double)x + shift.x, (double)y + shift.y, (double)z + shift.z)));
}

/* Whether a solid stands between parcels i and j, of the lower and the higher id or the other way round. */
static bool hides(Walls walls, int index, SphWallShared shared, LaneVec3 own, LaneVec3 other, bool lower) {
  const float spacing = (float)shared.spacing, support = SUPPORT * spacing;
  const bool mesh = walls.there.solid[index].form == SOLID_MESH;
  const GridPoint before = floats_there(walls, index, own);
  if (!(before.distance > 0) || !(before.distance < support)) return false;
  const LaneVec3 apart = vec_sub(other, own);
  const float length = real_sqrt(vec_dot(apart, apart)), clear = floats_there(walls, index, other).distance;
  if (!shield_may(mesh, before.distance, before.normal, apart, clear, length, support, SHIELD_SLACK * spacing))
    return false;
  const LaneVec3 from = lower ? own : other, to = lower ? other : own, way = vec_sub(to, from);
  return trace(walls, index, from, vec_make(way.x / length, way.y / length, way.z / length), 0, length, spacing).meets;
}

/* A group for each parcel, an item for each neighbour, so many at a time. */
kernel void sph_hide(SphWallShared shared, int some, WALL_SOLIDS, global const float *x, global const float *y,
                     global const float *z, global const uint *id, global const long *start, global const int *index,
                     global const int *shielded, global uchar *hidden) {
  local int bits;
  const int at = (int)get_global_id(0) / SPH_HIDE_GROUP, item = (int)get_local_id(0);
  if (at >= some) return; /* all of a group */
  const Walls walls = WALL_SOLIDS_OF(shared);
  const int i = shielded[at];
  const long first = start[i], end = start[i + 1];
  global uchar *to = hidden + (first / 8 + i);
  for (long k = first; k < end; k += SPH_HIDE_GROUP, to += SPH_HIDE_GROUP / 8) {
    bool hidden_here = false;
    if (item == 0) bits = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k + item < end) {
      const int j = index[k + item];
      for (int s = next_solid(walls, i, -1); s >= 0 && !hidden_here; s = next_solid(walls, i, s))
        if (solids[s].shields)
          hidden_here = hides(walls, s, shared, in_frame(walls, s, shared, x[i], y[i], z[i]),
                              in_frame(walls, s, shared, x[j], y[j], z[j]), id[i] < id[j]);
    }
    if (hidden_here) atomic_or(&bits, (int)(1u << item));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < SPH_HIDE_GROUP / 8 && k + 8 * item < end) to[item] = (uchar)((uint)bits >> (8 * item) & 255u);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* ---- contacts ---- */

#define PARCELS                                                                                                        \
  global const int *who, global const int *begin, global const float *x, global const float *y, global const float *z, \
      global const float *low_x, global const float *low_y, global const float *low_z, global const float *vx,        \
      global const float *vy, global const float *vz, global const float *mass, global const uchar *material,         \
      global const float *sand, global const SphGrip *grip
#define CONTACTS global float4 *rows, global double *point, global int2 *side
#define CONTACTS_HERE rows, point, side

static Vec3 place_of(SphWallShared shared, float x, float y, float z, float low_x, float low_y, float low_z) {
  return vec3(shared.origin[0] + (double)x + (double)low_x, shared.origin[1] + (double)y + (double)low_y,
              shared.origin[2] + (double)z + (double)low_z);
}

static bool is_outer(global const SolidThere *solid) {
  return solid->form == SOLID_PLANE || (solid->inside && solid->form == SOLID_BOX);
}

/* As sph_view_is_flat. */
static bool is_flat(global const SolidThere *solid, Vec3 at, double distance, double reach) {
  if (is_outer(solid)) return true;
  return solid->form == SOLID_BOX &&
         around_box_is_flat(solid->low, solid->high,
                            quat_rotate(quat_conjugate(solid->rotation), vec3_sub(at, solid->position)), distance,
                            reach);
}

/* As solid_contacts. */
static int faces_of(Walls walls, int index, Vec3 at, double reach, ShapePoint faces[SHAPE_CONTACTS_MAX]) {
  global const SolidThere *solid = walls.there.solid + index;
  const int count = contacts_there(walls.there, solid, solid_local(solid, at), reach, faces);
  for (int k = 0; k < count; k++) faces[k].normal = solid_direction(solid, faces[k].normal);
  return count;
}

static void look_around(Walls walls, SphWallShared shared, int i, Vec3 at, Around *around) {
  const float spacing = (float)shared.spacing;
  const double reach = (double)(WALL_SUPPORT * spacing), far = (double)(WALL_FAR * spacing);
  around_begin(around);
  for (int s = next_solid(walls, i, -1); s >= 0; s = next_solid(walls, i, s)) {
    global const SolidThere *solid = walls.there.solid + s;
    ShapePoint faces[SHAPE_CONTACTS_MAX];
    const int count = faces_of(walls, s, at, is_outer(solid) ? far : reach, faces);
    for (int f = 0; f < count; f++) around_add(around, faces[f], s);
    if (count > 0 && around->flat) around->flat = is_flat(solid, at, faces[0].distance, reach);
  }
}

/* What a sum comes to at solid s. */
static WallTouch touch_of(Walls walls, SphWallShared shared, int s, Sum sum, Vec3 velocity, float sand) {
  global const SolidThere *solid = walls.there.solid + s;
  global const SphSolidShared *own = walls.own + s;
  const WallSolid there = {solid->center,         of_doubles(own->velocity), of_doubles(own->spin), solid->rotation,
                           own->friction_static, own->friction_kinetic,     solid->turned != 0,    s};
  return wall_touch(sum, there, velocity, sand, shared.dt, shared.slips);
}

static void put_contact(SphWallShared shared, int s, WallTouch touch, Vec3 at, int k, CONTACTS) {
  rows[SPH_WALL_NORMAL * shared.walls + k] = (float4)(touch.normal[0], touch.normal[1], touch.normal[2], touch.slope);
  rows[SPH_WALL_SHARE * shared.walls + k] = (float4)(touch.share, touch.friction, 0, 0);
  rows[SPH_WALL_VELOCITY * shared.walls + k] =
      (float4)(touch.velocity[0], touch.velocity[1], touch.velocity[2], 0);
  point[3 * (long)k] = at.x, point[3 * (long)k + 1] = at.y, point[3 * (long)k + 2] = at.z;
  side[k] = (int2)(s, touch.face);
}

/* Where friction of a face is remembered among those of a parcel; -1: it is not. */
static int grip_of(global const SphGrip *known, int face) {
  for (int k = 0; k < SPH_GRIPS; k++)
    if (known[k].face == face) return k;
  return -1;
}

/* A number of the row of a contact's share: items write others of it while items read this one. */
static long share_at(SphWallShared shared, int k) { return 4 * (SPH_WALL_SHARE * (long)shared.walls + k); }
static float share_of(SphWallShared shared, global const float4 *rows, int k) {
  return ((global const float *)rows)[share_at(shared, k)];
}

/* Friction remembered from the last step. What is known of no contact in particular is shared out among those of which
 * nothing is known. */
static LaneVec3 recall(SphWallShared shared, global const SphGrip *known, int k, int from, int end,
                       global const float4 *rows, global const int2 *side) {
  int at = grip_of(known, side[k].y);
  float unknown = 0;
  if (at >= 0) return vec_make(known[at].force[0], known[at].force[1], known[at].force[2]);
  for (int c = 0; c < SPH_GRIPS; c++)
    if (known[c].face == GRIP_OF_OTHERS) at = c;
  if (at < 0) return vec_zero();
  for (int c = from; c < end; c++)
    if (grip_of(known, side[c].y) < 0) unknown += share_of(shared, rows, c);
  const float share = share_of(shared, rows, k);
  if (!(unknown > 0)) return vec_zero();
  return vec_make(known[at].force[0] * share / unknown, known[at].force[1] * share / unknown,
                  known[at].force[2] * share / unknown);
}

static LaneVec3 normal_of(SphWallShared shared, global const float4 *rows, int k) {
  const float4 row = rows[SPH_WALL_NORMAL * shared.walls + k];
  return vec_make(row.x, row.y, row.z);
}

/* Contact k of those from `from` to `end`: its part of the slip, and its friction. */
static void finish_contact(Walls walls, SphWallShared shared, int k, int from, int end, float mass,
                           global const SphGrip *known, global float4 *rows, global const int2 *side) {
  float all = 0;
  for (int c = from; c < end; c++)
    all += wall_in_common(normal_of(shared, rows, k), normal_of(shared, rows, c), share_of(shared, rows, c));
  const float part = wall_part(share_of(shared, rows, k), all);
  const LaneVec3 force = shared.memory ? recall(shared, known, k, from, end, rows, side) : vec_zero();
  ((global float *)rows)[share_at(shared, k) + 2] = wall_grip_gain(part, mass, shared.dt);
  if (walls.own[side[k].x].moves) ((global float *)rows)[share_at(shared, k) + 3] = part; /* until the host has seen it */
  rows[SPH_WALL_FORCE * shared.walls + k] = (float4)(force.x, force.y, force.z, 0);
}

static void put_span(SphWallShared shared, int r, int from, int end, global float4 *rows) {
  rows[SPH_WALL_KINDS * shared.walls + r] = (float4)(as_float(from), as_float(end), 0, 0);
}

/* Parcels beside half spaces at right angles, mostly one; the others are listed: they look along rays. */
kernel void sph_wall_faces(SphWallShared shared, WALL_SOLIDS, PARCELS, CONTACTS, global int *looking,
                           global int *counters) {
  const int r = (int)get_global_id(0);
  if (r >= shared.rows) return;
  const Walls walls = WALL_SOLIDS_OF(shared);
  const int i = who[r], from = begin[r];
  const float spacing = (float)shared.spacing;
  const Vec3 here = place_of(shared, x[i], y[i], z[i], low_x[i], low_y[i], low_z[i]);
  const Vec3 velocity = vec3((double)vx[i], (double)vy[i], (double)vz[i]);
  Around around;
  SphSquare square;
  int end = from;
  look_around(walls, shared, i, here, &around);
  bool known = around.count == 0;
  if (!known && around.flat && around.count <= SQUARE_MOST) {
    square = around_square(&around, spacing);
    known = square_weigh(&square);
    for (int f = 0; f < square.count && known; f++) {
      const Sum sum = sum_of_face(&around, &square, f, here, spacing);
      const WallTouch touch = touch_of(walls, shared, around.solids[f], sum, velocity, sand[material[i]]);
      if (touch.slope > 0) put_contact(shared, around.solids[f], touch, sum.point, end++, CONTACTS_HERE);
    }
  }
  for (int k = from; k < end; k++)
    finish_contact(walls, shared, k, from, end, mass[i], grip + SPH_GRIPS * (long)i, rows, side);
  put_span(shared, r, from, end, rows);
  if (!known) looking[atomic_inc(&counters[SPH_LOOKING])] = r;
}

/* ---- along rays ---- */

/* What the items of a group know together, a ray each. */
typedef struct Look {
  float t[VIEW_RAYS], share[VIEW_RAYS], slope[VIEW_RAYS];
  float normal_x[VIEW_RAYS], normal_y[VIEW_RAYS], normal_z[VIEW_RAYS];
  float ray_x[VIEW_RAYS], ray_y[VIEW_RAYS], ray_z[VIEW_RAYS];
  int face[VIEW_RAYS]; /* 0: none */
  float plane_x[PLANES_MOST], plane_y[PLANES_MOST], plane_z[PLANES_MOST], plane_at[PLANES_MOST];
  int plane_rays[PLANES_MOST];
  float share_sum[SPH_LANES], slope_sum[SPH_LANES];
  int leader, strays, seen, wrong, made;
} Look;

/* What a ray has met. */
typedef struct Ray {
  LaneVec3 along, normal;
  float t; /* in spacings */
  int solid;
  float share, slope;
} Ray;

static void meet_solids(Walls walls, SphWallShared shared, int i, Vec3 at, Ray *ray) {
  const float spacing = (float)shared.spacing, inverse = (float)(1 / shared.spacing);
  const double reach = (double)WALL_SUPPORT * shared.spacing;
  for (int s = next_solid(walls, i, -1); s >= 0; s = next_solid(walls, i, s)) {
    global const SolidThere *solid = walls.there.solid + s;
    global const SphSolidShared *own = walls.own + s;
    ShapePoint faces[SHAPE_CONTACTS_MAX];
    const int count = faces_of(walls, s, at, reach, faces);
    if (count == 0) continue;
    if (!is_flat(solid, at, faces[0].distance, reach)) {
      const LaneVec3 from = to_floats(turned_back(own, vec3_sub(at, solid->position)));
      const LaneVec3 along = to_floats(
          turned_back(own, vec3((double)ray->along.x, (double)ray->along.y, (double)ray->along.z)));
      const float begin = (float)(faces[0].distance > 0 ? faces[0].distance : 0);
      const BeamMet met = trace(walls, s, from, along, begin, ray->t * spacing, spacing);
      if (!met.meets) continue;
      ray->t = met.t * inverse;
      ray->solid = s;
      ray->normal =
          to_floats(turned(own, vec3((double)met.normal.x, (double)met.normal.y, (double)met.normal.z)));
      continue;
    }
    for (int f = 0; f < count; f++) {
      const LaneVec3 normal = to_floats(faces[f].normal);
      const ViewHit hit = view_face(normal, ray->along, (float)(faces[f].distance / shared.spacing), ray->t);
      if (hit.first) ray->t = hit.t, ray->normal = normal, ray->solid = s;
    }
  }
}

/* Sums in the order of the CPU's lanes. */
static float sum_of_lanes(local const float *v) {
  const float a = v[0] + v[4], b = v[1] + v[5], c = v[2] + v[6], d = v[3] + v[7];
  return (a + c) + (b + d);
}

/* As sph_view_sum: shares and slopes of all rays. */
static void weigh_rays(local Look *look, int item, LaneVec3 nearest, float distance, Ray *ray) {
  const WallShare flat = view_flat(nearest, ray->along, distance), exact = wall_flat(distance);
  look->share[item] = flat.share;
  look->slope[item] = flat.slope;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < SPH_LANES) {
    float shares = 0, slopes = 0;
    for (int k = item; k < VIEW_RAYS; k += SPH_LANES) shares += look->share[k], slopes += look->slope[k];
    look->share_sum[item] = shares;
    look->slope_sum[item] = slopes;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const WallShare seen = view_seen(ray->normal, ray->along, ray->t);
  ray->share = seen.share * view_scale(exact.share, sum_of_lanes(look->share_sum), USUAL_SCALE);
  ray->slope = seen.slope * view_scale(exact.slope, sum_of_lanes(look->slope_sum), USUAL_SCALE);
}

/* As find_planes: the first ray that none of the planes has makes the next one. Which plane is the ray's own; -1: none.
 */
static int find_planes(local Look *look, int item, const Ray *ray, int *planes) {
  const float distance = plane_distance(ray->normal, ray->along, ray->t);
  bool open = ray->solid >= 0;
  int mine = -1;
  for (*planes = 0; *planes < PLANES_MOST; ++*planes) {
    const int p = *planes;
    if (item == 0) look->leader = VIEW_RAYS;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (open) atomic_min(&look->leader, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int leader = look->leader;
    if (leader == VIEW_RAYS) break; /* all of the group */
    if (item == leader) {
      look->plane_x[p] = ray->normal.x, look->plane_y[p] = ray->normal.y, look->plane_z[p] = ray->normal.z;
      look->plane_at[p] = distance;
      look->plane_rays[p] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const LaneVec3 plane = vec_make(look->plane_x[p], look->plane_y[p], look->plane_z[p]);
    if (open && (item == leader || plane_same(plane, look->plane_at[p], ray->normal, distance))) {
      open = false;
      mine = p;
      atomic_inc(&look->plane_rays[p]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}

/* As keep_planes: those that several rays see; *mine becomes what is kept of it. */
static bool keep_planes(local const Look *look, int planes, SphSquare *square, int *mine) {
  int now = -1;
  square->count = 0;
  for (int p = 0; p < planes; p++) {
    if (look->plane_rays[p] < PLANE_RAYS) continue;
    if (square->count == SQUARE_MOST) return false;
    square_put(square, square->count, vec_make(look->plane_x[p], look->plane_y[p], look->plane_z[p]),
               look->plane_at[p]);
    if (p == *mine) now = square->count;
    square->count++;
  }
  *mine = now;
  return square->count > 0;
}

/* As sph_view_square. */
static void square_rays(local Look *look, int item, Ray *ray) {
  SphSquare square;
  int planes, mine = find_planes(look, item, ray, &planes);
  bool good = keep_planes(look, planes, &square, &mine);
  const bool stray = ray->solid >= 0 && mine < 0;
  if (item == 0) look->strays = look->seen = look->wrong = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (good) {
    const PlaneSeen first = plane_seen(&square, ray->along, ray->t, stray);
    if (!first.ends) atomic_inc(&look->wrong);
    if (stray) atomic_inc(&look->strays), mine = first.at;
    if (ray->solid >= 0) atomic_inc(&look->seen);
  }
  if (ray->solid < 0) mine = -1;
  look->face[item] = mine;
  look->share[item] = ray->share;
  look->slope[item] = ray->slope;
  barrier(CLK_LOCAL_MEM_FENCE);
  good = good && look->wrong == 0 && planes_suffice(look->strays, look->seen) && square_weigh(&square);
  if (good && item < square.count) {
    float share = 0, slope = 0;
    for (int k = 0; k < VIEW_RAYS; k++)
      if (look->face[k] == item) share += look->share[k], slope += look->slope[k];
    look->share_sum[item] = share;
    look->slope_sum[item] = slope;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (good && mine >= 0) {
    ray->normal = square_normal(&square, mine);
    if (look->share_sum[mine] > 0) ray->share *= square.share[mine] / look->share_sum[mine];
    if (look->slope_sum[mine] > 0) ray->slope *= square.slope[mine] / look->slope_sum[mine];
  }
}

static void tell(local Look *look, int item, const Ray *ray, int face) {
  look->t[item] = ray->t, look->share[item] = ray->share, look->slope[item] = ray->slope;
  look->normal_x[item] = ray->normal.x, look->normal_y[item] = ray->normal.y, look->normal_z[item] = ray->normal.z;
  look->face[item] = face;
}

/* Rays that see the same side of the same solid are one contact: what those of the item's face add up to, if it is the
 * first of them. */
static bool add_side(local const Look *look, int item, double spacing, SideSum *sum) {
  const int face = look->face[item];
  if (face == 0) return false;
  for (int k = 0; k < item; k++)
    if (look->face[k] == face) return false;
  *sum = side_begin();
  for (int k = item; k < VIEW_RAYS; k++)
    if (look->face[k] == face)
      side_add(sum, vec_make(look->normal_x[k], look->normal_y[k], look->normal_z[k]),
               vec_make(look->ray_x[k], look->ray_y[k], look->ray_z[k]), look->share[k], look->slope[k], look->t[k],
               spacing);
  return true;
}

/* As lift: where a parcel sees from. */
static Vec3 lift(Walls walls, SphWallShared shared, int i, Vec3 at, Around *around) {
  const double least = (double)(VIEW_LEAST * (float)shared.spacing);
  for (int k = 0; k < LIFTS_MOST && around->count > 0 && around->nearest.distance < least; k++) {
    at = vec3_madd(at, around->nearest.normal, least - around->nearest.distance);
    look_around(walls, shared, i, at, around);
  }
  return at;
}

/* A parcel at a time, a ray an item. */
kernel void sph_wall_rays(SphWallShared shared, WALL_SOLIDS, PARCELS, CONTACTS, global const float *rays,
                          global const int *looking, global const int *counters) {
  local Look look[1];
  const int item = (int)get_local_id(0), groups = (int)get_global_size(0) / VIEW_RAYS, some = counters[SPH_LOOKING];
  const Walls walls = WALL_SOLIDS_OF(shared);
  Ray ray;
  ray.along = vec_make(rays[item], rays[VIEW_RAYS + item], rays[2 * VIEW_RAYS + item]);
  look->ray_x[item] = ray.along.x, look->ray_y[item] = ray.along.y, look->ray_z[item] = ray.along.z;
  for (int n = (int)get_global_id(0) / VIEW_RAYS; n < some; n += groups) {
    const int r = looking[n], i = who[r], begins = begin[r];
    const Vec3 here = place_of(shared, x[i], y[i], z[i], low_x[i], low_y[i], low_z[i]);
    const Vec3 velocity = vec3((double)vx[i], (double)vy[i], (double)vz[i]);
    Around around;
    SideSum side_sum;
    look_around(walls, shared, i, here, &around);
    const Vec3 from = lift(walls, shared, i, here, &around);
    if (around.count == 0) continue; /* all of the group; it has no contacts */
    ray.t = WALL_SUPPORT, ray.normal = vec_zero(), ray.solid = -1;
    meet_solids(walls, shared, i, from, &ray);
    weigh_rays(look, item, to_floats(around.nearest.normal), (float)(around.nearest.distance / shared.spacing), &ray);
    barrier(CLK_LOCAL_MEM_FENCE);
    square_rays(look, item, &ray);
    barrier(CLK_LOCAL_MEM_FENCE);
    int face = 0;
    if (ray.solid >= 0 && ray.share > 0)
      face = wall_face(ray.solid, solid[ray.solid].turned != 0, solid[ray.solid].rotation,
                       vec3((double)ray.normal.x, (double)ray.normal.y, (double)ray.normal.z));
    tell(look, item, &ray, face);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool leads = add_side(look, item, shared.spacing, &side_sum);
    Sum sum;
    WallTouch touch;
    touch.slope = 0;
    if (leads) {
      sum = side_end(side_sum, from, vec3_sub(from, here));
      touch = touch_of(walls, shared, ray.solid, sum, velocity, sand[material[i]]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    look->face[item] = touch.slope > 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = 0, sides = 0;
    for (int k = 0; k < VIEW_RAYS; k++) {
      if (k < item) before += look->face[k];
      sides += look->face[k];
    }
    if (touch.slope > 0) put_contact(shared, ray.solid, touch, sum.point, begins + before, CONTACTS_HERE);
    if (item == 0) put_span(shared, r, begins, begins + sides, rows);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int k = item; k < sides; k += VIEW_RAYS)
      finish_contact(walls, shared, begins + k, begins, begins + sides, mass[i], grip + SPH_GRIPS * (long)i, rows, side);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* ---- solids that sand moves ---- */

/* Contacts with them, in any order. */
kernel void sph_wall_moved(SphWallShared shared, global const SphSolidShared *solids, global const int *who,
                           global const float *mass, CONTACTS, global SphMovedShared *moved, global int *counters) {
  const int r = (int)get_global_id(0);
  if (r >= shared.rows) return;
  const float4 span = rows[SPH_WALL_KINDS * shared.walls + r];
  for (int k = as_int(span.x); k < as_int(span.y); k++) {
    if (!solids[side[k].x].moves) continue;
    const float4 normal = rows[SPH_WALL_NORMAL * shared.walls + k];
    const SphMovedShared to = {{point[3 * (long)k], point[3 * (long)k + 1], point[3 * (long)k + 2]},
                               {normal.x, normal.y, normal.z},
                               normal.w,
                               rows[SPH_WALL_SHARE * shared.walls + k].w,
                               mass[who[r]],
                               k,
                               who[r],
                               side[k].x,
                               0};
    moved[atomic_inc(&counters[SPH_MOVED])] = to;
  }
}

kernel void sph_wall_told(SphWallShared shared, int count, global const SphToldShared *told, global float4 *rows) {
  const int n = (int)get_global_id(0);
  if (n >= count) return;
  const SphToldShared own = told[n];
  global float4 *share = rows + SPH_WALL_SHARE * shared.walls + own.contact;
  share->z = own.grip_gain, share->w = own.mobility;
  rows[SPH_WALL_VELOCITY * shared.walls + own.contact] =
      (float4)(own.velocity[0], own.velocity[1], own.velocity[2], 0);
}

kernel void sph_wall_forces(SphWallShared shared, int count, global const SphToldShared *told,
                            global const float4 *rows, global float4 *forces) {
  const int n = (int)get_global_id(0);
  if (n < count) forces[n] = rows[SPH_WALL_FORCE * shared.walls + told[n].contact];
}

/* ---- the end of a step ---- */

/* What solids bear, and friction for the next step, as far as it is held. Most parcels of a group push the same solid:
 * that of the first is added up apart. */
kernel void sph_wall_end(SphWallShared shared, int held, int words, SOLIDS_THERE, global const int *who, CONTACTS,
                         global SphGrip *grip, global int *reactions) {
  local int sums[SPH_REACTION_WORDS], common[1];
  const int r = (int)get_global_id(0), item = (int)get_local_id(0);
  int k = 0, end = 0;
  if (r < shared.rows) {
    const float4 span = rows[SPH_WALL_KINDS * shared.walls + r];
    k = as_int(span.x), end = as_int(span.y);
  }
  const int from = k;
  if (item == 0) common[0] = -1;
  if (item < SPH_REACTION_WORDS) sums[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (k < end) atomic_max(&common[0], side[k].x);
  barrier(CLK_LOCAL_MEM_FENCE);
  GripKeeper keeper;
  LaneVec3 all = vec_zero();
  const int count = held ? end - from : 0;
  grips_begin(&keeper, count);
  for (; k < end; k++) {
    const float4 normal = rows[SPH_WALL_NORMAL * shared.walls + k], by = rows[SPH_WALL_FORCE * shared.walls + k];
    const int s = side[k].x;
    const Vec3 push = vec3(-(double)(by.w * normal.x + by.x), -(double)(by.w * normal.y + by.y),
                           -(double)(by.w * normal.z + by.z));
    const Vec3 at = vec3(point[3 * (long)k], point[3 * (long)k + 1], point[3 * (long)k + 2]);
    const Vec3 torque = vec3_cross(vec3_sub(at, solid[s].center), push);
    const double parts[6] = {push.x, push.y, push.z, torque.x, torque.y, torque.z};
    for (int c = 0; c < 6; c++)
      if (s == common[0]) add_long_here(&sums[2 * c], wrench_units(parts[c]));
      else add_long(reactions + words + SPH_REACTION_WORDS * s + 2 * c, wrench_units(parts[c]));
    const LaneVec3 force = vec_make(by.x, by.y, by.z);
    if (held) grips_add(&keeper, side[k].y, rows[SPH_WALL_SHARE * shared.walls + k].x, force);
    all = vec_add(all, force);
  }
  grips_end(&keeper, count, all);
  if (r < shared.rows)
    for (int c = 0; c < SPH_GRIPS; c++) grip[SPH_GRIPS * (long)who[r] + c] = keeper.known[c];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < 6 && common[0] >= 0)
    add_long(reactions + words + SPH_REACTION_WORDS * common[0] + 2 * item,
             (long)((ulong)(uint)sums[2 * item] | (ulong)(uint)sums[2 * item + 1] << 32));
}
