/* t = 0: grains from the fills, samples of the solids. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "sampling/radii.h"
#include "sampling/region.h"
#include "sampling/sampling.h"
#include "sampling/tile.h"
#include "world/world.h"

/* Bytes that a grain costs in all, generously: fields, lists, scratch; fine ones that are placed on a device, on the
 * host. The estimate refuses a scene that cannot fit before anything is sampled. */
enum { BYTES_PER_GRAIN = 400, BYTES_PER_FINE_GRAIN = 100, BYTES_PLACED_THERE = 16 };
enum { FILL_CHUNK = 4096 };

/* Solid fraction that a dense start has at most, where `grain_density` asks for more. */
#define DENSEST_START 0.62

/* Whether a fill reaches into solids is told by so many points, from this share of it on. */
enum { BURIED_TRIES = 1000 };
#define BURIED_SHARE 0.05

/* What a fill stays out of. */
typedef struct Surroundings {
  const ScreeWorld *world;
  int32_t fill;
  bool fills; /* the others too */
  bool fine;  /* fine grains: they meet the surface of a solid, never its samples */
} Surroundings;

/* The nearest solid, by its surface or by that of its samples; beyond `reach` as in shape_distance. */
static ShapePoint nearest_solid(const Solids *solids, Vec3 point, double radius, double reach, bool samples) {
  ShapePoint nearest = {.distance = reach, .normal = {0, 0, 1}};
  for (int32_t k = 0; k < solids->count; k++) {
    const Solid *solid = &solids->items[k];
    Vec3 local = solid_to_local(solid, point);
    double out = samples ? solid->sample_reach : 0;
    ShapePoint at = shape_distance(&solid->shape, local, reach + out);
    /* Cached distances are too small in inner edges of a mesh: there the mesh itself has the last word. */
    if (at.distance > 0 && at.distance < radius * OBSTACLE_TOUCH + out)
      at = shape_distance_sided(&solid->shape, local, reach + out, false);
    at.distance -= out;
    if (at.distance < nearest.distance)
      nearest = (ShapePoint){.distance = at.distance, .normal = quat_rotate(solid->rotation, at.normal)};
  }
  return nearest;
}

bool world_is_in_solid(const Solids *solids, Vec3 point, double radius) {
  return nearest_solid(solids, point, radius, radius, true).distance < radius * OBSTACLE_TOUCH;
}

static ShapePoint fill_distance(const ScreeWorld *world, int32_t fill, Vec3 point, double reach) {
  const ScreeShapeDef *pose = &world->definition.scene.grains[fill].fill;
  Quat rotation = quat_normalize(pose->rotation);
  ShapePoint at = shape_distance(&world->fills[fill],
                                 quat_rotate(quat_conjugate(rotation), vec3_sub(point, pose->position)), reach);
  return (ShapePoint){.distance = at.distance, .normal = quat_rotate(rotation, at.normal)};
}

/* Fills stay out of walls and bodies. What stands out of its own stays out of the others. */
static ShapePoint find_obstacle(void *context, Vec3 point, double radius, double reach) {
  const Surroundings *around = context;
  const ScreeWorld *world = around->world;
  ShapePoint nearest = nearest_solid(&world->state.solids, point, radius, reach, !around->fine);
  for (int32_t k = 0; around->fills && k < world->definition.scene.grains_count; k++) {
    if (k == around->fill) continue;
    ShapePoint at = fill_distance(world, k, point, reach);
    if (at.distance >= nearest.distance) continue;
    if (at.distance < radius && fill_distance(world, around->fill, point, 2 * radius).distance <= -radius)
      at.distance = radius; /* the two fills overlap: touched, never entered */
    if (at.distance < nearest.distance) nearest = at;
  }
  return nearest;
}

double world_particle_mass(const State *state, const ScreeMaterialDef *material, double radius) {
  if (state->parcels) return parcel_volume(radius) * material->density;
  return 4.0 / 3 * M_PI * radius * radius * radius * material->grain_density;
}

