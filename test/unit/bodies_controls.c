/* Control files. */
#include "check.h"

#include "bodies/controls.h"

static int32_t lookup(void *context, const char *name) {
  (void)context;
  static const char *names[] = {"swing", "boom", "stick"};
  for (int32_t k = 0; k < 3; k++)
    if (strcmp(names[k], name) == 0) return k;
  return -1;
}

static Status parse(Core *core, const char *text, Controls *controls) {
  return controls_parse(core, "dig.csv", text, (int64_t)strlen(text), lookup, NULL, controls);
}

static void values_are_interpolated_and_held(void **unused) {
  (void)unused;
  Core core = test_core(1);
  Controls controls;
  assert_ok(&core,
            parse(&core, "\xEF\xBB\xBFtime, stick ,swing\r\n# comment\n\n0.5,1,-2\r\n1.5,3,-4e0\n2,3,.5", &controls));
  assert_int_equal(controls.row_count, 3);
  assert_int_equal(controls.column_count, 2);
  assert_int_equal(controls.actuators[0], 2);
  assert_int_equal(controls.actuators[1], 0);
  assert_near(controls_value(&controls, 0, 0), 1, 0);
  assert_near(controls_value(&controls, 0, 1), 2, 1e-15);
  assert_near(controls_value(&controls, 1, 1), -3, 1e-15);
  assert_near(controls_value(&controls, 1, 1.75), -1.75, 1e-15);
  assert_near(controls_value(&controls, 1, 99), 0.5, 0);
  controls_destroy(&core, &controls);
  core_destroy(&core);
}

static void bad_files_name_the_place(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *said;
    int line, column;
  } cases[] = {
      {"", "empty", 1, 1},
      {"t,swing\n0,1\n", "'time'", 1, 1},
      {"time,swing,bucket\n0,1,2\n", "bucket", 1, 12},
      {"time,swing,swing\n0,1,2\n", "twice", 1, 12},
      {"time\n0\n", "no actuator", 1, 1},
      {"time,swing\n", "no rows", 2, 1},
      {"time,swing\n0,nan\n", "not a number", 2, 3},
      {"time,swing\n0,1\n1,inf\n", "not a number", 3, 3},
      {"time,swing\n0,0x10\n", "not a number", 2, 3},
      {"time,swing\n0,1e999\n", "too large", 2, 3},
      {"time,swing\n0,1.5m\n", "not a number", 2, 3},
      {"time,swing\n0,\n", "not a number", 2, 3},
      {"time,swing\n0,1\n0,2\n", "ascend", 3, 1},
      {"time,swing\n1\n", "fewer", 2, 2},
      {"time,swing\n0,1,2\n", "more", 2, 5},
  };
  Core core = test_core(1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Controls controls;
    assert_int_equal(parse(&core, cases[k].text, &controls), SCREE_BAD_INPUT);
    assert_string_equal(core.error.file, "dig.csv");
    if (!strstr(core.error.message, cases[k].said)) print_error("case %d: %s\n", (int)k, core.error.message);
    assert_non_null(strstr(core.error.message, cases[k].said));
    assert_int_equal(core.error.line, cases[k].line);
    assert_int_equal(core.error.column, cases[k].column);
    core_report(&core, SCREE_OK, NULL);
  }
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_interpolated_and_held),
      cmocka_unit_test(bad_files_name_the_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
