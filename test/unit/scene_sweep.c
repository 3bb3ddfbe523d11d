/* Every numeric key of a scene with values that nobody means: each is refused at its line and column, or it is legal,
 * and then the scene runs and every particle stays somewhere. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "parameters/table.h"
#include "scree/scree.h"

/* The scene, line by line, and of which section a line is. Lines with a group are there when a section of the group is
 * tried, or when only its reader reads the key. */
typedef struct Line {
  const char *text, *section, *group;
} Line;

static const Line lines[] = {
    {"scree: 1", "scene", NULL},
    {"frame_rate: 200", "scene", NULL},
    {"method:", NULL, NULL},
    {"  name: METHOD", "method", NULL},
    {"  radius: 0.02", "method", NULL},
    {"materials:", NULL, NULL},
    {"  sand:", NULL, NULL},
    {"    density: 1600", "material", NULL},
    {"grains:", NULL, NULL},
    {"  - material: sand", NULL, NULL},
    {"    start: random", "grains", NULL},
    {"    fill:", NULL, NULL},
    {"      box:", NULL, NULL},
    {"        min: [-0.08, -0.08, 0.02]", "box", NULL},
    {"        max: [0.15, 0.15, 0.15]", "box", NULL},
    {"emitters:", NULL, NULL},
    {"  - material: sand", NULL, NULL},
    {"    rate: 5", "emitter", NULL},
    {"    disc:", NULL, NULL},
    {"      center: [0, 0, 0.4]", "disc", NULL},
    {"      radius: 0.05", "disc", NULL},
    {"      direction: [0, 0, -1]", "disc", NULL},
    {"boundaries:", NULL, NULL},
    {"  - name: tank", NULL, NULL},
    {"    inside: true", "boundary", NULL},
    {"    box:", NULL, NULL},
    {"      min: [-0.2, -0.2, 0]", NULL, NULL},
    {"      max: [0.2, 0.2, 1]", NULL, NULL},
    {"  - name: ground", NULL, NULL},
    {"    plane:", NULL, NULL},
    {"      point: [0, 0, -0.01]", "plane", NULL},
    {"      normal: [0, 0, 1]", "plane", NULL},
    {"bodies:", NULL, NULL},
    {"  - name: ball", NULL, NULL},
    {"    density: 900", "body", NULL},
    {"    position: [0, 0, 0.3]", "placement", NULL},
    {"    sphere:", NULL, NULL},
    {"      center: [0, 0, 0]", "sphere", NULL},
    {"      radius: 0.05", "sphere", NULL},
    {"  - name: block", NULL, NULL},
    {"    position: [0.12, 0, 0.3]", NULL, NULL},
    {"    box:", NULL, NULL},
    {"      size: [0.04, 0.04, 0.04]", "sized_box", NULL},
    {"  - name: log", NULL, NULL},
    {"    position: [-0.12, 0, 0.3]", NULL, NULL},
    {"    cylinder:", NULL, NULL},
    {"      base: [0, 0, 0]", "cylinder", NULL},
    {"      radius: 0.03", "cylinder", NULL},
    {"      height: 0.06", "cylinder", NULL},
    {"  - name: pill", NULL, NULL},
    {"    position: [0, 0.12, 0.3]", NULL, NULL},
    {"    capsule:", NULL, NULL},
    {"      base: [0, 0, 0]", "capsule", NULL},
    {"      radius: 0.03", "capsule", NULL},
    {"      height: 0.06", "capsule", NULL},
    {"  - name: paddle", NULL, NULL},
    {"    motion: keyframes", NULL, NULL},
    {"    sphere:", NULL, NULL},
    {"      radius: 0.03", NULL, NULL},
    {"    keys:", NULL, NULL},
    {"      - t: 0", "key", NULL},
    {"        position: [0, 0, 0.1]", "key", NULL},
    {"      - t: 1", NULL, NULL},
    {"        position: [0.1, 0, 0.1]", NULL, NULL},
    {"events:", NULL, NULL},
    {"  - t: 0.004", "event", NULL},
    {"    impulse:", NULL, NULL},
    {"      center: [0, 0, 0]", "impulse", NULL},
    {"      radius: 0.1", "impulse", NULL},
    {"      speed: 1", "impulse", NULL},
    {"camera:", NULL, NULL},
    {"  eye: [1, -1, 1]", "camera", NULL},
    {"  target: [0, 0, 0]", "camera", NULL},
    {"probes:", NULL, NULL},
    {"  - name: probe", NULL, NULL},
    {"    kind: PROBE", "probe", NULL},
    {"terrain:", NULL, "terrain"},
    {"  material: sand", NULL, "terrain"},
    {"  origin: [-0.2, -0.2]", "terrain", "terrain"},
    {"  size: [0.4, 0.4]", "terrain", "terrain"},
    {"  cell: 0.05", "terrain", "terrain"},
    {"  height: 0.02", "terrain", "terrain"},
    {"upsample:", NULL, "upsample"},
    {"  radius: 0.008", "upsample", "upsample"},
    {"mechanism:", NULL, "mechanism"},
    {"  mjcf: test/cli/render_arm.xml", "mechanism", "mechanism"},
};
enum { LINES = sizeof lines / sizeof *lines };