/* Render points lie in the particles: fills make none. */
static bool has_points(const ScreeWorld *world) {
  const ScreeUpsampleDef *upsample = world->definition.scene.upsample;
  return upsample && upsample->mode == SCREE_UPSAMPLE_POINTS;
}

/* Fine grains come into being on a device. */
static bool places_there(const ScreeWorld *world) { return world->upsample && upsample_places_there(world->upsample); }

/* `needed`: bytes of the fills before it; those of this one are added. */
static Status check_fill(ScreeWorld *world, const ScreeGrainsDef *grains, const Shape *shape, double *needed) {
  if (!(shape->mass.volume > 0))
    return world_fail_at(world, SCREE_BAD_INPUT, grains->source,
                         "the fill encloses nothing: no grain can be put into it");
  double radius = world->state.radius;
  double most = 0.4 * shape->mass.volume / (4.0 / 3 * M_PI * radius * radius * radius);
  if (grains->start == SCREE_START_DENSE) most *= 1.6;
  if (world->state.parcels) most = shape->mass.volume / parcel_volume(radius);
  double bytes = most * BYTES_PER_GRAIN;
  const ScreeUpsampleDef *upsample = world->definition.scene.upsample;
  double ratio = upsample ? radius / upsample->radius : 0;
  double fine = !upsample ? 0 : has_points(world) ? (double)upsample->points : ratio * ratio * ratio;
  bytes += most * fine * (places_there(world) ? BYTES_PLACED_THERE : BYTES_PER_FINE_GRAIN);
  double left = (double)memory_left(&world->core.memory);
  *needed += bytes;
  if (*needed <= left) return SCREE_OK;
  if (bytes < *needed)
    return world_fail_at(
        world, SCREE_BAD_INPUT, grains->source,
        "about %.3g grains of radius %g m would need %.3g GB with the fills before them, and %.3g GB are "
        "free",
        most, radius, *needed / 1e9, left / 1e9);
  return world_fail_at(world, SCREE_BAD_INPUT, grains->source,
                       "about %.3g grains of radius %g m would need %.3g GB, and %.3g GB are free", most, radius,
                       bytes / 1e9, left / 1e9);
}

/* All fills together, before the first is made. */
static Status check_fills(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  double needed = 0;
  for (int32_t k = 0; k < scene->grains_count; k++)
    TRY(check_fill(world, &scene->grains[k], &world->fills[k], &needed));
  return SCREE_OK;
}

typedef struct Addition {
  State *state;
  const ScreeGrainsDef *grains;
  const Samples *samples;
  int64_t first;
  int32_t material;
} Addition;

static void add_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Addition *addition = context;
  const ScreeGrainsDef *grains = addition->grains;
  const Samples *samples = addition->samples;
  const State *state = addition->state;
  Particles *p = &addition->state->particles;
  const ScreeMaterialDef *stuff = &state->materials.items[addition->material].definition;
  for (int64_t k = b; k < e; k++) {
    int64_t i = addition->first + k;
    double at[3] = {samples->origin.x - state->origin.x + (double)samples->x[k],
                    samples->origin.y - state->origin.y + (double)samples->y[k],
                    samples->origin.z - state->origin.z + (double)samples->z[k]};
    p->x[i] = (float)at[0];
    p->y[i] = (float)at[1];
    p->z[i] = (float)at[2];
    p->low_x[i] = (float)(at[0] - (double)p->x[i]);
    p->low_y[i] = (float)(at[1] - (double)p->y[i]);
    p->low_z[i] = (float)(at[2] - (double)p->z[i]);
    p->vx[i] = (float)grains->velocity.x;
    p->vy[i] = (float)grains->velocity.y;
    p->vz[i] = (float)grains->velocity.z;
    double radius = samples->radius ? (double)samples->radius[k] : state->radius;
    p->radius[i] = (float)radius;
    p->mass[i] = (float)world_particle_mass(state, stuff, radius);
    p->material[i] = (uint8_t)addition->material;
  }
}

