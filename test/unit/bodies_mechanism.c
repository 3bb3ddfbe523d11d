/* Mechanisms: what is read, what is refused, how geoms become solids. */
#include "bodies_fixture.h"

#ifdef SCREE_HAVE_MUJOCO

#include <mujoco/mujoco.h>

#include "bodies/mujoco_guard.h"

static const char TETRAHEDRON[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static Fixture *with_model(const char *text) {
  Fixture *fixture = fixture_create();
  static ScreeMechanismDef mechanism;
  mechanism = scree_mechanism_default("model.xml");
  mechanism.source = (ScreeSource){3, 1};
  fixture->scene.mechanism = &mechanism;
  fixture_write(fixture, "model.xml", text);
  return fixture;
}

/* Loading must fail, name the file and line, and say so much. */
static void expect_error(Fixture *fixture, const char *file, int line, const char *said) {
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  size_t length = strlen(fixture->core.error.file), wanted = strlen(file);
  if (length < wanted || strcmp(fixture->core.error.file + length - wanted, file) != 0 ||
      fixture->core.error.line != line || !strstr(fixture->core.error.message, said)) {
    char text[2048];
    print_error("%s, expected %s:%d %s\n", scree_error_line(&fixture->core.error, text, sizeof text), file, line, said);
    _fail(__FILE__, __LINE__);
  }
  assert_null(strchr(fixture->core.error.message, '\n'));
  fixture_destroy(fixture);
}

static void geoms_become_solids(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(
      "<mujoco>\n<compiler meshdir='parts'/>\n<asset><mesh file='tetra.obj' scale='1 1 2'/></asset>\n<worldbody>\n"
      "<geom name='ground' type='plane' size='1 1 1' pos='0 0 -1'/>\n"
      "<geom type='box' size='.1 .2 .3' euler='0 0 90' pos='3 0 0'/>\n"
      "<body name='hand' pos='0 0 2' euler='0 0 90'><freejoint/>\n"
      " <geom name='palm' type='box' size='.5 .5 .1' mass='2'/>\n"
      " <geom name='finger' type='capsule' size='.1 .4' pos='.5 0 .4' mass='1'/>\n"
      " <geom name='thumb' type='ellipsoid' size='.1 .2 .3' pos='0 -.8 0' euler='90 0 0' mass='0.5'/></body>\n"
      "<body name='wedge' pos='5 0 0'><joint type='slide' axis='1 0 0'/>\n"
      " <geom name='wedge_mesh' type='mesh' mesh='tetra' pos='0 0 1'/></body>\n"
      "<body name='peg' pos='7 0 0'><joint type='hinge'/><geom type='cylinder' size='.2 .3' pos='0 0 .5'/></body>\n"
      "<body name='base' pos='0 9 0'><geom type='sphere' size='.5'/></body>\n"
      "<body name='frame_only'><body name='inner'><geom size='.1'/></body></body>\n"
      "</worldbody></mujoco>");
  char parts[512];
  snprintf(parts, sizeof parts, "%s/parts", fixture->folder);
  assert_int_equal(mkdir(parts, 0777), 0);
  fixture_write(fixture, "parts/tetra.obj", TETRAHEDRON);
  ((ScreeMechanismDef *)fixture->scene.mechanism)->position = vec3(100, 0, 0);
  fixture_start(fixture);
  assert_int_equal(fixture->state.solids.count, 7);
  const Solid *ground = fixture_solid(fixture, "ground");
  assert_int_equal(ground->shape.kind, SCREE_SHAPE_PLANE);
  assert_int_equal(ground->motion, MOTION_FIXED);
  ShapePoint found[SHAPE_CONTACTS_MAX];
  assert_int_equal(solid_contacts(ground, vec3(0, 0, -0.9), 1, found), 1);
  assert_near(found[0].distance, 0.1, 1e-12);
  const Solid *box = fixture_solid(fixture, "mechanism_geom_1");
  assert_int_equal(box->shape.kind, SCREE_SHAPE_BOX);
  solid_contacts(box, vec3(103.25, 0, 0), 1, found);
  assert_near(found[0].distance, 0.05, 1e-9); /* its y, half 0.2, points along x */

  const Solid *hand = fixture_solid(fixture, "hand");
  assert_ptr_equal(fixture_solid(fixture, "finger"), hand);
  assert_ptr_equal(fixture_solid(fixture, "thumb"), hand);
  assert_int_equal(hand->shape.kind, SCREE_SHAPE_MESH);
  assert_int_equal(hand->motion, MOTION_MECHANISM);
  assert_near(hand->mass, 3.5, 1e-12);
  assert_near(hand->position.x, 100, 1e-12);
  solid_contacts(hand, vec3(100, 0, 2.3), 1, found); /* over the palm */
  assert_near(found[0].distance, 0.2, 1e-6);
  solid_contacts(hand, vec3(100, 0.5, 2.95), 1, found); /* over the tip of the finger */
  assert_near(found[0].distance, 0.05, 1e-3);
  solid_contacts(hand, vec3(100, 0.45, 2.05), 1, found); /* where palm and finger overlap */
  assert_true(found[0].distance < 0);
  solid_contacts(hand, vec3(100 + 0.8, 0, 2.3), 1, found); /* the thumb, turned: its y of 0.2 points up */
  assert_near(found[0].distance, 0.1, 1e-3);

  const Solid *wedge = fixture_solid(fixture, "wedge_mesh");
  assert_string_equal(wedge->name, "wedge");
  assert_near(wedge->center.x, 105.25, 1e-5);
  assert_near(wedge->center.z, 1.5, 1e-5);
  solid_contacts(wedge, vec3(105.1, 0.1, 0.9), 1, found); /* below its floor */
  assert_near(found[0].distance, 0.1, 1e-5);
  assert_near(found[0].normal.z, -1, 1e-5);
  solid_contacts(wedge, vec3(105.0, 0.0, 3.25), 1, found);
  assert_near(found[0].distance, 0.25, 1e-5);

  const Solid *peg = fixture_solid(fixture, "peg");
  assert_int_equal(peg->shape.kind, SCREE_SHAPE_CYLINDER);
  solid_contacts(peg, vec3(107, 0, 0.9), 1, found);
  assert_near(found[0].distance, 0.1, 1e-9);
  const Solid *base = fixture_solid(fixture, "base");
  assert_int_equal(base->motion, MOTION_FIXED);
  assert_near(base->mass, 0, 0);
  assert_int_equal(fixture_solid(fixture, "inner")->motion, MOTION_FIXED);
  ScreePose pose = {vec3(0, 0, 0), quat_identity()};
  int32_t index = (int32_t)(base - fixture->state.solids.items);
  assert_int_equal(bodies_set_pose(&fixture->core, fixture->bodies, &fixture->state, index, pose, 1),
                   SCREE_BAD_ARGUMENT);
  fixture_destroy(fixture);
}

#define BODY "<body><freejoint/><geom size='.1'/></body>"
#define MESH(file)                                                                                                     \
  "<mujoco>\n<asset>\n<mesh name='m' file='" file "'/>\n</asset>\n<worldbody>" BODY "</worldbody></mujoco>"

static void bad_models(void **unused) {
  (void)unused;
  expect_error(with_model(""), "model.xml", 1, "no XML element");
  expect_error(with_model("just text"), "model.xml", 1, "no XML element");
  expect_error(with_model("<mujoco>\n<worldbody>\n"), "model.xml", 3, "ends inside");
  expect_error(with_model("<mujoco>\n<worldbody></mujoco></worldbody>"), "model.xml", 2, "");
  expect_error(with_model("<mujoco>\n\n<worldbody><gem/></worldbody></mujoco>"), "model.xml", 3, "gem");
  expect_error(with_model("<mujoco>\n<worldbody>\n<geom sise='1'/></worldbody></mujoco>"), "model.xml", 3, "sise");
  expect_error(with_model("<mujoco>\n<worldbody>\n<geom size='-1'/></worldbody></mujoco>"), "model.xml", 3, "positive");
  expect_error(with_model("<mujoco>\n<worldbody>\n<body><joint/></body></worldbody></mujoco>"), "model.xml", 3, "mass");
  expect_error(with_model("<robot name='r'><link name='l'/></robot>"), "model.xml", 1, "robot");
  expect_error(with_model("<!DOCTYPE m [<!ENTITY x 'y'>]>\n<mujoco/>"), "model.xml", 1, "document types");
  expect_error(with_model("<mujoco>\n<extension><plugin plugin='x'/></extension></mujoco>"), "model.xml", 2, "plugin");
  expect_error(with_model("<mujoco>\n<size njmax='2000000000'/></mujoco>"), "model.xml", 2, "njmax");
  expect_error(with_model("<mujoco>\n<worldbody><body>\n<composite type='grid' count='1000 1000 1' spacing='1'/>"
                          "</body></worldbody></mujoco>"),
               "model.xml", 3, "count");
  expect_error(with_model("<mujoco><option timestep='1e-12'/><worldbody>" BODY "</worldbody></mujoco>"), "model.xml", 0,
               "timestep");
}

/* Models of newer releases: the message names the file, the place, what is asked for and what there is. */
static void newer_models(void **unused) {
  (void)unused;
  expect_error(with_model("<mujoco>\n<option\n integrator='implicitfast'/>\n<worldbody>" BODY "</worldbody></mujoco>"),
               "model.xml", 3, "asks for 'implicitfast', which MuJoCo 2.");
  expect_error(with_model("<mujoco>\n<worldbody>" BODY "\n<replicate count='2'/></worldbody></mujoco>"), "model.xml", 3,
               "'replicate'");
  expect_error(with_model("<mujoco>\n<worldbody><body>\n<joint actuatorfrcrange='0 1'/></body></worldbody></mujoco>"),
               "model.xml", 3, "MUJOCO_DIR");
  Fixture *fixture = with_model("<mujoco>\n<include file='more.xml'/>\n</mujoco>");
  fixture_write(fixture, "more.xml", "<mujocoinclude>\n\n\n<option integrator='implicitfast'/></mujocoinclude>");
  expect_error(fixture, "more.xml", 4, "'implicitfast'");
}

static void bad_references(void **unused) {
  (void)unused;
  expect_error(with_model(MESH("gone.obj")), "model.xml", 3, "gone.obj");
  expect_error(with_model(MESH("../secret.obj")), "model.xml", 3, "'..'");
  expect_error(with_model(MESH("a/../../secret.obj")), "model.xml", 3, "'..'");
  expect_error(with_model(MESH("/etc/hostname")), "model.xml", 3, "absolute");
  expect_error(with_model(MESH("&#46;./secret.obj")), "model.xml", 3, "letter");
  expect_error(with_model(MESH("c:secret.obj")), "model.xml", 3, "absolute");
  expect_error(with_model("<mujoco>\n<compiler meshdir='/usr'/>\n</mujoco>"), "model.xml", 2, "absolute");
  expect_error(with_model("<mujoco>\n<compiler texturedir='..'/>\n</mujoco>"), "model.xml", 2, "'..'");
  expect_error(with_model("<mujoco>\n<include file='gone.xml'/>\n</mujoco>"), "model.xml", 2, "gone.xml");
  expect_error(with_model("<mujoco>\n<include file='model.xml'/>\n</mujoco>"), "model.xml", 2, "another file");
  expect_error(with_model("<mujoco>\n<asset>\n<texture type='cube' fileright='/dev/null'/></asset></mujoco>"),
               "model.xml", 3, "");

  Fixture *fixture = with_model(MESH("link.obj"));
  char link[512];
  snprintf(link, sizeof link, "%s/link.obj", fixture->folder);
  assert_int_equal(symlink("/etc/hostname", link), 0);
  expect_error(fixture, "model.xml", 3, "outside");

  fixture = with_model(MESH("broken.obj"));
  fixture_write(fixture, "broken.obj", "v 0 0 0\nv 1 0 0\nf 1 2 99\n");
  expect_error(fixture, "broken.obj", 3, "");

  fixture = with_model(MESH("odd.msh"));
  fixture_write(fixture, "odd.msh", "\x7f\x7f\x7f\x7f");
  expect_error(fixture, "model.xml", 3, "OBJ or STL");

  fixture = with_model("<mujoco>\n<include file='more.xml'/>\n</mujoco>");
  fixture_write(fixture, "more.xml", "<mujocoinclude>\n<asset>\n\n<mesh file='../x.obj'/></asset></mujocoinclude>");
  expect_error(fixture, "more.xml", 4, "'..'");

  fixture =
      with_model("<mujoco>\n<asset>\n<mesh name='a' file='T.obj'/>\n<mesh name='b' file='x/t.obj'/></asset></mujoco>");
  fixture_write(fixture, "T.obj", TETRAHEDRON);
  char folder[512];
  snprintf(folder, sizeof folder, "%s/x", fixture->folder);
  assert_int_equal(mkdir(folder, 0777), 0);
  fixture_write(fixture, "x/t.obj", TETRAHEDRON);
  expect_error(fixture, "model.xml", 4, "another file");
}

/* Comments and sections hide references from MuJoCo, so they must hide them from us, and no more than that. */
static void hidden_references(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<?xml version='1.0'?><!-- <mesh file='../a.obj'/> --><mujoco>\n"
                                "<worldbody>" BODY "<![CDATA[<include file='/b'/>]]></worldbody></mujoco>");
  fixture_start(fixture);
  assert_int_equal(fixture->state.solids.count, 1);
  fixture_destroy(fixture);
  expect_error(with_model("<mujoco>\n<!--> --><asset><mesh file='../a.obj'/></asset></mujoco>"), "model.xml", 2,
               "'..'");
}

