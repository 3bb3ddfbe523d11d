/* docs/scene.md is what the parameter table says. To write it anew:
 *   SCREE_UPDATE_DOCS=1 build/test_unit_scene_reference */
#include <stdlib.h>

#include "check.h"
#include "core/files.h"
#include "scene/reference.h"

static void the_page_is_fresh(void **state) {
  (void)state;
  Core core = test_core(1);
  char *made, *kept;
  int64_t size;
  assert_int_equal(scene_reference(true, &made, NULL), SCREE_OK);
  if (getenv("SCREE_UPDATE_DOCS")) assert_ok(&core, files_write(&core, "docs/scene.md", made, (int64_t)strlen(made)));
  assert_ok(&core, files_read(&core, "docs/scene.md", 1 << 20, &kept, &size));
  if (strcmp(kept, made) != 0)
    print_error("docs/scene.md is stale: SCREE_UPDATE_DOCS=1 build/test_unit_scene_reference writes it anew\n");
  assert_string_equal(kept, made);
  memory_drop(&core, &kept);
  scree_text_free(made);
  core_destroy(&core);
}

static void every_row_is_listed(void **state) {
  (void)state;
  char *plain;
  int32_t count = scree_parameter_count();
  assert_int_equal(scene_reference(false, &plain, NULL), SCREE_OK);
  for (int32_t k = 0; k < count; k++) assert_non_null(strstr(plain, scree_parameter(k)->help));
  scree_text_free(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_page_is_fresh),
      cmocka_unit_test(every_row_is_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
