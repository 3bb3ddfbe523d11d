/* soak [--seconds N] [--kills N] [--seed N] [--world K]: worlds in which everything happens, one after the other, with
 * tools that move at random, for so long. No number is ever lost: all is finite, mass is kept, memory and energy stay
 * bounded. Then runs are killed at random and go on from their checkpoints, to the same bits as runs that were never
 * stopped. Prints a table; exits with 1 where something is not so. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/rng.h"
#include "core/timer.h"
#include "everything_fixture.h"

#define SIDE 0.3
#define ACROSS 10
#define ARM "test/cli/render_arm.xml"
/* The tool goes as it likes, and nothing stops it: it keeps away from walls and ground by more than the ball and a
 * grain are wide, for what it crushed against them would fly off at any speed. The ball is as wide as a cell of flip.
 */
#define BALL 0.05
#define LOWEST 0.6 * SIDE
#define TOOL_SPEED 1.5 /* m/s at most */
/* Mass is summed in doubles from floats: as exact as the sum of that many roundings. */
#define MASS_EXACT 1e-9
/* Nothing gets faster than the fastest tool throws it, what falls through the tank, and the explosions, all at once. */
#define SPEED_MOST 25.0
#define MEMORY_GROWTH 1.25 /* over the second half of a run */

/* So many frames take all that the start needs, however slow the machine is: by then what fell has landed, and what
 * nothing holds has reached the sink (none grows ninefold up to frame 64). */
enum { SETTLED_FRAMES = 120 };
enum { KILL_FRAMES = 40, SAVE_EVERY = 3 };

static const char *const NAMES[EVERYTHING_COUNT] = {"pbd",          "p2",          "dem",         "sph",
                                                    "flip",         "none",        "flip points", "pbd terrain",
                                                    "p2 mechanism", "sph terrain", "flip terrain"};

static double chance(uint64_t seed, uint64_t frame, uint64_t purpose) {
  return rng_unit(rng_bits(seed, frame, purpose, RNG_EMIT));
}

static ScreeWorld *make(int which, uint64_t seed, ScreeError *error) {
  static Everything e;
  ScreeWorld *world = NULL;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = 1;
  options.log_level = SCREE_LOG_ERROR;
  everything(&e, which, SIDE, ACROSS, ARM);
  e.scene.seed = (int64_t)seed;
  e.bodies[0].shape = scree_shape_sphere((ScreeVec3){0, 0, 0}, BALL);
  e.bodies[0].shape.position = (ScreeVec3){0.1 * SIDE, 0.2 * SIDE, 1.8 * SIDE};
  for (int k = 0; k < 2; k++) e.keys[k].position = (ScreeVec3){0, 0, LOWEST};
  /* what is poured must go: above a height it is taken away, and far below where nothing holds it */
  static ScreeSinkDef sinks[2];
  sinks[0].shape = scree_shape_box((ScreeVec3){-9, -9, 2.2 * SIDE}, (ScreeVec3){9, 9, 3.4 * SIDE});
  sinks[1].shape = scree_shape_box((ScreeVec3){-99, -99, -99}, (ScreeVec3){99, 99, -2});
  e.scene.sinks = sinks;
  e.scene.sink_count = 2;
  e.emitter.shape.disc.center.z = 2.1 * SIDE;
  e.emitter.rate = 3;
  scree_world_create(&e.scene, &options, &world, error);
  return world;
}

/* What happens in a frame follows from its number: a run that goes on does what the whole one did. */
static ScreeStatus live(ScreeWorld *world, uint64_t seed, ScreeError *error) {
  uint64_t frame = (uint64_t)scree_world_frame_index(world);
  ScreeBodyId paddle = scree_world_find_body(world, "paddle"), ball = scree_world_find_body(world, "ball");
  ScreeBodyState tool;
  ScreeStatus status = scree_world_body(world, paddle, &tool);
  uint64_t way = frame / 7; /* the tool keeps its direction for so many frames */
  double far = TOOL_SPEED / 60, room = 0.1 * SIDE, turn = 0.05 * (chance(seed, way, 3) - 0.5);
  ScreePose pose = tool.pose;
  pose.position.x = fmin(fmax(pose.position.x + far * (2 * chance(seed, way, 0) - 1), -room), room);
  pose.position.y = fmin(fmax(pose.position.y + far * (2 * chance(seed, way, 1) - 1), -room), room);
  pose.position.z = fmin(fmax(pose.position.z + 0.5 * far * (2 * chance(seed, way, 2) - 1), LOWEST), SIDE);
  ScreeQuat q = pose.rotation; /* turned about z */
  pose.rotation = (ScreeQuat){q.w - turn * q.z, q.x + turn * q.y, q.y - turn * q.x, q.z + turn * q.w};
  if (status == SCREE_OK) status = scree_world_set_pose(world, paddle, pose, error);
  if (status == SCREE_OK && scree_world_control_count(world) > 0 && frame % 15 == 0)
    status = scree_world_set_control(world, (ScreeControlId)1, 2 * chance(seed, frame, 6) - 1, error);
  if (status != SCREE_OK) return status;
  if (frame % 31 == 5)
    scree_world_impulse(world, (ScreeVec3){0.5 * SIDE * (chance(seed, frame, 4) - 0.5), 0, 0.05}, 0.5 * SIDE,
                        2 * chance(seed, frame, 5), error);
  if (frame % 90 == 40) {
    ScreePose up = {{0.1 * SIDE, 0.2 * SIDE, 1.8 * SIDE}, {1, 0, 0, 0}};
    status = scree_world_set_pose(world, ball, up, error);
    if (status == SCREE_OK)
      status = scree_world_set_velocity(world, ball, (ScreeVec3){0, 0, -1}, (ScreeVec3){0, 3, 0}, error);
    if (status != SCREE_OK) return status;
  }
  return scree_world_frame(world, error);
}

