/* What is asked of a running world by whoever draws it: bodies that are added, and the pressure in the material. */
#include "world_fixture.h"

typedef struct Box {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeBoundaryDef walls;
  ScreeBodyDef ball;
  ScreeUpsampleDef fine;
  ScreeSceneDef def;
} Box;

static const double SIDE = 0.3, BED = 0.3, RADIUS = 0.02;

/* A bed of grains in a box. */
static void box_begin(Box *box, const char *method) {
  memset(box, 0, sizeof *box);
  box->sand = scree_material_default("sand");
  box->sand.young = 5e6;
  double half = SIDE / 2;
  box->grains =
      scree_grains_default("sand", scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, BED}));
  box->grains.start = SCREE_START_DENSE;
  box->walls = scree_boundary_default(scree_shape_box((ScreeVec3){-half, -half, 0}, (ScreeVec3){half, half, 1}));
  box->walls.inside = true;
  box->walls.friction_static = box->walls.friction_kinetic = 0; /* the floor carries all */
  box->ball = scree_body_default("stone", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
  box->ball.density = 6000;
  box->ball.shape.position = (ScreeVec3){0, 0, 0.5};
  box->def = scree_scene_default();
  box->def.name = "box";
  box->def.method = scree_method_default(method);
  box->def.method.radius = RADIUS;
  box->def.materials = &box->sand, box->def.material_count = 1;
  box->def.grains = &box->grains, box->def.grains_count = 1;
  box->def.boundaries = &box->walls, box->def.boundary_count = 1;
}

/* Dropped into the bed, it comes to rest in it, whatever the method; twice the same on one thread and on two. */
static void added_bodies_fall_into_the_sand(void **state) {
  (void)state;
  const char *const methods[] = {"pbd", "p2", "dem", "sph", "flip"};
  for (size_t m = 0; m < 5; m++) {
    Box box;
    box_begin(&box, methods[m]);
    box.fine = scree_upsample_default(0.01);
    if (m == 0) box.def.upsample = &box.fine;
    if (m == 4) box.def.method.radius = 0.5 * RADIUS; /* a body has to be some cells wide */
    uint64_t hashes[2];
    for (int32_t threads = 1; threads <= 2; threads++) {
      ScreeWorld *world = world_of(&box.def, threads);
      run_frames(world, 3);
      ScreeBodyId stone = 0, again = 0;
      ScreeError error;
      assert_int_equal(scree_world_add_body(world, &box.ball, &stone, &error), SCREE_OK);
      assert_int_equal(stone, 2);
      assert_int_equal(scree_world_find_body(world, "stone"), stone);
      /* A second one of that name is refused, and nothing is left of it. */
      assert_int_equal(scree_world_add_body(world, &box.ball, &again, &error), SCREE_BAD_INPUT);
      assert_int_equal(again, 0);
      assert_int_equal(scree_world_body_count(world), 2);
      ScreeMeshView mesh;
      assert_int_equal(scree_world_body_mesh(world, stone, &mesh), SCREE_OK);
      assert_true(mesh.triangle_count > 10);
      run_frames(world, 45);
      ScreeBodyState ball;
      assert_int_equal(scree_world_body(world, stone, &ball), SCREE_OK);
      print_message("%s: at %.3f m, %.2f m/s\n", methods[m], ball.center.z, ball.velocity.z);
      assert_true(ball.center.z > 0.055 && ball.center.z < 0.42);
      assert_true(fabs(ball.velocity.z) < 0.5);
      assert_true(ball.force.z > 0.3 * ball.mass * 9.81);
      hashes[threads - 1] = scree_world_state_hash(world);
      scree_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
  }
}

/* A stone among so many far solids that it has no bit among the near ones of the particles falls as it does alone. */
static void many_solids_change_nothing(void **state) {
  (void)state;
  enum { FAR = 63 };
  const char *const methods[] = {"pbd", "dem"};
  for (size_t m = 0; m < 2; m++) {
    Box box;
    box_begin(&box, methods[m]);
    ScreeBoundaryDef solids[FAR] = {box.walls};
    for (int k = 1; k < FAR; k++)
      solids[k] = scree_boundary_default(scree_shape_sphere((ScreeVec3){10.0 + k, 0, 0}, 0.06));
    box.def.boundaries = solids;
    ScreeVec3 center[2];
    for (int many = 0; many < 2; many++) {
      box.def.boundary_count = many ? FAR : 1;
      ScreeWorld *world = world_of(&box.def, 2);
      run_frames(world, 3);
      ScreeBodyDef far = scree_body_default("far", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.06));
      far.shape.position = (ScreeVec3){0, 20, 0};
      ScreeBodyId id = 0;
      ScreeError error;
      assert_int_equal(scree_world_add_body(world, &far, &id, &error), SCREE_OK);
      assert_int_equal(scree_world_add_body(world, &box.ball, &id, &error), SCREE_OK);
      run_frames(world, 40);
      ScreeBodyState ball;
      assert_int_equal(scree_world_body(world, id, &ball), SCREE_OK);
      assert_true(ball.center.z > 0.055 && ball.center.z < 0.42);
      center[many] = ball.center;
      scree_world_destroy(world);
    }
    assert_memory_equal(&center[0], &center[1], sizeof center[0]);
  }
}

