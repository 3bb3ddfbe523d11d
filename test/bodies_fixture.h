/* A state with bodies and nothing else, and a folder of its own for files. */
#ifndef TEST_BODIES_FIXTURE_H
#define TEST_BODIES_FIXTURE_H

#define _GNU_SOURCE /* nftw */
#include "check.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bodies/bodies.h"
#include "core/paths.h"

typedef struct Fixture {
  Core core;
  State state;
  ScreeSceneDef scene;
  BodiesPlan plan;
  Bodies *bodies;
  int64_t memory;                  /* in use before anything was made */
  char folder[256];                /* "" until fixture_write */
  int warnings;                    /* lines logged */
  char warning[SCREE_MESSAGE_MAX]; /* the last of them */
} Fixture;

static inline void fixture_log(void *context, ScreeLogLevel level, const char *line) {
  Fixture *fixture = context;
  if (level != SCREE_LOG_WARNING) return;
  fixture->warnings++;
  snprintf(fixture->warning, sizeof fixture->warning, "%s", line);
}

/* Beside the test's files, else in the shipped assets: what world/ does, without its checks. */
static inline Status fixture_resolve(void *context, Core *core, const char *file, ScreeSource at, char *path,
                                     size_t size) {
  Fixture *fixture = context;
  snprintf(path, size, "%s/%s", fixture->folder, file);
  if (fixture->folder[0] && access(path, R_OK) == 0) return SCREE_OK;
  char assets[SCREE_FILE_MAX];
  snprintf(path, size, "%s/%s", paths_data("assets", assets, sizeof assets), file);
  if (access(path, R_OK) == 0) return SCREE_OK;
  return fail_at(core, SCREE_BAD_INPUT, fixture->scene.file, at, "there is no file '%s'", file);
}

static inline Fixture *fixture_create(void) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  fixture->core = test_core(1);
  fixture->memory = fixture->core.memory.used;
  fixture->core.log = fixture_log;
  fixture->core.log_context = fixture;
  fixture->scene = scree_scene_default();
  fixture->scene.file = "scene.yaml";
  fixture->state.gravity = fixture->scene.gravity;
  fixture->plan = (BodiesPlan){&fixture->scene, fixture_resolve, fixture};
  return fixture;
}

/* Forgets bodies and state, so that another scene can be made. */
static inline void fixture_reset(Fixture *fixture) {
  bodies_destroy(&fixture->core, fixture->bodies);
  fixture->bodies = NULL;
  state_destroy(&fixture->core, &fixture->state);
  memset(&fixture->state, 0, sizeof fixture->state);
  fixture->state.gravity = fixture->scene.gravity;
  core_report(&fixture->core, SCREE_OK, NULL);
}

static inline int fixture_remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk) {
  (void)about, (void)kind, (void)walk;
  return remove(path);
}

static inline void fixture_destroy(Fixture *fixture) {
  fixture_reset(fixture);
  if (fixture->folder[0]) nftw(fixture->folder, fixture_remove_one, 8, FTW_DEPTH | FTW_PHYS);
  assert_int_equal(fixture->core.memory.used, fixture->memory);
  core_destroy(&fixture->core);
  free(fixture);
}

/* Writes a file into the test's folder. */
static inline void fixture_write(Fixture *fixture, const char *name, const char *text) {
  if (!fixture->folder[0]) {
    const char *place = getenv("TMPDIR");
    snprintf(fixture->folder, sizeof fixture->folder, "%s/scree_bodies_XXXXXX", place ? place : P_tmpdir);
    assert_non_null(mkdtemp(fixture->folder));
  }
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static inline Status fixture_try(Fixture *fixture) {
  return bodies_create(&fixture->core, &fixture->state, &fixture->plan, &fixture->bodies);
}
static inline void fixture_start(Fixture *fixture) { assert_ok(&fixture->core, fixture_try(fixture)); }

static inline Solid *fixture_solid(Fixture *fixture, const char *name) {
  int32_t index = bodies_find(fixture->bodies, &fixture->state, name);
  if (index < 0) print_error("no solid '%s'\n", name);
  assert_true(index >= 0);
  return &fixture->state.solids.items[index];
}

/* One step in the order of the world's: refresh, forces (the callback), advance. */
static inline void fixture_step(Fixture *fixture, double dt, void (*forces)(Fixture *fixture)) {
  State *state = &fixture->state;
  for (int32_t k = 0; k < state->solids.count; k++) wrench_clear(&state->solids.items[k]);
  assert_ok(&fixture->core, bodies_refresh(&fixture->core, fixture->bodies, state, dt));
  if (forces) forces(fixture);
  assert_ok(&fixture->core, bodies_advance(&fixture->core, fixture->bodies, state, dt));
  state->time += dt;
  state->step++;
}

static inline double solid_energy(const Solid *solid) {
  Vec3 spin = quat_rotate(quat_conjugate(solid->rotation), solid->spin);
  return 0.5 * solid->mass * vec3_dot(solid->velocity, solid->velocity) +
         0.5 * vec3_dot(spin, mat3_apply(&solid->inertia, spin));
}
static inline Vec3 solid_momentum(const Solid *solid) {
  Vec3 spin = quat_rotate(quat_conjugate(solid->rotation), solid->spin);
  return quat_rotate(solid->rotation, mat3_apply(&solid->inertia, spin));
}

#define assert_said(fixture, text) assert_said_((fixture), (text), __FILE__, __LINE__)
static inline void assert_said_(Fixture *fixture, const char *text, const char *file, int line) {
  if (strstr(fixture->core.error.message, text)) return;
  print_error("error is '%s', expected '%s' in it\n", fixture->core.error.message, text);
  _fail(file, line);
}

#endif