typedef struct Figures {
  int64_t frames, grains;
  double seconds, mass_error, fastest, memory_growth;
  bool good;
  char why[SCREE_MESSAGE_MAX];
} Figures;

static void wrong(Figures *figures, const char *why) {
  if (figures->good) snprintf(figures->why, sizeof figures->why, "%s", why);
  figures->good = false;
}

static bool all_finite(const ScreeWorld *world) {
  ScreeParticles p = scree_world_particles(world), g = scree_world_grains(world);
  double sum = 0;
  for (int64_t k = 0; k < p.count; k++) sum += 0 * (double)(p.x[k] + p.y[k] + p.z[k] + p.vx[k] + p.vy[k] + p.vz[k]);
  for (int64_t k = 0; k < g.count; k++) sum += 0 * (double)(g.x[k] + g.y[k] + g.z[k] + g.vx[k] + g.vy[k] + g.vz[k]);
  for (int32_t b = 1; b <= scree_world_body_count(world); b++) {
    ScreeBodyState s;
    if (scree_world_body(world, (ScreeBodyId)b, &s) == SCREE_OK)
      sum +=
          0 * (s.pose.position.x + s.pose.position.y + s.pose.position.z + s.velocity.x + s.velocity.y + s.velocity.z);
  }
  return sum == 0;
}

static Figures soak_one(int which, double seconds, uint64_t seed) {
  Figures f = {.good = true};
  ScreeError error = {0};
  ScreeStatistics s;
  double began = timer_now();
  int64_t settled = 0, crowd = 0; /* memory, and grains, at the most in the first half */
  ScreeWorld *world = make(which, seed, &error);
  if (!world) wrong(&f, error.message);
  while (f.good && timer_now() - began < seconds) {
    if (live(world, seed, &error) != SCREE_OK) {
      wrong(&f, error.message);
      break;
    }
    f.frames++;
    scree_world_statistics(world, &s);
    double mass = s.mass_initial + s.mass_emitted - s.mass_removed;
    f.mass_error = fmax(f.mass_error, fabs(s.mass_final - mass) / mass);
    f.fastest = fmax(f.fastest, s.max_speed);
    f.grains = s.coarse;
    bool first_half = timer_now() - began < 0.5 * seconds || f.frames < SETTLED_FRAMES;
    if (first_half) settled = s.memory_peak_bytes;
    if (first_half && s.coarse + s.grains > crowd) crowd = s.coarse + s.grains;
    bool crowded = s.coarse + s.grains > crowd; /* more grains need more */
    if (crowded) settled = s.memory_peak_bytes, crowd = s.coarse + s.grains;
    f.memory_growth = fmax(f.memory_growth, (double)s.memory_peak_bytes / (double)settled);
    if (!all_finite(world)) wrong(&f, "something is not finite");
    if (!(f.mass_error < MASS_EXACT)) wrong(&f, "mass was lost or made");
    if (!(f.fastest < SPEED_MOST)) wrong(&f, "energy came from nowhere");
    if (f.memory_growth > MEMORY_GROWTH) wrong(&f, "memory grows");
  }
  scree_world_destroy(world);
  f.seconds = timer_now() - began;
  return f;
}

/* ---- kills ---- */

static uint64_t end_hash(const ScreeWorld *world) {
  return scree_world_state_hash(world) ^ (3 * scree_world_grains_hash(world));
}

