/* Scenes that are refused: what is said, where it points, and that nothing is lost on the way. */
#include <locale.h>
#include <stdlib.h>

#include "check.h"
#include "core/timer.h"
#include "scree/scree.h"

/* Three good lines; cases start in line 4. */
#define GOOD "scree: 1\nmethod: {name: none}\ngrains: [{fill: {box: {}}}]\n"

static const char *said(const char *text, size_t length, const char *const *sets, int32_t set_count) {
  static char line[2000];
  ScreeScene *scene = (ScreeScene *)line;
  ScreeError error;
  ScreeSceneOptions options = {.sets = sets, .set_count = set_count};
  ScreeStatus status = scree_scene_parse(text, length, "x.yaml", NULL, &options, &scene, &error);
  assert_int_equal(status, error.status);
  if (status == SCREE_OK) {
    assert_non_null(scene);
    scree_scene_free(scene);
    return "ok";
  }
  assert_null(scene);
  assert_int_equal(scree_exit_code(status), 2);
  scree_error_line(&error, line, sizeof line);
  assert_null(strchr(line, '\n'));
  return line;
}

typedef struct Case {
  const char *text; /* behind the good lines, or `!` and a whole scene */
  const char *said; /* behind `x.yaml:`; `ok` when it is fine */
} Case;

static void check_cases(const Case *cases, size_t count) {
  for (size_t k = 0; k < count; k++) {
    char text[4000], expected[2000];
    bool whole = cases[k].text[0] == '!';
    snprintf(text, sizeof text, "%s%s", whole ? "" : GOOD, cases[k].text + whole);
    if (strcmp(cases[k].said, "ok") == 0) snprintf(expected, sizeof expected, "ok");
    else snprintf(expected, sizeof expected, "x.yaml:%s", cases[k].said);
    const char *got = said(text, strlen(text), NULL, 0);
    if (strcmp(got, expected) != 0) print_error("for: %s\n", text);
    assert_string_equal(got, expected);
  }
}
#define CHECK(cases) check_cases(cases, sizeof cases / sizeof *cases)

static void keys(void **state) {
  (void)state;
  static const Case cases[] = {
      {"", "ok"},
      {"fricton: 1", "4:1: error: unknown key 'fricton' in the scene"},
      {"gravitty: [0,0,0]", "4:1: error: unknown key 'gravitty' (did you mean 'gravity'?)"},
      {"materials: {sand: {fricton: 0.3}}", "4:20: error: unknown key 'fricton' (did you mean 'friction_static'?)"},
      {"materials:\n  sand:\n    density: 1600\n    fricton: 0.3\n",
       "7:5: error: unknown key 'fricton' (did you mean 'friction_static'?)"},
      {"boundaries:\n  - {plan: {}}", "5:6: error: unknown key 'plan' (did you mean 'plane'?)"},
      {"bodies: [{sphere: {radios: 1}}]", "4:20: error: unknown key 'radios' (did you mean 'radius'?)"},
      {"<<: 1", "4:1: error: unknown key '<<' in the scene"},
      {"title: a\ntitle: b", "5:1: error: key 'title' is given twice (first at line 4)"},
      {"materials: {a: {density: 1600, density: 1600}}", "4:32: error: key 'density' is given twice (first at line 4)"},
      {"[a, b]: 1", "4:1: error: a key must be plain text"},
      {"!scree: 1\n---\nscree: 1\n", "2:1: error: a second document starts here: a scene is one document"},
      {"title: !!str a", "4:8: error: tags such as 'tag:yaml.org,2002:str' are not used in scenes"},
      {"title: *a", "4:8: error: there is no anchor &a before this"},
      {"title: &a [*a]", "4:12: error: the anchor &a contains itself"},
      {"bodies:\n  - &b {sphere: {radius: 0.1}}\n  - *b\nsinks:\n", "ok"},
  };
  CHECK(cases);
}

