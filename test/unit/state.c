/* state/: the field table through growth, sort, removal, checkpoint; contact history through rebuilds. */
#include "check.h"
#include "state/state.h"

static void fill_particles(Core *core, Particles *p, float **own) {
  assert_ok(core, particles_create(core, p));
  assert_ok(core, particles_append(core, p, 3));
  assert_ok(core, particles_add_field(core, p, "own", sizeof(float), true, (void **)own));
  assert_ok(core, particles_append(core, p, 1000));
  for (int64_t i = 0; i < p->count; i++) {
    p->x[i] = (float)i;
    p->mass[i] = (float)(2 * i);
    p->material[i] = (uint8_t)(i % 5);
    (*own)[i] = (float)(3 * i);
  }
}

static void every_field_follows_its_particle(void **state) {
  (void)state;
  Core core = test_core(2);
  Scratch scratch;
  scratch_create(&scratch);
  Particles p;
  float *own = NULL;
  fill_particles(&core, &p, &own);
  assert_int_equal(p.id[0], 1);
  assert_int_equal(p.id[1002], 1003);
  uint64_t before = particles_hash(&core, &p);
  int32_t order[1003];
  for (int k = 0; k < 1003; k++) order[k] = 1002 - k;
  assert_ok(&core, particles_permute(&core, &p, &scratch, order, 1003));
  for (int64_t k = 0; k < p.count; k++) {
    int64_t old = 1002 - k;
    assert_int_equal(p.id[k], old + 1);
    assert_true(p.x[k] == (float)old && p.mass[k] == (float)(2 * old) && own[k] == (float)(3 * old));
    assert_int_equal(p.material[k], old % 5);
  }
  assert_true(particles_hash(&core, &p) == before); /* by id, not by place */
  assert_ok(&core, particles_permute(&core, &p, &scratch, order, 10));
  assert_int_equal(p.count, 10);
  assert_true(particles_hash(&core, &p) != before);
  assert_ok(&core, particles_append(&core, &p, 1));
  assert_int_equal(p.id[10], 1004); /* ids are never used again */
  assert_true(own[10] == 0 && p.mass[10] == 0);
  particles_destroy(&core, &p);
  scratch_destroy(&core, &scratch);
  core_destroy(&core);
}

static void hash_sees_every_bit_of_hashed_fields(void **state) {
  (void)state;
  Core core = test_core(1);
  Particles p;
  float *own = NULL;
  fill_particles(&core, &p, &own);
  uint64_t before = particles_hash(&core, &p);
  own[500] = nextafterf(own[500], 1e9f);
  assert_true(particles_hash(&core, &p) != before);
  own[500] = 1500;
  assert_true(particles_hash(&core, &p) == before);
  p.dx[7] = 1; /* a displacement of the last step is no state */
  assert_true(particles_hash(&core, &p) == before);
  particles_destroy(&core, &p);
  core_destroy(&core);
}

static void particles_come_back_from_an_archive(void **state) {
  (void)state;
  Core core = test_core(1);
  Particles p, q;
  float *own = NULL, *own_too = NULL;
  fill_particles(&core, &p, &own);
  Archive out, in;
  archive_save(&out);
  assert_ok(&core, particles_archive(&core, &out, &p));
  assert_ok(&core, particles_create(&core, &q));
  assert_ok(&core, particles_add_field(&core, &q, "own", sizeof(float), true, (void **)&own_too));
  archive_load(&in, "test", out.data, out.size);
  assert_ok(&core, particles_archive(&core, &in, &q));
  assert_int_equal(q.count, p.count);
  assert_int_equal(q.next_id, p.next_id);
  assert_true(particles_hash(&core, &q) == particles_hash(&core, &p));
  particles_destroy(&core, &p);
  particles_destroy(&core, &q);
  archive_destroy(&core, &out);
  core_destroy(&core);
}

