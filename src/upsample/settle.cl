/* Fine grains that may have gone through a solid or touch a mesh with sharp edges, in double: a work item each. The
 * mesh itself is asked by the triangles that are listed for the blocks of its distance grid. */
#include "state/solids.cl"
#include "geometry/mesh_nearest_shared.h"
#include "upsample/fine_solids.cl"
#include "upsample/settle_device_shared.h"

/* A solid in its own frame; `there` has no poses. */
typedef struct ExactShape {
  SolidsThere there;
  global const SolidThere *solid;
} ExactShape;

/* Beyond the band of a mesh it has no more than its sign, and nobody asks for more. */
static double exact_distance(ExactShape shape, Vec3 at, double reach) {
  return solid_point(shape.there, shape.solid, at, reach).distance;
}

#include "upsample/settle_shared.h"

typedef struct ExactSolids {
  SolidsThere there;
  global const SettleSolid *settle;
  double reach; /* of the weights, m */
} ExactSolids;

static double path_length(const Grain *grain) {
  const LaneVec3 path = vec_sub(grain->end, grain->at);
  return (double)real_sqrt(vec_dot(path, path));
}

/* Whether the grain is left on its way through the solid. */
static bool marches(Grain *grain, global const SolidShared *solid, ExactShape shape, SettleSolid exact, double reach,
                    bool first, float distance) {
  const double length = path_length(grain) + exact.moved, radius = (double)grain->radius;
  if (length < radius) return false;
  const double begin = settle_less((double)grain->gap, reach),
               end = settle_less((double)distance, march_reach(length, radius));
  if (grain->clear != WALL_NO_CLEARANCE && march_is_clear(length, radius, exact.doubt, begin, end)) return false;
  const LaneVec3 low = axes_to_local(solid->axes[0], grain->at), high = axes_to_local(solid->axes[1], grain->end);
  const float from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
  const double band = solid->form == FORM_GRID ? (double)shape.solid->band : 0;
  float hit[3];
  if (!march_path(shape, from, to, radius, exact.doubt, band, end, first, hit)) return false;
  const LaneVec3 world = axes_to_world(solid->axes[1], vec_make(hit[0], hit[1], hit[2]));
  global const float *shift = solid->axes[1].shift;
  grain->end = vec_sub(world, vec_make(shift[0], shift[1], shift[2]));
  return true;
}

/* How the way from a point along `ray`, to its end at 1, goes through a triangle: 1 into the mesh, -1 out of it, 0 not at
 * all; CROSSING_OPEN: through an edge, along the triangle, or from or to it. */
enum { CROSSING_OPEN = 1 << 16 };
#define CROSSING_END 1e-9
static int crossing(const RayFrame *ray, Vec3 way, Vec3 corner_a, Vec3 corner_b, Vec3 corner_c) {
  const Vec3 a = ray_corner(ray, corner_a), b = ray_corner(ray, corner_b), c = ray_corner(ray, corner_c);
  const double u = c.x * b.y - c.y * b.x, v = a.x * c.y - a.y * c.x, w = b.x * a.y - b.y * a.x;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return 0;
  const double along = (u * a.z + v * b.z + w * c.z) / (u + v + w);
  if (along < -CROSSING_END || along > 1 + CROSSING_END) return 0;
  const double facing = vec3_dot(way, vec3_cross(vec3_sub(corner_b, corner_a), vec3_sub(corner_c, corner_a)));
  const bool clear = u != 0 && v != 0 && w != 0 && along > CROSSING_END && along < 1 - CROSSING_END && facing != 0;
  return !clear ? CROSSING_OPEN : facing < 0 ? 1 : -1;
}

/* Corner k of the cell that a point is in, from the tree's origin. */
static Vec3 spot_corner(ExactShape shape, GridAxes axes, GridSpot spot, int k) {
  const int row = spot.block / axes.blocks[0], line = spot.corner / GRID_SIDE;
  const Vec3 at = vec3(spot.block % axes.blocks[0] * GRID_BLOCK + spot.corner % GRID_SIDE + (k & 1),
                       row % axes.blocks[1] * GRID_BLOCK + line % GRID_SIDE + (k >> 1 & 1),
                       row / axes.blocks[1] * GRID_BLOCK + line / GRID_SIDE + (k >> 2));
  return vec3_sub(vec3_add(axes.low, vec3_scale(at, 1 / axes.per_cell)), shape.solid->middle);
}

/* The side of a point too near to the mesh for its distance grid: that of a corner of its cell, and what the way from
 * there goes through. How often an inner corner is enclosed is not known, so that an outer one is better. Returns 1 in
 * the mesh, 0 outside, -1: open. */
static int find_side(ExactShape shape, NearMesh mesh, GridAxes axes, GridSpot spot, int entry, Vec3 from) {
  global const float *values = shape.there.values + (uint)shape.solid->values + (uint)(entry + spot.corner);
  const float least = 0.01f * (float)shape.solid->cell;
  int corner = -1, deep = 0, count = 0;
  for (int k = 0; k < 8 && (corner < 0 || deep); k++) {
    const float value = values[(k & 1) + (k & 2 ? GRID_SIDE : 0) + (k & 4 ? GRID_SIDE * GRID_SIDE : 0)];
    if (fabs(value) < least || (corner >= 0 && value < 0)) continue;
    corner = k;
    deep = value < 0;
  }
  if (corner < 0) return -1;
  const Vec3 begin = spot_corner(shape, axes, spot, corner), way = vec3_sub(from, begin);
  const RayFrame ray = ray_frame(begin, way);
  for (int k = 0; k < near_count(mesh) && count < CROSSING_OPEN / 2; k++)
    count += crossing(&ray, way, near_corner(mesh, k, 0), near_corner(mesh, k, 1), near_corner(mesh, k, 2));
  if (count >= CROSSING_OPEN / 2 || (deep && count != 0)) return -1;
  return deep || count > 0;
}

