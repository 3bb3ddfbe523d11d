/* A world: grains, walls, bodies and one method that moves them.
 *
 *   ScreeWorld *world;
 *   ScreeError error;
 *   if (scree_world_create(definition, NULL, &world, &error) != SCREE_OK) ...
 *   while (scree_world_time(world) < 5.0)
 *     if (scree_world_frame(world, &error) != SCREE_OK) ...
 *   ScreeParticles grains = scree_world_particles(world);
 *
 * Positions are floats relative to a double origin that is fixed for the life of a world: real position =
 * origin + (x, y, z). Views stay valid until the next call that steps, loads or destroys the world.
 * A world is used from one thread at a time; it runs its own threads inside a call. */
#ifndef SCREE_WORLD_H
#define SCREE_WORLD_H

#include "scree/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ScreeWorld ScreeWorld;

typedef enum ScreeLogLevel { SCREE_LOG_ERROR, SCREE_LOG_WARNING, SCREE_LOG_INFO, SCREE_LOG_DEBUG } ScreeLogLevel;
typedef void (*ScreeLogFunction)(void *context, ScreeLogLevel level, const char *line);

/* Says what is being done while a world is made (static text) and which share of that is done, from 0 to 1. Called by
 * the thread that makes the world. */
typedef void (*ScreeProgressFunction)(void *context, const char *what, double done);

/* An OpenCL device. The k-th is "opencl:k"; graphics cards come first. */
typedef struct ScreeDeviceInfo {
  char name[128], driver[64], version[128];
  int64_t memory_bytes, buffer_bytes; /* in all; in one piece */
  bool exact;                         /* rounds as the CPU does: the same bits */
} ScreeDeviceInfo;
/* 0 where the build has no OpenCL. */
SCREE_API int32_t scree_device_count(void);
/* SCREE_BAD_ARGUMENT where there is no such device. */
SCREE_API ScreeStatus scree_device_info(int32_t device, ScreeDeviceInfo *info);

typedef struct ScreeWorldOptions {
  int32_t threads; /* 0: one per core */
  ScreeLogLevel log_level;
  ScreeLogFunction log; /* NULL: silence */
  void *log_context;
  const char *assets;             /* folder of shipped assets; NULL: the installed one */
  int64_t memory_limit;           /* bytes; 0: what the machine has */
  const char *device;             /* "cpu", "opencl" (the first one) or "opencl:N"; NULL: "cpu" */
  bool baseline_simd;             /* use the baseline code even where wider SIMD exists */
  bool unfilled;                  /* leave the grains out: scree_world_reset or scree_world_load brings them */
  ScreeProgressFunction progress; /* NULL: silence */
  void *progress_context;
} ScreeWorldOptions;

/* One thread per core, no log, the installed assets. */
SCREE_API ScreeWorldOptions scree_world_options_default(void);

/* A world at time 0: checks the definition, which it copies, and fills shapes with grains. options may be NULL. *world
 * is NULL after a failure; otherwise give it back with scree_world_destroy. */
SCREE_API ScreeStatus scree_world_create(const ScreeSceneDef *definition, const ScreeWorldOptions *options,
                                         ScreeWorld **world, ScreeError *error);
SCREE_API void scree_world_destroy(ScreeWorld *world);
/* The scene's solids alone, where they are at the start, with their surfaces: for pictures of what files hold. It has
 * no grains and no terrain, loads no fill and samples nothing, and can be neither stepped nor saved. */
SCREE_API ScreeStatus scree_world_create_solids(const ScreeSceneDef *definition, const ScreeWorldOptions *options,
                                                ScreeWorld **world, ScreeError *error);
/* Everything that scree_world_create checks, files and memory included, without filling anything with grains. */
SCREE_API ScreeStatus scree_world_check(const ScreeSceneDef *definition, const ScreeWorldOptions *options,
                                        ScreeError *error);

/* What runs on the device and what does not, as one line; "" on the CPU. Owned by the world. */
SCREE_API const char *scree_world_device_note(const ScreeWorld *world);

/* The definition with every `auto` replaced by what the world uses. Owned by the world. */
SCREE_API const ScreeSceneDef *scree_world_definition(const ScreeWorld *world);

/* The files that it was made from, each once: meshes, pictures, mechanisms and what those name. `name` is how the scene
 * names the file, `path` where it was found. */