static void includes(void **unused) {
  (void)unused;
  Fixture *fixture = with_model("<mujoco>\n<include file='more.xml'/>\n</mujoco>");
  fixture_write(fixture, "more.xml",
                "<mujocoinclude><asset><mesh name='t' file='tetra.obj'/></asset><worldbody><body name='b'><freejoint/>"
                "<geom type='mesh' mesh='t' mass='3'/></body></worldbody></mujocoinclude>");
  fixture_write(fixture, "tetra.obj", TETRAHEDRON);
  fixture_start(fixture);
  assert_near(fixture_solid(fixture, "b")->mass, 3, 1e-12);
  fixture_destroy(fixture);
}

static void names_clash(void **unused) {
  (void)unused;
  Fixture *fixture =
      with_model("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>" BODY "</worldbody></mujoco>");
  ScreeBoundaryDef wall = scree_boundary_default(scree_shape_plane(vec3(0, 0, 0), vec3(0, 0, 1)));
  wall.name = "floor";
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  fixture_start(fixture);
  assert_int_equal(fixture->warnings, 1);
  assert_true(fixture_solid(fixture, "floor")->is_boundary);
  fixture_destroy(fixture);
  fixture = with_model("<mujoco><worldbody><body name='floor'><geom size='1'/></body></worldbody></mujoco>");
  fixture->scene.boundaries = &wall;
  fixture->scene.boundary_count = 1;
  expect_error(fixture, "scene.yaml", 3, "floor");
}

