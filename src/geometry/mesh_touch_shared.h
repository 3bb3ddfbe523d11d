/* What a sphere touches of a mesh: the nearest point of each face that is one on its own. One text for CPU and devices.
 *
 * Whoever includes it says before what the triangles near a sphere are, and perhaps some a little farther away, with
 *   NearMesh, near_count(mesh), near_face(mesh, k), near_triangle(mesh, k), near_corner(mesh, k, corner 0 to 2).
 * Which of them there are besides those within reach, and in which order, changes nothing but what of two points at the
 * same distance is taken. Points are given from the tree's origin. */
#ifndef GEOMETRY_MESH_TOUCH_SHARED_H
#define GEOMETRY_MESH_TOUCH_SHARED_H

#include "geometry/touch_shared.h"
#include "geometry/triangle_law.h"

/* Faces near a sphere that are looked at. Where there are more it touches the nearest point alone. */
enum { FACES_MOST = 16 };
/* Of the reach: points nearer to each other than that are one. */
#define SAME_POINT 1e-6

/* Nearest point of a face. */
typedef struct FacePoint {
  Vec3 point;
  double distance;
  int face;
} FacePoint;

typedef struct NearFaces {
  Vec3 at;
  double reach;
  int count;
  FacePoint face[FACES_MOST]; /* nearest first */
} NearFaces;

/* A sphere in an inner edge has two faces near it, one at a vertex as many as meet there. Returns whether there was
 * room for all. */
VEC_INLINE bool find_faces(NearMesh mesh, double within, NearFaces *near) {
  near->count = 0;
  for (int k = 0; k < near_count(mesh); k++) {
    const BvhTriangle triangle = near_triangle(mesh, k);
    FacePoint found;
    found.face = near_face(mesh, k);
    found.point = triangle_closest(&triangle, near->at);
    found.distance = vec3_length(vec3_sub(near->at, found.point));
    if (!(found.distance <= within)) continue;
    int at = 0;
    while (at < near->count && near->face[at].face != found.face) at++;
    if (at == FACES_MOST) return false;
    if (at < near->count && near->face[at].distance <= found.distance) continue;
    if (at == near->count) near->count++;
    for (; at > 0 && near->face[at - 1].distance > found.distance; at--) near->face[at] = near->face[at - 1];
    near->face[at] = found;
  }
  return true;
}

/* Where faces meet, the nearest point of one may be a point of the other that is not its nearest: a sphere rolls on
 * over an outer edge, and at a blunt inner one it does not touch both. */
VEC_INLINE bool is_on_its_own(NearMesh mesh, const NearFaces *near, const FacePoint *candidate) {
  const double same = SAME_POINT * near->reach;
  for (int k = 0; k < near_count(mesh); k++) {
    if (near_face(mesh, k) == candidate->face) continue;
    const BvhTriangle triangle = near_triangle(mesh, k);
    if (vec3_length(vec3_sub(candidate->point, triangle_closest(&triangle, candidate->point))) > same) continue;
    if (vec3_length(vec3_sub(near->at, triangle_closest(&triangle, near->at))) < candidate->distance - same)
      return false;
  }
  return true;
}

/* The back of a thin wall, and what is in another part, lies behind something. */
VEC_INLINE bool is_in_sight(NearMesh mesh, const NearFaces *near, const FacePoint *candidate, Vec3 normal) {
  const double until = candidate->distance - SAME_POINT * near->reach;
  const RayFrame ray = ray_frame(near->at, vec3_scale(normal, -1));
  for (int k = 0; k < near_count(mesh); k++) {
    const double along = ray_triangle(&ray, near_corner(mesh, k, 0), near_corner(mesh, k, 1), near_corner(mesh, k, 2));
    if (along >= 0 && along <= until) return false;
  }
  return true;
}

VEC_INLINE bool is_new_face(const ShapePoint *contacts, int count, Vec3 normal, int face) {
  for (int k = 0; k < count; k++)
    if (vec3_dot(contacts[k].normal, normal) > MESH_FACE_BEND || (contacts[k].face - face) % MESH_FACE_NUMBERS == 0)
      return false;
  return true;
}

VEC_INLINE int keep_faces(NearMesh mesh, const NearFaces *near, ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  int count = 0;
  for (int k = 0; k < near->count && count < SHAPE_CONTACTS_MAX; k++) {
    const FacePoint candidate = near->face[k];
    if (candidate.distance > near->reach) break;
    const Vec3 normal = vec3_scale(vec3_sub(near->at, candidate.point), 1 / candidate.distance);
    if (count > 0 && (!is_new_face(contacts, count, normal, candidate.face) || !is_on_its_own(mesh, near, &candidate) ||
                      !is_in_sight(mesh, near, &candidate, normal)))
      continue;
    contacts[count].distance = candidate.distance;
    contacts[count].normal = normal;
    contacts[count++].face = candidate.face;
  }
  return count;
}

/* `contacts` has the nearest point, from the grid where there is one. That is exact on flat faces but not within a
 * cell, `blurred`, of where another is as near: there the faces themselves are asked. */
VEC_INLINE int mesh_faces_touched(NearMesh mesh, Vec3 at, double reach, double blurred,
                                  ShapePoint contacts[SHAPE_CONTACTS_MAX]) {
  NearFaces near;
  near.at = at;
  near.reach = reach;
  if (!find_faces(mesh, reach + blurred, &near) || near.count == 0) return 1;
  contacts[0].face = near.face[0].face;
  if (near.count == 1) return 1;
  if (!(contacts[0].distance > SAME_POINT * reach) || !(near.face[0].distance > SAME_POINT * reach)) return 1;
  return keep_faces(mesh, &near, contacts);
}

#endif
