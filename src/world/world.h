/* The world from inside: what scree/world.h's ScreeWorld is. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "bodies/bodies.h"
#include "core/crew.h"
#include "core/profile.h"
#include "device/device.h"
#include "methods/method.h"
#include "neighbors/neighbors.h"
#include "scree/world.h"
#include "state/state.h"
#include "state/state_set.h"
#include "terrain/terrain.h"
#include "upsample/upsample.h"
#include "world/definition.h"

typedef struct Emitter {
  double debt;     /* kg that should have been poured but was not yet */
  uint64_t poured; /* grains so far */
} Emitter;

typedef struct Probe Probe; /* probes/probes.h */
typedef struct ProbesDevice ProbesDevice;
typedef struct WorldDevice WorldDevice; /* on_device.h */

/* Numbers that are not part of the simulated state but must survive a resume. */
typedef struct Tally {
  double mass_initial, mass_emitted, mass_removed;
  double max_overlap, max_speed;
  double speed; /* largest at the last commit: the CFL rule uses it */
} Tally;

struct ScreeWorld {
  Core core;
  Scratch scratch;
  Crew crew; /* of a step, but for the frame's end */
  Profile profile;
  Definition definition;
  Device *device; /* NULL: everything runs on the CPU */
  char device_name[24], device_note[256];
  WorldDevice *on_device; /* NULL: particles and method are on the CPU */
  bool solids_only;       /* made by scree_world_create_solids */
  bool half_loaded;       /* a load has failed: nothing fits together */
  Shape *fills;           /* per entry of grains; NULL once they are filled */
  State state;
  const Method *method;
  void *method_data;
  Bodies *bodies;
  CellGrid *grid, *sample_grid;
  uint64_t *near_solids; /* field of the particles: near_words each, see near_solids.c */
  int64_t near_words;
  uint64_t *near_many;  /* used instead where bodies were added that these have no bits for */
  bool lists_known;     /* not so after a checkpoint was loaded */
  bool neighbors_stale; /* something was born, died or moved by hand */
  float radius_largest; /* of all particles, when the lists were built */
  bool radii_differ;
  int64_t moved_on;      /* how often a particle has left where it was known since the particles were sorted */
  double outermost;      /* m, largest coordinate of a particle when the lists were built, or more */
  double grains_moved;   /* m, no particle has gone farther since the lists were built */
  double solids_moved;   /* m, farthest since the lists were built; infinite: one was put elsewhere */
  double surfaces_moved; /* m, the same of those that are touched by their distance, since that was last looked at */
  double uncut_step;     /* s: what the step would be without the CFL rule and the bodies' */
  int64_t steps_left;    /* of the frame, the one in progress included */
  bool frame_open;       /* between the first and the last step of a frame */
  bool last_of_frame;    /* the step in progress ends the frame */
  Upsample *upsample;    /* NULL: no fine grains */
  Ground *ground;        /* NULL: no terrain */
  Solids sinks;          /* places only: nothing touches them */
  bool *events_done;
  Emitter *emitters;
  Probe *probes;
  ProbesDevice *probes_device; /* NULL until they sum up on a device */
  Tally tally;
  double seconds_coarse, seconds_upsample, seconds_bodies; /* of the last frame */
  float **drawn_vertices;                                  /* per solid, for drawing; made on demand */
  uint32_t **drawn_triangles;
  int32_t drawn_count;
  float *terrain_vertices; /* at the end of the last frame */
  uint32_t *terrain_triangles;
  char assets[SCREE_FILE_MAX];
  struct WorldContent *contents; /* of files, as they were read */
  int32_t content_count;
  struct WorldFile *files; /* that were resolved */
  int32_t file_count;
};

typedef struct WorldFile {
  char name[SCREE_FILE_MAX], path[SCREE_FILE_MAX];
} WorldFile;

