/* Fills of parcels: whole layers in boxes, as much volume as the shape has, the same for any number of threads. */
#include "check.h"

#include "sampling/sampling.h"

static Shape make_shape(Core *core, ScreeShapeDef definition) {
  Shape shape;
  definition.rotation = quat_identity();
  definition.scale = 1;
  assert_ok(core, shape_create(core, &definition, false, NULL, NULL, &shape));
  return shape;
}

static ScreeShapeDef box(Vec3 size) {
  return (ScreeShapeDef){.kind = SCREE_SHAPE_BOX, .box = {.min = {0, 0, 0}, .max = size}};
}

static Samples lattice_of(Core *core, ScreeShapeDef definition, double radius, double jitter) {
  Shape shape = make_shape(core, definition);
  SamplingPlan plan = {.radius = radius, .seed = 3, .rotation = quat_identity()};
  Samples samples;
  assert_ok(core, sample_lattice(core, &shape, &plan, jitter, &samples));
  shape_destroy(core, &shape);
  return samples;
}

static void a_box_of_whole_layers_is_filled_exactly(void **state) {
  (void)state;
  Core core = test_core(2);
  Samples samples = lattice_of(&core, box(vec3(0.4, 0.6, 0.8)), 0.05, 0);
  assert_int_equal(samples.count, 4 * 6 * 8);
  assert_near(samples.fraction, 1, 1e-12);
  for (int64_t k = 0; k < samples.count; k++) {
    double at[3] = {samples.origin.x + (double)samples.x[k], samples.origin.y + (double)samples.y[k],
                    samples.origin.z + (double)samples.z[k]};
    for (int axis = 0; axis < 3; axis++) {
      double layer = (at[axis] - 0.05) / 0.1;
      assert_near(layer, round(layer), 1e-5);
      assert_true(layer > -1e-5);
    }
  }
  samples_destroy(&core, &samples);
  core_destroy(&core);
}

static void odd_sizes_weigh_what_they_should(void **state) {
  (void)state;
  Core core = test_core(2);
  for (double side = 0.8; side < 2.1; side += 0.07) {
    ScreeShapeDef shapes[] = {
        box(vec3(1.03 * side, 0.97 * side, side)),
        box(vec3(2 * side, side, 0.3 * side)),
        {.kind = SCREE_SHAPE_SPHERE, .sphere = {.center = {1, 2, 3}, .radius = side / 2}},
        {.kind = SCREE_SHAPE_CYLINDER, .cylinder = {.radius = side / 2, .height = side}},
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
      Samples samples = lattice_of(&core, shapes[k], 0.05, 0);
      assert_near(samples.fraction, 1, 0.0101);
      samples_destroy(&core, &samples);
    }
  }
  core_destroy(&core);
}

static void jitter_is_bounded_and_repeatable(void **state) {
  (void)state;
  Core one = test_core(1), three = test_core(3);
  Samples even = lattice_of(&one, box(vec3(1, 1, 1)), 0.05, 0), a = lattice_of(&one, box(vec3(1, 1, 1)), 0.05, 0.5),
          b = lattice_of(&three, box(vec3(1, 1, 1)), 0.05, 0.5);
  assert_int_equal(a.count, b.count);
  assert_memory_equal(a.x, b.x, sizeof(float) * (size_t)a.count);
  double most = 0;
  for (int64_t k = 0; k < a.count; k++) most = fmax(most, fabs((double)(a.z[k] - even.z[k])));
  assert_true(most > 0.02 && most <= 0.0250001);
  samples_destroy(&one, &even);
  samples_destroy(&one, &a);
  samples_destroy(&three, &b);
  core_destroy(&one);
  core_destroy(&three);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_of_whole_layers_is_filled_exactly),
      cmocka_unit_test(odd_sizes_weigh_what_they_should),
      cmocka_unit_test(jitter_is_bounded_and_repeatable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