SCREE_API int32_t scree_world_file_count(const ScreeWorld *world);
SCREE_API void scree_world_file(const ScreeWorld *world, int32_t file, const char **name, const char **path);

/* One step of the method, no longer than what is left of the frame. */
SCREE_API ScreeStatus scree_world_step(ScreeWorld *world, ScreeError *error);
/* Steps to the end of the current frame and upsamples. */
SCREE_API ScreeStatus scree_world_frame(ScreeWorld *world, ScreeError *error);

/* Simulated time in s, finished frames, finished steps. */
SCREE_API double scree_world_time(const ScreeWorld *world);
SCREE_API int64_t scree_world_frame_index(const ScreeWorld *world);
SCREE_API int64_t scree_world_step_index(const ScreeWorld *world);

/* Particles without copying. Velocities in m/s. */
typedef struct ScreeParticles {
  int64_t count;
  ScreeVec3 origin;
  const float *x, *y, *z;
  const float *vx, *vy, *vz;
  const float *radius;
  const uint32_t *id;
  const uint8_t *material; /* index into the definition's materials */
} ScreeParticles;

SCREE_API ScreeParticles scree_world_particles(const ScreeWorld *world); /* the method's own */
SCREE_API ScreeParticles scree_world_grains(const ScreeWorld *world);    /* the fine ones; count 0 without upsampling */

/* Pressure of the material at every particle of scree_world_particles (fine: at every one of scree_world_grains, which
 * take that of the particles round them), in Pa, as of the last step: for grains the normal loads of the contacts per
 * area, a third of the trace of the stress; sph and flip have theirs. `pressure` has room for that count. false when
 * the method knows none. Nothing is changed. */
SCREE_API bool scree_world_pressure(const ScreeWorld *world, bool fine, float *pressure);

/* A triangle mesh in world coordinates relative to the origin of the particles. */
typedef struct ScreeMeshView {
  int64_t vertex_count, triangle_count;
  const float *vertices;     /* x y z each */
  const uint32_t *triangles; /* three each */
} ScreeMeshView;

/* The terrain as a mesh; zero counts without one. */
SCREE_API ScreeMeshView scree_world_terrain(const ScreeWorld *world);

/* Solids: everything that grains touch. Boundaries first, then bodies (those of mechanisms included). */
typedef struct ScreePose {
  ScreeVec3 position;
  ScreeQuat rotation;
} ScreePose;

typedef struct ScreeBodyState {
  const char *name;
  bool is_boundary;
  ScreePose pose;     /* of the shape's own frame */
  ScreeVec3 center;   /* of mass */
  ScreeVec3 velocity; /* of the centre of mass */
  ScreeVec3 spin;     /* angular velocity, world axes */
  double mass;        /* 0: not moved by forces */
  ScreeVec3 force;    /* of the grains, mean over the last frame */
  ScreeVec3 torque;   /* about the centre of mass */
} ScreeBodyState;

SCREE_API int32_t scree_world_body_count(const ScreeWorld *world); /* boundaries and bodies; ids run from 1 to this */
SCREE_API ScreeBodyId scree_world_find_body(const ScreeWorld *world, const char *name);
SCREE_API ScreeStatus scree_world_body(const ScreeWorld *world, ScreeBodyId body, ScreeBodyState *state);
/* The body's surface in its own frame, for drawing; planes come as a large square. */
SCREE_API ScreeStatus scree_world_body_mesh(const ScreeWorld *world, ScreeBodyId body, ScreeMeshView *mesh);

/* Puts another body into a world that runs, between two steps, behind those there are; its name is its own. Grains that
 * are where it is put are pushed out by the method. A checkpoint can be loaded only into a world to which the same
 * bodies were added. */
SCREE_API ScreeStatus scree_world_add_body(ScreeWorld *world, const ScreeBodyDef *definition, ScreeBodyId *body,
                                           ScreeError *error);

/* Moves a body: a keyframed or fixed one follows the pose over the next frame (grains feel the velocity), a free one
 * is placed at once with the velocity it has. */
SCREE_API ScreeStatus scree_world_set_pose(ScreeWorld *world, ScreeBodyId body, ScreePose pose, ScreeError *error);
SCREE_API ScreeStatus scree_world_set_velocity(ScreeWorld *world, ScreeBodyId body, ScreeVec3 velocity, ScreeVec3 spin,
                                               ScreeError *error);