static const char SERVO[] = "<mujoco><worldbody><body name='arm'><joint name='j' axis='0 1 0'/>"
                            "<geom type='capsule' size='.05 .5' pos='0 0 -.5'/></body></worldbody>"
                            "<actuator><position name='lift' joint='j' kp='100' ctrllimited='true' ctrlrange='-1 1'/>"
                            "<motor name='push' joint='j'/></actuator></mujoco>";

static void control_files(void **unused) {
  (void)unused;
  Fixture *fixture = with_model(SERVO);
  ((ScreeMechanismDef *)fixture->scene.mechanism)->controls = "signal.csv";
  fixture_write(fixture, "signal.csv", "time,push,lift\n0,0,0.5\n2,4,0.5\n");
  fixture_start(fixture);
  Bodies *bodies = fixture->bodies;
  assert_int_equal(bodies_control_count(bodies), 2);
  const char *name;
  double value, low, high;
  assert_int_equal(bodies_control(bodies, 0, &name, &value, &low, &high), SCREE_OK);
  assert_string_equal(name, "lift");
  assert_near(value, 0.5, 0);
  assert_near(low, -1, 0);
  assert_near(high, 1, 0);
  assert_int_equal(bodies_control(bodies, 2, &name, &value, &low, &high), SCREE_BAD_ARGUMENT);
  /* the servo starts where its signal begins */
  assert_near(2 * atan2(fixture_solid(fixture, "arm")->rotation.y, fixture_solid(fixture, "arm")->rotation.w), 0.5,
              1e-12);
  for (int k = 0; k < 100; k++) fixture_step(fixture, 0.01, NULL);
  bodies_control(bodies, 1, NULL, &value, &low, &high);
  assert_near(value, 2, 1e-9);
  assert_true(isinf(high));
  assert_ok(&fixture->core, bodies_set_control(&fixture->core, bodies, 1, -3));
  assert_ok(&fixture->core, bodies_set_control(&fixture->core, bodies, 0, 7)); /* beyond its range */
  bodies_control(bodies, 1, NULL, &value, NULL, NULL);
  assert_near(value, -3, 0);
  bodies_control(bodies, 0, NULL, &value, NULL, NULL);
  assert_near(value, 1, 0);
  bodies_release_control(bodies, 1);
  bodies_control(bodies, 1, NULL, &value, NULL, NULL);
  assert_near(value, 2, 1e-9);
  assert_int_equal(bodies_set_control(&fixture->core, bodies, 0, NAN), SCREE_BAD_ARGUMENT);
  fixture_destroy(fixture);

  fixture = with_model(SERVO);
  ((ScreeMechanismDef *)fixture->scene.mechanism)->controls = "signal.csv";
  fixture_write(fixture, "signal.csv", "time,lift\n0,1\n");
  fixture_write(fixture, "signal.csv", "# digging\ntime,lift,turn\n0,1,2\n");
  expect_error(fixture, "signal.csv", 2, "turn");
}

