/* What hands do on the page: tools that dig, pouring, explosions, bodies that are dropped, and pointing at the sand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/web/web.h"

static const double PI = 3.14159265358979323846;
/* A tool goes at most so many of its sizes a second, gains so many of them a second, and turns so fast: a pointer
 * jumps, sand should not be hit so. A tool that took up its speed at once would show the force of that blow. */
static const double SPEED = 5, GAIN = 40, TURN = 6;
static const double JUMP = 2.5; /* sizes: farther than this it is lifted over the sand */

static ScreeVec3 plus(ScreeVec3 a, ScreeVec3 b, double s) {
  return (ScreeVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static double length(ScreeVec3 a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }

/* ---- shapes: the tip is the origin, the tool faces along x ---- */

enum { PARTS_MOST = 12 };

/* Boxes, each turned about y through its own tip, as one mesh. */
typedef struct Parts {
  double vertices[PARTS_MOST * 8 * 3];
  int64_t triangles[PARTS_MOST * 12 * 3];
  int64_t count;
} Parts;

static void part_add(Parts *parts, ScreeVec3 low, ScreeVec3 high, double tilt) {
  static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  double *v = parts->vertices + parts->count * 24;
  int64_t *t = parts->triangles + parts->count * 36;
  for (int k = 0; k < 8; k++) {
    double x = k & 1 ? high.x : low.x, y = k & 2 ? high.y : low.y, z = (k & 4 ? high.z : low.z) - low.z;
    *v++ = x * cos(tilt) + z * sin(tilt);
    *v++ = y;
    *v++ = low.z + z * cos(tilt) - x * sin(tilt);
  }
  for (int k = 0; k < 12; k++)
    for (int c = 0; c < 3; c++) *t++ = parts->count * 8 + faces[k][c];
  parts->count++;
}

static ScreeShapeDef tool_shape(int tool, double size, Parts *parts) {
  double r = 2 * scree_world_definition(web.world)->method.radius;
  double thick = fmax(0.1 * size, r); /* nothing passes through it between two steps */
  *parts = (Parts){.count = 0};
  if (tool == TOOL_BALL) return scree_shape_sphere((ScreeVec3){0, 0, 0.5 * size}, 0.5 * size);
  if (tool == TOOL_BLADE)
    return scree_shape_box((ScreeVec3){-0.5 * thick, -0.6 * size, 0}, (ScreeVec3){0.5 * thick, 0.6 * size, 0.9 * size});
  if (tool == TOOL_RAKE) {
    /* Gaps let grains through: as many prongs as leave room for two grains between them. */
    double wide = 1.3 * size, step = fmax(thick + 3 * r, wide / 6);
    int prongs = (int)(wide / step) + 1;
    if (prongs > PARTS_MOST - 1) prongs = PARTS_MOST - 1;
    if (prongs < 2) prongs = 2;
    for (int k = 0; k < prongs; k++) {
      double y = (k - 0.5 * (prongs - 1)) * step;
      part_add(parts, (ScreeVec3){-0.5 * thick, y - 0.5 * thick, 0},
               (ScreeVec3){0.5 * thick, y + 0.5 * thick, 0.7 * size}, -0.15);
    }
    double half = 0.5 * (prongs - 1) * step + thick;
    part_add(parts, (ScreeVec3){-0.6 * thick - 0.1 * size, -half, 0.68 * size},
             (ScreeVec3){0.6 * thick - 0.1 * size, half, 0.68 * size + 1.2 * thick}, 0);
  } else { /* a hand: a palm, and fingers bent forward */
    double finger = 0.24 * size;
    part_add(parts, (ScreeVec3){-0.5 * thick, -0.5 * size, 0.4 * size}, (ScreeVec3){0.5 * thick, 0.5 * size, size},
             -0.2);
    for (int k = 0; k < 4; k++) {
      double y = (k - 1.5) * 0.26 * size;
      part_add(parts, (ScreeVec3){0.02 * size, y - 0.5 * finger, 0},
               (ScreeVec3){0.02 * size + thick, y + 0.5 * finger, 0.5 * size}, -0.45);
    }
  }
  ScreeShapeDef shape = scree_shape_default(SCREE_SHAPE_MESH);
  shape.mesh = (ScreeMeshDef){.vertices = parts->vertices,
                              .triangles = parts->triangles,
                              .vertex_count = parts->count * 8,
                              .triangle_count = parts->count * 12};
  return shape;
}

/* ---- tools in the world ---- */

void tools_forget(void) {
  memset(web.tools, 0, sizeof web.tools);
  web.digging = false;
  web.emitter = 0;
  web.dropped = 0;
}

static double higher(double top, const ScreeVec3 *at, double x, double y, double z) {
  double far = hypot(x - at->x, y - at->y);
  return far < 0.9 * web.tool_size ? fmax(top, z) : top;
}

/* Above the sand that a tool there could touch: where it waits until it is wanted, and whence it comes. */
static double aloft(ScreeVec3 at) {
  ScreeParticles p = scree_world_particles(web.world);
  ScreeMeshView ground = scree_world_terrain(web.world);
  ScreeVec3 local = plus(at, p.origin, -1);
  double top = web.low.z - p.origin.z;
  for (int64_t i = 0; i < p.count; i++) top = higher(top, &local, (double)p.x[i], (double)p.y[i], (double)p.z[i]);
  for (int64_t v = 0; v < ground.vertex_count; v++) {
    const float *c = ground.vertices + 3 * v;
    top = higher(top, &local, (double)c[0], (double)c[1], (double)c[2]);
  }
  return p.origin.z + top + 0.35 * web.tool_size;
}

static ScreePose pose_of(const WebToolBody *tool) {
  return (ScreePose){.position = tool->at, .rotation = {cos(tool->yaw / 2), 0, 0, sin(tool->yaw / 2)}};
}

static ScreeStatus bring(int tool, ScreeVec3 at, ScreeError *error) {
  static const char *const words[] = {
#define TOOL_WORD(constant, word) "tool_" word,
      WEB_TOOLS(TOOL_WORD)
#undef TOOL_WORD
  };
  WebToolBody *own = &web.tools[tool];
  Parts parts;
  ScreeShapeDef shape = tool_shape(tool, web.tool_size, &parts);
  own->at = at;
  shape.position = at;
  ScreeBodyDef body = scree_body_default(words[tool], shape);
  body.motion = SCREE_MOTION_FIXED;
  return scree_world_add_body(web.world, &body, &own->body, error);
}

int web_tool(int tool, double size) {
  if (tool < -1 || tool >= TOOL_COUNT) return SCREE_BAD_ARGUMENT;
  web.tool = tool;
  /* Bodies keep their shape: another size counts for tools that are still to come. */
  if (size > 0) web.tool_size = size;
  web.digging = false;
  return SCREE_OK;
}

void web_tool_to(double x, double y, double z, int digging) {
  web.goal = (ScreeVec3){x, y, z};
  web.digging = digging;
}

/* Turns towards where it goes, the shorter way round; a blade pushes with either side. */
static double turned(int tool, double yaw, ScreeVec3 way, double most) {
  if (way.x * way.x + way.y * way.y < 1e-12) return yaw;
  double off = remainder(atan2(way.y, way.x) - yaw, tool == TOOL_BLADE ? PI : 2 * PI);
  return yaw + fmax(-most, fmin(most, off));
}

static ScreeStatus move_one(int tool, double seconds, ScreeError *error) {
  WebToolBody *own = &web.tools[tool];
  ScreeVec3 goal = web.goal;
  bool here = tool == web.tool;
  /* Up first, then over the sand, then down: a tool that is not digging touches nothing. */
  if (!here) goal = (ScreeVec3){own->at.x, own->at.y, web.high.z + 10 * web.tool_size}; /* out of the way */
  else if (!web.digging) goal = (ScreeVec3){own->at.x, own->at.y, fmax(own->at.z, aloft(own->at))};
  double far = hypot(goal.x - own->at.x, goal.y - own->at.y);
  ScreeVec3 way = plus(goal, own->at, -1);
  if (far > JUMP * web.tool_size) {
    way.z = aloft(own->at) - own->at.z;
    if (way.z > 0.05 * web.tool_size) way.x = way.y = 0;
    else way.z = 0;
  }
  double distance = length(way);
  if (distance < 1e-9 && length(own->velocity) < 1e-9) return SCREE_OK;
  own->yaw = turned(tool, own->yaw, way, TURN * seconds);
  /* As fast as it can still stop there. */
  double gain = GAIN * web.tool_size, fast = fmin(SPEED * web.tool_size, sqrt(gain * distance));
  ScreeVec3 wanted = plus((ScreeVec3){0, 0, 0}, way, fmin(fast / fmax(distance, 1e-9), 1 / seconds));
  ScreeVec3 change = plus(wanted, own->velocity, -1);
  own->velocity = plus(own->velocity, change, fmin(1, gain * seconds / fmax(length(change), 1e-9)));
  own->at = plus(own->at, own->velocity, seconds);
  return scree_world_set_pose(web.world, own->body, pose_of(own), error);
}

ScreeStatus tools_move(double seconds, ScreeError *error) {
  ScreeStatus status = SCREE_OK;
  if (web.tool >= 0 && web.digging && !web.tools[web.tool].body) {
    ScreeVec3 above = {web.goal.x, web.goal.y, aloft(web.goal)};
    status = bring(web.tool, above, error);
  }
  for (int tool = 0; tool < TOOL_COUNT && status == SCREE_OK; tool++)
    if (web.tools[tool].body) status = move_one(tool, seconds, error);
  return status;
}

void tools_hide(SceneFrame *frame) {
  for (int32_t s = 0; s < frame->frame.solid_count; s++)
    for (int tool = 0; tool < TOOL_COUNT; tool++)
      if (web.tools[tool].body && frame->solid_bodies[s] == web.tools[tool].body)
        frame->solids[s].hidden = tool != web.tool;
}

/* ---- other things to do ---- */

int web_pour(double x, double y, double z, double rate, int material) {
  const ScreeSceneDef *def = web.world ? scree_world_definition(web.world) : NULL;
  if (!def || material < 0 || material >= def->material_count) return SCREE_BAD_ARGUMENT;
  ScreeEmitterDef emitter = scree_emitter_default(def->materials[material].name);
  emitter.shape = scree_shape_default(SCREE_SHAPE_DISC);
  emitter.shape.disc = (ScreeDiscDef){
      .center = {x, y, z}, .radius = fmax(0.35 * web.tool_size, 4 * def->method.radius), .direction = {0, 0, -1}};
  emitter.rate = rate;
  emitter.speed = sqrt(2 * 9.81 * 0.3 * web.tool_size);
  if (web.emitter) return web_done(scree_world_set_emitter(web.world, web.emitter, &emitter, &web.error));
  return rate > 0 ? web_done(scree_world_add_emitter(web.world, &emitter, &web.emitter, &web.error)) : SCREE_OK;
}

int web_blast(double x, double y, double z, double radius, double speed) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  return web_done(scree_world_impulse(web.world, (ScreeVec3){x, y, z}, radius, speed, &web.error));
}

int web_drop(int object, double x, double y, double z, double size, double density) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  double half = 0.5 * size;
  ScreeShapeDef shape = scree_shape_sphere((ScreeVec3){0, 0, 0}, half);
  if (object == 1) {
    shape = scree_shape_box((ScreeVec3){-half, -half, -half}, (ScreeVec3){half, half, half});
    shape.rotation = (ScreeQuat){0.88, 0.32, 0.21, 0.28}; /* corner first */
  } else if (object == 2) {
    shape = scree_shape_default(SCREE_SHAPE_CYLINDER);
    shape.cylinder = (ScreeCylinderDef){.base = {0, 0, -half}, .radius = 0.6 * half, .height = 2 * half};
    shape.rotation = (ScreeQuat){0.75, 0.6, 0.28, 0};
  }
  shape.position = (ScreeVec3){x, y, z};
  char name[32];
  snprintf(name, sizeof name, "dropped_%d", ++web.dropped);
  ScreeBodyDef body = scree_body_default(name, shape);
  body.density = density;
  ScreeBodyId made;
  return web_done(scree_world_add_body(web.world, &body, &made, &web.error));
}