/* An outside force and torque about the centre of mass, held until set again. */
SCREE_API ScreeStatus scree_world_set_force(ScreeWorld *world, ScreeBodyId body, ScreeVec3 force, ScreeVec3 torque,
                                            ScreeError *error);
/* Motors of the mechanism. A value set here wins over the control file until scree_world_release_control. */
SCREE_API int32_t scree_world_control_count(const ScreeWorld *world);
SCREE_API ScreeControlId scree_world_find_control(const ScreeWorld *world, const char *name);
SCREE_API ScreeStatus scree_world_control(const ScreeWorld *world, ScreeControlId control, const char **name,
                                          double *value, double *low, double *high);
SCREE_API ScreeStatus scree_world_set_control(ScreeWorld *world, ScreeControlId control, double value,
                                              ScreeError *error);
SCREE_API void scree_world_release_control(ScreeWorld *world, ScreeControlId control);

/* An explosion now: grains inside the sphere get the outward speed. */
SCREE_API ScreeStatus scree_world_impulse(ScreeWorld *world, ScreeVec3 center, double radius, double speed,
                                          ScreeError *error);

/* What else may change while a world runs, between two steps. scree_world_definition says what holds; a checkpoint or a
 * kept start belongs to a world that was changed alike. */
SCREE_API ScreeStatus scree_world_set_gravity(ScreeWorld *world, ScreeVec3 gravity, ScreeError *error);
/* The material of that name: friction_static, friction_kinetic, friction_angle_deg, cohesion, rolling_friction and
 * color. All else must be as it is: begin with a copy of what scree_world_definition has. */
SCREE_API ScreeStatus scree_world_set_material(ScreeWorld *world, const ScreeMaterialDef *material, ScreeError *error);
/* Another emitter, behind those of the scene, whose ids run from 1; and one that pours elsewhere, faster, or (rate 0)
 * not any more. */
SCREE_API ScreeStatus scree_world_add_emitter(ScreeWorld *world, const ScreeEmitterDef *definition,
                                              ScreeEmitterId *emitter, ScreeError *error);
SCREE_API ScreeStatus scree_world_set_emitter(ScreeWorld *world, ScreeEmitterId emitter,
                                              const ScreeEmitterDef *definition, ScreeError *error);

/* Probes. Values are those of the last finished frame (the start, before the first). */
enum { SCREE_PROBE_VALUES_MAX = 13 };
typedef struct ScreeProbeState {
  const char *name;
  const char *unit;
  int32_t value_count;
  const char *suffixes[SCREE_PROBE_VALUES_MAX]; /* "" for a scalar, "_x" ... */
  double values[SCREE_PROBE_VALUES_MAX];
} ScreeProbeState;
SCREE_API int32_t scree_world_probe_count(const ScreeWorld *world);
SCREE_API ScreeStatus scree_world_probe(const ScreeWorld *world, ScreeProbeId probe, ScreeProbeState *state);

/* Numbers about the run so far. */
typedef struct ScreePhase {
  const char *name;
  double seconds; /* in all steps together */
  int64_t calls;
} ScreePhase;

typedef struct ScreeStatistics {
  const char *simd;                     /* "baseline", "avx2" or "wasm" */
  const char *device;                   /* "cpu" or "opencl:N" */
  const ScreeDeviceInfo *device_info;   /* NULL: cpu */
  int64_t device_memory_peak_bytes;     /* on the device */
  int64_t bus_bytes_up, bus_bytes_down; /* to the device and back, in all steps together */
  int32_t threads;
  int64_t steps, frames;
  int64_t coarse, grains, boundary_samples, body_samples;
  double mass_initial, mass_emitted, mass_removed, mass_final; /* kg */
  double max_overlap; /* share of the radius, largest so far; NaN where it has no meaning */
  double max_speed;   /* m/s, largest so far */
  int64_t cfl_limited_steps;
  int64_t memory_bytes, memory_peak_bytes;
  double frame_seconds_coarse, frame_seconds_upsample, frame_seconds_bodies; /* of the last frame */
  const ScreePhase *phases;
  int32_t phase_count;
  const struct ScreeCount *warnings; /* named counters, cfl_limited_steps among them */
  int32_t warning_count;
} ScreeStatistics;
typedef struct ScreeCount {
  const char *name;
  int64_t count;
} ScreeCount;
/* What report.json is made of: sizes, times by phase, memory, mass, warnings. */
SCREE_API void scree_world_statistics(const ScreeWorld *world, ScreeStatistics *statistics);

