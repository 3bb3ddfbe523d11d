/* Scenes that are understood: defaults, the example of the format, warnings, and writing them back. */
#include "check.h"
#include "core/number.h"
#include "parameters/table.h"
#include "scree/scree.h"

#define GOOD "scree: 1\nmethod: {name: none}\ngrains: [{fill: {box: {}}}]\n"

/* Everything that a scene may hold. Files are those of the shipped assets. */
static const char everything[] =
    "scree: 1                         # format version\n"
    "title: Hourglass\n"
    "gravity: [0, 0, -9.81]\n"
    "duration: 6.0                    # s\n"
    "frame_rate: 60\n"
    "seed: 1\n"
    "method: {name: none, radius: 0.028, time_step: 0.005, iterations: 5, stabilization: 2}\n"
    "materials:\n"
    "  sand: {density: 1600, friction_static: 0.35, friction_kinetic: 0.30, color: [0.85, 0.70, 0.45]}\n"
    "  loam: {density: 1500, friction_angle_deg: 32, adhesion: 1000, cohesion: 500, radius_spread: 0.2}\n"
    "grains:                          # what is filled with which material at t = 0\n"
    "  - {material: sand, fill: {box: {min: [-1,-1,0], max: [1,1,2]}}, velocity: [0,0,0], start: random}\n"
    "  - {material: sand, fill: {mesh: sandcastle.obj, position: [0,0,0], scale: 1.0}}\n"
    "  - {material: sand, fill: {cylinder: {base: [0,0,0], radius: 0.5, height: 1.0}}, start: dense}\n"
    "  - {material: sand, fill: {sphere: {center: [0,0,1], radius: 0.5}}}\n"
    "emitters:\n"
    "  - {material: sand, disc: {center: [0,0,2], radius: 0.1, direction: [0,0,-1]}, rate: 2.0, speed: 0.5, from: 0, "
    "until: 3}\n"
    "sinks:\n"
    "  - {box: {min: [-9,-9,-9], max: [9,9,-5]}}\n"
    "  - {plane: {point: [0, 0, -20]}}\n"
    "  - {mesh: rock_1.obj, position: [3, 0, 0], rotation: [0, 1, 1, 0], scale: 2}\n"
    "boundaries:\n"
    "  - {plane: {point: [0,0,0], normal: [0,0,1]}, friction_static: 0.5, friction_kinetic: 0.4, name: floor}\n"
    "  - {mesh: hourglass.obj, position: [0,0,0], inside: true}        # grains live inside it\n"
    "  - {box: {min: [-2,-2,0], max: [2,2,3]}, inside: true, name: tank}\n"
    "bodies:\n"
    "  - {name: ball, sphere: {radius: 0.2}, density: 5000, position: [0,0,2], rotation: [1,0,0,0], "
    "velocity: [0,0,-5], spin: [0,0,0], friction_static: 0.5, motion: free}\n"
    "  - {name: gate, box: {size: [1,0.1,1]}, motion: keyframes, keys: [{t: 0, position: [0,0,0]}, "
    "{t: 1, position: [0,0,2], rotation: [0.707,0,0,0.707]}]}\n"
    "  - {name: pill, capsule: {radius: 0.1, height: 0.3}, rotation: [0.3, -0.2, 0.5, 0.1]}\n"
    "mechanism: {mjcf: excavator.xml, controls: excavator_dig.csv}     # joints and motors, through MuJoCo\n"
    "events:\n"
    "  - {t: 0.5, impulse: {center: [0,0,0.3], radius: 0.2, speed: 8}} # an explosion\n"
    "terrain: {material: sand, origin: [-2,-2], base: 0, size: [4,4], cell: 0.05, height: 0.3, compaction: 0.3, "
    "theta_out_deg: 34, theta_stop_deg: 34, exchange: true}\n"
    "upsample: {radius: 0.008}\n"
    "wind: [0, 0, 0]\n"
    "camera: {eye: [3,-3,2], target: [0,0,0.8], fov_deg: 40}\n"
    "probes:\n"
    "  - {name: discharge, kind: flow, plane_z: 0.0}\n"
    "  - {name: pile, kind: repose_angle, axis: [0, 0]}\n"
    "  - {name: spread, kind: runout, axis: [0, 0], fraction: 0.99}\n"
    "  - {name: load, kind: force_on, target: tank}\n"
    "  - {name: solid, kind: packing, box: {min: [0,0,0], max: [1,1,1]}}\n"
    "  - {name: mass, kind: mass_in, box: {min: [0,0,0], max: [1,1,1]}}\n"
    "  - {name: ball, kind: pose_of, target: ball}\n"
    "  - {name: dig, kind: force_on, target: bucket}\n"
    "  - {name: creep, kind: creep, from: 4.0}\n"
    "  - {name: energy, kind: energy}\n";