static Status add_samples(ScreeWorld *world, const ScreeGrainsDef *grains, int32_t material, const Samples *samples) {
  Addition addition = {&world->state, grains, samples, world->state.particles.count, material};
  TRY(particles_append(&world->core, &world->state.particles, samples->count));
  parallel_for(&world->core, 0, samples->count, FILL_CHUNK, add_chunk, &addition);
  return SCREE_OK;
}

/* Spheres of a radius in a fill, free of walls and bodies. */
static Status sample_fill(ScreeWorld *world, int32_t index, const Shape *shape, bool fine, uint64_t seed, Tiles *tiles,
                          Samples *samples) {
  State *state = &world->state;
  const ScreeGrainsDef *grains = &world->definition.scene.grains[index];
  const ScreeMaterialDef *stuff =
      &state->materials.items[materials_find(&state->materials, grains->material)].definition;
  bool parcels = state->parcels && !fine; /* fine grains are grains whatever the method moves */
  double radius = fine ? world->definition.scene.upsample->radius : state->radius;
  bool dense = grains->start == SCREE_START_DENSE, weighed = dense && !fine && !parcels;
  Surroundings around = {world, index, weighed && world->definition.scene.grains_count > 1, fine};
  SamplingPlan plan = {.radius = radius,
                       .spread = stuff->radius_spread,
                       .distribution = stuff->radius_distribution,
                       .seed = seed,
                       .dense = dense,
                       .fraction = weighed ? fmin(stuff->density / stuff->grain_density, DENSEST_START) : 0,
                       .tiles = tiles,
                       .in_blocks = fine,
                       .position = grains->fill.position,
                       .rotation = grains->fill.rotation,
                       .obstacle = state->solids.count > 0 || around.fills ? find_obstacle : NULL,
                       .obstacle_context = &around};
  if (parcels) TRY(sample_lattice(&world->core, shape, &plan, (double)world_needs(world).parcel_jitter, samples));
  else TRY(sample_volume(&world->core, shape, &plan, samples));
  if (samples->count == 0)
    log_warning_at(&world->core, world->definition.scene.file, grains->source,
                   "no grain of radius %g m fits into this fill", radius);
  log_line(&world->core, SCREE_LOG_INFO, "fill %d: %lld %s of radius %g m, %s fraction %.3f", index + 1,
           (long long)samples->count, parcels ? "parcels" : "grains", radius, parcels ? "bulk" : "solid",
           samples->fraction);
  return SCREE_OK;
}

/* The k-th point tried in the box round a fill, in the world; false: it is not in the fill. */
static bool try_point(const ScreeGrainsDef *grains, const Shape *shape, uint64_t k, Vec3 *point) {
  double share[3];
  for (uint64_t a = 0; a < 3; a++) share[a] = rng_unit(rng_bits(0, k, a, RNG_VOLUME_SAMPLE));
  Vec3 size = vec3_sub(shape->bounds_high, shape->bounds_low);
  Vec3 local = vec3_add(shape->bounds_low, vec3(share[0] * size.x, share[1] * size.y, share[2] * size.z));
  if (!shape_contains(shape, local)) return false;
  *point = vec3_add(grains->fill.position, quat_rotate(quat_normalize(grains->fill.rotation), local));
  return true;
}

/* Tells of a fill that reaches into one before it: sand is put there twice. */
static void say_shared(ScreeWorld *world, int32_t index) {
  const ScreeGrainsDef *grains = &world->definition.scene.grains[index];
  const Shape *shape = &world->fills[index];
  double radius = world->state.radius;
  int in_fill = 0, shared = 0;
  for (uint64_t k = 0; k < BURIED_TRIES && index > 0; k++) {
    Vec3 point;
    if (!try_point(grains, shape, k, &point)) continue;
    int32_t other = 0;
    while (other < index && fill_distance(world, other, point, radius).distance >= 0) other++;
    in_fill++;
    shared += other < index;
  }
  if (shared > BURIED_SHARE * in_fill)
    log_warning_at(&world->core, world->definition.scene.file, grains->source,
                   "about %.0f %% of this fill lies inside those before it: sand is put there twice",
                   100.0 * shared / in_fill);
}