static void types_and_ranges(void **state) {
  (void)state;
  static const Case cases[] = {
      {"duration: 16oo", "4:11: error: 'duration': expected a number, found '16oo'"},
      {"duration: 0x10", "4:11: error: 'duration': expected a number, found '0x10'"},
      {"duration: 1_000", "4:11: error: 'duration': expected a number, found '1_000'"},
      {"duration: 1.2.3", "4:11: error: 'duration': expected a number, found '1.2.3'"},
      {"duration: 1e", "4:11: error: 'duration': expected a number, found '1e'"},
      {"duration: .nan", "4:11: error: 'duration' must be a finite number, found '.nan'"},
      {"duration: nan", "4:11: error: 'duration' must be a finite number, found 'nan'"},
      {"duration: -.inf", "4:11: error: 'duration' must be a finite number, found '-.inf'"},
      {"duration: 1e400", "4:11: error: 'duration' must be a finite number, found '1e400'"},
      {"duration: \"6\"", "4:11: error: 'duration': expected a number, found the text \"6\""},
      {"duration: [6]", "4:11: error: 'duration': expected a number, found a list of 1"},
      {"duration: {a: 6}", "4:11: error: 'duration': expected a number, found a mapping"},
      {"duration:", "4:10: error: 'duration': expected a number, found nothing"},
      {"duration: auto", "4:11: error: 'duration': expected a number, found 'auto'"},
      {"duration: -1", "4:11: error: 'duration' must be between 0 and 1e6 s, found '-1'"},
      {"seed: 1.5", "4:7: error: 'seed': expected a whole number, found '1.5'"},
      {"seed: 99999999999999999999",
       "4:7: error: 'seed' must be between 0 and 9007199254740992, found '99999999999999999999'"},
      {"gravity: -9.81", "4:10: error: 'gravity': expected a list of 3 numbers, found '-9.81'"},
      {"gravity: [0, -9.81]", "4:10: error: 'gravity': expected a list of 3 numbers, found a list of 2"},
      {"gravity: [0, 0, down]", "4:17: error: 'gravity': expected a number, found 'down'"},
      {"gravity: [0, 0, -1e9]", "4:17: error: 'gravity' must be between -1e4 and 1e4 m/s^2, found '-1e9'"},
      {"title: [a]", "4:8: error: 'title': expected text, found a list of 1"},
      {"title: \"a\\0b\"", "4:8: error: text must not hold a NUL character"},
      {"boundaries: [{plane: {}, inside: yes}]", "4:34: error: 'inside': expected true or false, found 'yes'"},
      {"bodies: [{sphere: {}, motion: fre}]",
       "4:31: error: 'motion': expected one of free, keyframes, fixed, found 'fre' (did you mean 'free'?)"},
      {"bodies: [{sphere: {radius: -1}}]", "4:28: error: 'radius' must be between 1e-6 and 1e6 m, found '-1'"},
      {"bodies: [{sphere: {}, rotation: [0,0,0,0]}]", "4:33: error: 'rotation' must not be the zero quaternion"},
      {"bodies: [{sphere: {}, rotation: [0,0,90]}]",
       "4:33: error: 'rotation': expected a list of 4 numbers, found a list of 3"},
      {"materials: {sand: {young: soft}}", "4:27: error: 'young': expected a number or auto, found 'soft'"},
      {"materials: {sand: {young: auto}}", "ok"},
      {"materials: [sand]", "4:12: error: 'materials': expected a mapping from names to materials, found a list of 1"},
      {"bodies: {sphere: {}}", "4:9: error: 'bodies': expected a list of mappings, found a mapping"},
      {"bodies: [ball]", "4:10: error: expected a mapping {key: value, ...}, found 'ball'"},
      {"camera: 5", "4:9: error: 'camera': expected a mapping {key: value, ...}, found '5'"},
      {"camera: {eye: [1,1,1], target: [1,1,1]}", "4:1: error: the camera's eye and target are the same point"},
      {"bodies:\nsinks: ~\nupsample: null\nmaterials: {}\n", "ok"},
  };
  CHECK(cases);
}