/* create.c: a shape whose mesh file, if any, is looked up where files may be. */
Status world_make_shape(ScreeWorld *world, const ScreeShapeDef *definition, bool inside, Shape *shape);
Status world_resolve_file(void *world, Core *core, const char *file, ScreeSource at, char *path, size_t size);
/* SCREE_BAD_ARGUMENT for a world of solids alone; and for one that a load has left in pieces. */
Status world_can_load(ScreeWorld *world);
Status world_needs_grains(ScreeWorld *world);
/* Distance grids of the meshes of the solids from the first on. */
Status world_cache_distances(ScreeWorld *world, int32_t first);
/* api.c: of the solids that it has not been called for yet. */
Status world_prepare_drawing(ScreeWorld *world);
/* device.c: opens what the options ask for; says which parts run there. */
Status world_open_device(ScreeWorld *world, const ScreeWorldOptions *options);
Status world_use_device(ScreeWorld *world);
Status world_note_device(ScreeWorld *world, const char *missing);
/* device_phases.c: particles and method on the device. Everything below does nothing where they are not. */
Status world_enter_device(ScreeWorld *world);
void world_leave_device(ScreeWorld *world);
/* What the method cannot do there, as MethodDevice.missing. */
const char *world_missing_on_device(const ScreeWorld *world);
/* Goes on on the CPU, with a note, where something has come up that has no device form. */
Status world_check_device(ScreeWorld *world);
/* These of the particles are valid on the host from now on; all of them and the method's private data. */
Status world_to_host(ScreeWorld *world, StateSet reads);
Status world_method_to_host(ScreeWorld *world);
/* What the choice of the next step looks at. */
Status world_look_ahead(ScreeWorld *world);
/* device_lists.c: lists are made anew there; come to the host, where they are there alone. */
Status world_rebuild_on_device(ScreeWorld *world, const MethodNeeds *needs);
Status world_lists_to_host(ScreeWorld *world);
/* As world_overlap; of lists that are there. */
Status world_overlap_on_device(ScreeWorld *world, double *overlap);
/* These were written there; all was, and the method's private data too. */
void world_wrote_on_host(ScreeWorld *world, StateSet writes);
Status world_loaded_on_host(ScreeWorld *world);
/* Times on the device, beside those of the phases. */
void world_device_times(ScreeWorld *world);
/* material.c: the material as methods read it. In the definition the density of a grain alone is resolved: the others
 * would not follow when one of them changes. */
Status world_resolve_material(ScreeWorld *world, ScreeMaterialDef *def, Material *made);
/* fill.c: grains and samples of t = 0. */
/* Whether a ball reaches into a solid. */
bool world_is_in_solid(const Solids *solids, Vec3 point, double radius);
double world_particle_mass(const State *state, const ScreeMaterialDef *material, double radius);
Status world_fill(ScreeWorld *world);
Status world_check_fills(ScreeWorld *world);                  /* whether they would fit, without filling */
Status world_sample_solids(ScreeWorld *world, int32_t first); /* solids from that one on */
/* births.c: work off the queue; emitters and sinks fill it. */
Status world_births_and_deaths(ScreeWorld *world);
Status world_emit(ScreeWorld *world, double dt);
double world_emitted_mass(const ScreeWorld *world, const ScreeEmitterDef *emitter); /* of a grain, on average */
Status world_drain(ScreeWorld *world);
/* events.c */
Status world_events(ScreeWorld *world);
void world_throw(ScreeWorld *world, Vec3 center, double radius, double speed);
/* near_solids.c: which solids are near each particle. */
enum { NEAR_GRAIN = 128 };
typedef struct NearSolids {
  const Core *core;
  State *state;
  float reach, skin; /* radii, m */
  float closer;      /* m: solids have come that much closer to everybody */
  int64_t words;     /* per particle */
  uint64_t *near;
} NearSolids;
Status world_near_create(ScreeWorld *world);
Status world_near_check(ScreeWorld *world, const Archive *archive);
/* How to look; `closer`: solids have moved since. */
NearSolids world_near_solids(ScreeWorld *world, const MethodNeeds *needs, float skin, bool closer);
/* How much clearance beyond its reach a particle needs not to be asked; how far beyond it it looks for solids. */
float world_near_slack(const State *state);
float world_near_beyond(const State *state);
/* Looks for those of [b, e), NEAR_GRAIN at most, that have moved (NULL: all have) or that solids have come near to. */
void world_look_near(const NearSolids *work, int64_t b, int64_t e, const uint8_t *moved);
/* For all particles, and lists them for methods that have lists; lists them as they are known. */
Status world_list_solids(ScreeWorld *world, const MethodNeeds *needs, float skin);
Status world_list_known_solids(ScreeWorld *world, const MethodNeeds *needs);
/* surroundings.c: lists by reach and skin; sample positions. */
Status world_refresh_surroundings(ScreeWorld *world, const Step *step);
void world_place_samples(ScreeWorld *world); /* where their solids have brought them */
/* Its parts, for NEIGHBORS_LISTED: whether the lists still hold, if nothing goes farther than so in the step; what is
 * so when the square of the farthest since they were made is known; makes them anew. */