/* A list over `rows` particles, each with its `width` followers as neighbours. */
static ContactList ring_list(Core *core, int64_t rows, int width, const uint32_t *ids) {
  ContactList c = {.history_size = 2};
  assert_ok(core, memory_new(core, &c.list.start, rows + 1, "test"));
  assert_ok(core, memory_new(core, &c.list.index, rows * width, "test"));
  assert_ok(core, memory_new(core, &c.partner, rows * width, "test"));
  assert_ok(core, memory_new(core, &c.history, rows * width * 2, "test"));
  c.list.count = rows;
  c.list.entries = rows * width;
  for (int64_t i = 0; i <= rows; i++) c.list.start[i] = i * width;
  for (int64_t i = 0; i < rows; i++)
    for (int k = 0; k < width; k++) {
      int64_t j = (i + k + 1) % rows;
      c.list.index[i * width + k] = (int32_t)j;
      c.partner[i * width + k] = ids[j];
    }
  return c;
}

static void history_is_found_again_by_the_pair_of_ids(void **state) {
  (void)state;
  Core core = test_core(2);
  enum { N = 200 };
  uint32_t old_ids[N], new_ids[N];
  int32_t order[N];
  for (int i = 0; i < N; i++) {
    old_ids[i] = 1000u + (uint32_t)i;
    order[i] = (i * 77) % N; /* 77 and 200 have no common divisor */
  }
  for (int i = 0; i < N; i++) new_ids[i] = old_ids[order[i]];
  ContactList old = ring_list(&core, N, 3, old_ids);
  for (int64_t i = 0; i < N; i++)
    for (int64_t k = old.list.start[i]; k < old.list.start[i + 1]; k++) {
      old.history[2 * k] = (float)old_ids[i];
      old.history[2 * k + 1] = (float)old.partner[k];
    }
  ContactList fresh = ring_list(&core, N, N - 1, new_ids); /* all pairs */
  assert_ok(&core, contact_list_carry(&core, &old, order, &fresh));
  int64_t found = 0;
  for (int64_t i = 0; i < N; i++)
    for (int64_t k = fresh.list.start[i]; k < fresh.list.start[i + 1]; k++) {
      if (fresh.history[2 * k] == 0) continue;
      found++;
      assert_true(fresh.history[2 * k] == (float)new_ids[i]);
      assert_true(fresh.history[2 * k + 1] == (float)fresh.partner[k]);
    }
  assert_int_equal(found, 3 * N);
  contact_list_destroy(&core, &old);
  contact_list_destroy(&core, &fresh);
  core_destroy(&core);
}

static void rows_of_the_dead_are_dropped(void **state) {
  (void)state;
  Core core = test_core(1);
  uint32_t ids[10];
  for (uint32_t i = 0; i < 10; i++) ids[i] = i + 1;
  Contacts contacts = {0};
  contacts.particles = ring_list(&core, 10, 2, ids);
  for (int64_t k = 0; k < 20; k++) contacts.particles.history[2 * k] = (float)k;
  const int32_t survivors[] = {0, 3, 9};
  contacts_keep_rows(&contacts, survivors, 3);
  assert_int_equal(contacts.particles.list.count, 3);
  assert_int_equal(contacts.particles.list.entries, 6);
  const float expected[] = {0, 1, 6, 7, 18, 19};
  for (int k = 0; k < 6; k++) assert_true(contacts.particles.history[2 * k] == expected[k]);
  contact_list_destroy(&core, &contacts.particles);
  core_destroy(&core);
}

static void wrenches_do_not_depend_on_order(void **state) {
  (void)state;
  Solid a = {0}, b = {0};
  for (int i = 0; i < 1000; i++) {
    Vec3 f = vec3(sin(i), 1e-3 * i, -1e4 / (i + 1)), at = vec3(cos(i), sin(2 * i), 0.1 * i);
    wrench_add(&a, f, at);
  }
  for (int i = 999; i >= 0; i--) {
    Vec3 f = vec3(sin(i), 1e-3 * i, -1e4 / (i + 1)), at = vec3(cos(i), sin(2 * i), 0.1 * i);
    wrench_add(&b, f, at);
  }
  assert_memory_equal(&a.wrench, &b.wrench, sizeof a.wrench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_follows_its_particle),
      cmocka_unit_test(hash_sees_every_bit_of_hashed_fields),
      cmocka_unit_test(particles_come_back_from_an_archive),
      cmocka_unit_test(history_is_found_again_by_the_pair_of_ids),
      cmocka_unit_test(rows_of_the_dead_are_dropped),
      cmocka_unit_test(wrenches_do_not_depend_on_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
