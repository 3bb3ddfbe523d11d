/* Random solids, still and fast, sharp and round, with random fine grains among them: after a frame none of them is in
 * a solid as long as there is room for it near by, and none has gone through one. */
#include <string.h>

#include "core/rng.h"
#include "upsample/internal.h"
#include "upsample_fixture.h"

#define RADIUS 0.03
#define FINE 0.01
#define DEPTH_MAX 0.1 /* of a grain's radius */
enum { SOLIDS = 5, FRAMES = 4, TRIALS = 3000 };

typedef struct Random {
  uint64_t bits;
} Random;

static double draw(Random *random, double low, double high) {
  random->bits = rng_mix(random->bits);
  return low + (high - low) * rng_unit(random->bits);
}

static ScreeVec3 draw_place(Random *random, double wide, double low, double high) {
  double x = draw(random, -wide, wide), y = draw(random, -wide, wide), z = draw(random, low, high);
  return (ScreeVec3){x, y, z};
}

static ScreeQuat draw_turn(Random *random, double most) {
  Vec3 axis = vec3(draw(random, -1, 1), draw(random, -1, 1), draw(random, -1, 1));
  double half = 0.5 * draw(random, -most, most), size = fmax(vec3_length(axis), 1e-3);
  Vec3 part = vec3_scale(axis, sin(half) / size);
  return (ScreeQuat){cos(half), part.x, part.y, part.z};
}

typedef struct Scene {
  ScreeMaterialDef sand;
  ScreeGrainsDef grains;
  ScreeUpsampleDef upsample;
  ScreeBoundaryDef walls[SOLIDS];
  ScreeBodyDef bodies[SOLIDS];
  ScreeKeyDef keys[SOLIDS][2];
  ScreeSceneDef scene;
} Scene;

/* A floor, and coarse grains that meet nothing: they drag fine ones through walls, if these let them. */
static void scene_begin(Scene *s) {
  *s = (Scene){.sand = scree_material_default("sand")};
  s->sand.radius_spread = 0.2;
  s->grains = scree_grains_default("sand", scree_shape_box((ScreeVec3){-0.25, -0.25, 0}, (ScreeVec3){0.25, 0.25, 0.2}));
  s->upsample = scree_upsample_default(FINE);
  s->walls[0] = scree_boundary_default(scree_shape_plane((ScreeVec3){0, 0, 0}, (ScreeVec3){0, 0, 1}));
  s->scene = scree_scene_default();
  s->scene.name = "walls";
  s->scene.method = scree_method_default("none");
  s->scene.method.radius = RADIUS;
  s->scene.materials = &s->sand, s->scene.material_count = 1;
  s->scene.grains = &s->grains, s->scene.grains_count = 1;
  s->scene.boundaries = s->walls, s->scene.boundary_count = 1;
  s->scene.bodies = s->bodies;
  s->scene.upsample = &s->upsample;
}

static ScreeShapeDef draw_shape(Random *random) {
  static const char *const meshes[] = {"excavator_bucket.obj", "bulldozer_blade.obj", "rock_1.obj", "squirrel.obj"};
  static const double scales[] = {0.7, 0.5, 1, 0.3};
  int kind = (int)draw(random, 0, 6);
  if (kind == 0) return scree_shape_sphere((ScreeVec3){0, 0, 0}, draw(random, 0.5 * FINE, 0.15));
  if (kind <= 2) { /* boxes, and thin plates */
    double x = draw(random, 0.02, 0.2), y = draw(random, 0.02, 0.2),
           z = kind == 1 ? draw(random, 0.02, 0.1) : draw(random, 0.1 * FINE, FINE);
    return scree_shape_box((ScreeVec3){-x, -y, -z}, (ScreeVec3){x, y, z});
  }
  int mesh = (int)draw(random, 0, 4);
  ScreeShapeDef shape = scree_shape_mesh_file(meshes[mesh]);
  shape.scale = scales[mesh];
  return shape;
}

