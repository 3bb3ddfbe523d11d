/* Beds of sand of r = 1 cm in a silo 0.3 m wide with smooth walls, begun nearly at rest (scenes/side_by_side/bed.yaml),
 * and a ball that falls onto one: what the solver of the position-based methods leaves of a load. */
#ifndef TEST_BED_FIXTURE_H
#define TEST_BED_FIXTURE_H

#include "grains_fixture.h"

#define SILO_RADIUS 0.01
#define SILO_HALF 0.15

typedef struct Bed {
  double height, seconds;
  double time_step; /* 0: the method's own */
  int iterations;   /* 0: the method's own */
} Bed;

typedef struct BedLoss {
  double loss;           /* of the mean height, as a share */
  double swing;          /* largest rise of the mean height after 1 s, as a share */
  double overlap;        /* at the end, in radii */
  double load_to_weight; /* mean of the last quarter second */
} BedLoss;

static inline double mean_height(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  double sum = 0, mass = 0;
  for (int64_t i = 0; i < p->count; i++) {
    sum += (double)p->mass[i] * state_position(&world->state, i).z;
    mass += (double)p->mass[i];
  }
  return sum / mass;
}

static inline void silo_scene(GrainScene *s, const char *method, const Bed *bed) {
  grain_scene(s, method, SILO_RADIUS);
  s->materials[0].friction_static = 0.35,
  s->materials[0].friction_kinetic = 0.3; /* what the losses were measured with */
  if (bed->time_step > 0) s->def.method.time_step = bed->time_step;
  if (bed->iterations > 0) s->def.method.pbd.iterations = s->def.method.p2.iterations = bed->iterations;
  s->grains[0].start = SCREE_START_DENSE;
  s->grains[0].fill =
      scree_shape_box((ScreeVec3){-SILO_HALF, -SILO_HALF, 0}, (ScreeVec3){SILO_HALF, SILO_HALF, bed->height});
  ScreeBoundaryDef *silo =
      add_tank(s, (ScreeVec3){-SILO_HALF, -SILO_HALF, 0}, (ScreeVec3){SILO_HALF, SILO_HALF, bed->height + 1});
  silo->friction_static = silo->friction_kinetic = 0;
  add_probe(s, SCREE_PROBE_FORCE_ON)->target = silo->name;
}

static inline BedLoss bed_loss(const char *method, Bed bed) {
  GrainScene s;
  silo_scene(&s, method, &bed);
  ScreeWorld *world = world_of(&s.def, 0);
  const double begun = mean_height(world), weight = 9.81 * world_mass(world);
  double lowest = INFINITY, load = 0;
  BedLoss found = {0};
  int frames = (int)(60 * bed.seconds + 0.5), last = 15;
  for (int frame = 0; frame < frames; frame++) {
    run_frames(world, 1);
    double height = mean_height(world);
    if (world->state.time >= 1) {
      lowest = fmin(lowest, height);
      found.swing = fmax(found.swing, (height - lowest) / begun);
    }
    if (frame >= frames - last) load -= probe_value(world, 0, 2) / last;
  }
  found.loss = 1 - mean_height(world) / begun;
  found.overlap = world_overlap(world);
  found.load_to_weight = load / weight;
  print_message("%s, %g m, %g ms x %d: %.2f %% lost, swings %.3f %%, overlap %.4f r, load %.4f of the weight\n", method,
                bed.height, 1e3 * (bed.time_step > 0 ? bed.time_step : 0.005), (int)s.def.method.pbd.iterations,
                100 * found.loss, 100 * found.swing, found.overlap, found.load_to_weight);
  scree_world_destroy(world);
  return found;
}

/* A ball of 1,000 grain masses falls onto a bed of 0.3 m: how deep its lowest point gets below the surface that the bed
 * settles to without it. A ball of no speed is not there. */
static inline double impact_height(const char *method, double speed) {
  const double half = 0.25, depth = 0.3, radius = 0.07;
  GrainScene s;
  grain_scene(&s, method, SILO_RADIUS);
  s.def.method.dem.rotation = false;
  s.materials[0].friction_static = s.materials[0].friction_kinetic = 0.5;
  if (strcmp(method, "dem") == 0) s.materials[0].rolling_friction = 0; /* given, it lets grains of pbd and p2 turn */
  s.materials[0].restitution = 0.1;
  s.grains[0].start = SCREE_START_DENSE;
  s.grains[0].fill = scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, depth});
  add_tank(&s, (ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 1.5});
  s.bodies[0] = scree_body_default("ball", scree_shape_sphere((ScreeVec3){0, 0, 0}, radius));
  s.bodies[0].density = 7800;
  s.bodies[0].friction_static = s.bodies[0].friction_kinetic = 0.5;
  s.bodies[0].shape.position = (ScreeVec3){0, 0, depth + radius + 0.05};
  s.bodies[0].velocity = (ScreeVec3){0, 0, -speed};
  s.def.body_count = speed > 0;
  ScreeWorld *world = world_of(&s.def, 0);
  double lowest = INFINITY, begun = mean_height(world);
  for (int frame = 0; frame < 60; frame++) {
    run_frames(world, 1);
    if (speed > 0) lowest = fmin(lowest, world->state.solids.items[1].center.z - radius);
  }
  if (!(speed > 0)) lowest = depth * mean_height(world) / begun;
  scree_world_destroy(world);
  return lowest;
}

static inline double impact_depth(const char *method, double speed, double surface) {
  double depth = surface - impact_height(method, speed);
  print_message("%s: from %.2f m/s %.4f m deep\n", method, speed, depth);
  return depth;
}

#endif
