/* What a sphere touches of a mesh: the nearest point of each face that is one on its own. */
#include "geometry/bvh_nodes.h"
#include "geometry/distance_grid.h"
#include "geometry/shape.h"
#include "geometry/triangle.h"

/* Triangles and faces near a sphere that are looked at. Where there are more it touches the nearest point alone. */
enum { NEAR_MOST = 512, FACES_MOST = 16 };
/* Of the reach: points nearer to each other than that are one. */
#define SAME_POINT 1e-6

/* Nearest point of a face. */
typedef struct Candidate {
  int32_t face;
  double distance;
  Vec3 point; /* from the tree's origin, as all points here */
} Candidate;

typedef struct NearFaces {
  const Shape *shape;
  Vec3 at;
  double reach;
  int64_t count; /* of triangles */
  int32_t places[NEAR_MOST];
  int faces;
  Candidate face[FACES_MOST]; /* nearest first */
} NearFaces;

static int32_t face_at(const NearFaces *near, int64_t k) {
  return near->shape->faces.of[near->shape->bvh->order[near->places[k]]];
}

static bool has_one_face(const NearFaces *near) {
  for (int64_t k = 1; k < near->count; k++)
    if (face_at(near, k) != face_at(near, 0)) return false;
  return true;
}

/* A sphere in an inner edge has two faces near it, one at a vertex as many as meet there. Returns whether there was
 * room for all. */
static bool find_faces(NearFaces *near) {
  near->faces = 0;
  for (int64_t k = 0; k < near->count; k++) {
    const Vec3 point = triangle_closest(&near->shape->bvh->triangles[near->places[k]], near->at);
    const Candidate found = {face_at(near, k), vec3_length(vec3_sub(near->at, point)), point};
    int at = 0;
    while (at < near->faces && near->face[at].face != found.face) at++;
    if (at == FACES_MOST) return false;
    if (at < near->faces && near->face[at].distance <= found.distance) continue;
    if (at == near->faces) near->faces++;
    for (; at > 0 && near->face[at - 1].distance > found.distance; at--) near->face[at] = near->face[at - 1];
    near->face[at] = found;
  }
  return true;
}

/* Where faces meet, the nearest point of one may be a point of the other that is not its nearest: a sphere rolls on
 * over an outer edge, and at a blunt inner one it does not touch both. */
static bool is_on_its_own(const NearFaces *near, const Candidate *candidate) {
  const double same = SAME_POINT * near->reach;
  for (int64_t k = 0; k < near->count; k++) {
    if (face_at(near, k) == candidate->face) continue;
    const BvhTriangle *triangle = &near->shape->bvh->triangles[near->places[k]];
    if (vec3_length(vec3_sub(candidate->point, triangle_closest(triangle, candidate->point))) > same) continue;
    if (vec3_length(vec3_sub(near->at, triangle_closest(triangle, near->at))) < candidate->distance - same)
      return false;
  }
  return true;
}

/* The back of a thin wall, and what is in another part, lies behind something. */
static bool is_in_sight(const NearFaces *near, const Candidate *candidate, Vec3 normal) {
  const Bvh *bvh = near->shape->bvh;
  const double until = candidate->distance - SAME_POINT * near->reach;
  return bvh_ray(bvh, vec3_add(near->at, bvh->origin), vec3_scale(normal, -1), until).triangle < 0;
}

static bool is_new(const ShapePoint *contacts, int count, Vec3 normal, int32_t face) {
  for (int k = 0; k < count; k++)
    if (vec3_dot(contacts[k].normal, normal) > MESH_FACE_BEND || (contacts[k].face - face) % MESH_FACE_NUMBERS == 0)
      return false;
  return true;
}

static int keep_contacts(const NearFaces *near, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = 0;
  for (int k = 0; k < near->faces && count < SHAPE_CONTACTS_MAX; k++) {
    const Candidate *candidate = &near->face[k];
    if (candidate->distance > near->reach) break;
    const Vec3 normal = vec3_scale(vec3_sub(near->at, candidate->point), 1 / candidate->distance);
    if (count > 0 && (!is_new(contacts, count, normal, candidate->face) || !is_on_its_own(near, candidate) ||
                      !is_in_sight(near, candidate, normal)))
      continue;
    contacts[count++] = (ShapePoint){candidate->distance, normal, candidate->face};
  }
  return count;
}

/* `contacts` has the nearest point, from the grid where there is one. That is exact on flat faces but not within a cell
 * of where another is as near: there the mesh itself is asked. */
static int mesh_touches(const Shape *shape, Vec3 p, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  const Bvh *bvh = shape->bvh;
  NearFaces near; /* not cleared: it has room for many */
  near.shape = shape;
  near.at = vec3_sub(p, bvh->origin);
  near.reach = reach;
  const double blurred = shape->grid ? (double)shape->grid->cell : 0;
  near.count = bvh_near(bvh, p, reach + blurred, NEAR_MOST, near.places);
  if (near.count < 1 || near.count > NEAR_MOST) return 1;
  contacts[0].face = face_at(&near, 0);
  if (has_one_face(&near) || !find_faces(&near)) return 1;
  contacts[0].face = near.face[0].face;
  if (!(contacts[0].distance > SAME_POINT * reach) || !(near.face[0].distance > SAME_POINT * reach)) return 1;
  return keep_contacts(&near, contacts);
}

int shape_touches(const Shape *shape, Vec3 point, double reach, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = shape_contacts(shape, point, reach, contacts);
  return count > 0 && shape->faces.meet ? mesh_touches(shape, point, reach, contacts) : count;
}

Status shape_find_faces(Core *core, Shape *shape) {
  if (shape->kind != SCREE_SHAPE_MESH || shape->faces.of) return SCREE_OK;
  return mesh_faces_find(core, &shape->mesh, shape->findings.closed, shape->inside, &shape->faces);
}