static void add_wall(Scene *s, ScreeBoundaryDef wall) { s->walls[s->scene.boundary_count++] = wall; }

/* A tilted plane through the middle of the floor: two of them are a groove. */
static ScreeBoundaryDef slope(Random *random) {
  double tilt = draw(random, 0.2, 1.5), turn = draw(random, 0, 2 * M_PI);
  Vec3 normal = vec3(sin(tilt) * cos(turn), sin(tilt) * sin(turn), cos(tilt));
  return scree_boundary_default(
      scree_shape_plane((ScreeVec3){-0.3 * normal.x, -0.3 * normal.y, 0}, (ScreeVec3){normal.x, normal.y, normal.z}));
}

static void draw_solids(Scene *s, Random *random) {
  int walls = (int)draw(random, 0, 3), bodies = 1 + (int)draw(random, 0, 3);
  for (int k = 0; k < walls; k++) {
    ScreeBoundaryDef wall = draw(random, 0, 1) < 0.5 ? slope(random) : scree_boundary_default(draw_shape(random));
    if (wall.shape.kind != SCREE_SHAPE_PLANE) {
      wall.shape.position = draw_place(random, 0.2, 0, 0.2);
      wall.shape.rotation = draw_turn(random, M_PI);
    }
    add_wall(s, wall);
  }
  static const char *const names[SOLIDS] = {"a", "b", "c", "d", "e"};
  for (int k = 0; k < bodies; k++) {
    ScreeBodyDef *body = &s->bodies[s->scene.body_count++];
    *body = scree_body_default(names[k], draw_shape(random));
    body->motion = SCREE_MOTION_KEYFRAMES;
    double speed = exp(draw(random, log(0.1), log(20))), time = FRAMES / 60.0;
    ScreeVec3 from = draw_place(random, 0.2, 0.05, 0.3), way = draw_place(random, speed * time, -speed * time, 0);
    s->keys[k][0] = (ScreeKeyDef){.t = 0, .position = from, .rotation = {1, 0, 0, 0}};
    s->keys[k][1] = (ScreeKeyDef){.t = time,
                                  .position = {from.x + way.x, from.y + way.y, fmax(from.z + way.z, 0)},
                                  .rotation = draw_turn(random, fmin(speed, M_PI))};
    body->keys = s->keys[k], body->key_count = 2;
  }
}

static double depth_at(const ScreeWorld *world, Vec3 at, float radius) {
  float x = (float)at.x, y = (float)at.y, z = (float)at.z;
  return fine_touch(world, (ScreeParticles){.count = 1, .x = &x, .y = &y, .z = &z, .radius = &radius}, 0).depth;
}

/* Puts every fine grain where it is in no solid, with any velocity. */
static void scatter(ScreeWorld *world, Random *random, double wide, double high) {
  FineGrains *g = &world->upsample->grains;
  for (int64_t i = 0; i < g->count; i++) {
    ScreeVec3 at;
    int trial = 0;
    do at = draw_place(random, wide, 0, high);
    while (depth_at(world, vec3(at.x, at.y, at.z), g->radius[i]) > 0 && ++trial < TRIALS);
    if (trial == TRIALS) at = (ScreeVec3){draw(random, -wide, wide), draw(random, -wide, wide), 5};
    double speed = exp(draw(random, log(0.01), log(50)));
    ScreeVec3 v = draw_place(random, speed, -speed, speed);
    g->x[i] = (float)at.x, g->y[i] = (float)at.y, g->z[i] = (float)at.z;
    g->vx[i] = (float)v.x, g->vy[i] = (float)v.y, g->vz[i] = (float)v.z;
  }
  world->upsample->storage.unsorted = true;
}