typedef enum ListsAge { LISTS_GOOD, LISTS_STALE, LISTS_UNKNOWN /* until it is measured */ } ListsAge;
ListsAge world_lists_age(ScreeWorld *world, const MethodNeeds *needs, double farthest);
ListsAge world_lists_measured(ScreeWorld *world, double square);
Status world_rebuild_lists(ScreeWorld *world, const MethodNeeds *needs);
/* How far lists go. Where all particles are of one size they need no radii. */
typedef struct ListReach {
  float factor, skin;
  float pairs; /* m, where radii do not differ; otherwise the factor */
  float share; /* m: of the skin, in a radius */
  float cell;  /* m */
} ListReach;
ListReach world_list_reach(const ScreeWorld *world, const MethodNeeds *needs, float skin);
void world_survey_radii(ScreeWorld *world);
/* Samples alone, of the places that the host knows; all lists are those of now. */
Status world_list_samples(ScreeWorld *world, const MethodNeeds *needs, float skin);
void world_lists_are_new(ScreeWorld *world, const MethodNeeds *needs, float skin);
/* For NEIGHBORS_SEARCHED: how far solids have come; how far a particle may leave where it is known; whether
 * particles are to be sorted when so many more have moved on; looks after all. */
void world_solids_step(ScreeWorld *world, double dt);
float world_allowed(const ScreeWorld *world, const MethodNeeds *needs);
/* How far from its centre a grain of any material looks for solids, at most, m. */
double world_solid_reach(const ScreeWorld *world, const MethodNeeds *needs);
bool world_must_sort_after(const ScreeWorld *world, int64_t more);
Status world_keep_up(ScreeWorld *world, const MethodNeeds *needs);
/* commit.c */
Status world_commit(ScreeWorld *world, double dt);
/* Its end, once all have moved: `largest` is the square of the largest speed. Or who is not finite. */
Status world_end_commit(ScreeWorld *world, double largest, double dt);
Status world_blew_up(ScreeWorld *world);
Status world_count_step(ScreeWorld *world);
double world_mass(ScreeWorld *world);
double world_overlap(ScreeWorld *world);
/* frame.c: what happens round the steps of a frame, and how long a step may be. */
double world_choose_step(ScreeWorld *world);
Status world_check_step(ScreeWorld *world, double dt); /* whether it is one that a frame can be made of */
void world_frame_begin(ScreeWorld *world);
Status world_frame_end(ScreeWorld *world);
/* probes/probes.c */
Status world_probes_create(ScreeWorld *world);
void world_probes_destroy(ScreeWorld *world);
ScreeProbeState world_probe_state(const ScreeWorld *world, int32_t index);
/* After the displacement is final, before x moves; *read, unless it has 0 bytes, comes down before the end. */
Status world_probes_step_begin(ScreeWorld *world, DeviceRead *read);
void world_probes_step_end(ScreeWorld *world);
bool world_probes_look(const ScreeWorld *world); /* at particles, at the end of a frame */
Status world_probes_frame(ScreeWorld *world, double frame_seconds);
Status world_probes_archive(ScreeWorld *world, Archive *archive);
void world_probes_leave_device(ScreeWorld *world); /* probes/totals.c */
/* terrain.c */
Status world_terrain_create(ScreeWorld *world);
Status world_terrain(ScreeWorld *world, double dt);
Status world_terrain_mesh(ScreeWorld *world);
double world_terrain_mass(const ScreeWorld *world);
/* contents.c: whether files hold what they held when the run began. */
typedef struct WorldContent {
  char what[96]; /* for messages */
  uint64_t hash;
} WorldContent;
Status world_take_contents(ScreeWorld *world); /* while the fills are there */
Status world_contents_archive(ScreeWorld *world, Archive *archive);
/* checkpoint.c: everything that changes, written to or read from an archive. */
Status world_archive(ScreeWorld *world, Archive *archive);
/* Opens an archive with room for all; fails between the steps of a frame. */
Status world_archive_begin(ScreeWorld *world, Archive *archive);
Status world_archive_load(ScreeWorld *world, const char *name, const void *data, int64_t size);
/* step.c: a step is its phases, in the order of the table. */
typedef enum PhaseTime { PHASE_ALWAYS, PHASE_IF_PREPARED /* the method has prepare */, PHASE_LAST_OF_FRAME } PhaseTime;
/* A phase of a world whose particles are on a device. `reads` and `writes` are those of its fields of the particles
 * that have a copy there: less than the table says, where it is known. */