/* A key that is tried. */
typedef struct Trial {
  const ScreeParameter *row;
  const char *value; /* of one component, or of all */
  int component;     /* -1: all of them */
  char text[8000];
  int line; /* of the key, from 1 */
} Trial;

static bool reads(const ScreeParameter *row, const char *word) {
  return row->readers[0] && parameter_read_by(row, word);
}

static const char *method_of(const ScreeParameter *row) {
  for (int32_t m = 0; m < scree_method_count(); m++)
    if (strcmp(scree_method_info(m)->name, "none") != 0 && reads(row, scree_method_info(m)->name))
      return scree_method_info(m)->name;
  return "pbd";
}

static const char *probe_of(const ScreeParameter *row) {
  static const char *const kinds[] = {"flow", "repose_angle", "runout", "creep"};
  for (size_t k = 0; strcmp(row->section, "probe") == 0 && k < sizeof kinds / sizeof *kinds; k++)
    if (reads(row, kinds[k])) return kinds[k];
  return "energy";
}

static void add(Trial *trial, const char *text, size_t length) {
  size_t have = strlen(trial->text);
  assert_true(have + length + 2 < sizeof trial->text);
  memcpy(trial->text + have, text, length);
  memcpy(trial->text + have + length, "\n", 2);
}

/* With the indentation of a line of its section, and its dash if it takes its place. */
static void add_key(Trial *trial, const Line *like, bool instead) {
  const char *row = trial->row->name, *sign = instead && strchr(like->text, '-') ? strstr(like->text, "- ") : NULL;
  int indent = (int)strspn(like->text, instead && sign ? " " : " -"),
      components = parameter_components(trial->row->kind);
  char key[200];
  int at = snprintf(key, sizeof key, "%*s%s%s: ", indent, "", sign && like->text[indent] == '-' ? "- " : "", row);
  if (components < 2) snprintf(key + at, sizeof key - (size_t)at, "%s", trial->value);
  else {
    at += snprintf(key + at, sizeof key - (size_t)at, "[");
    for (int c = 0; c < components; c++) {
      bool tried = trial->component < 0 || trial->component == c;
      at += snprintf(key + at, sizeof key - (size_t)at, "%s%s", c ? ", " : "", tried ? trial->value : "0.1");
    }
    snprintf(key + at, sizeof key - (size_t)at, "]");
  }
  add(trial, key, strlen(key));
  for (const char *c = trial->text; *c; c++) trial->line += *c == '\n';
}

static bool is_key(const Line *line, const char *key) {
  const char *at = line->text + strspn(line->text, " -");
  size_t length = strlen(key);
  return strncmp(at, key, length) == 0 && at[length] == ':';
}

