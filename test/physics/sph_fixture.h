/* Worlds of sph and what its tests measure. */
#ifndef TEST_PHYSICS_SPH_FIXTURE_H
#define TEST_PHYSICS_SPH_FIXTURE_H

#include <stdlib.h>

#include "grains_fixture.h"
#include "methods/sph/sph.h"

static inline const void *sph_field(const ScreeWorld *world, const char *name) {
  const Particles *p = &world->state.particles;
  for (int32_t k = 0; k < p->field_count; k++)
    if (strcmp(p->fields[k].name, name) == 0) return *p->fields[k].data;
  _fail(__FILE__, __LINE__);
  return NULL;
}
static inline const float *sph_pressure(const ScreeWorld *world) { return sph_field(world, "sph_pressure"); }
static inline const float (*sph_shear(const ScreeWorld *world))[6] { return sph_field(world, "sph_shear"); }

/* The angle of flow of sand with the internal angle of Eq. 12, where shear is bounded by its sine. The tests speak of
 * the internal angle: slopes at rest stand between the two. */
static inline double sph_flow_angle(double internal_deg) { return atan(sin(internal_deg * M_PI / 180)) * 180 / M_PI; }

/* A box of sand in a box that it fills from side to side. */
static inline void sph_tank(GrainScene *s, double radius, double side, double height, double angle) {
  grain_scene(s, "sph", radius);
  s->grains[0].fill = scree_shape_box((ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, height});
  s->materials[0].friction_angle_deg = sph_flow_angle(angle);
  ScreeBoundaryDef *tank =
      add_tank(s, (ScreeVec3){-side / 2, -side / 2, 0}, (ScreeVec3){side / 2, side / 2, 4 * height});
  tank->friction_static = tank->friction_kinetic = 0;
}

/* Runs on and looks at every frame: no negative pressure, compression below the tolerance. */
static inline void sph_watch(ScreeWorld *world, int frames, double *worst) {
  for (int k = 0; k < frames; k++) {
    run_frames(world, 1);
    const float *pressure = sph_pressure(world);
    for (int64_t i = 0; i < world->state.particles.count; i++) assert_true(pressure[i] >= 0);
    *worst = fmax(*worst, sph_statistics(world->method_data)->compression_before);
  }
}

