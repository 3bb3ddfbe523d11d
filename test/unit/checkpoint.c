/* Checkpoints are hostile: whatever is wrong inside, behind a right check sum, is refused before a step uses it. */
#include "core/hash.h"
#include "everything_fixture.h"
#include "world/world.h"
#include "world_fixture.h"

enum { HEADER = 64, SIZE_AT = 48, HASH_AT = 56, FRAMES = 9 };

#define HALF 0.12
#define ACROSS 6

static ScreeWorld *everything_world(int which) {
  static Everything e;
  everything(&e, which, HALF, ACROSS, "test/cli/render_arm.xml");
  return world_of(&e.scene, 1);
}

static bool buildable(int which) {
#ifdef SCREE_HAVE_MUJOCO
  (void)which;
  return true;
#else
  return which != EVERYTHING_MECHANISM;
#endif
}

/* ---- what the world itself would never save ---- */

/* Each damages a world in its own way and says whether it could. */
typedef bool Damage(ScreeWorld *world);

static Particles *grains(ScreeWorld *world) { return &world->state.particles; }

static bool two_ids_alike(ScreeWorld *world) {
  if (grains(world)->count < 2) return false;
  grains(world)->id[1] = grains(world)->id[0];
  return true;
}
static bool all_ids_alike(ScreeWorld *world) {
  for (int64_t i = 0; i < grains(world)->count; i++) grains(world)->id[i] = 1;
  return grains(world)->count > 1;
}
static bool an_id_of_none(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->id[0] = 0;
  return true;
}
static bool an_id_to_come(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->id[0] = grains(world)->next_id;
  return true;
}
static bool next_id_taken(ScreeWorld *world) {
  grains(world)->next_id = 1;
  return grains(world)->count > 0;
}
static bool no_next_id(ScreeWorld *world) {
  grains(world)->next_id = 0;
  return true;
}
static bool a_material_of_none(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->material[0] = 2;
  return true;
}
static bool a_grain_nowhere(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->y[0] = NAN;
  return true;
}
static bool a_grain_at_no_speed(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->vz[0] = INFINITY;
  return true;
}
static bool a_grain_without_radius(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->radius[0] = 0;
  return true;
}
static bool a_grain_like_a_house(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->radius[0] = 1e6f;
  return true;
}
static bool a_grain_without_mass(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  grains(world)->mass[0] = -1;
  return true;
}
static bool near_a_solid_of_none(ScreeWorld *world) {
  if (grains(world)->count == 0) return false;
  world->near_solids[0] |= 1ull << 63;
  return true;
}
static bool a_birth_of_no_material(ScreeWorld *world) {
  if (world->state.queue.birth_count == 0) return false;
  world->state.queue.births[0].material = 7;
  return true;
}
static bool a_birth_of_negative_material(ScreeWorld *world) {
  if (world->state.queue.birth_count == 0) return false;
  world->state.queue.births[0].material = -1;
  return true;
}
static bool a_birth_nowhere(ScreeWorld *world) {
  if (world->state.queue.birth_count == 0) return false;
  world->state.queue.births[0].position.x = NAN;
  return true;
}
static bool a_birth_of_no_size(ScreeWorld *world) {
  if (world->state.queue.birth_count == 0) return false;
  world->state.queue.births[0].radius = -1;
  return true;
}
static bool a_birth_for_no_reason(ScreeWorld *world) {
  if (world->state.queue.birth_count == 0) return false;
  world->state.queue.births[0].reason = (QueueReason)99;
  return true;
}
static bool kill_one(ScreeWorld *world, uint32_t id, uint32_t reason, uint32_t heir) {
  return queue_death(&world->core, &world->state.queue, id, (QueueReason)reason, heir) == SCREE_OK;
}
static bool a_death_of_nobody(ScreeWorld *world) { return kill_one(world, 0, REASON_SINK, 0); }
static bool a_death_to_come(ScreeWorld *world) { return kill_one(world, 4000000000u, REASON_SINK, 0); }
static bool a_death_for_no_reason(ScreeWorld *world) { return kill_one(world, 1, 77, 0); }
static bool an_heir_to_come(ScreeWorld *world) { return kill_one(world, 1, REASON_MERGE, 4000000000u); }
static bool a_solid_nowhere(ScreeWorld *world) {
  world->state.solids.items[1].position.z = NAN;
  return true;
}
static bool a_solid_that_is_not_turned(ScreeWorld *world) {
  world->state.solids.items[1].rotation = (Quat){0, 0, 0, 0};
  return true;
}
static bool a_solid_without_inertia(ScreeWorld *world) {
  world->state.solids.items[1].inverse_inertia[2][3] = INFINITY;
  return true;
}
static bool a_time_between_frames(ScreeWorld *world) {
  world->state.time += 1e-3;
  return true;
}
static bool a_time_before_the_first(ScreeWorld *world) {
  world->state.frame = -1;
  world->state.time = -1 / world->definition.scene.frame_rate;
  return true;
}
static bool another_origin(ScreeWorld *world) {
  world->state.origin.x += 1;
  return true;
}
static bool an_endless_skin(ScreeWorld *world) {
  world->state.contacts.skin = 1e20f;
  return true;
}
static bool an_endless_debt(ScreeWorld *world) {
  world->emitters[0].debt = 1e300;
  return true;
}
static bool a_sum_of_nothing(ScreeWorld *world) {
  world->tally.speed = NAN;
  return true;
}
static bool a_field_not_finite(ScreeWorld *world, const char *const *names) {
  for (int k = 0; names[k]; k++) {
    void **field = particles_field(grains(world), names[k]);
    if (!field || grains(world)->count == 0) continue;
    *(float *)*field = NAN;
    return true;
  }
  return false;
}
static bool a_methods_field_not_finite(ScreeWorld *world) {
  return a_field_not_finite(world, (const char *const[]){"p2_rest_x", "spin_x", "sph_pressure", "shape_xx", NULL});
}
static bool a_grip_not_finite(ScreeWorld *world) {
  return a_field_not_finite(world, (const char *const[]){"sph_grip", NULL});
}
static bool a_flow_not_finite(ScreeWorld *world) {
  return a_field_not_finite(world, (const char *const[]){"flow_xx", "upsample_x", "rest", NULL});
}
static bool contacts_elsewhere(ScreeWorld *world) {
  void **row = particles_field(grains(world), "contact_row"), **held = particles_field(grains(world), "contacts_held");
  if (!row || grains(world)->count == 0) return false;
  ((uint32_t *)*row)[0] = 0x7fffffff;
  if (held) ((uint32_t *)*held)[0] = 3;
  return true;
}
static bool a_fine_id_to_come(ScreeWorld *world) {
  if (!world->upsample || upsample_grains(world->upsample)->count == 0) return false;
  upsample_grains(world->upsample)->id[0] = 4000000000u;
  return true;
}
static bool two_fine_ids_alike(ScreeWorld *world) {
  if (!world->upsample || upsample_grains(world->upsample)->count < 2) return false;
  upsample_grains(world->upsample)->id[1] = upsample_grains(world->upsample)->id[0];
  return true;
}
static bool a_fine_material_of_none(ScreeWorld *world) {
  if (!world->upsample || upsample_grains(world->upsample)->count == 0) return false;
  upsample_grains(world->upsample)->material[0] = 200;
  return true;
}
static bool a_fine_grain_nowhere(ScreeWorld *world) {
  if (!world->upsample || upsample_grains(world->upsample)->count == 0) return false;
  upsample_grains(world->upsample)->x[0] = NAN;
  return true;
}
static bool a_fine_grain_like_a_house(ScreeWorld *world) {
  if (!world->upsample || upsample_grains(world->upsample)->count == 0) return false;
  upsample_grains(world->upsample)->radius[0] = 1e6f;
  return true;
}
static bool a_column_of_less_than_nothing(ScreeWorld *world) {
  if (!world->state.terrain) return false;
  world->state.terrain->mass[3] = -1;
  return true;
}
static bool a_column_without_density(ScreeWorld *world) {
  if (!world->state.terrain) return false;
  world->state.terrain->bulk[3] = 0;
  return true;
}
static bool a_column_half_covered(ScreeWorld *world) {
  if (!world->state.terrain) return false;
  world->state.terrain->covered[3] = 7;
  return true;
}