typedef struct Warnings {
  char text[20000];
  int count;
} Warnings;

static void collect(void *context, const char *line) {
  Warnings *warnings = context;
  size_t used = strlen(warnings->text);
  snprintf(warnings->text + used, sizeof warnings->text - used, "%s\n", line);
  warnings->count++;
}

static ScreeScene *parse(const char *text, const char *folder, const char *set, Warnings *warnings) {
  ScreeScene *scene;
  ScreeError error;
  ScreeSceneOptions options = {.sets = &set, .set_count = set ? 1 : 0, .warning = collect, .warning_context = warnings};
  if (warnings) memset(warnings, 0, sizeof *warnings);
  else options.warning = NULL;
  if (scree_scene_parse(text, strlen(text), "x.yaml", folder, &options, &scene, &error) != SCREE_OK) {
    char line[1200];
    print_error("%s\n", scree_error_line(&error, line, sizeof line));
    _fail(__FILE__, __LINE__);
  }
  return scene;
}

static void every_key_arrives(void **state) {
  (void)state;
  ScreeScene *scene = parse(everything, "assets", NULL, NULL);
  const ScreeSceneDef *def = scree_scene_definition(scene);
  assert_string_equal(def->name, "x");
  assert_string_equal(def->file, "x.yaml");
  assert_string_equal(def->title, "Hourglass");
  assert_string_equal(def->method.name, "none");
  assert_true(def->method.radius == 0.028 && def->method.time_step == 0.005 && def->method.pbd.iterations == 5);
  assert_true(def->method.source.line == 7 && def->method.source.column == 1);
  assert_int_equal(def->material_count, 2);
  assert_string_equal(def->materials[1].name, "loam");
  assert_true(def->materials[1].friction_angle_deg == 32 && scree_is_auto(def->materials[0].friction_angle_deg));
  assert_int_equal(def->grains_count, 4);
  assert_int_equal(def->grains[1].fill.kind, SCREE_SHAPE_MESH);
  assert_string_equal(def->grains[1].fill.mesh.file, "sandcastle.obj");
  assert_int_equal(def->grains[2].start, SCREE_START_DENSE);
  assert_true(def->grains[3].fill.sphere.center.z == 1 && def->grains[3].source.line == 15);
  assert_true(def->emitters[0].shape.disc.direction.z == -1 && def->emitters[0].until == 3);
  assert_int_equal(def->sinks[1].shape.kind, SCREE_SHAPE_PLANE);
  assert_near(def->sinks[2].shape.rotation.x, sqrt(0.5), 1e-15);
  assert_true(def->boundaries[1].inside && def->boundaries[1].shape.kind == SCREE_SHAPE_MESH);
  assert_string_equal(def->boundaries[1].name, "");
  assert_true(def->bodies[0].shape.position.z == 2 && def->bodies[0].velocity.z == -5);
  assert_true(def->bodies[1].shape.box.min.y == -0.05 && def->bodies[1].shape.box.max.y == 0.05);
  assert_int_equal(def->bodies[1].key_count, 2);
  assert_near(def->bodies[1].keys[1].rotation.w, sqrt(0.5), 1e-15);
  assert_true(def->bodies[2].shape.capsule.base.z == -0.15);
  assert_string_equal(def->mechanism->controls, "excavator_dig.csv");
  assert_true(def->events[0].impulse.speed == 8 && def->events[0].t == 0.5);
  assert_true(def->terrain->origin.x == -2 && def->terrain->exchange);
  assert_true(def->upsample->radius == 0.008 && def->camera.fov_deg == 40);
  assert_int_equal(def->probes[7].kind, SCREE_PROBE_FORCE_ON);
  assert_int_equal(def->probes[4].box.kind, SCREE_SHAPE_BOX);
  assert_int_equal(def->probes[0].box.kind, SCREE_SHAPE_NONE);
  scree_scene_free(scene);
}

