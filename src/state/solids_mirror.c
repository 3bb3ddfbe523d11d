#include "state/solids_mirror.h"

#include <string.h>

#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"
#include "state/solids_there_shared.h"

/* -1: there is none. */
static int form_of(const Shape *shape) {
  switch (shape->kind) {
  case SCREE_SHAPE_PLANE: return SOLID_PLANE;
  case SCREE_SHAPE_SPHERE: return SOLID_SPHERE;
  case SCREE_SHAPE_CAPSULE: return SOLID_CAPSULE;
  case SCREE_SHAPE_BOX: return SOLID_BOX;
  case SCREE_SHAPE_CYLINDER: return SOLID_CYLINDER;
  case SCREE_SHAPE_MESH: return shape->grid ? SOLID_MESH : -1;
  default: return -1;
  }
}

const char *solids_mirror_missing(const Solids *solids, double reach) {
  for (int32_t k = 0; k < solids->count; k++) {
    const Shape *shape = &solids->items[k].shape;
    if (form_of(shape) < 0) return shape->kind == SCREE_SHAPE_MESH ? "open meshes" : "terrain";
    if (shape->kind != SCREE_SHAPE_MESH) continue;
    if (reach > (double)shape->grid->band || (shape->faces.meet && reach > shape->faces.reach))
      return "a mesh as fine beside the grains";
  }
  return NULL;
}

/* ---- meshes: numbers, values and triangles of all, one behind the other ---- */

/* How many there are of a mesh. */
typedef struct MeshRoom {
  int64_t numbers, values, triangles;
} MeshRoom;

