/* state/: the field table through growth, sort, removal, checkpoint; the memory of contacts through sorts and deaths.
 */
#include "check.h"
#include "methods/common/contact_memory.h"
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
  assert_ok(&core, particles_permute(&core, &p, &scratch, order, 20));
  const int32_t dead[10] = {0, 3, 4, 8, 11, 12, 16, 17, 18, 19};
  particles_remove(&p, dead, 10); /* turned twice, ids are places + 1; 15 14 13 10 come to 0 3 4 8 */
  assert_int_equal(p.count, 10);
  const uint32_t left[10] = {16, 2, 3, 15, 14, 6, 7, 8, 11, 10};
  for (int k = 0; k < 10; k++) {
    assert_int_equal(p.id[k], left[k]);
    assert_true(p.x[k] == (float)(left[k] - 1) && own[k] == (float)(3 * (left[k] - 1)));
  }
  particles_remove(&p, NULL, 0);
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

/* Grain i remembers its two followers, with a force made of both ids. Each stands where its id says. */
static void remember_followers(Core *core, ContactMemory *memory, const Particles *p) {
  int64_t places = LANES + 3 * LANES * ((p->count + LANES - 1) / LANES); /* with a gap behind every row */
  assert_ok(core, contact_memory_reserve(core, memory, places));
  for (int64_t i = 0; i < p->count; i++) {
    memory->row[i] = (uint32_t)(LANES + 3 * LANES * (i / LANES) + i % LANES);
    memory->held[i] = 2;
    for (int k = 0; k < 2; k++) {
      int64_t partner = (i + k + 1) % p->count;
      memory->next.key[memory->row[i] + LANES * k] = (uint32_t)partner;
      memory->next.kept[1][memory->row[i] + LANES * k] = (float)(1000 * p->id[i] + p->id[partner]);
    }
    memory->number[i] = contact_number(i);
  }
  contact_memory_turn(memory, places);
}

static void contacts_are_remembered_whoever_is_sorted(void **state) {
  (void)state;
  Core core = test_core(2);
  Scratch scratch;
  Particles p;
  ContactMemory memory = {0};
  enum { N = 200, KEPT = 150 };
  int32_t order[N];
  scratch_create(&scratch);
  assert_ok(&core, particles_create(&core, &p));
  assert_ok(&core, contact_memory_create(&core, &memory, &p));
  assert_ok(&core, particles_append(&core, &p, N));
  assert_int_equal(contact_memory_find(&memory, 0, 2), 0); /* a newborn remembers nothing */
  remember_followers(&core, &memory, &p);
  for (int i = 0; i < KEPT; i++) order[i] = (i * 77) % N; /* 77 and 200 have no common divisor; the rest die */
  assert_ok(&core, particles_permute(&core, &p, &scratch, order, KEPT));
  for (int64_t i = 0; i < KEPT; i++)
    for (int64_t j = 0; j < KEPT; j++) {
      uint32_t id = p.id[j];
      bool follows = id == p.id[i] % N + 1 || id == (p.id[i] + 1) % N + 1;
      int64_t place = contact_memory_find(&memory, i, contact_key(&memory, j));
      assert_int_equal(place > 0, follows);
      assert_true(memory.now.kept[1][place] == (follows ? (float)(1000 * p.id[i] + id) : 0));
    }
  assert_ok(&core, particles_append(&core, &p, 1));
  assert_int_equal(contact_key(&memory, KEPT), CONTACT_STRANGER); /* whom nobody remembers */
  assert_true(contact_key_from_top(0) < CONTACT_STRANGER);
  memory.row[7] = UINT32_MAX - 1; /* a file may lie */
  assert_int_equal(contact_memory_find(&memory, 7, contact_key(&memory, 8)), 0);
  contact_memory_destroy(&core, &memory);
  particles_destroy(&core, &p);
  scratch_destroy(&core, &scratch);
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
      cmocka_unit_test(contacts_are_remembered_whoever_is_sorted),
      cmocka_unit_test(wrenches_do_not_depend_on_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