/* Runs to the last frame, from the checkpoint where there is one, and leaves the hash in a file. */
static int run_child(int which, uint64_t seed, const char *checkpoint, const char *result) {
  ScreeError error;
  ScreeWorld *world = make(which, seed, &error);
  if (!world) return 1;
  if (checkpoint && access(checkpoint, R_OK) == 0 && scree_world_load(world, checkpoint, &error) != SCREE_OK) {
    fprintf(stderr, "soak: %s: %s\n", NAMES[which], error.message);
    return 1;
  }
  while (scree_world_frame_index(world) < KILL_FRAMES) {
    if (live(world, seed, &error) != SCREE_OK) return 1;
    if (checkpoint && scree_world_frame_index(world) % SAVE_EVERY == 0 &&
        scree_world_save(world, checkpoint, &error) != SCREE_OK)
      return 1;
  }
  FILE *file = fopen(result, "w");
  if (!file) return 1;
  fprintf(file, "%016llx\n", (unsigned long long)end_hash(world));
  fclose(file);
  scree_world_destroy(world);
  return 0;
}

static pid_t start_child(int which, uint64_t seed, const char *checkpoint, const char *result) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) _exit(run_child(which, seed, checkpoint, result));
  return child;
}

static bool same_text(const char *one, const char *two) {
  char a[32] = "", b[32] = "";
  FILE *first = fopen(one, "r"), *second = fopen(two, "r");
  bool same = first && second && fgets(a, sizeof a, first) && fgets(b, sizeof b, second) && strcmp(a, b) == 0;
  if (first) fclose(first);
  if (second) fclose(second);
  return same;
}

/* Kills a run so many times, at random, and lets it end; whether it ends as one that was never stopped. */
static bool kill_and_resume(int which, uint64_t seed, int kills, const char *folder, int *done) {
  char checkpoint[256], result[256], whole[256];
  snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
  snprintf(result, sizeof result, "%s/result", folder);
  snprintf(whole, sizeof whole, "%s/whole", folder);
  unlink(checkpoint), unlink(result), unlink(whole);
  double began = timer_now();
  int state = -1;
  if (waitpid(start_child(which, seed, NULL, whole), &state, 0) < 0 || state != 0) return false;
  double takes = timer_now() - began;
  for (int k = 0;; k++) {
    pid_t child = start_child(which, seed, checkpoint, result);
    double wait = takes * 0.7 * chance(seed, (uint64_t)k, 9);
    struct timespec pause = {(time_t)wait, (long)(1e9 * (wait - floor(wait)))};
    if (k < kills) {
      nanosleep(&pause, NULL);
      kill(child, SIGKILL);
    }
    if (waitpid(child, &state, 0) < 0) return false;
    if (WIFSIGNALED(state)) ++*done;
    else if (state != 0) return false;
    if (k < kills && !WIFSIGNALED(state)) unlink(checkpoint); /* it was done already: once more from the start */
    if (k >= kills) return same_text(result, whole);
  }
}

static bool buildable(int which) {
#ifdef SCREE_HAVE_MUJOCO
  (void)which;
  return true;
#else
  return which != EVERYTHING_MECHANISM;
#endif
}

static double option(int count, char **words, const char *name, double usual) {
  for (int k = 1; k + 1 < count; k++)
    if (strcmp(words[k], name) == 0) return strtod(words[k + 1], NULL);
  return usual;
}

int main(int count, char **words) {
  double seconds = option(count, words, "--seconds", 3600);
  int kills = (int)option(count, words, "--kills", 100), done = 0;
  uint64_t seed = (uint64_t)option(count, words, "--seed", 1);
  int only = (int)option(count, words, "--world", -1); /* its number in everything_fixture.h; all unless given */
  double each = only < 0 ? seconds / EVERYTHING_COUNT : seconds;
  bool good = true;
  printf("%-14s %9s %8s %8s %11s %9s %7s\n", "world", "frames", "seconds", "grains", "mass error", "fastest", "memory");
  for (int which = 0; which < EVERYTHING_COUNT; which++) {
    if (!buildable(which) || (only >= 0 && which != only)) continue;
    Figures f = soak_one(which, each, seed);
    printf("%-14s %9lld %8.1f %8lld %11.1e %9.2f %7.2f%s%s\n", NAMES[which], (long long)f.frames, f.seconds,
           (long long)f.grains, f.mass_error, f.fastest, f.memory_growth, f.good ? "" : "  WRONG: ", f.why);
    fflush(stdout);
    good = good && f.good;
  }
  char folder[] = "/tmp/scree_soak_XXXXXX", command[64];
  if (!mkdtemp(folder)) return 1;
  for (int which = 0; which < EVERYTHING_COUNT && kills > 0; which++) {
    if (!buildable(which) || (only >= 0 && which != only)) continue;
    int share = kills / EVERYTHING_COUNT + (which < kills % EVERYTHING_COUNT);
    bool same = kill_and_resume(which, seed + 1, share, folder, &done);
    if (!same)
      printf("%-14s killed %d times: WRONG: another end than the run that was never stopped\n", NAMES[which], share);
    good = good && same;
  }
  printf("killed %d times, %s\n", done, good ? "all as it should be" : "NOT as it should be");
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command) != 0) return 1;
  return good ? 0 : 1;
}