/* In a settled bed between smooth walls the pressure grows with the depth: a third of the trace of the stress lies
 * between a third of the vertical one (no push sideways) and all of it (a liquid). And asking changes nothing. */
static void pressure_grows_with_depth(void **state) {
  (void)state;
  const char *const methods[] = {"pbd", "p2", "dem", "sph"};
  for (size_t m = 0; m < 4; m++) {
    Box box;
    box_begin(&box, methods[m]);
    ScreeWorld *world = world_of(&box.def, 1);
    run_frames(world, m == 2 ? 40 : 90);
    ScreeParticles p = scree_world_particles(world);
    float *pressure = calloc((size_t)p.count + 1, sizeof *pressure);
    uint64_t before = scree_world_state_hash(world);
    assert_false(scree_world_pressure(world, true, pressure)); /* there are no fine grains */
    assert_true(scree_world_pressure(world, false, pressure));
    assert_true(scree_world_state_hash(world) == before);
    ScreeStatistics now;
    scree_world_statistics(world, &now);
    double top = 0, half = 0, below = 0;
    for (int64_t i = 0; i < p.count; i++) top = fmax(top, (double)p.z[i] + RADIUS);
    int64_t lower = 0, upper = 0;
    for (int64_t i = 0; i < p.count; i++) {
      double z = p.origin.z + (double)p.z[i];
      assert_true(isfinite(pressure[i]));
      if (z < 0.25 * top) below += (double)pressure[i], lower++;
      else if (z > 0.6 * top && z < 0.85 * top) half += (double)pressure[i], upper++;
    }
    double weight = now.mass_final * 9.81 / (SIDE * SIDE), bottom = below / (double)lower;
    print_message("%s: %.0f Pa near the floor, where %.0f Pa rest on it; %.0f Pa above\n", methods[m], bottom,
                  0.875 * weight, half / (double)upper);
    /* Parcels this large beside walls press harder than their weight: the kernels miss what is behind the wall. */
    double most = strcmp(methods[m], "sph") == 0 ? 1.5 : 1;
    assert_true(bottom > 0.33 * 0.875 * weight && bottom < most * 0.875 * weight);
    assert_true(half / (double)upper < 0.55 * bottom);
    free(pressure);
    scree_world_destroy(world);
  }
}

/* Fine grains take the pressure of those round them; methods without contacts know none. */
static void fine_grains_share_the_pressure(void **state) {
  (void)state;
  Box box;
  box_begin(&box, "pbd");
  box.fine = scree_upsample_default(0.008);
  box.def.upsample = &box.fine;
  ScreeWorld *world = world_of(&box.def, 2);
  run_frames(world, 40);
  ScreeParticles p = scree_world_particles(world), g = scree_world_grains(world);
  float *coarse = calloc((size_t)p.count + 1, sizeof *coarse), *fine = calloc((size_t)g.count + 1, sizeof *fine);
  assert_true(g.count > 4 * p.count);
  assert_true(scree_world_pressure(world, false, coarse) && scree_world_pressure(world, true, fine));
  double most = 0, sum[2] = {0, 0};
  int64_t count[2] = {0, 0};
  for (int64_t i = 0; i < p.count; i++) most = fmax(most, (double)coarse[i]);
  for (int64_t i = 0; i < g.count; i++) {
    assert_true(fine[i] >= 0 && (double)fine[i] <= most);
    int low = (double)g.z[i] < 0.08;
    sum[low] += (double)fine[i], count[low]++;
  }
  assert_true(sum[1] / (double)count[1] > 1.5 * sum[0] / (double)count[0]);
  free(coarse);
  free(fine);
  scree_world_destroy(world);
  box_begin(&box, "none");
  world = world_of(&box.def, 1);
  float nothing[1];
  assert_false(scree_world_pressure(world, false, nothing));
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(added_bodies_fall_into_the_sand),
      cmocka_unit_test(many_solids_change_nothing),
      cmocka_unit_test(pressure_grows_with_depth),
      cmocka_unit_test(fine_grains_share_the_pressure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
