/* Solids as fine grains see them: where they are at the beginning and the end of the frame. */
#define LANE_SCALAR /* laws for one grain */
#include <math.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "upsample/internal.h"

enum { CORNERS = 8, TRIALS = 2000 };
/* Share of a fine radius by which a cached distance may be off. */
#define DOUBT 0.05
/* Half the extent that counts for planes when they turn. */
#define PLANE_EXTENT 100.0

typedef struct Trials {
  const FineSolid *view;
  Shape exact;
  double radius;
  int64_t step; /* every so manieth triangle is tried */
} Trials;

static double try_triangles(void *context, int64_t b, int64_t e) {
  const Trials *trials = context;
  const FineSolid *view = trials->view;
  const Mesh *mesh = &view->shape.mesh;
  double worst = 0, radius = trials->radius, side = view->shape.inside ? -radius : radius;
  for (int64_t t = b * trials->step; t < mesh->triangle_count && t < e * trials->step; t += trials->step) {
    Vec3 corner[3], middle = vec3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
      corner[k] = mesh->vertices[mesh->triangles[t][k]];
      middle = vec3_madd(middle, corner[k], 1.0 / 3);
    }
    Vec3 normal = vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0]));
    double size = vec3_length(normal);
    if (!(size > 0)) continue;
    for (int k = 0; k < 7; k++) {
      Vec3 edge = vec3_scale(vec3_add(corner[k % 3], corner[(k + 1) % 3]), 0.5);
      Vec3 at = vec3_madd(k < 3 ? corner[k] : k < 6 ? edge : middle, normal, side / size);
      double cached = shape_distance(&view->shape, at, radius).distance;
      worst = fmax(worst, fabs(cached - shape_distance(&trials->exact, at, 8 * radius).distance));
    }
  }
  return worst;
}

/* Between the nodes of a cache sharp edges are blunt. Measures how much, where a fine grain would touch the triangles'
 * middles, corners and the middles of their edges. */
static double cache_error(Core *core, const FineSolid *view, double radius) {
  Trials trials = {view, view->shape, radius, view->shape.mesh.triangle_count / TRIALS + 1};
  trials.exact.grid = NULL;
  int64_t count = parallel_chunks(0, view->shape.mesh.triangle_count, trials.step);
  return parallel_max(core, 0, count, 16, 0, try_triangles, &trials);
}

double upsample_distance_band(const State *state) {
  return DISTANCE_BAND * (state->parcels ? PARCEL_SPHERE * state->radius : state->radius);
}

Status solids_view_create(Core *core, Upsample *up, const State *state) {
  double radius = up->coarse_radius;
  TRY(memory_grow(core, &up->solids, state->solids.count, "upsampling"));
  int32_t known = up->solid_count;
  up->solid_count = state->solids.count;
  for (int32_t k = known; k < up->solid_count; k++) {
    const Solid *solid = &state->solids.items[k];
    FineSolid *view = &up->solids[k];
    *view = (FineSolid){.shape = solid->shape};
    view->friction_static = solid->friction_static;
    view->friction_kinetic = solid->friction_kinetic;
    view->position[0] = solid->position;
    view->rotation[0] = solid->rotation;
    if (solid->shape.kind != SCREE_SHAPE_MESH || !solid->shape.findings.closed) continue;
    double band = upsample_distance_band(state);
    if (!solid->shape.grid || (double)solid->shape.grid->band < band) {
      double cell = fmax(up->definition.radius, DISTANCE_CELL * radius);
      TRY(distance_grid_build(core, &view->shape, cell, band, &view->cache));
      view->shape.grid = view->cache;
    }
    double error = cache_error(core, view, up->definition.radius);
    if (error > DOUBT * up->definition.radius) view->doubt = 1.5 * error;
  }
  return SCREE_OK;
}

void solid_view_place(FineSolid *view, int when, Vec3 origin) {
  FineAxes *axes = &view->axes[when];
  Mat3 turn = mat3_transpose(mat3_from_quat(view->rotation[when]));
  axes->turned = false;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      axes->turn[r][c] = (float)turn.m[r][c];
      axes->turned |= axes->turn[r][c] != (r == c ? 1.0f : 0.0f);
    }
  Vec3 shift = vec3_sub(origin, view->position[when]);
  for (int r = 0; r < 3; r++) axes->shift[r] = (float)vec3_get(shift, r);
}