static void what_must_be_there(void **state) {
  (void)state;
  static const Case cases[] = {
      {"!", "1:1: error: the scene is empty"},
      {"!# nothing\n\n", "1:1: error: the scene is empty"},
      {"!~", "1:1: error: the scene is empty"},
      {"!hello", "1:1: error: expected a scene: a mapping that starts with 'scree: 1', found 'hello'"},
      {"!method: {name: none}\n",
       "1:1: error: the scene needs the key 'scree': the version of the format, written 'scree: 1'"},
      {"!scree: 2\n", "1:8: error: version 2 of the format is not known: this program reads version 1"},
      {"!scree: one\n", "1:8: error: 'scree': expected the version 1, found 'one'"},
      {"!scree: 1\n", "1:1: error: the scene needs the key 'method', such as 'method: {name: pbd}'"},
      {"!scree: 1\nmethod: {radius: 1}\n",
       "2:1: error: 'method' needs the key 'name': which method simulates: see `scree list methods`"},
      {"!scree: 1\nmethod: none\n", "2:9: error: 'method': expected a mapping {key: value, ...}, found 'none'"},
      {"!scree: 1\nmethod: {name: none}\n",
       "1:1: error: the scene has no source of grains: it needs 'grains', 'emitters' or 'terrain'"},
      {"!scree: 1\nmethod: {name: none}\ngrains: []\n",
       "1:1: error: the scene has no source of grains: it needs 'grains', 'emitters' or 'terrain'"},
      {"!scree: 1\nmethod: {name: none}\nemitters: [{}]\n", "ok"},
      {"!scree: 1\nmethod: {name: none}\nterrain: {}\n", "ok"},
      {"!scree: 1\nmethod: {name: none}\ngrains:\n  - {velocity: [0,0,1]}\n",
       "4:5: error: an entry of 'grains' needs the key 'fill': the shape that is filled"},
      {"boundaries: [{name: a}]",
       "4:14: error: a boundary needs a shape: one of box, sphere, cylinder, capsule, plane, mesh"},
      {"sinks: [{}]", "4:9: error: a sink needs a shape: one of box, sphere, cylinder, capsule, plane, mesh"},
      {"probes: [{name: a}]", "4:10: error: a probe needs the key 'kind': what is measured"},
      {"probes: [{kind: force_on}]",
       "4:10: error: a probe of kind 'force_on' needs the key 'target': name of a boundary or body"},
      {"mechanism: {}", "4:1: error: 'mechanism' needs the key 'mjcf': MuJoCo model: bodies, joints, motors"},
      {"events: [{t: 1}]", "4:10: error: an event needs the key 'impulse': what happens"},
  };
  CHECK(cases);
}