/* Whether a grain has room within four of its radii. */
static bool has_room(const ScreeWorld *world, Random *random, Vec3 at, float radius) {
  for (int trial = 0; trial < TRIALS; trial++) {
    double wide = 4 * (double)radius;
    Vec3 place = vec3_add(at, vec3(draw(random, -wide, wide), draw(random, -wide, wide), draw(random, -wide, wide)));
    if (depth_at(world, place, radius) < 0) return true;
  }
  return false;
}

static void no_solid_holds_one_that_has_room(void **state) {
  (void)state;
  int64_t looked = 0, squeezed = 0, held = 0;
  double deepest = -1;
  static const uint64_t seeds[] = {11, 56, 107};
  for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
    Random random = {rng_bits(seeds[k], 0, 0, RNG_TEST)};
    Scene s;
    scene_begin(&s);
    s.grains.velocity = draw_place(&random, 3, -3, 1);
    draw_solids(&s, &random);
    ScreeWorld *world = fine_world(&s.scene);
    scatter(world, &random, 0.3, 0.4);
    for (int frame = 0; frame < FRAMES; frame++) {
      run_frames(world, 1);
      ScreeParticles p = scree_world_grains(world);
      for (int64_t i = 0; i < p.count; i++) {
        Vec3 at = vec3((double)p.x[i], (double)p.y[i], (double)p.z[i]);
        double depth = fine_touch(world, p, i).depth;
        looked++;
        if (depth <= 0.02) continue;
        squeezed++;
        if (!has_room(world, &random, at, p.radius[i])) continue;
        deepest = fmax(deepest, depth);
        held += depth > DEPTH_MAX;
        if (depth > DEPTH_MAX)
          print_message("seed %d frame %d: %u at %g %g %g is %.3f radii deep\n", (int)seeds[k], frame, p.id[i], at.x,
                        at.y, at.z, depth);
      }
    }
    scree_world_destroy(world);
  }
  print_message("%lld looks: %lld deeper than a fiftieth, of those that have room %.3f radii at most\n",
                (long long)looked, (long long)squeezed, deepest);
  assert_int_equal(held, 0);
}

/* Where sand is poured past a slope, the fine grains that it brings begin outside the walls. */
static void what_is_poured_begins_outside(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  add_wall(&s, scree_boundary_default(scree_shape_plane((ScreeVec3){-0.09, 0, 0.3}, (ScreeVec3){0.8, 0, 0.6})));
  ScreeEmitterDef emitter = scree_emitter_default("sand");
  emitter.shape.disc = (ScreeDiscDef){.center = {0, 0, 0.3}, .radius = 0.07, .direction = {0, 0, -1}};
  emitter.rate = 20;
  emitter.speed = 1;
  s.scene.emitters = &emitter, s.scene.emitter_count = 1;
  s.scene.grains_count = 0;
  ScreeWorld *world = fine_world(&s.scene);
  double deepest = -1;
  for (int frame = 0; frame < 20; frame++) {
    run_frames(world, 1);
    deepest = fmax(deepest, fine_deepest(world));
  }
  int64_t count = scree_world_grains(world).count;
  print_message("%lld poured, deepest %.4f radii\n", (long long)count, deepest);
  assert_true(count > 300 && deepest < DEPTH_MAX);
  assert_radii_spread(scree_world_grains(world), FINE, 0.2);
  scree_world_destroy(world);
}

/* Sand that hangs still over flat ground, which rises. */
static void ground_that_rises_lifts_them(void **state) {
  (void)state;
  Scene s;
  scene_begin(&s);
  ScreeTerrainDef ground = scree_terrain_default("sand");
  ground.origin = (ScreeVec2){-0.5, -0.5}, ground.size = (ScreeVec2){1, 1}, ground.height = 0.1;
  ground.base = -0.12;
  s.scene.terrain = &ground;
  s.scene.boundary_count = 0;
  s.scene.gravity = (ScreeVec3){0, 0, 0};
  ScreeWorld *world = fine_world(&s.scene);
  run_frames(world, 3);
  assert_true(world->upsample->storage.resting[0]);
  Shape *surface = &world->state.solids.items[world->state.terrain->solid].shape;
  Heightfield *field = surface->heights;
  for (int64_t k = 0; k < (int64_t)field->nx * field->ny; k++) field->heights[k] += 0.06;
  field->highest += 0.06;
  shape_bound_heights(surface);
  assert_true(fine_deepest(world) > 1);
  run_frames(world, 1);
  double deepest = fine_deepest(world);
  print_message("on ground that rose: deepest %.4f radii\n", deepest);
  assert_true(deepest < DEPTH_MAX);
  scree_world_destroy(world);
}