static void raise_error(void *context) {
  mju_warning("careful\n  now");
  mju_error_s("cannot %s", context);
}
static void raise_nothing(void *context) { *(int *)context = 1; }
static void host_handler(const char *message) { (void)message; }

/* MuJoCo's errors become statuses, its warnings lines of the log; a host program's handlers are back afterwards. */
static void errors_do_not_exit(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  mju_user_error = host_handler;
  assert_int_equal(mujoco_guarded(&fixture->core, SCREE_FAILED, false, raise_error, "dig"), SCREE_FAILED);
  assert_string_equal(fixture->core.error.message, "mechanism: cannot dig");
  assert_int_equal(fixture->warnings, 1);
  assert_string_equal(fixture->warning, "warning: mechanism: careful now");
  assert_true(mju_user_error == host_handler);
  assert_true(mju_user_warning == NULL);
  mju_user_error = NULL;
  core_report(&fixture->core, SCREE_OK, NULL);
  int ran = 0;
  assert_int_equal(mujoco_guarded(&fixture->core, SCREE_FAILED, true, raise_nothing, &ran), SCREE_OK);
  assert_int_equal(ran, 1);
  fixture_destroy(fixture);
}

/* MuJoCo moves and turns the vertices of a mesh; in the body's frame they are where the file has them. */
static void meshes_keep_their_place(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeMechanismDef mechanism = scree_mechanism_default("excavator.xml");
  fixture->scene.mechanism = &mechanism;
  fixture_start(fixture);
  static const char *names[] = {"boom", "stick", "bucket"};
  for (int k = 0; k < 3; k++) {
    char file[64], path[SCREE_FILE_MAX];
    snprintf(file, sizeof file, "excavator_%s.obj", names[k]);
    assert_ok(&fixture->core, fixture_resolve(fixture, &fixture->core, file, (ScreeSource){0, 0}, path, sizeof path));
    Mesh mesh;
    assert_ok(&fixture->core, mesh_load(&fixture->core, path, &mesh));
    Vec3 low, high;
    mesh_bounds(&mesh, &low, &high);
    const Shape *shape = &fixture_solid(fixture, names[k])->shape;
    assert_near(vec3_length(vec3_sub(shape->bounds_low, low)), 0, 2e-6);
    assert_near(vec3_length(vec3_sub(shape->bounds_high, high)), 0, 2e-6);
    assert_near(shape->mass.volume, mesh_mass_properties(&mesh).volume, 1e-5 * shape->mass.volume);
    mesh_destroy(&fixture->core, &mesh);
  }
  fixture_destroy(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(geoms_become_solids), cmocka_unit_test(bad_models),
      cmocka_unit_test(newer_models),        cmocka_unit_test(bad_references),
      cmocka_unit_test(hidden_references),   cmocka_unit_test(includes),
      cmocka_unit_test(names_clash),         cmocka_unit_test(control_files),
      cmocka_unit_test(errors_do_not_exit),  cmocka_unit_test(meshes_keep_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void mechanisms_are_refused(void **unused) {
  (void)unused;
  Fixture *fixture = fixture_create();
  ScreeMechanismDef mechanism = scree_mechanism_default("model.xml");
  fixture->scene.mechanism = &mechanism;
  assert_int_equal(fixture_try(fixture), SCREE_BAD_INPUT);
  assert_said(fixture, "MuJoCo");
  fixture_destroy(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mechanisms_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