#define DAMAGES(X)                                                                                                     \
  X(two_ids_alike)                                                                                                     \
  X(all_ids_alike)                                                                                                     \
  X(an_id_of_none)                                                                                                     \
  X(an_id_to_come)                                                                                                     \
  X(next_id_taken)                                                                                                     \
  X(no_next_id)                                                                                                        \
  X(a_material_of_none)                                                                                                \
  X(a_grain_nowhere)                                                                                                   \
  X(a_grain_at_no_speed)                                                                                               \
  X(a_grain_without_radius)                                                                                            \
  X(a_grain_like_a_house)                                                                                              \
  X(a_grain_without_mass)                                                                                              \
  X(near_a_solid_of_none)                                                                                              \
  X(a_birth_of_no_material)                                                                                            \
  X(a_birth_of_negative_material)                                                                                      \
  X(a_birth_nowhere)                                                                                                   \
  X(a_birth_of_no_size)                                                                                                \
  X(a_birth_for_no_reason)                                                                                             \
  X(a_death_of_nobody)                                                                                                 \
  X(a_death_to_come)                                                                                                   \
  X(a_death_for_no_reason)                                                                                             \
  X(an_heir_to_come)                                                                                                   \
  X(a_solid_nowhere)                                                                                                   \
  X(a_solid_that_is_not_turned)                                                                                        \
  X(a_solid_without_inertia)                                                                                           \
  X(a_time_between_frames)                                                                                             \
  X(a_time_before_the_first)                                                                                           \
  X(another_origin)                                                                                                    \
  X(an_endless_skin)                                                                                                   \
  X(an_endless_debt)                                                                                                   \
  X(a_sum_of_nothing)                                                                                                  \
  X(a_methods_field_not_finite)                                                                                        \
  X(a_grip_not_finite)                                                                                                 \
  X(a_flow_not_finite)                                                                                                 \
  X(contacts_elsewhere)                                                                                                \
  X(a_fine_id_to_come)                                                                                                 \
  X(two_fine_ids_alike)                                                                                                \
  X(a_fine_material_of_none)                                                                                           \
  X(a_fine_grain_nowhere)                                                                                              \
  X(a_fine_grain_like_a_house)                                                                                         \
  X(a_column_of_less_than_nothing)                                                                                     \
  X(a_column_without_density)                                                                                          \
  X(a_column_half_covered)