static void what_is_left_out_has_defaults(void **state) {
  (void)state;
  ScreeScene *scene = parse("scree: 1\nmethod: {name: none}\nterrain:\n"
                            "grains: [{fill: {sphere: {}}}]\nprobes: [{kind: energy}]\n"
                            "bodies: [{cylinder: {height: 2}}]\nemitters: [{}]\n",
                            NULL, NULL, NULL);
  const ScreeSceneDef *def = scree_scene_definition(scene);
  assert_int_equal(def->material_count, 1);
  assert_string_equal(def->materials[0].name, "sand");
  assert_true(def->materials[0].density == 1600 && scree_is_auto(def->materials[0].grain_density));
  assert_string_equal(def->grains[0].material, "sand");
  assert_string_equal(def->emitters[0].material, "sand");
  assert_string_equal(def->probes[0].name, "energy");
  assert_null(def->terrain);
  assert_true(def->gravity.z == -9.81 && def->camera.eye.x == 3 && def->method.radius == 0.02);
  assert_true(scree_is_auto(def->method.time_step));
  assert_true(def->bodies[0].shape.cylinder.base.z == -1);
  assert_true(def->bodies[0].shape.rotation.w == 1);
  scree_scene_free(scene);
}

static void programs_get_the_same_defaults(void **state) {
  (void)state;
  ScreeScene *scene =
      parse(GOOD "bodies: [{name: a, sphere: {}}]\nevents: [{impulse: {}}]\nupsample: {}\n", NULL, NULL, NULL);
  const ScreeSceneDef *def = scree_scene_definition(scene);
  ScreeSceneDef plain = scree_scene_default();
  plain.method = scree_method_default("none");
  ScreeMaterialDef material = scree_material_default("sand");
  ScreeGrainsDef grains = scree_grains_default("sand", scree_shape_default(SCREE_SHAPE_BOX));
  ScreeBodyDef body = scree_body_default("a", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.5));
  ScreeEventDef event = scree_event_default();
  ScreeUpsampleDef upsample = scree_upsample_default(0.005);
  plain.materials = &material;
  plain.grains = &grains;
  plain.bodies = &body;
  plain.events = &event;
  plain.upsample = &upsample;
  plain.material_count = plain.grains_count = plain.body_count = plain.event_count = 1;
  char *a, *b;
  ScreeError error;
  assert_int_equal(scree_scene_write(def, &a, &error), SCREE_OK);
  assert_int_equal(scree_scene_write(&plain, &b, &error), SCREE_OK);
  assert_string_equal(a, b);
  scree_text_free(a);
  scree_text_free(b);
  scree_scene_free(scene);
  assert_true(scree_shape_plane((ScreeVec3){0, 0, 1}, (ScreeVec3){0, 1, 0}).plane.normal.y == 1);
  assert_true(scree_shape_box((ScreeVec3){0, 0, 1}, (ScreeVec3){0, 1, 2}).box.max.z == 2);
  assert_string_equal(scree_shape_mesh_file("a.obj").mesh.file, "a.obj");
  assert_true(scree_terrain_default("sand").cell == 0.05 && scree_key_default().rotation.w == 1);
  assert_null(scree_mechanism_default(NULL).mjcf);
  assert_true(scree_emitter_default("sand").shape.disc.radius == 0.1);
  assert_true(scree_boundary_default(scree_shape_default(SCREE_SHAPE_PLANE)).friction_static == 0.5);
  assert_int_equal(scree_probe_default("a", SCREE_PROBE_CREEP).kind, SCREE_PROBE_CREEP);
}