static void shapes_and_motion(void **state) {
  (void)state;
  static const Case cases[] = {
      {"sinks: [{box: {min: [0,0,0], max: [1,0,1]}}]",
       "4:35: error: the box is empty: min [0, 0, 0] must be below max [1, 0, 1]"},
      {"sinks: [{box: {min: [2,0,0]}}]",
       "4:15: error: the box is empty: min [2, 0, 0] must be below max [0.5, 0.5, 0.5]"},
      {"boundaries: [{plane: {normal: [0,0,0]}}]", "4:31: error: 'normal' must not be zero"},
      {"emitters: [{disc: {direction: [0,0,0]}}]", "4:31: error: 'direction' must not be zero"},
      {"emitters: [{box: {}}]", "4:13: error: unknown key 'box' in an emitter"},
      {"emitters: [{from: 3, until: 2}]", "4:29: error: 'until' 2 s is before 'from' 3 s"},
      {"bodies: [{plane: {}}]", "4:11: error: unknown key 'plane' in a body"},
      {"bodies: [{box: {size: [1,1,1], min: [0,0,0]}}]", "4:17: error: unknown key 'size' in a box with corners"},
      {"sinks: [{box: {}, sphere: {}}]", "4:19: error: a sink has one shape, and 'box' was given already"},
      {"sinks: [{box: {}, position: [0,0,1]}]", "4:19: error: 'position' goes with a mesh only"},
      {"boundaries: [{box: {}, scale: 2}]", "4:24: error: 'scale' goes with a mesh only"},
      {"boundaries: [{box: {}, position: [0,0,1]}]", "ok"},
      {"bodies: [{box: {}, motion: keyframes}]",
       "4:28: error: 'motion: keyframes' needs 'keys' with at least one entry"},
      {"bodies: [{box: {}, motion: keyframes, keys: [{t: 1}, {t: 1}]}]",
       "4:58: error: keys must ascend in time: t = 1 comes after t = 1"},
      {"bodies: [{box: {}, motion: keyframes, keys: [{t: 1}, {}]}]",
       "4:54: error: keys must ascend in time: t = 0 comes after t = 1"},
      {"bodies: [{box: {}, motion: keyframes, keys: [{t: 1, positon: [0,0,0]}]}]",
       "4:53: error: unknown key 'positon' (did you mean 'position'?)"},
  };
  CHECK(cases);
}

static void names_and_references(void **state) {
  (void)state;
  static const Case cases[] = {
      {"materials: {sand: {}, loam: {}}\nemitters: [{material: snd}]",
       "5:23: error: there is no material 'snd' (did you mean 'sand'?)"},
      {"emitters: [{material: sand}]", "ok"},
      {"emitters: [{material: gravel}]", "4:23: error: there is no material 'gravel'"},
      {"materials: {'a,b': {}}", "4:13: error: 'a,b' is no name: 1 to 63 letters a-z, digits, _ or -"},
      {"materials: {'': {}}", "4:13: error: '' is no name: 1 to 63 letters a-z, digits, _ or -"},
      {"probes: [{kind: energy, name: \"a\\nb\"}]",
       "4:31: error: 'a b' is no name: 1 to 63 letters a-z, digits, _ or -"},
      {"boundaries: [{plane: {}, name: a}]\nbodies: [{box: {}, name: a}]",
       "5:26: error: another boundary or body is named 'a'"},
      {"probes: [{kind: flow, name: a}, {kind: creep, name: a}]",
       "4:53: error: probe 'a' would make a second column 'a' in probes.csv"},
      {"probes: [{kind: energy, name: a}, {kind: flow, name: a}]",
       "4:54: error: another probe is named 'a': its name is a key of report.json"},
      {"probes: [{kind: flow, name: time}]",
       "4:29: error: probe 'time' would make a second column 'time' in probes.csv"},
      {"bodies: [{box: {}, name: b}]\nprobes: [{kind: pose_of, name: p, target: b}, {kind: flow, name: p_qw}]",
       "5:66: error: probe 'p_qw' would make a second column 'p_qw' in probes.csv"},
      {"boundaries: [{plane: {}, name: floor}]\nprobes: [{kind: force_on, target: flor}]",
       "5:35: error: there is no boundary or body 'flor' (did you mean 'floor'?)"},
      {"probes: [{kind: flo}]",
       "4:17: error: 'kind': expected one of flow, repose_angle, runout, force_on, packing, mass_in, pose_of, creep, "
       "energy, pressure_at, found 'flo' (did you mean 'flow'?)"},
      {"boundaries: [{mesh: a.obj}]", "4:21: error: 'mesh': a scene that is not a file cannot name files"},
  };
  CHECK(cases);
  char line[600];
  snprintf(line, sizeof line, "%s", said("scree: 1\nmethod: {name: nune}\n", 30, NULL, 0));
  assert_non_null(strstr(line, "x.yaml:2:16: error: unknown method 'nune' (did you mean 'none'?); this program has"));
}

