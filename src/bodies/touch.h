/* Where a solid touches others: places on its surface that are held against the signed distance of the others, which is
 * what grains see too. Shared by the contacts of free bodies and those of parts of mechanisms. */
#ifndef BODIES_TOUCH_H
#define BODIES_TOUCH_H

#include "geometry/mesh.h"
#include "state/solid_touch.h"

enum { TOUCH_PLACES_MAX = 128 };

/* A point, a ball, a rim or an edge. Of a rim (a circle) and an edge (a straight line) the point nearest to the other
 * solid counts: with fixed points alone a wheel would roll on a polygon, and edges that cross would not meet. */
typedef struct TouchPlace {
  Vec3 center;   /* in the frame of the solid */
  double radius; /* of the ball round it, or round every point of an edge; 0: a point */
  Vec3 axis;     /* unit, of a rim or an edge */
  double rim;    /* radius of the rim; 0: none */
  double half;   /* half the length of the edge; 0: none */
  bool round;    /* an edge that is the axis of a cylinder: it touches only across */
} TouchPlace;

typedef struct TouchPlaces {
  TouchPlace places[TOUCH_PLACES_MAX];
  int32_t count;
} TouchPlaces;

/* A place that is near the surface of another solid. */
typedef struct TouchFound {
  Vec3 point, normal; /* world; the normal looks out of the other solid */
  double gap;
  TouchPlace place; /* with a point of the edge instead of the edge */
} TouchFound;

/* Ones beyond the limit are left out. */
void touch_add(TouchPlaces *places, TouchPlace place);
/* Points of a mesh that lies at the pose: vertices that lie farthest in directions spread evenly over the sphere. */
void touch_add_mesh(TouchPlaces *places, const Mesh *mesh, const SolidPose *pose);
/* Those of a shape. */
void touch_add_shape(TouchPlaces *places, const Shape *shape);

/* The point of the place that looks against the normal, when its solid has that pose. false: a rim that lies flat. */
bool touch_point(const TouchPlace *place, const SolidPose *pose, Vec3 normal, Vec3 *point);
/* Surfaces of the other solid nearer than `ahead` to a place of a solid; returns their number. */
int touch_find(const TouchPlace *place, const Solid *solid, const Solid *other, double ahead,
               TouchFound found[SHAPE_CONTACTS_MAX]);
/* Whether the other solid comes nearer to any point of a solid than `ahead`, as far as balls round them tell. */
bool touch_is_near(const Solid *solid, const Solid *other, double ahead);

#endif