/* Equal as far as the table and the shapes say: writing is complete, so equal texts are equal definitions. Sources
 * (lines) differ, of course. */
static void writing_and_reading_agree(void **state) {
  (void)state;
  Warnings first, second;
  ScreeError error;
  static const char *const sets[] = {NULL,
                                     "title=\"a \\\"b\\\" \\u2028 \\x85 \\uFEFF \\\\ \xc3\xa4 \\n\\t#: {\"",
                                     "gravity=[0.1, -1e-7, 1e-300]",
                                     "materials.loam.density=1234.5678901234567",
                                     "title=true",
                                     "bodies.pill.rotation=[0.9999, 0, 0, 0]",
                                     "bodies.gate.box={min: [-1e6, -1, -1], max: [1e6, 1, 1]}",
                                     "bodies.gate.box={min: [0, -1, -1], max: [1, 1, 1]}"};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    char *a, *b;
    ScreeScene *scene = parse(everything, "assets", sets[k], &first);
    assert_int_equal(scree_scene_write(scree_scene_definition(scene), &a, &error), SCREE_OK);
    ScreeScene *again = parse(a, "assets", NULL, &second);
    assert_int_equal(scree_scene_write(scree_scene_definition(again), &b, &error), SCREE_OK);
    assert_string_equal(a, b);
    assert_string_equal(scree_scene_definition(scene)->title, scree_scene_definition(again)->title);
    const ScreeSceneDef *x = scree_scene_definition(scene), *y = scree_scene_definition(again);
    assert_memory_equal(&x->gravity, &y->gravity, sizeof x->gravity);
    assert_memory_equal(&x->bodies[2].shape.rotation, &y->bodies[2].shape.rotation, sizeof(ScreeQuat));
    assert_true(x->materials[1].density == y->materials[1].density);
    assert_true(second.count <= first.count); /* unread keys at their default are left out */
    scree_text_free(a);
    scree_text_free(b);
    scree_scene_free(scene);
    scree_scene_free(again);
  }
}

static void writing_refuses_what_no_file_can_say(void **state) {
  (void)state;
  ScreeSceneDef plain = scree_scene_default();
  char *text;
  ScreeError error;
  assert_int_equal(scree_scene_write(&plain, &text, &error), SCREE_BAD_ARGUMENT);
  plain.method = scree_method_default("none");
  plain.gravity.x = INFINITY;
  assert_int_equal(scree_scene_write(&plain, &text, &error), SCREE_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "gravity"));
  assert_null(text);
}