static inline double sph_kinetic(const ScreeWorld *world) {
  const Particles *p = &world->state.particles;
  double sum = 0;
  for (int64_t i = 0; i < p->count; i++)
    sum += 0.5 * (double)p->mass[i] * (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
  return sum;
}

/* Leaves only the grains for which `keep` holds, before the first step. */
static inline void sph_carve(ScreeWorld *world, bool (*keep)(Vec3 at, const double *shape), const double *shape) {
  Particles *p = &world->state.particles;
  int32_t *order = malloc(sizeof *order * (size_t)p->count);
  int64_t kept = 0;
  for (int64_t i = 0; i < p->count; i++)
    if (keep(state_position(&world->state, i), shape)) order[kept++] = (int32_t)i;
  assert_int_equal(particles_permute(&world->core, p, &world->scratch, order, kept), SCREE_OK);
  free(order);
  world->tally.mass_initial = world_mass(world);
}

#define SPH_RIDGE_FROM 0.5 /* s */
static inline bool below_ridge(Vec3 at, const double *shape) {
  return at.z <= (shape[0] - fabs(at.x)) * shape[1] - 0.5 * shape[2];
}

/* 200 kg of sand poured onto a rough floor. The faster, the lower the pile: what falls has to stop. */
static inline void sph_pour_scene(GrainScene *s, double angle, double rate) {
  grain_scene(s, "sph", 0.02);
  s->def.grains_count = 0;
  s->materials[0].friction_angle_deg = sph_flow_angle(angle);
  s->emitters[0] = scree_emitter_default("sand");
  s->emitters[0].shape.disc = (ScreeDiscDef){.center = {0, 0, 0.45}, .radius = 0.16, .direction = {0, 0, -1}};
  s->emitters[0].rate = rate;
  s->emitters[0].speed = 1;
  s->emitters[0].until = 200 / rate;
  s->def.emitter_count = 1;
  ScreeBoundaryDef *floor = add_floor(s);
  floor->friction_static = floor->friction_kinetic = 2;
  add_probe(s, SCREE_PROBE_REPOSE_ANGLE);
}

/* The angle of such a pile after some seconds of rest, and again after more. No frame finds the sand pressed together
 * by more than the tolerance. */
static inline void sph_pour(double angle, double rate, double rest, double more, double angles[2]) {
  GrainScene s;
  sph_pour_scene(&s, angle, rate);
  ScreeWorld *world = world_of(&s.def, 2);
  double worst = 0;
  sph_watch(world, (int)((200 / rate + rest) * 60), &worst);
  assert_true(worst < 1e-3);
  angles[0] = probe_value(world, 0, 0);
  run_seconds(world, more);
  angles[1] = probe_value(world, 0, 0);
  scree_world_destroy(world);
}

/* Between where Drucker-Prager stops a flow and the internal angle, and staying there. */
static inline void sph_check_pile(double angle, const double angles[2]) {
  double least = sph_flow_angle(angle) - 3;
  print_message("asked for %g degrees: %.2f, later %.2f\n", angle, angles[0], angles[1]);
  assert_true(angles[0] > least && angles[0] < angle);
  assert_near(angles[1], angles[0], 3);
}

/* A long ridge between smooth walls, cut out of a lattice at a slope. */
static inline ScreeWorld *sph_ridge_world(double angle, double slope_deg, double radius, double half) {
  GrainScene s;
  grain_scene(&s, "sph", radius);
  double y = 6 * radius, slope = tan(slope_deg * M_PI / 180);
  s.grains[0].fill =
      scree_shape_box((ScreeVec3){-half - 8 * radius, -y, 0}, (ScreeVec3){half + 8 * radius, y, half * slope});
  s.materials[0].friction_angle_deg = sph_flow_angle(angle);
  ScreeBoundaryDef *floor = add_floor(&s);
  floor->friction_static = floor->friction_kinetic = 2;
  for (int k = -1; k <= 1; k += 2) {
    ScreeBoundaryDef *wall =
        add_boundary(&s, k < 0 ? "left" : "right", scree_shape_plane((ScreeVec3){0, k * y, 0}, (ScreeVec3){0, -k, 0}));
    wall->friction_static = wall->friction_kinetic = 0;
  }
  add_probe(&s, SCREE_PROBE_CREEP)->from = SPH_RIDGE_FROM;
  ScreeWorld *world = world_of(&s.def, 2);
  const double shape[3] = {half, slope, radius};
  sph_carve(world, below_ridge, shape);
  return world;
}

/* 99th percentile of the displacement of a ridge from SPH_RIDGE_FROM on, over `seconds`, in spacings. A lattice cut at
 * a slope is a stair, whose edges would fall down: the ridge is built of stiffer sand, which rounds them off, and made
 * into sand of its angle when it rests. What then gives way does so at once; SPH_RIDGE_FROM leaves that out. */
static inline double sph_ridge(double angle, double slope_deg, double radius, double half, double seconds) {
  ScreeWorld *form = sph_ridge_world(75, slope_deg, radius, half);
  ScreeWorld *world = sph_ridge_world(angle, slope_deg, radius, half);
  run_seconds(form, 0.3);
  const Particles *from = &form->state.particles;
  Particles *to = &world->state.particles;
  assert_int_equal(from->count, to->count);
  for (int32_t k = 0; k < to->field_count; k++)
    memcpy(*to->fields[k].data, *from->fields[k].data, (size_t)to->fields[k].size * (size_t)to->count);
  world->neighbors_stale = true;
  run_seconds(world, SPH_RIDGE_FROM + seconds);
  double displacement = probe_value(world, 0, 0) / (2 * radius);
  print_message("ridge of %g degrees, built at %g: %.3f spacings\n", angle, slope_deg, displacement);
  scree_world_destroy(form);
  scree_world_destroy(world);
  return displacement;
}

#endif
