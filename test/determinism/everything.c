/* Scenes in which everything happens at once, mechanisms, terrain under every kind of method and several materials
 * among it: the same bits for any number of threads, after a checkpoint, and with worlds side by side in threads of
 * their own. */
#include <pthread.h>

#include "bodies/mujoco_guard.h"
#include "everything_fixture.h"
#include "world_fixture.h"

#ifdef SCREE_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { FRAMES = SANITIZED ? 3 : 10, HALF = FRAMES / 2, WORLDS = 3 };

#define SIDE 0.12
#define ACROSS (SANITIZED ? 4 : 6)
#define ARM "test/cli/render_arm.xml"

static bool buildable(int which) {
#ifdef SCREE_HAVE_MUJOCO
  (void)which;
  return true;
#else
  return which != EVERYTHING_MECHANISM;
#endif
}

static uint64_t hash_of(const ScreeWorld *world) {
  return scree_world_state_hash(world) ^ (3 * scree_world_grains_hash(world));
}

static uint64_t hash_after(const ScreeSceneDef *scene, int threads) {
  ScreeWorld *world = world_of(scene, threads);
  run_frames(world, FRAMES);
  uint64_t hash = hash_of(world);
  scree_world_destroy(world);
  return hash;
}

static void threads_change_nothing(void **unused) {
  (void)unused;
  for (int which = 0; which < EVERYTHING_COUNT; which++) {
    if (!buildable(which)) continue;
    Everything e;
    everything(&e, which, SIDE, ACROSS, ARM);
    uint64_t one = hash_after(&e.scene, 1);
    assert_true(hash_after(&e.scene, 3) == one);
    if (!SANITIZED) assert_true(hash_after(&e.scene, 8) == one);
  }
}

static void a_resumed_run_is_the_same_run(void **unused) {
  (void)unused;
  for (int which = 0; which < EVERYTHING_COUNT; which++) {
    if (!buildable(which)) continue;
    Everything e;
    everything(&e, which, SIDE, ACROSS, ARM);
    ScreeWorld *whole = world_of(&e.scene, 2), *resumed = world_of(&e.scene, 1);
    run_frames(whole, HALF);
    world_hand_over(whole, resumed);
    run_frames(whole, FRAMES - HALF);
    run_frames(resumed, FRAMES - HALF);
    if (hash_of(whole) != hash_of(resumed)) print_error("scene %d: another end\n", which);
    assert_true(hash_of(whole) == hash_of(resumed));
    scree_world_destroy(whole);
    scree_world_destroy(resumed);
  }
}

#ifdef SCREE_HAVE_MUJOCO
/* One of several worlds, each made, stepped and dropped by a thread of its own. */
typedef struct Side {
  const ScreeSceneDef *scene;
  uint64_t hash;
  ScreeStatus status;
} Side;

static void *live(void *context) {
  Side *side = context;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1;
  for (int again = 0; again < 2 && side->status == SCREE_OK; again++) {
    ScreeWorld *world = NULL;
    side->status = scree_world_create(side->scene, &options, &world, NULL);
    for (int k = 0; k < FRAMES && side->status == SCREE_OK; k++) side->status = scree_world_frame(world, NULL);
    if (side->status == SCREE_OK) side->hash = hash_of(world);
    scree_world_destroy(world);
  }
  return NULL;
}

/* What MuJoCo says to one thread is heard by that thread. */
typedef struct Trouble {
  char name[16];
  int32_t heard;
} Trouble;
enum { TROUBLES = 200 };

static void raise_error(void *context) { mju_error_s("trouble in %s", context); }

static void *get_into_trouble(void *context) {
  Trouble *trouble = context;
  for (int k = 0; k < TROUBLES; k++) {
    Core core = {0};
    Status status = mujoco_guarded(&core, SCREE_FAILED, k % 5 == 0, raise_error, trouble->name);
    trouble->heard += status == SCREE_FAILED && strstr(core.error.message, trouble->name);
  }
  return NULL;
}

/* MuJoCo has one handler of errors for the whole process: worlds with mechanisms share it, and those that fail beside
 * them. */
static void mechanisms_live_side_by_side(void **unused) {
  (void)unused;
  Everything e;
  everything(&e, EVERYTHING_MECHANISM, SIDE, 4, ARM);
  uint64_t alone = hash_after(&e.scene, 1);
  Side sides[WORLDS];
  pthread_t threads[WORLDS];
  for (int k = 0; k < WORLDS; k++) {
    sides[k] = (Side){.scene = &e.scene};
    assert_int_equal(pthread_create(&threads[k], NULL, live, &sides[k]), 0);
  }
  Trouble troubles[] = {{.name = "arm"}, {.name = "bucket"}};
  pthread_t troubled[2];
  for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&troubled[k], NULL, get_into_trouble, &troubles[k]), 0);
  for (int k = 0; k < 2; k++) {
    pthread_join(troubled[k], NULL);
    assert_int_equal(troubles[k].heard, TROUBLES);
  }
  for (int k = 0; k < WORLDS; k++) {
    pthread_join(threads[k], NULL);
    assert_int_equal(sides[k].status, SCREE_OK);
    assert_true(sides[k].hash == alone);
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(a_resumed_run_is_the_same_run),
#ifdef SCREE_HAVE_MUJOCO
      cmocka_unit_test(mechanisms_live_side_by_side),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
