/* One world of a law: the same scene text for every method, and what is read off it. `scree calibrate` uses the same
 * scenes with materials of its own. */
#ifndef VALIDATE_TRIAL_H
#define VALIDATE_TRIAL_H

#include "scree/scree.h"

#define TRIAL_GRAVITY 9.81
#define TRIAL_DENSITY 1600.0

/* Friction of a rough floor: with sand it makes that of sand on sand, tan(angle), in every method. */
#define ROUGH "friction_static: 100, friction_kinetic: 100"
#define SMOOTH "friction_static: 0, friction_kinetic: 0"

typedef struct Trial {
  const char *method;
  const char *material; /* keys of the material beside density: "friction_angle_deg: 33" */
  const char *keys;     /* more keys of the method, each behind a comma: ", iterations: 4"; "" for none */
  double radius;        /* of a grain; half the spacing of parcels */
  int64_t seed;
  bool (*stopped)(void *context); /* asked once a frame; NULL: never */
  void *context;
} Trial;

/* A world on one thread: the rest of the scene (grains, emitters, boundaries, bodies, frame_rate) is YAML. */
ScreeStatus trial_world(const Trial *trial, ScreeWorld **world, ScreeError *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same in two steps, for what a scene's text cannot say; the scene is the caller's. */
ScreeStatus trial_scene(const Trial *trial, ScreeScene **scene, ScreeError *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
ScreeStatus trial_create(const ScreeSceneDef *definition, ScreeWorld **world, ScreeError *error);
/* A dense bed that begins at x = 0, between smooth sides at +-width / 2, in diameters. */
typedef struct TrialBed {
  double length, depth, width;
} TrialBed;
/* Its world: `floor` are the keys of its friction, the text behind it is more of the scene's boundaries. */
ScreeStatus trial_bed(const Trial *trial, TrialBed bed, double frame_rate, const char *floor, ScreeWorld **world,
                      ScreeError *error, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* One frame, or SCREE_INTERRUPTED. */
ScreeStatus trial_frame(const Trial *trial, ScreeWorld *world, ScreeError *error);
ScreeStatus trial_seconds(const Trial *trial, ScreeWorld *world, double seconds, ScreeError *error);
double trial_probe(const ScreeWorld *world, ScreeProbeId probe, int value);
/* True for pbd, p2 and dem, whose particles are grains; sph and flip have parcels. */
bool trial_of_grains(const char *method);

/* Time and speed of a diameter: sqrt(d / g), sqrt(d g). */
double trial_tick(const Trial *trial);
double trial_speed(const Trial *trial);
/* Turns gravity about y: the plane z = 0 is then a slope down x. */
ScreeStatus trial_tilt(ScreeWorld *world, double angle_deg, ScreeError *error);
/* Mean velocity along x of what lies between the two; 0 where nothing does. */
double trial_speed_between(const ScreeWorld *world, double low, double high);
/* Vertical force of the grains on all solids together, mean over the last frame. */
double trial_load(const ScreeWorld *world);

/* Mass of a particle is its share of the whole by the cube of its radius, in every method. */
typedef struct TrialMass {
  ScreeParticles particles;
  double per_cube;
} TrialMass;
TrialMass trial_mass(const ScreeWorld *world);
double trial_mass_of(const TrialMass *mass, int64_t particle);
/* Where it is in the world. */
ScreeVec3 trial_place(const TrialMass *mass, int64_t particle);

/* The angle of a heap of so many grains, poured slowly from a small disc onto a rough floor. */
ScreeStatus heap_measure(const Trial *trial, int64_t grains, double *angle_deg, ScreeError *error);
/* The same poured three times as fast, from 20 diameters over the floor. */
ScreeStatus heap_measure_fast(const Trial *trial, int64_t grains, double *angle_deg, ScreeError *error);

/* A column of sand, let go at once on a rough floor. */
enum { COLLAPSE_TIMES = 512 };
typedef struct Collapse {
  double radius;   /* of the deposit, m: the largest ring, a diameter wide, thicker than half a diameter */
  double reached;  /* when 99 % of it was reached, s */
  double start;    /* r0, m */
  double scale;    /* sqrt(h0 / g), s */
  int64_t samples; /* of the radius over time, one a frame */
  double time[COLLAPSE_TIMES], radii[COLLAPSE_TIMES];
} Collapse;
/* aspect: h0 over r0; diameters: r0 over the grains' diameter. */
ScreeStatus collapse_measure(const Trial *trial, double aspect, double diameters, Collapse *collapse,
                             ScreeError *error);
/* What Lube and others (2004) measured, in r0. */
double collapse_lube(double aspect);

#endif