/* Hash by id over simulated particles, bodies and terrain; and over the fine grains. Equal for any thread count. */
SCREE_API uint64_t scree_world_state_hash(const ScreeWorld *world);
SCREE_API uint64_t scree_world_grains_hash(const ScreeWorld *world);

/* Checkpoints, at frame boundaries: a resumed world goes on bit for bit. A file appears only when complete. */
SCREE_API ScreeStatus scree_world_save(const ScreeWorld *world, const char *path, ScreeError *error);
SCREE_API ScreeStatus scree_world_load(ScreeWorld *world, const char *path, ScreeError *error);

/* A start kept in memory: the state of a world between two frames. A world is put back to it in the time of a copy,
 * nothing is filled again, and goes on bit for bit as the kept one did. It may be another world whose scene has the
 * same method, radius, solids, emitters, events and probes; where numbers of the scene differ, its own count from there
 * on. */
typedef struct ScreeStart ScreeStart;
SCREE_API ScreeStatus scree_world_keep(const ScreeWorld *world, ScreeStart **start, ScreeError *error);
SCREE_API ScreeStatus scree_world_reset(ScreeWorld *world, const ScreeStart *start, ScreeError *error);
SCREE_API int64_t scree_start_bytes(const ScreeStart *start);
SCREE_API void scree_start_free(ScreeStart *start);

/* Many worlds side by side: each of them (no two are the same) does `frames` frames on one thread of `threads` (0: one
 * per core); worlds that were made with threads = 1 do so without waiting for each other. A world that fails stops
 * alone: statuses[k] and errors[k] (or NULL) say why. Returns the first status that is not SCREE_OK. */
SCREE_API ScreeStatus scree_worlds_frame(ScreeWorld *const *worlds, int32_t count, int64_t frames, int32_t threads,
                                         ScreeStatus *statuses, ScreeError *errors);

/* The surface as a map: height in the world of the highest particle (a sphere) or terrain over the middle of each cell,
 * `empty` where there is none. heights has nx ny places, x fastest; `corner` is the lowest x and y of the map. */
typedef struct ScreeHeightMap {
  ScreeVec2 corner;
  double cell;
  int32_t nx, ny;
  float empty;
} ScreeHeightMap;
SCREE_API ScreeStatus scree_world_heights(const ScreeWorld *world, const ScreeHeightMap *map, float *heights,
                                          ScreeError *error);

/* Methods that this build has. */
typedef struct ScreeMethodInfo {
  const char *name;
  const char *summary; /* one line */
  const char *paper;   /* "sommer2022", ...; "" for none */
} ScreeMethodInfo;
SCREE_API int32_t scree_method_count(void);
SCREE_API const ScreeMethodInfo *scree_method_info(int32_t index);
/* From where to where it can have friction_angle_deg of a material whose contact keys are `auto`. */
SCREE_API void scree_method_angles(int32_t index, double *low, double *high);

/* Sampling of shapes without a world. */
typedef struct ScreeSampleOptions {
  double radius;
  bool surface; /* points on the surface, spacing 2 radius; otherwise whole spheres inside the volume */
  bool dense;   /* volume: relax towards settled packing */
  bool maximal; /* go on until no further sample fits */
  uint64_t seed;
  int32_t threads; /* 0: one per core */
} ScreeSampleOptions;
typedef struct ScreeSamples {
  int64_t count;
  ScreeVec3 origin;
  float *x, *y, *z;
  double fraction; /* volume: solid fraction reached */
  double volume;   /* of the shape */
} ScreeSamples;
SCREE_API ScreeSampleOptions scree_sample_options_default(double radius);
SCREE_API ScreeStatus scree_sample_shape(const ScreeShapeDef *shape, const ScreeSampleOptions *options,
                                         ScreeSamples *samples, ScreeError *error);
SCREE_API void scree_samples_free(ScreeSamples *samples);

#ifdef __cplusplus
}
#endif
#endif