/* A plate, thinner than a grain and moving, cuts a room in two. Returns on which side of it a point is. */
static int side_of(const ScreeWorld *world, Vec3 at) {
  const Solid *plate = &world->state.solids.items[world->state.solids.count - 1];
  return solid_to_local(plate, vec3_add(world->state.origin, at)).x > 0;
}

static void scene_parted(Scene *s, Random *random) {
  scene_begin(s);
  s->walls[0] = scree_boundary_default(scree_shape_box((ScreeVec3){-0.3, -0.2, 0}, (ScreeVec3){0.3, 0.2, 0.3}));
  s->walls[0].inside = true;
  double thick = draw(random, 0.05 * FINE, FINE), speed = exp(draw(random, log(0.1), log(10))), time = FRAMES / 60.0;
  double from = draw(random, -0.1, 0.1),
         way = fmin(fmax(from + draw(random, -speed, speed) * time, -0.15), 0.15) - from;
  s->bodies[0] =
      scree_body_default("plate", scree_shape_box((ScreeVec3){-thick, -0.6, -0.6}, (ScreeVec3){thick, 0.6, 0.6}));
  s->bodies[0].motion = SCREE_MOTION_KEYFRAMES;
  ScreeQuat tilt = {1, 0, draw(random, -0.1, 0.1), 0};
  s->keys[0][0] = (ScreeKeyDef){.t = 0, .position = {from, 0, 0.15}, .rotation = {1, 0, 0, 0}};
  s->keys[0][1] = (ScreeKeyDef){.t = time, .position = {from + way, 0, 0.15}, .rotation = tilt};
  s->bodies[0].keys = s->keys[0], s->bodies[0].key_count = 2;
  s->scene.body_count = 1;
}

static void none_goes_through_a_thin_plate(void **state) {
  (void)state;
  int64_t looked = 0, crossed = 0, out = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    Random random = {rng_bits(seed, 1, 0, RNG_TEST)};
    Scene s;
    scene_parted(&s, &random);
    ScreeWorld *world = fine_world(&s.scene);
    FineGrains *g = &world->upsample->grains;
    scatter(world, &random, 0.3, 0.3);
    uint8_t *side = calloc(g->next_id, 1);
    assert_non_null(side);
    for (int64_t i = 0; i < g->count; i++)
      side[g->id[i]] = (uint8_t)side_of(world, vec3((double)g->x[i], (double)g->y[i], (double)g->z[i]));
    run_frames(world, FRAMES);
    for (int64_t i = 0; i < g->count; i++, looked++) {
      Vec3 at = vec3((double)g->x[i], (double)g->y[i], (double)g->z[i]);
      crossed += side_of(world, at) != side[g->id[i]];
      out += fine_touch(world, scree_world_grains(world), i).depth > DEPTH_MAX;
    }
    free(side);
    scree_world_destroy(world);
  }
  print_message("%lld grains: %lld went through, %lld are in a wall\n", (long long)looked, (long long)crossed,
                (long long)out);
  assert_int_equal(crossed, 0);
  assert_int_equal(out, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_solid_holds_one_that_has_room),
      cmocka_unit_test(none_goes_through_a_thin_plate),
      cmocka_unit_test(what_is_poured_begins_outside),
      cmocka_unit_test(ground_that_rises_lifts_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