static const struct {
  const char *name;
  Damage *damage;
} DAMAGE[] = {
#define DAMAGE_ROW(name) {#name, name},
    DAMAGES(DAMAGE_ROW)
#undef DAMAGE_ROW
};
enum { DAMAGE_COUNT = sizeof DAMAGE / sizeof *DAMAGE };

static void assert_refused(ScreeWorld *world, const char *path, const char *what, int which) {
  ScreeError error;
  ScreeStatus status = scree_world_load(world, path, &error);
  if (status != SCREE_BAD_INPUT || !error.file[0] || !error.message[0]) {
    print_error("scene %d, %s: status %d, '%s'\n", which, what, status, error.message);
    _fail(__FILE__, __LINE__);
  }
  /* nothing is done with what was half read */
  assert_int_equal(scree_world_frame(world, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(scree_world_save(world, path, &error), SCREE_BAD_ARGUMENT);
}

static void what_cannot_be_is_refused(void **unused) {
  (void)unused;
  bool tried[DAMAGE_COUNT] = {false};
  char good[TEMPORARY_NAME], bad[TEMPORARY_NAME];
  ScreeError error;
  temporary_file(good);
  temporary_file(bad);
  for (int which = 0; which < EVERYTHING_COUNT; which++) {
    if (!buildable(which)) continue;
    ScreeWorld *from = everything_world(which), *to = everything_world(which);
    run_frames(from, FRAMES);
    assert_done(scree_world_save(from, good, &error));
    for (int d = 0; d < DAMAGE_COUNT; d++) {
      if (!DAMAGE[d].damage(from)) continue;
      tried[d] = true;
      assert_done(scree_world_save(from, bad, &error));
      assert_refused(to, bad, DAMAGE[d].name, which);
      from->state.origin = to->state.origin;
      assert_done(scree_world_load(from, good, &error));
    }
    assert_done(scree_world_load(to, good, &error));
    run_frames(from, 2);
    run_frames(to, 2);
    assert_true(scree_world_state_hash(from) == scree_world_state_hash(to));
    scree_world_destroy(from);
    scree_world_destroy(to);
  }
  for (int d = 0; d < DAMAGE_COUNT; d++) {
    if (!tried[d]) print_error("%s was never tried\n", DAMAGE[d].name);
    assert_true(tried[d]);
  }
  unlink(good);
  unlink(bad);
}

/* ---- the private data of methods, which only the archive shows ---- */

typedef struct Edit {
  int which;
  const char *section;
  int64_t at; /* bytes behind the section's name */
  int size;
  uint64_t value;
} Edit;

/* With the check sum of what is in it. */
static void write_checkpoint(const char *path, char *data, int64_t size) {
  uint64_t sum = hash_bytes(data + HEADER, (size_t)(size - HEADER), 0);
  memcpy(data + HASH_AT, &sum, sizeof sum);
  file_write(path, data, size);
}

/* Names are 24 bytes long. */
static char *find_section(char *data, int64_t size, const char *name) {
  char mark[24] = {0};
  strncpy(mark, name, sizeof mark - 1);
  for (char *at = data + HEADER; at + sizeof mark <= data + size; at++)
    if (memcmp(at, mark, sizeof mark) == 0) return at + sizeof mark;
  print_error("there is no section %s\n", name);
  _fail(__FILE__, __LINE__);
  return NULL;
}

static const uint64_t NAN_BITS = 0x7ff8000000000000u;

static void private_data_is_looked_at(void **unused) {
  (void)unused;
  const Edit edits[] = {
      {EVERYTHING_PBD, "method", 0, 8, NAN_BITS},            /* last_h */
      {EVERYTHING_PBD, "contact memory", 0, 8, 1},           /* fewer places than nobody has */
      {EVERYTHING_PBD, "contact memory", 0, 8, 1ull << 40},  /* more than the file holds */
      {EVERYTHING_P2, "method", 0, 8, NAN_BITS},             /* last_h */
      {EVERYTHING_DEM, "method", 0, 8, NAN_BITS},            /* frequency */
      {EVERYTHING_DEM, "dem contacts", 0, 4, 3},             /* springs of another law */
      {EVERYTHING_DEM, "dem contacts", 4, 8, 1ull << 33},    /* grains */
      {EVERYTHING_DEM, "dem contacts", 12, 8, 8ull << 40},   /* contacts */
      {EVERYTHING_FLIP, "flip", 0, 8, NAN_BITS},             /* speed */
      {EVERYTHING_FLIP, "flip", 24, 8, 1000},                /* shapes that wait */
      {EVERYTHING_POINTS, "flip", 24, 8, 1},                 /* shapes that wait for nobody */
      {EVERYTHING_FLIP, "flip", 32, 8, 1ull << 50},          /* strips */
      {EVERYTHING_FLIP, "flip", 56, 8, 0xffffffffffffffffu}, /* key of the second strip */
      {EVERYTHING_POINTS, "render points", 0, 4, 0xffffffffu},
      {EVERYTHING_POINTS, "upsample", 8, 4, 0},
      {EVERYTHING_PBD, "probes", 0, 1, 2}, /* neither taken nor not */
      {EVERYTHING_PBD, "bodies", 0, 8, NAN_BITS},
      {EVERYTHING_PBD, "solids", 0, 8, 17},
      {EVERYTHING_TERRAIN, "terrain", 0, 8, 17},
#ifdef SCREE_HAVE_MUJOCO
      {EVERYTHING_MECHANISM, "mechanism", 0, 4, 17},
      {EVERYTHING_MECHANISM, "mechanism", 20, 8, NAN_BITS}, /* qpos */
#endif
  };
  char path[TEMPORARY_NAME];
  temporary_file(path);
  ScreeError error;
  for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
    const Edit *edit = &edits[k];
    ScreeWorld *world = everything_world(edit->which);
    int64_t size;
    char what[80];
    run_frames(world, 3);
    assert_done(scree_world_save(world, path, &error));
    char *data = file_read(path, &size), *at = find_section(data, size, edit->section) + edit->at;
    memcpy(at, &edit->value, (size_t)edit->size);
    write_checkpoint(path, data, size);
    free(data);
    snprintf(what, sizeof what, "edit %d in section %s", (int)k, edit->section);
    assert_refused(world, path, what, edit->which);
    scree_world_destroy(world);
  }
  unlink(path);
}

/* Every byte of the archive in turn is turned over (a share of them, with sanitizers): a world refuses it or goes on.
 */
static void no_byte_breaks_a_world(void **unused) {
  (void)unused;
  enum { TRIES = SANITIZED ? 60 : 250, STEPS = 3 };
  char path[TEMPORARY_NAME];
  temporary_file(path);
  ScreeError error;
  int64_t refused = 0, all = 0;
  for (int which = 0; which < EVERYTHING_COUNT; which++) {
    if (!buildable(which)) continue;
    ScreeWorld *world = everything_world(which);
    int64_t size;
    run_frames(world, FRAMES);
    assert_done(scree_world_save(world, path, &error));
    char *data = file_read(path, &size);
    for (int k = 0; k < TRIES; k++) {
      int64_t at = HEADER + (int64_t)((uint64_t)k * 2654435761u * 40503u % (uint64_t)(size - HEADER));
      char kept = data[at];
      data[at] = (char)(k & 1 ? 0xff : data[at] ^ 0x80);
      write_checkpoint(path, data, size);
      data[at] = kept;
      all++;
      if (scree_world_load(world, path, &error) != SCREE_OK) refused++;
      else
        for (int s = 0; s < STEPS; s++)
          if (world_step(world) != SCREE_OK) break;
    }
    write_checkpoint(path, data, size);
    assert_done(scree_world_load(world, path, &error));
    run_frames(world, 1);
    free(data);
    scree_world_destroy(world);
  }
  assert_true(refused > 0 && refused < all);
  unlink(path);
}

/* A step must bring the end of the frame nearer. (Walls would hold the ball.) */
static void what_flies_off_ends_the_run(void **unused) {
  (void)unused;
  for (int which = EVERYTHING_PBD; which <= EVERYTHING_NONE; which++) {
    Everything e;
    everything(&e, which, HALF, ACROSS, "");
    e.scene.boundary_count = 0;
    ScreeWorld *world = world_of(&e.scene, 1);
    ScreeError error;
    ScreeBodyId ball = scree_world_find_body(world, "ball");
    assert_done(scree_world_set_force(world, ball, (ScreeVec3){1e200, 0, 0}, (ScreeVec3){0, 0, 0}, &error));
    ScreeStatus status = SCREE_OK;
    for (int k = 0; k < 3 && status == SCREE_OK; k++) status = scree_world_frame(world, &error);
    assert_int_equal(status, SCREE_FAILED);
    assert_non_null(strstr(error.message, "blew up"));
    scree_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(private_data_is_looked_at),
      cmocka_unit_test(no_byte_breaks_a_world),
      cmocka_unit_test(what_flies_off_ends_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