static void odd_values_warn(void **state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"", ""},
      {"materials: {sand: {density: 1.6}}",
       "x.yaml:4:29: warning: 'density' is 1.6 kg/m^3: usual values are 50 to 25000\n"},
      {"materials: {sand: {adhesion: 5}}",
       "x.yaml:4:20: warning: 'adhesion' is not read by method 'none' (only by p2)\n"},
      {"materials: {sand: {density: 1600, grain_density: 1000}}",
       "x.yaml:4:35: warning: grain_density 1000 is less than the bulk density 1600\n"},
      {"probes: [{kind: energy, plane_z: 1}]",
       "x.yaml:4:25: warning: 'plane_z' is not read by probes of kind 'energy' (only by flow)\n"},
      {"probes: [{kind: energy, box: {}}]",
       "x.yaml:4:25: warning: 'box' is not read by probes of kind 'energy' (only by packing mass_in pressure_at)\n"},
      {"upsample: {radius: 0.5}",
       "x.yaml:4:1: warning: fine grains of radius 0.5 are not finer than the particles of 0.02\n"},
      {"bodies: [{box: {}, keys: [{}]}]", "x.yaml:4:20: warning: 'keys' are not read: write 'motion: keyframes'\n"},
      {"bodies: [{box: {}, motion: fixed, velocity: [1,0,0]}]",
       "x.yaml:4:10: warning: 'velocity' and 'spin' are read by bodies with 'motion: free' only\n"},
      {"boundaries: [{plane: {}, inside: true}]",
       "x.yaml:4:26: warning: 'inside' has no meaning for a plane: its normal points towards the grains\n"},
  };
  static Warnings warnings;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s", GOOD, cases[k].text);
    scree_scene_free(parse(text, NULL, NULL, &warnings));
    assert_string_equal(warnings.text, cases[k].said);
  }
  scree_scene_free(parse(GOOD, NULL, "method.radius=5", &warnings));
  assert_string_equal(warnings.text, "--set method.radius: warning: 'radius' is 5 m: usual values are 0.0001 to 1\n");
  scree_scene_free(parse(GOOD "materials: {a: {friction_static: 0.2, friction_kinetic: 0.3}}", NULL, NULL, &warnings));
  assert_non_null(strstr(warnings.text, "x.yaml:4:39: warning: friction_kinetic 0.3 is more than friction_static 0.2"));
  static char many[40000] = GOOD "sinks:\n";
  for (int k = 0; k < 500; k++) strcat(many, "  - {sphere: {radius: 1e4}}\n");
  scree_scene_free(parse(many, NULL, NULL, &warnings));
  assert_int_equal(warnings.count, 101);
  assert_non_null(strstr(warnings.text, "x.yaml: warning: more than 100 warnings, the rest is not shown"));
  /* A scene that is refused says one line and no warnings. */
  ScreeScene *scene;
  ScreeError error;
  ScreeSceneOptions options = {.warning = collect, .warning_context = &warnings};
  static const char bad[] = GOOD "materials: {a: {density: 1}}\nsinks: 5\n";
  memset(&warnings, 0, sizeof warnings);
  assert_int_equal(scree_scene_parse(bad, strlen(bad), "x", NULL, &options, &scene, &error), SCREE_BAD_INPUT);
  assert_int_equal(warnings.count, 0);
}

static void sets_change_what_they_name(void **state) {
  (void)state;
  static const char text[] = GOOD "bodies: [&b {name: a, sphere: {}}, {name: c, sphere: {radius: 1}}]\n"
                                  "gravity: [1, 2, 3]\n";
  ScreeScene *scene = parse(text, NULL, "bodies.c.density=900", NULL);
  assert_true(scree_scene_definition(scene)->bodies[1].density == 900);
  assert_true(scree_scene_definition(scene)->bodies[0].density == 2500);
  scree_scene_free(scene);
  scene = parse(text, NULL, "gravity[1]=7", NULL);
  assert_true(scree_scene_definition(scene)->gravity.y == 7 && scree_scene_definition(scene)->gravity.z == 3);
  scree_scene_free(scene);
  scene = parse(text, NULL, "materials.sand.friction_static=0.9", NULL);
  assert_true(scree_scene_definition(scene)->materials[0].friction_static == 0.9);
  scree_scene_free(scene);
  scene = parse(text, NULL, "upsample.radius=0.001", NULL);
  assert_true(scree_scene_definition(scene)->upsample->radius == 0.001);
  scree_scene_free(scene);
}