/* ---- pointing ---- */

static ScreeVec3 found;

double web_at_x(void) { return found.x; }
double web_at_y(void) { return found.y; }
double web_at_z(void) { return found.z; }

static ScreeVec3 ray_through(double x, double y) {
  return camera_ray(&web.camera, (double)web.settings.width / fmax(1, web.settings.height), x, y);
}

/* How far along the ray the grains are met first. */
static double meet_grains(ScreeVec3 ray) {
  ScreeParticles g = scree_world_particles(web.world);
  ScreeVec3 from = plus(web.camera.eye, g.origin, -1);
  double nearest = INFINITY;
  for (int64_t i = 0; i < g.count; i++) {
    double px = (double)g.x[i] - from.x, py = (double)g.y[i] - from.y, pz = (double)g.z[i] - from.z;
    double along = px * ray.x + py * ray.y + pz * ray.z;
    double off2 = px * px + py * py + pz * pz - along * along, r = 1.5 * (double)g.radius[i];
    if (along > 0 && along < nearest && off2 < r * r) nearest = along;
  }
  return nearest;
}

static double meet_triangle(ScreeVec3 from, ScreeVec3 ray, const float *a, const float *b, const float *c) {
  double u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) u[k] = (double)b[k] - (double)a[k], v[k] = (double)c[k] - (double)a[k];
  w[0] = from.x - (double)a[0], w[1] = from.y - (double)a[1], w[2] = from.z - (double)a[2];
  double px = ray.y * v[2] - ray.z * v[1], py = ray.z * v[0] - ray.x * v[2], pz = ray.x * v[1] - ray.y * v[0];
  double det = u[0] * px + u[1] * py + u[2] * pz;
  if (fabs(det) < 1e-15) return INFINITY;
  double s = (w[0] * px + w[1] * py + w[2] * pz) / det;
  double qx = w[1] * u[2] - w[2] * u[1], qy = w[2] * u[0] - w[0] * u[2], qz = w[0] * u[1] - w[1] * u[0];
  double t = (ray.x * qx + ray.y * qy + ray.z * qz) / det, along = (v[0] * qx + v[1] * qy + v[2] * qz) / det;
  return s >= 0 && t >= 0 && s + t <= 1 && along > 0 ? along : INFINITY;
}