/* Tells of a fill that reaches into a solid: its grains are left out there. Points of the fill that lie deeper than a
 * radius count; a fill that merely stands on a floor has none. */
static void say_buried(ScreeWorld *world, const ScreeGrainsDef *grains, const Shape *shape) {
  const Solids *solids = &world->state.solids;
  double radius = world->state.radius;
  int in_fill = 0, in_solids = 0, in_first = 0, first = -1;
  for (uint64_t k = 0; k < BURIED_TRIES && solids->count > 0; k++) {
    Vec3 point;
    if (!try_point(grains, shape, k, &point)) continue;
    int32_t in = 0;
    while (in < solids->count &&
           shape_distance(&solids->items[in].shape, solid_to_local(&solids->items[in], point), 2 * radius).distance >
               -radius)
      in++;
    in_fill++;
    if (in == solids->count) continue;
    in_solids++;
    if (first < 0) first = in;
    in_first += in == first;
  }
  if (in_solids <= BURIED_SHARE * in_fill) return;
  log_warning_at(&world->core, world->definition.scene.file, grains->source,
                 "about %.0f %% of this fill lies inside '%s'%s: no grains are put there", 100.0 * in_solids / in_fill,
                 solids->items[first].name, in_first < in_solids ? " and others" : "");
}

static Status fill_one(ScreeWorld *world, int32_t index, Tiles *tiles) {
  Core *core = &world->core;
  State *state = &world->state;
  const ScreeGrainsDef *grains = &world->definition.scene.grains[index];
  int32_t material = materials_find(&state->materials, grains->material);
  uint64_t seed = rng_mix(state->seed + (uint64_t)index);
  Shape *shape = &world->fills[index];
  Samples samples = {0};
  int32_t fills = world->definition.scene.grains_count;
  say_buried(world, grains, shape);
  say_shared(world, index);
  progress_part(core, "placing grains", index, fills);
  Status status = sample_fill(world, index, shape, false, seed, tiles, &samples);
  if (status == SCREE_OK) status = add_samples(world, grains, material, &samples);
  samples_destroy(core, &samples);
  if (status == SCREE_OK && world->upsample && !has_points(world)) {
    progress_part(core, "placing fine grains", index, fills);
    status = sample_fill(world, index, shape, true, rng_mix(seed), tiles, &samples);
    if (status == SCREE_OK) status = upsample_add(core, world->upsample, state, &samples, material, grains->velocity);
    samples_destroy(core, &samples);
  }
  return status;
}

Status world_check_fills(ScreeWorld *world) {
  const ScreeSceneDef *scene = &world->definition.scene;
  TRY(check_fills(world));
  for (int32_t k = 0; k < scene->grains_count; k++) {
    say_buried(world, &scene->grains[k], &world->fills[k]);
    say_shared(world, k);
  }
  return SCREE_OK;
}

Status world_fill(ScreeWorld *world) {
  TRY(check_fills(world));
  Tiles tiles = {0};
  Status status = SCREE_OK;
  for (int32_t k = 0; k < world->definition.scene.grains_count && status == SCREE_OK; k++)
    status = fill_one(world, k, &tiles);
  tiles_destroy(&world->core, &tiles);
  TRY(status);
  for (int32_t k = 0; k < world->definition.scene.grains_count; k++)
    world->tally.speed = fmax(world->tally.speed, vec3_length(world->definition.scene.grains[k].velocity));
  if (world->upsample) progress_stage(&world->core, "placing fine grains", 1, 1);
  if (world->upsample) TRY(upsample_begin(&world->core, world->upsample, &world->state, &world->scratch));
  world->tally.mass_initial = world_mass(world);
  return SCREE_OK;
}