typedef struct DevicePhase {
  Status (*run)(ScreeWorld *world, Step *step); /* there; NULL: on the host as ever */
  StateSet reads, writes;
  bool (*apart)(const ScreeWorld *world); /* on the host: whether it needs none of them now */
} DevicePhase;
extern const DevicePhase DEVICE_BIRTHS, DEVICE_EVENTS, DEVICE_PREPARE, DEVICE_NEIGHBORS, DEVICE_METHOD, DEVICE_TERRAIN,
    DEVICE_BODIES, DEVICE_COMMIT, DEVICE_EMIT, DEVICE_DRAIN, DEVICE_FRAME;
typedef struct Phase {
  const char *name; /* of its row in the timings; several phases may share one */
  Status (*run)(ScreeWorld *world, Step *step);
  PhaseTime when;
  StateSet reads, writes;    /* at most, whatever the method */
  const DevicePhase *device; /* NULL: it runs on the host */
} Phase;
/* Copies what the phase reads to where it runs, runs it, and notes what it has written. */
Status world_run_on_device(ScreeWorld *world, const Phase *phase, Step *step);
/* Whether particles and method are there: never where the library is built without devices, and the linker then leaves
 * out what would run. */
static inline bool world_is_on_device(const ScreeWorld *world) { return METHOD_DEVICE(world->on_device) != NULL; }
extern const Phase WORLD_PHASES[];
extern const int32_t WORLD_PHASE_COUNT;
/* What a step begins with; then each phase in turn. world_step does both. */
Step world_begin_step(ScreeWorld *world);
Status world_run_phase(ScreeWorld *world, const Phase *phase, Step *step);
Status world_step(ScreeWorld *world);
Status world_frame(ScreeWorld *world);
/* methods.c */
const Method *world_find_method(const char *name);
static inline MethodNeeds world_needs(const ScreeWorld *world) { return world->method->needs(world->method_data); }

/* `file:line:col` failures for something that stands in the scene. */
#define world_fail_at(world, status, at, ...)                                                                          \
  fail_at(&(world)->core, (status), (world)->definition.scene.file, (at), __VA_ARGS__)

#endif
