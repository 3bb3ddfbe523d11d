#include "state/solids_mirror.h"

#include <string.h>

#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"
#include "state/solids_there_shared.h"

/* Of a mesh without a grid the host is asked. */
static int form_of(const Shape *shape) {
  switch (shape->kind) {
  case SCREE_SHAPE_PLANE: return SOLID_PLANE;
  case SCREE_SHAPE_SPHERE: return SOLID_SPHERE;
  case SCREE_SHAPE_CAPSULE: return SOLID_CAPSULE;
  case SCREE_SHAPE_BOX: return SOLID_BOX;
  case SCREE_SHAPE_CYLINDER: return SOLID_CYLINDER;
  case SCREE_SHAPE_MESH: return shape->grid ? SOLID_MESH : SOLID_ASKED;
  case SCREE_SHAPE_HEIGHTFIELD: return SOLID_HEIGHTS;
  default: return SOLID_ASKED;
  }
}

const char *solids_mirror_missing(const Solids *solids, double reach) {
  for (int32_t k = 0; k < solids->count; k++) {
    const Shape *shape = &solids->items[k].shape;
    if (solid_is_sampled(&solids->items[k])) continue; /* nobody meets its shape */
    if (form_of(shape) != SOLID_MESH) continue;
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

static const Heightfield *heights_of(const Solids *solids, int32_t *index) {
  for (*index = 0; *index < solids->count; ++*index)
    if (solids->items[*index].shape.heights) return solids->items[*index].shape.heights;
  return NULL;
}

/* Behind so many triangles is room for the heights, of which there is one field at most. */
static Status reserve_heights(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids,
                              int64_t triangles) {
  int32_t index;
  const Heightfield *field = heights_of(solids, &index);
  const int64_t count = field ? (int64_t)field->nx * field->ny : 0, bytes = triangles * (int64_t)sizeof(FaceTriangle);
  TRY(device_reserve(core, device, &mirror->triangle, bytes + count * (int64_t)sizeof(double), 0, "distance grids"));
  if (!field) return SCREE_OK;
  SolidThere *to = &mirror->there[index];
  to->cell = field->cell;
  to->columns_x = field->nx;
  to->columns_y = field->ny;
  to->heights = (int)(bytes / (int64_t)sizeof(double));
  TRY(memory_grow(core, &mirror->heights, count, "heights on a device"));
  memcpy(mirror->heights, field->heights, sizeof *mirror->heights * (size_t)count);
  return device_write(core, device, &mirror->triangle, bytes, count * (int64_t)sizeof(double), field->heights);
}

/* Those that have changed, from the first to the last. */
static Status send_heights(Core *core, Device *device, SolidsMirror *mirror, const Solids *solids) {
  int32_t index;
  const Heightfield *field = heights_of(solids, &index);
  if (!field) return SCREE_OK;
  int64_t first = 0, end = (int64_t)field->nx * field->ny;
  while (first < end && field->heights[first] == mirror->heights[first]) first++;
  while (end > first && field->heights[end - 1] == mirror->heights[end - 1]) end--;
  const int64_t size = (int64_t)sizeof(double);
  if (first == end) return SCREE_OK;
  memcpy(mirror->heights + first, field->heights + first, (size_t)(size * (end - first)));
  return device_write(core, device, &mirror->triangle, size * (mirror->there[index].heights + first),
                      size * (end - first), mirror->heights + first);
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
  return reserve_heights(core, device, mirror, solids, all.triangles);
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
  memset(mirror->sent, 0, (size_t)bytes);
  for (int32_t k = 0; k < solids->count; k++) share_shape(&solids->items[k].shape, &mirror->there[k]);
  TRY(reserve_meshes(core, device, mirror, solids));
  for (int32_t k = 0; k < solids->count; k++) {
    const Shape *shape = &solids->items[k].shape;
    const MeshRoom room = room_of(shape);
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
    to->bounds_low = solid->shape.bounds_low;
    to->bounds_high = solid->shape.bounds_high;
  }
  TRY(send_heights(core, device, mirror, solids));
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
  memory_drop(core, &mirror->heights);
}