static double meet_terrain(ScreeVec3 ray) {
  ScreeMeshView ground = scree_world_terrain(web.world);
  ScreeVec3 from = plus(web.camera.eye, scree_world_particles(web.world).origin, -1);
  double nearest = INFINITY;
  for (int64_t k = 0; k < ground.triangle_count; k++) {
    const uint32_t *t = ground.triangles + 3 * k;
    nearest = fmin(nearest, meet_triangle(from, ray, ground.vertices + 3 * t[0], ground.vertices + 3 * t[1],
                                          ground.vertices + 3 * t[2]));
  }
  return nearest;
}

int web_pick(double x, double y) {
  if (!web.world) return 0;
  ScreeVec3 ray = ray_through(x, y);
  double along = fmin(meet_grains(ray), meet_terrain(ray));
  if (isfinite(along)) found = plus(web.camera.eye, ray, along);
  return isfinite(along) || web_pick_level(x, y, web.low.z);
}

int web_pick_level(double x, double y, double z) {
  if (!web.world) return 0;
  ScreeVec3 ray = ray_through(x, y), eye = web.camera.eye;
  double along = fabs(ray.z) > 1e-9 ? (z - eye.z) / ray.z : -1;
  if (!(along > 0) || along > 20 * camera_distance(&web.camera)) return 0;
  found = plus(eye, ray, along);
  return 1;
}