/* As ask_exactly of the CPU, from what is listed for the point's block. Returns whether that is enough. */
static bool ask_listed(ExactShape shape, SettleSolid exact, double radius, FineContact *at) {
  const double cached = (double)at->point.distance, reach = asked_reach(radius, exact.doubt);
  const Vec3 p = vec3((double)at->within.x, (double)at->within.y, (double)at->within.z);
  const GridAxes axes = shape.solid->grid;
  const GridSpot spot = grid_spot(&axes, p);
  const int entry = grid_entry(shape.there, shape.solid, spot);
  if (!(reach <= exact.listed) || entry < 0) return false;
  const int block = shape.there.numbers[shape.solid->block + entry / GRID_NODES];
  if (block >= GRID_BLOCK_FACELESS) return false;
  global const int *begin = shape.there.numbers + shape.solid->begin + grid_block_list(block);
  const NearMesh mesh = {shape.there.numbers + begin[0], shape.there.triangle, begin[1] - begin[0]};
  const Vec3 from = vec3_sub(p, shape.solid->middle);
  int contained = (cached < 0) != (shape.solid->inside != 0);
  if (!is_sided(cached, exact.doubt)) contained = find_side(shape, mesh, axes, spot, entry, from);
  if (contained < 0) return false;
  const double sign = contained ? -1 : 1;
  NearestPoint nearest = nearest_none(reach * reach);
  for (int k = 0; k < near_count(mesh); k++) {
    const BvhTriangle triangle = near_triangle(mesh, k);
    nearest = nearest_look(nearest, &triangle, mesh.list[k], from);
  }
  ShapePoint point = mesh_point_beyond(reach, sign);
  if (nearest.place >= 0) {
    global const FaceTriangle *own = shape.there.triangle + nearest.place;
    const BvhTriangle triangle = {own->corner[0], own->sides[0], own->sides[1]};
    point = mesh_point_beside(p, vec3_add(nearest.point, shape.solid->middle), sqrt(nearest.square), sign,
                              exact.diagonal, triangle_normal(&triangle));
  }
  if (shape.solid->inside) point = shape_point_turned(point);
  at->point.distance = (float)point.distance;
  at->point.normal = vec_make((float)point.normal.x, (float)point.normal.y, (float)point.normal.z);
  return true;
}

static Closer look_closer(Grain *grain, global const FineFrame *frame, global const SolidShared *solid,
                          global const int *table, global const float *values, ExactSolids exact, int k, int round,
                          FineContact *at) {
  const SettleSolid own = exact.settle[k];
  const ExactShape shape = {exact.there, exact.there.solid + k};
  const double radius = (double)grain->radius;
  const bool moved = marches(grain, solid, shape, own, exact.reach, round == 0, at->point.distance);
  if (moved) *at = fine_contact(solid, table, values, grain->end);
  if (own.doubt > 0 && asks_mesh((double)at->point.distance, radius, own.doubt) && !ask_listed(shape, own, radius, at))
    return CLOSER_LEAVES;
  return moved ? CLOSER_MOVED : CLOSER_NOTHING;
}

#include "upsample/fine_walls_shared.h"

/* Grains of the records go where they end; those that are stuck, and those whose side of a mesh is not known, are
 * listed for the host as they were. */
kernel void fine_settle(double reach, global const FineFrame *frame, global const FineRecord *records,
                        global FineRecord *left, global float *x, global float *y, global float *z, global float *vx,
                        global float *vy, global float *vz, global const SolidShared *solids,
                        global const SettleSolid *settle, SOLIDS_THERE, global const float *friction,
                        global uint *counters) {
  const int k = (int)get_global_id(0);
  if (k >= min((int)counters[COUNT_RECORDS], frame->room)) return;
  const FineRecord record = records[k];
  const ExactSolids exact = {solids_there(solid, numbers, values, triangle), settle, reach};
  Grain grain;
  grain.at = vec_make(record.at[0], record.at[1], record.at[2]);
  grain.end = vec_make(record.end[0], record.end[1], record.end[2]);
  grain.velocity = vec_make(record.velocity[0], record.velocity[1], record.velocity[2]);
  grain.radius = record.radius, grain.loose = record.loose, grain.gap = record.gap, grain.clear = record.clear;
  if (walls_after(&grain, record.material, frame, solids, numbers, values, exact, friction)) {
    left[atomic_inc(&counters[COUNT_LEFT])] = record;
    return;
  }
  const int i = record.index;
  x[i] = grain.end.x, y[i] = grain.end.y, z[i] = grain.end.z;
  vx[i] = grain.velocity.x, vy[i] = grain.velocity.y, vz[i] = grain.velocity.z;
}