/* A key that several methods have arrives in the struct of each; the one that is chosen is written. */
static void methods_share_keys(void **state) {
  (void)state;
  ScreeScene *scene = parse("scree: 1\nmethod: {name: p2, iterations: 7, memory: false}\ngrains: [{fill: {box: {}}}]\n",
                            NULL, NULL, NULL);
  ScreeSceneDef def = *scree_scene_definition(scene);
  assert_true(def.method.pbd.iterations == 7 && def.method.p2.iterations == 7);
  assert_false(def.method.pbd.memory || def.method.p2.memory || def.method.sph.memory);
  def.method.p2.iterations = 9;
  char *text, readers[READERS_MAX];
  assert_int_equal(scree_scene_write(&def, &text, NULL), SCREE_OK);
  assert_non_null(strstr(text, "  iterations: 9\n"));
  assert_null(strstr(text, "iterations: 7"));
  assert_null(strstr(text, "drag"));
  scree_text_free(text);
  scree_scene_free(scene);
  const ScreeParameter *memory = section_find(SECTION_method, "memory");
  assert_string_equal(scree_parameter_readers(memory, readers, sizeof readers), "pbd p2 sph");
  assert_string_equal(probe_kinds_with("axis", readers), "repose_angle runout");
  assert_null(scree_parameter(scree_parameter_count()));
}

/* The table itself: defaults are legal and usual, names are unique, readers are methods or kinds. */
static void the_table_is_sound(void **state) {
  (void)state;
  int32_t count = scree_parameter_count();
  assert_true(count > 100);
  for (int32_t k = 0; k < count; k++) {
    const ScreeParameter *row = scree_parameter(k);
    assert_true(row->low <= row->high && row->usual_low <= row->usual_high);
    assert_true(strlen(row->help) > 3);
    for (int32_t j = 0; j < k; j++)
      assert_false(strcmp(scree_parameter(j)->section, row->section) == 0 &&
                   strcmp(scree_parameter(j)->name, row->name) == 0);
    double values[4] = {0};
    int components = parameter_components(row->kind);
    if (components == 0 || parameter_is(row, "auto") || parameter_is(row, "required")) continue;
    if (components > 1) sscanf(row->default_text, "[%lf, %lf, %lf, %lf]", values, values + 1, values + 2, values + 3);
    else assert_int_equal(number_parse(row->default_text, values), NUMBER_GOOD);
    for (int c = 0; c < components; c++) {
      assert_true(values[c] >= row->low && values[c] <= row->high);
      assert_true(values[c] >= row->usual_low && values[c] <= row->usual_high);
    }
  }
}

static void numbers_go_both_ways(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text, *brief;
  } cases[] = {{0, "0", "0"},
               {0.1, "0.1", "0.1"},
               {-9.81, "-9.81", "-9.81"},
               {1e-5, "1.0e-05", "1e-5"},
               {1e6, "1000000", "1e6"},
               {1.5e300, "1.5e+300", "1.5e300"},
               {1600, "1600", "1600"},
               {1.0 / 3, "0.3333333333333333", "0.3333333333333333"}};
  char text[NUMBER_TEXT];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double back;
    assert_string_equal(number_print(cases[k].value, text), cases[k].text);
    assert_int_equal(number_parse(text, &back), NUMBER_GOOD);
    assert_true(back == cases[k].value);
    assert_string_equal(number_print_short(cases[k].value, text), cases[k].brief);
  }
  uint64_t bits = 88172645463325252u;
  for (int k = 0; k < 20000; k++) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    double value, back;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    assert_int_equal(number_parse(number_print(value, text), &back), NUMBER_GOOD);
    assert_memory_equal(&value, &back, sizeof value);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_arrives),
      cmocka_unit_test(what_is_left_out_has_defaults),
      cmocka_unit_test(programs_get_the_same_defaults),
      cmocka_unit_test(writing_and_reading_agree),
      cmocka_unit_test(writing_refuses_what_no_file_can_say),
      cmocka_unit_test(odd_values_warn),
      cmocka_unit_test(sets_change_what_they_name),
      cmocka_unit_test(methods_share_keys),
      cmocka_unit_test(the_table_is_sound),
      cmocka_unit_test(numbers_go_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