static void not_yaml(void **state) {
  (void)state;
  static const Case cases[] = {
      {"a: b: c", "4:5: error: not valid YAML: mapping values are not allowed in this context"},
      {"gravity: [0, 0", "5:1: error: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence "
                         "(line 4)"},
      {"title: \x01", "4:8: error: not a text file: control characters are not allowed"},
      {"title: \xff", "4:8: error: not a text file: invalid leading UTF-8 octet"},
      {"title: \"\xc3\xa4\xff\"", "4:10: error: not a text file: invalid leading UTF-8 octet"},
      {"title: '\xc3\xa4' # tab\t\r\nduration:\t2\r\n", "ok"},
      {"!\xef\xbb\xbfscree: 1\r\nmethod: {name: none}\r\nterrain:\r\n  cell: 0.1\r\n", "ok"},
      {"!\xef\xbb\xbfscree: 2\r\n", "1:8: error: version 2 of the format is not known: this program reads version 1"},
  };
  CHECK(cases);
  unsigned seed = 12345;
  for (int round = 0; round < 300; round++) {
    char rubbish[400];
    for (size_t k = 0; k < sizeof rubbish; k++) rubbish[k] = (char)((seed = seed * 1664525u + 1013904223u) >> 24);
    assert_true(strncmp(said(rubbish, sizeof rubbish, NULL, 0), "x.yaml:", 7) == 0);
  }
}

static void bombs(void **state) {
  (void)state;
  char text[4000] = GOOD "title: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'm'; c++) {
    size_t used = strlen(text);
    char p = (char)(c - 1);
    snprintf(text + used, sizeof text - used, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, p, p, p, p, p, p,
             p, p, p);
  }
  double start = timer_processor();
  assert_string_equal(said(text, strlen(text), NULL, 0),
                      "x.yaml:10:8: error: too much in one scene: more than 1048576 values, aliases expanded");
  char deep[200] = "scree: ";
  memset(deep + 7, '[', 100);
  assert_string_equal(said(deep, 107, NULL, 0), "x.yaml:1:39: error: nested deeper than 32 levels");
  size_t size = 100 << 20;
  char *brackets = malloc(size);
  memset(brackets, '[', size);
  assert_string_equal(said(brackets, size, NULL, 0), "x.yaml: error: has 104857600 bytes, at most 67108864 are read");
  assert_string_equal(said(brackets, 60 << 20, NULL, 0), "x.yaml:1:33: error: nested deeper than 32 levels");
  memset(brackets, '-', size);
  assert_true(strncmp(said(brackets, 60 << 20, NULL, 0), "x.yaml", 6) == 0);
  free(brackets);
  assert_true(timer_processor() - start < 20);
  /* An alias cannot dig deeper than the text itself may. */
  char ladder[4000] = GOOD "a0: &a0 [x]\n";
  for (int k = 1; k < 40; k++) {
    size_t used = strlen(ladder);
    snprintf(ladder + used, sizeof ladder - used, "a%d: &a%d [*a%d]\n", k, k, k - 1);
  }
  assert_non_null(strstr(said(ladder, strlen(ladder), NULL, 0), "error: nested deeper than 32 levels"));
}