static int64_t grid_blocks(const DistanceGrid *grid) {
  return (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
}

static MeshRoom room_of(const Shape *shape) {
  if (form_of(shape) != SOLID_MESH) return (MeshRoom){0};
  const MeshFaces *faces = &shape->faces;
  MeshRoom room = {grid_blocks(shape->grid), shape->grid->block_count * GRID_NODES, 0};
  if (!faces->meet) return room;
  room.numbers += faces->lists.block_count + faces->lists.list_count + 1 + faces->lists.entries;
  room.triangles = shape->mesh.triangle_count;
  return room;
}

/* A mesh from `at` on. */
static Status send_grid(Core *core, Device *device, SolidsMirror *mirror, const Shape *shape, MeshRoom at,
                        SolidThere *to) {
  const DistanceGrid *grid = shape->grid;
  const int64_t blocks = grid_blocks(grid);
  to->grid = grid_axes(grid);
  to->middle = shape->bvh->origin;
  to->cell = (double)grid->cell;
  to->band = grid->band;
  to->table = (int)at.numbers;
  to->values = (int)at.values;
  TRY(device_write(core, device, &mirror->numbers, at.numbers * 4, blocks * 4, grid->table));
  return device_write(core, device, &mirror->values, at.values * 4, grid->block_count * GRID_NODES * 4, grid->values);
}

static FaceTriangle face_triangle(const Shape *shape, int64_t place) {
  const Bvh *bvh = shape->bvh;
  const int32_t triangle = bvh->order[place], *corner = shape->mesh.triangles[triangle];
  FaceTriangle to = {.sides = {bvh->triangles[place].ab, bvh->triangles[place].ac}};
  if (shape->faces.of) to.face = shape->faces.of[triangle];
  for (int c = 0; c < 3; c++) to.corner[c] = vec3_sub(shape->mesh.vertices[corner[c]], bvh->origin);
  return to;
}

/* Lists say where in the numbers of all they begin, and their triangles where they stand among all. */
static Status send_faces(Core *core, Device *device, SolidsMirror *mirror, const Shape *shape, MeshRoom at,
                         SolidThere *to) {
  const BlockLists *own = &shape->faces.lists;
  const int64_t triangles = shape->mesh.triangle_count, lists = own->list_count + 1;
  to->block = (int)(at.numbers + grid_blocks(shape->grid));
  to->begin = to->block + (int)own->block_count;
  const int64_t list = to->begin + lists;
  int32_t *numbers = NULL;
  FaceTriangle *of = NULL;
  Status status = memory_new(core, &numbers, lists + own->entries, "faces on a device");
  if (status == SCREE_OK) status = memory_new(core, &of, triangles, "faces on a device");
  if (status == SCREE_OK) {
    for (int64_t k = 0; k < lists; k++) numbers[k] = (int32_t)list + own->begin[k];
    for (int64_t k = 0; k < own->entries; k++) numbers[lists + k] = (int32_t)at.triangles + own->list[k];
    for (int64_t k = 0; k < triangles; k++) of[k] = face_triangle(shape, k);
    status = device_write(core, device, &mirror->numbers, (int64_t)to->block * 4, own->block_count * 4, own->block);
  }
  if (status == SCREE_OK)
    status = device_write(core, device, &mirror->numbers, (int64_t)to->begin * 4, (lists + own->entries) * 4, numbers);
  if (status == SCREE_OK)
    status = device_write(core, device, &mirror->triangle, at.triangles * (int64_t)sizeof *of,
                          triangles * (int64_t)sizeof *of, of);
  memory_drop(core, &numbers);
  memory_drop(core, &of);
  return status;
}

static Status reserve_meshes(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids) {
  MeshRoom all = {1, 1, 1};
  for (int32_t k = 0; k < solids->count; k++) {
    const MeshRoom room = room_of(&solids->items[k].shape);
    all.numbers += room.numbers, all.values += room.values, all.triangles += room.triangles;
  }
  if (all.numbers > INT32_MAX || all.values > INT32_MAX)
    return fail(core, SCREE_NO_MEMORY, "distance grids of solids are too large for a device");
  TRY(device_reserve(core, device, &mirror->numbers, all.numbers * 4, 0, "distance grids"));
  TRY(device_reserve(core, device, &mirror->values, all.values * 4, 0, "distance grids"));
  return device_reserve(core, device, &mirror->triangle, all.triangles * (int64_t)sizeof(FaceTriangle), 0,
                        "distance grids");
}

/* ---- shapes and poses ---- */

static void share_shape(const Shape *shape, SolidThere *to) {
  *to = (SolidThere){.low = shape->low,
                     .high = shape->high,
                     .bounds_low = shape->bounds_low,
                     .bounds_high = shape->bounds_high,
                     .radius = shape->numbers.radius,
                     .height = shape->numbers.height,
                     .form = form_of(shape),
                     .inside = shape->inside,
                     .meets = shape->faces.meet};
  memcpy(to->a, shape->numbers.a, sizeof to->a);
  memcpy(to->b, shape->numbers.b, sizeof to->b);
}

static Status send_shapes(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids) {
  const int64_t count = solids->count + 1, bytes = count * (int64_t)sizeof *mirror->there;
  MeshRoom at = {0};
  TRY(memory_grow(core, &mirror->there, count, "solids on a device"));
  TRY(memory_grow(core, &mirror->sent, count, "solids on a device"));
  TRY(device_reserve(core, device, &mirror->solid, bytes, 0, "solids"));
  TRY(reserve_meshes(core, device, mirror, solids));
  memset(mirror->sent, 0, (size_t)bytes);
  for (int32_t k = 0; k < solids->count; k++) {
    const Shape *shape = &solids->items[k].shape;
    const MeshRoom room = room_of(shape);
    share_shape(shape, &mirror->there[k]);
    if (room.numbers == 0) continue;
    TRY(send_grid(core, device, mirror, shape, at, &mirror->there[k]));
    if (shape->faces.meet) TRY(send_faces(core, device, mirror, shape, at, &mirror->there[k]));
    at.numbers += room.numbers, at.values += room.values, at.triangles += room.triangles;
  }
  mirror->count = solids->count;
  return SCREE_OK;
}

Status solids_mirror_send(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids) {
  if (!mirror->there || mirror->count != solids->count) TRY(send_shapes(core, device, mirror, solids));
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    SolidThere *to = &mirror->there[k];
    to->position = solid->position;
    to->rotation = solid->rotation;
    to->center = solid->center;
    to->turned = solid_is_turned(solid);
    to->sampled = solid_is_sampled(solid);
  }
  const size_t bytes = sizeof *mirror->there * (size_t)solids->count;
  if (memcmp(mirror->there, mirror->sent, bytes) == 0) return SCREE_OK;
  memcpy(mirror->sent, mirror->there, bytes);
  return device_write(core, device, &mirror->solid, 0, (int64_t)bytes, mirror->sent);
}

void solids_mirror_drop(Core *core, Device *device, SolidsMirror *mirror) {
  DeviceBuffer *const buffers[] = {&mirror->solid, &mirror->numbers, &mirror->values, &mirror->triangle};
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) device_release(device, buffers[k]);
  memory_drop(core, &mirror->there);
  memory_drop(core, &mirror->sent);
}