static Status append_samples(ScreeWorld *world, int32_t index, const Samples *from) {
  Core *core = &world->core;
  SolidSamples *s = &world->state.samples;
  Solid *solid = &world->state.solids.items[index];
  int64_t total = s->count + from->count;
  float **arrays[] = {&s->x, &s->y, &s->z, &s->vx, &s->vy, &s->vz, &s->local_x, &s->local_y, &s->local_z, &s->mass};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) TRY(memory_grow(core, arrays[a], total, "solid samples"));
  TRY(memory_grow(core, &s->id, total, "solid samples"));
  TRY(memory_grow(core, &s->solid, total, "solid samples"));
  solid->sample_begin = s->count;
  solid->sample_end = total;
  for (int64_t k = 0; k < from->count; k++) {
    int64_t to = s->count + k;
    s->local_x[to] = (float)(from->origin.x + (double)from->x[k]);
    s->local_y[to] = (float)(from->origin.y + (double)from->y[k]);
    s->local_z[to] = (float)(from->origin.z + (double)from->z[k]);
    s->mass[to] = from->count > 0 ? (float)(solid->mass / (double)from->count) : 0;
    s->id[to] = (uint32_t)to + 1;
    s->solid[to] = index;
  }
  s->count = total;
  return SCREE_OK;
}

/* Parcels see the next layer of parcels where a wall begins: one radius below its surface. */
static void sink_samples(const Shape *shape, double radius, Samples *samples) {
  for (int64_t k = 0; k < samples->count; k++) {
    Vec3 at = vec3_add(samples->origin, vec3((double)samples->x[k], (double)samples->y[k], (double)samples->z[k]));
    Vec3 normal = shape_distance(shape, at, radius).normal;
    samples->x[k] -= (float)(radius * normal.x);
    samples->y[k] -= (float)(radius * normal.y);
    samples->z[k] -= (float)(radius * normal.z);
  }
}

/* Walls are sampled on their surface, at most one radius apart so that nothing leaks; bodies in their volume, as far
 * apart as grains, since each sample carries its share of the mass. Methods of parcels sum over a boundary instead of
 * touching it and want the surface of bodies too. */
static Status sample_solid(ScreeWorld *world, int32_t index) {
  Core *core = &world->core;
  Solid *solid = &world->state.solids.items[index];
  double radius = world->state.radius;
  SamplingPlan plan = {
      .radius = radius, .seed = rng_mix(world->state.seed ^ (uint64_t)(index + 1)), .rotation = quat_identity()};
  Samples samples = {0};
  Status status = SCREE_OK;
  if (solid->motion == MOTION_FREE && !world->state.parcels)
    status = sample_volume(core, &solid->shape, &plan, &samples);
  solid->sample_reach = 0;
  if (status == SCREE_OK && samples.count == 0) {
    if (!world->state.parcels) solid->sample_reach = radius; /* centres lie on the surface */
    status = shape_make_surface(core, &solid->shape, 0);
    if (status == SCREE_OK) status = sample_surface(core, &solid->shape, radius, &plan, &samples);
  }
  if (status == SCREE_OK && world->state.parcels) sink_samples(&solid->shape, radius, &samples);
  if (status == SCREE_OK) status = append_samples(world, index, &samples);
  samples_destroy(core, &samples);
  return status;
}

Status world_sample_solids(ScreeWorld *world, int32_t first) {
  State *state = &world->state;
  state->samples.radius = (float)state->radius;
  for (int32_t k = first; k < state->solids.count; k++) {
    Solid *solid = &state->solids.items[k];
    if (solid->contact != SCREE_CONTACT_SAMPLES) continue;
    if (solid->shape.kind == SCREE_SHAPE_HEIGHTFIELD) continue; /* its surface changes: always by distance */
    if (solid->shape.kind == SCREE_SHAPE_PLANE) {
      log_warning_at(&world->core, world->definition.scene.file, solid->source,
                     "a plane has no end and is not sampled; its distance is used");
      continue;
    }
    progress_part(&world->core, "sampling solids", k - first, state->solids.count - first);
    TRY(sample_solid(world, k));
  }
  return SCREE_OK;
}