static void write_scene(Trial *trial) {
  const ScreeParameter *row = trial->row;
  const Line *place = NULL;
  bool instead = false;
  trial->text[0] = 0;
  trial->line = 0;
  for (int k = 0; k < LINES; k++) {
    if (!lines[k].section || strcmp(lines[k].section, row->section) != 0) continue;
    if (!place || is_key(&lines[k], row->name)) place = &lines[k];
    instead = instead || is_key(&lines[k], row->name);
  }
  if (!place) print_error("no line of section %s\n", row->section);
  assert_non_null(place);
  for (int k = 0; k < LINES; k++) {
    const Line *line = &lines[k];
    if (line->group && strcmp(line->group, row->section) != 0 && !reads(row, line->group)) continue;
    const char *word = strstr(line->text, "METHOD")  ? method_of(row)
                       : strstr(line->text, "PROBE") ? probe_of(row)
                                                     : NULL;
    if (word) {
      char named[80];
      snprintf(named, sizeof named, "%.*s: %s", (int)strcspn(line->text, ":"), line->text, word);
      add(trial, named, strlen(named));
    } else if (line != place || !instead) add(trial, line->text, strlen(line->text));
    if (line == place) add_key(trial, line, instead);
  }
}

static void complain(const Trial *trial, const char *what, const ScreeError *error) {
  print_error("%s\n%s; the key is in line %d: %d:%d: %s\n", trial->text, what, trial->line, error->line, error->column,
              error->message);
  assert_true(false);
}

static void run(const Trial *trial, const ScreeScene *scene) {
  ScreeWorldOptions options = {.threads = 1, .memory_limit = 1 << 28, .log_level = SCREE_LOG_ERROR};
  ScreeWorld *world = NULL;
  ScreeError error = {0};
  ScreeStatus status = scree_world_create(scree_scene_definition(scene), &options, &world, &error);
  for (int frame = 0; frame < 2 && status == SCREE_OK; frame++) status = scree_world_frame(world, &error);
  if (status != SCREE_OK) {
    assert_true(error.message[0]);
  } else {
    ScreeParticles p = scree_world_particles(world);
    for (int64_t i = 0; i < p.count; i++)
      if (!isfinite(p.x[i] + p.y[i] + p.z[i] + p.vx[i] + p.vy[i] + p.vz[i])) complain(trial, "is nowhere", &error);
  }
  scree_world_destroy(world);
}

static void ignore(void *context, const char *line) { (void)context, (void)line; }

/* Returns whether the value is legal. */
static bool try_value(Trial *trial) {
  bool never = strchr(trial->value, 'n') || strchr(trial->value, 'x'); /* no number, or not a finite one */
  ScreeScene *scene = NULL;
  ScreeError error = {0};
  ScreeSceneOptions options = {.warning = ignore};
  write_scene(trial);
  ScreeStatus status = scree_scene_parse(trial->text, strlen(trial->text), "sweep.yaml", ".", &options, &scene, &error);
  if (status != SCREE_OK) {
    if (error.line < 1 || error.column < 1 || (never && error.line != trial->line))
      complain(trial, "the wrong place", &error);
    return false;
  }
  if (never) complain(trial, "is taken", &error);
  run(trial, scene);
  scree_scene_free(scene);
  return true;
}

/* What is refused below is so for its value alone: with one of these the scene is fine. */
static void check_good(Trial *trial) {
  static const char *const good[] = {"0.1", "1", "20", "60", "2000"};
  trial->component = -1;
  for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
    trial->value = good[k];
    if (try_value(trial)) return;
  }
  complain(trial, "nothing will do", &(ScreeError){0});
}

static void every_number_is_refused_or_runs(void **state) {
  (void)state;
  static const char *const values[] = {".nan", ".inf", "-.inf", "nan", "0.1x", "-1", "1e300", "-1e300", "0"};
  int keys = 0, trials = 0, legal = 0;
  for (int s = 0; s < SECTION_COUNT; s++)
    for (int k = 0; k < section_info((Section)s).count; k++) {
      Trial trial = {.row = section_row((Section)s, k)};
      int components = parameter_components(trial.row->kind);
      if (components == 0 && trial.row->kind != SCREE_KIND_INT) continue;
      keys++;
      check_good(&trial);
      for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (trial.component = -1; trial.component < (components > 1 ? components : 0); trial.component++) {
          trial.value = values[v];
          legal += try_value(&trial);
          trials++;
        }
    }
  print_message("%d keys, %d values, %d of them legal\n", keys, trials, legal);
  assert_true(keys > 110);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_is_refused_or_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
