/* Scenes as files: what may be read, which files they may name, how shipped ones are found. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "core/paths.h"
#include "scree/scree.h"

#define GOOD "scree: 1\ntitle: one\nmethod: {name: none}\n"

static char root[200];

static char *in_root(const char *name) {
  static char path[4][400];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", root, name);
  return path[next];
}

static void make(const char *name, const char *text) {
  FILE *file = fopen(in_root(name), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int set_up(void **state) {
  (void)state;
  const char *temporary = getenv("TMPDIR");
  snprintf(root, sizeof root, "%s/scree_scene_XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(root)) return -1;
  static const char *const folders[] = {"a",
                                        "a/inner",
                                        "outside",
                                        "data",
                                        "data/scenes",
                                        "data/assets",
                                        "data/scenes/sommer2022",
                                        "data/scenes/narain2010",
                                        "data/scenes/basics"};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) mkdir(in_root(folders[k]), 0777);
  make("a/here.obj", "v 0 0 0\n");
  make("a/inner/deep.obj", "v 0 0 0\n");
  make("outside/secret.obj", "v 0 0 0\n");
  make("data/assets/shipped.obj", "v 0 0 0\n");
  make("data/scenes/narain2010/hourglass.yaml", GOOD "terrain: {}\n");
  make("data/scenes/sommer2022/hourglass.yaml", GOOD "terrain: {}\n");
  make("data/scenes/narain2010/splash.yaml", "broken: [");
  make("data/scenes/basics/pile.yaml", GOOD "terrain: {}\n");
  make("data/scenes/basics/notes.txt", "no scene");
  if (symlink("../outside/secret.obj", in_root("a/link.obj")) != 0) return -1;
  if (symlink("inner/deep.obj", in_root("a/fine.obj")) != 0) return -1;
  if (symlink("../outside", in_root("a/door")) != 0) return -1;
  if (mkfifo(in_root("a/pipe"), 0666) != 0) return -1;
  return setenv("SCREE_DATA", in_root("data"), 1);
}

static int tear_down(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -r '%s'", root);
  return system(command);
}

static const char *load_said(const char *name) {
  static char line[1200];
  ScreeScene *scene;
  ScreeError error;
  ScreeStatus status = scree_scene_load(in_root(name), NULL, &scene, &error);
  if (status == SCREE_OK) {
    scree_scene_free(scene);
    return "ok";
  }
  assert_int_equal(scree_exit_code(status), 2);
  scree_error_line(&error, line, sizeof line);
  assert_true(strncmp(line, root, strlen(root)) == 0);
  return line + strlen(root) + 1;
}

static void files_that_are_no_scenes(void **state) {
  (void)state;
  assert_string_equal(load_said("a"), "a: error: cannot be read: not a regular file");
  assert_string_equal(load_said("a/pipe"), "a/pipe: error: cannot be read: not a regular file");
  assert_string_equal(load_said("a/none.yaml"), "a/none.yaml: error: cannot be read: No such file or directory");
  make("a/empty.yaml", "");
  assert_string_equal(load_said("a/empty.yaml"), "a/empty.yaml:1:1: error: the scene is empty");
  FILE *file = fopen(in_root("a/large.yaml"), "w");
  assert_int_equal(ftruncate(fileno(file), 100 << 20), 0);
  fclose(file);
  assert_string_equal(load_said("a/large.yaml"), "a/large.yaml: error: has 104857600 bytes, at most 67108864 are read");
  ScreeError error;
  ScreeScene *scene;
  assert_int_equal(scree_scene_load(NULL, NULL, &scene, &error), SCREE_BAD_ARGUMENT);
  scree_scene_free(NULL);
}

static void files_that_scenes_name(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *said;
  } cases[] = {
      {"here.obj", "ok"},
      {"./here.obj", "ok"},
      {"inner/deep.obj", "ok"},
      {"fine.obj", "ok"},
      {"shipped.obj", "ok"},
      {"none.obj", "a/s.yaml:4:16: error: there is no file 'none.obj' beside the scene or in the shipped assets"},
      {"../a/here.obj", "a/s.yaml:4:16: error: '../a/here.obj' leaves the folder of the scene: name a file beside the "
                        "scene or in the shipped assets"},
      {"inner/../../outside/secret.obj", "a/s.yaml:4:16: error: 'inner/../../outside/secret.obj' leaves the folder of "
                                         "the scene: name a file beside the scene or in the shipped assets"},
      {"/etc/passwd",
       "a/s.yaml:4:16: error: '/etc/passwd' leaves the folder of the scene: name a file beside the scene "
       "or in the shipped assets"},
      {"link.obj", "a/s.yaml:4:16: error: 'link.obj' is a link that leaves the folder of the scene"},
      {"door/secret.obj", "a/s.yaml:4:16: error: 'door/secret.obj' is a link that leaves the folder of the scene"},
      {"inner", "a/s.yaml:4:16: error: 'inner' is not a regular file"},
      {"pipe", "a/s.yaml:4:16: error: 'pipe' is not a regular file"},
      {"''", "a/s.yaml:4:16: error: 'mesh': the name of a file is empty"},
      {"[1]", "a/s.yaml:4:16: error: 'mesh': expected the name of a file, found a list of 1"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[400];
    snprintf(text, sizeof text, GOOD "sinks: [{mesh: %s}]\nterrain: {}\n", cases[k].mesh);
    make("a/s.yaml", text);
    assert_string_equal(load_said("a/s.yaml"), cases[k].said);
  }
}

static void shipped_scenes_are_found(void **state) {
  (void)state;
  char path[600];
  ScreeError error;
  assert_int_equal(scree_scene_find("hourglass", path, sizeof path, &error), SCREE_OK);
  assert_string_equal(path, in_root("data/scenes/sommer2022/hourglass.yaml"));
  assert_int_equal(scree_scene_find("narain2010/hourglass", path, sizeof path, &error), SCREE_OK);
  assert_string_equal(path, in_root("data/scenes/narain2010/hourglass.yaml"));
  assert_int_equal(scree_scene_find("pile", path, sizeof path, &error), SCREE_OK);
  assert_string_equal(path, in_root("data/scenes/basics/pile.yaml"));
  make("mine.yaml", GOOD);
  assert_int_equal(scree_scene_find(in_root("mine.yaml"), path, sizeof path, &error), SCREE_OK);
  assert_string_equal(path, in_root("mine.yaml"));
  assert_int_equal(scree_scene_find("hourglas", path, sizeof path, &error), SCREE_BAD_INPUT);
  assert_string_equal(error.message, "there is no scene 'hourglas': neither a file nor a shipped one (did you mean "
                                     "'hourglass'?)");
  make("data/outside.yaml", GOOD);
  assert_int_equal(scree_scene_find("../outside", path, sizeof path, &error), SCREE_BAD_INPUT);
  assert_int_equal(scree_scene_find("notes", path, sizeof path, &error), SCREE_BAD_INPUT);
  assert_int_equal(scree_scene_find(root, path, sizeof path, &error), SCREE_BAD_INPUT);
  assert_int_equal(scree_scene_find("hourglass", path, 10, &error), SCREE_BAD_INPUT);
  assert_int_equal(scree_scene_find("", path, sizeof path, &error), SCREE_BAD_INPUT);
}

static int gather(void *context, const char *name, const char *path, const char *title) {
  char *text = context;
  size_t used = strlen(text);
  assert_true(strncmp(path, root, strlen(root)) == 0);
  snprintf(text + used, 1000 - used, "%s=%s ", name, title);
  return strcmp(name, "narain2010/splash") == 0;
}

static void shipped_scenes_are_listed(void **state) {
  (void)state;
  char text[1000] = "";
  ScreeError error;
  assert_int_equal(scree_scene_list(gather, text, &error), SCREE_OK);
  assert_string_equal(text, "sommer2022/hourglass=one narain2010/hourglass=one narain2010/splash= ");
}

static void scenes_as_json(void **state) {
  (void)state;
  static const char text[] = "scree: 1\nmethod: {name: pbd, radius: 0.02, rotation: true}\n"
                             "title: \"a \\\"b\\\" \\\\ \\t 5\"\nlist: [1, -2.5e-7, '3', auto]\nnothing:\n";
  char *json = NULL;
  ScreeError error;
  assert_int_equal(scree_scene_json(text, strlen(text), "test", &json, &error), SCREE_OK);
  assert_string_equal(json, "{\"scree\": 1, \"method\": {\"name\": \"pbd\", \"radius\": 0.02, \"rotation\": true}, "
                            "\"title\": \"a \\\"b\\\" \\\\ \\u0009 5\", "
                            "\"list\": [1, -2.5e-07, \"3\", \"auto\"], \"nothing\": null}");
  scree_text_free(json);
  assert_int_equal(scree_scene_json("a: [1\n", 6, "bad.yaml", &json, &error), SCREE_BAD_INPUT);
  assert_null(json);
  assert_string_equal(error.file, "bad.yaml");
  assert_int_equal(error.line, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_that_are_no_scenes), cmocka_unit_test(files_that_scenes_name),
      cmocka_unit_test(shipped_scenes_are_found), cmocka_unit_test(shipped_scenes_are_listed),
      cmocka_unit_test(scenes_as_json),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