static void set_paths(void **state) {
  (void)state;
  static const char text[] =
      GOOD "gravity: [0, 0, -9.81]\nmaterials: {sand: {}}\nbodies:\n  - {name: ball, sphere: {}}\n"
           "boundaries: [{name: floor, plane: {}}]\n";
  static const struct {
    const char *set, *said;
  } cases[] = {
      {"method.radius=0.01", "ok"},
      {"gravity=[0, 0, -1]", "ok"},
      {"gravity[2]=-1", "ok"},
      {"bodies[0].density=900", "ok"},
      {"bodies.0.density=900", "ok"},
      {"bodies.ball.density=900", "ok"},
      {"bodies.ball={sphere: {radius: 1}}", "ok"},
      {"boundaries.floor.friction_static=0.2", "ok"},
      {"upsample.radius=0.004", "ok"},
      {"upsample=null", "ok"},
      {"materials.loam={density: 1500}", "ok"},
      {"title=a=b", "ok"},
      {"method.radius=16oo", "--set method.radius: error: 'radius': expected a number, found '16oo'"},
      {"method.radious=1", "--set method.radious: error: unknown key 'radious' (did you mean 'radius'?)"},
      {"method.name=nun", "--set method.name: error: unknown method 'nun'"},
      {"metod.radius=1", "--set metod.radius: error: unknown key 'metod' (did you mean 'method'?)"},
      {"bodies.bal.density=1",
       "--set bodies.bal.density: error: no entry of 'bodies' is named 'bal' (did you mean 'ball'?)"},
      {"bodies[1].density=1", "--set bodies[1].density: error: 'bodies' has 1 entries, counted from 0: there is no 1"},
      {"bodies[x].density=1", "--set bodies[x].density: error: '[x]' is not an index: entries count from 0"},
      {"sinks[0].box=1", "--set sinks[0].box: error: the scene has no 'sinks': set it as a whole"},
      {"materials.snad.density=1",
       "--set materials.snad.density: error: there is no material 'snad' (did you mean 'sand'?)"},
      {"bodies.ball.density.x=1", "--set bodies.ball.density.x: error: unknown"},
      {"gravity=[0,", "--set gravity: error: not valid YAML"},
      {"gravity=[0, 0]", "--set gravity: error: 'gravity': expected a list of 3 numbers, found a list of 2"},
      {"scree.x=1", "--set scree.x: error: 'scree' is '1' and has no part 'x'"},
      {"title=", "--set title: error: 'title': expected text, found nothing"},
      {"=5", "error: --set =5: write it as path=value"},
      {"gravity", "error: --set gravity: write it as path=value"},
      {"a..b=1", "--set a..b: error: not a path"},
      {"a.=1", "--set a.: error: the path ends in a point"},
      {"gravity[0=1", "--set gravity[0: error: not a path"},
      {"gravity[0]b=1", "--set gravity[0]b: error: not a path"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *got = said(text, strlen(text), &cases[k].set, 1);
    bool begins = strncmp(got, cases[k].said, strlen(cases[k].said)) == 0;
    if (strcmp(cases[k].set, "bodies.ball.density.x=1") == 0) {
      assert_string_equal(got, "--set bodies.ball.density.x: error: 'density': expected a number, found a mapping");
      continue;
    }
    if (!begins) print_error("--set %s: %s\n", cases[k].set, got);
    assert_true(begins);
  }
}

static void locales_do_not_matter(void **state) {
  (void)state;
  const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"};
  for (size_t k = 0; k < 4; k++)
    if (setlocale(LC_NUMERIC, names[k])) break;
  ScreeScene *scene;
  ScreeError error;
  static const char text[] = GOOD "duration: 2.25\n";
  assert_int_equal(scree_scene_parse(text, strlen(text), "x", NULL, NULL, &scene, &error), SCREE_OK);
  assert_true(scree_scene_definition(scene)->duration == 2.25);
  char *written;
  assert_int_equal(scree_scene_write(scree_scene_definition(scene), &written, &error), SCREE_OK);
  assert_non_null(strstr(written, "\nduration: 2.25\n"));
  scree_text_free(written);
  scree_scene_free(scene);
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys),
      cmocka_unit_test(types_and_ranges),
      cmocka_unit_test(what_must_be_there),
      cmocka_unit_test(shapes_and_motion),
      cmocka_unit_test(names_and_references),
      cmocka_unit_test(not_yaml),
      cmocka_unit_test(bombs),
      cmocka_unit_test(set_paths),
      cmocka_unit_test(locales_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