/* The displacement of a point is a convex function of the point: a corner of the bounds moves farthest. */
static double view_moved(const FineSolid *view) {
  double farthest = 0;
  for (int corner = 0; corner < CORNERS; corner++) {
    double at[3];
    for (int axis = 0; axis < 3; axis++) {
      double low = vec3_get(view->shape.bounds_low, axis), high = vec3_get(view->shape.bounds_high, axis);
      at[axis] = corner >> axis & 1 ? fmin(high, PLANE_EXTENT) : fmax(low, -PLANE_EXTENT);
    }
    Vec3 local = vec3(at[0], at[1], at[2]);
    Vec3 displacement = vec3_sub(vec3_add(quat_rotate(view->rotation[1], local), view->position[1]),
                                 vec3_add(quat_rotate(view->rotation[0], local), view->position[0]));
    farthest = fmax(farthest, vec3_length(displacement));
  }
  return farthest;
}

static bool heights_changed(FineSolid *view) {
  const Heightfield *field = view->shape.heights;
  if (view->shape.kind != SCREE_SHAPE_HEIGHTFIELD || !field) return false;
  uint64_t before = view->heights;
  view->heights = hash_bytes(field->heights, sizeof *field->heights * (size_t)field->nx * (size_t)field->ny, 0);
  return view->heights != before;
}

void solids_view_refresh(Upsample *up, const State *state) {
  up->lag = 0;
  up->reshaped = false;
  for (int32_t k = 0; k < up->solid_count; k++) {
    const Solid *solid = &state->solids.items[k];
    FineSolid *view = &up->solids[k];
    if (solid->shape.kind != SCREE_SHAPE_MESH) view->shape = solid->shape; /* heights change */
    up->reshaped |= heights_changed(view);
    view->sampled = solid->sample_end > solid->sample_begin;
    view->position[1] = solid->position;
    view->rotation[1] = solid->rotation;
    view->moved = view_moved(view);
    up->lag = fmax(up->lag, view->moved + view->doubt);
    for (int when = 0; when < 2; when++) solid_view_place(view, when, state->origin);
    Vec3 drift = vec3_sub(view->position[1], view->position[0]);
    for (int axis = 0; axis < 3; axis++) view->drift[axis] = (float)vec3_get(drift, axis);
  }
}

void solids_view_commit(Upsample *up) {
  for (int32_t k = 0; k < up->solid_count; k++) {
    up->solids[k].position[0] = up->solids[k].position[1];
    up->solids[k].rotation[0] = up->solids[k].rotation[1];
  }
}

float solid_friction_static(const FineSolid *view, const Material *material) {
  return (float)material_on_solid(material, material->wall_static, view->friction_static);
}

float solid_friction_kinetic(const FineSolid *view, const Material *material) {
  return (float)material_on_solid(material, material->wall_kinetic, view->friction_kinetic);
}

static LaneVec3 lane_vector(const float v[3]) { return vec_make(v[0], v[1], v[2]); }

static void vector_store(LaneVec3 from, float v[3]) { v[0] = from.x, v[1] = from.y, v[2] = from.z; }

void solid_to_view(const FineSolid *view, int when, const float world[3], float local[3]) {
  vector_store(axes_to_local(view->axes[when], lane_vector(world)), local);
}

void solid_to_world_axes(const FineSolid *view, int when, const float v[3], float world[3]) {
  vector_store(axes_to_world(view->axes[when], lane_vector(v)), world);
}

void solid_displacement(const FineSolid *view, const float local[3], float displacement[3]) {
  bool moves = view->moved > 0;
  LaneVec3 point = lane_vector(local), drift = lane_vector(view->drift);
  vector_store(moves ? axes_displacement(view->axes[0], view->axes[1], drift, point) : vec_zero(), displacement);
}

double solid_view_gap(const FineSolid *view, const float bounds[6], int when) {
  float center[3], local[3];
  double half2 = 0, outside2 = 0;
  for (int axis = 0; axis < 3; axis++) {
    center[axis] = 0.5f * (bounds[axis] + bounds[3 + axis]);
    double half = 0.5 * ((double)bounds[3 + axis] - (double)bounds[axis]);
    half2 += half * half;
  }
  solid_to_view(view, when, center, local);
  const Shape *shape = &view->shape;
  double half = sqrt(half2);
  if (!shape->inside && shape->kind != SCREE_SHAPE_PLANE) {
    for (int axis = 0; axis < 3; axis++) {
      double low = vec3_get(shape->bounds_low, axis), high = vec3_get(shape->bounds_high, axis),
             at = (double)local[axis];
      double out = at < low ? low - at : at > high ? at - high : 0;
      outside2 += out * out;
    }
    if (outside2 > 4 * half2) return sqrt(outside2) - half;
  }
  double reach = shape->grid ? (double)shape->grid->band : INFINITY;
  Vec3 at = vec3((double)local[0], (double)local[1], (double)local[2]);
  return shape_distance(shape, at, reach).distance - half - solid_view_error(view);
}
