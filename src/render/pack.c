/* Grains as they are uploaded: position, radius and colour in 20 bytes. */
#include "render/internal.h"

enum { PACK_CHUNK = 16384 };

typedef struct PackBounds {
  float low[3], high[3], largest;
  double radius_sum, sum[3], squares[3];
  int64_t drawable;
} PackBounds;

typedef struct PackContext {
  Renderer *renderer;
  PackBounds *chunks;
} PackContext;

/* A well mixed number of the grain, the same in every frame. */
static uint32_t pack_noise(uint32_t id) {
  uint32_t h = id * 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

static uint8_t pack_byte(float v) { return (uint8_t)(v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5f); }

/* Sand is a mixture: most grains differ a little in brightness and warmth, some are washed out like quartz, some are
 * brown, a few are dark ore. */
static void pack_material_color(const float base[3], uint32_t noise, uint8_t rgb[3]) {
  float bright = 0.82f + 0.30f * (float)(noise & 255) / 255.f;
  float warm = ((float)((noise >> 8) & 255) / 255.f - 0.5f) * 0.12f;
  uint32_t sort = (noise >> 16) & 255;
  float grey = (base[0] + base[1] + base[2]) / 3, pale = 0.08f;
  if (sort < 8) bright *= 0.58f, pale = 0.4f;
  else if (sort < 44) bright *= 0.86f, warm += 0.10f;
  else if (sort > 216) bright *= 1.07f, pale = 0.5f;
  float color[3] = {base[0] * (1 + warm), base[1], base[2] * (1 - 1.5f * warm)};
  float washed[3] = {grey * 1.24f, grey * 1.1f, grey * 0.96f};
  for (int k = 0; k < 3; k++) rgb[k] = pack_byte(bright * (color[k] + (washed[k] - color[k]) * pale));
}

static void pack_id_color(uint32_t noise, uint8_t rgb[3]) {
  float hue = (float)(noise & 1023) / 1024.f * 6;
  float value = 0.65f + 0.35f * (float)((noise >> 10) & 255) / 255.f;
  float saturation = 0.45f + 0.35f * (float)((noise >> 18) & 255) / 255.f;
  for (int k = 0; k < 3; k++) {
    float at = fmodf(hue + 4.f - 2.f * (float)k, 6);
    float level = fabsf(at - 3) - 1;
    level = level < 0 ? 0 : level > 1 ? 1 : level;
    rgb[k] = pack_byte(value * (1 - saturation * (1 - level)));
  }
}

static void pack_color(const Renderer *renderer, int64_t i, uint32_t noise, uint8_t rgb[3]) {
  const RenderFrame *frame = renderer->frame;
  static const float plain[3] = {0.85f, 0.70f, 0.45f};
  RenderColor mode = renderer->settings.color;
  if (mode == RENDER_COLOR_MATERIAL) {
    int32_t material = frame->grains.material ? frame->grains.material[i] : 0;
    pack_material_color(material < frame->material_count ? frame->materials[material].color : plain, noise, rgb);
  } else if (mode == RENDER_COLOR_ID) {
    pack_id_color(noise, rgb);
  } else {
    double span = renderer->legend.high - renderer->legend.low;
    scale_map(span > 0 ? (renderer->values[i] - renderer->legend.low) / span : 0.5, rgb);
  }
}

static void pack_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  PackContext *pack = context;
  const ScreeParticles *grains = &pack->renderer->frame->grains;
  PackBounds bounds = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
  for (int64_t i = b; i < e; i++) {
    GrainVertex *vertex = &pack->renderer->packed[i];
    float p[3] = {grains->x[i], grains->y[i], grains->z[i]}, radius = grains->radius[i];
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]) || !(radius > 0) || !isfinite(radius)) {
      *vertex = (GrainVertex){0}; /* radius 0 is never drawn */
      continue;
    }
    uint32_t noise = pack_noise(grains->id ? grains->id[i] : (uint32_t)i);
    *vertex = (GrainVertex){p[0], p[1], p[2], radius, {0, 0, 0, (uint8_t)(noise >> 24)}};
    pack_color(pack->renderer, i, noise, vertex->color);
    for (int k = 0; k < 3; k++) {
      if (p[k] - radius < bounds.low[k]) bounds.low[k] = p[k] - radius;
      if (p[k] + radius > bounds.high[k]) bounds.high[k] = p[k] + radius;
      bounds.sum[k] += p[k];
      bounds.squares[k] += (double)p[k] * p[k];
    }
    if (radius > bounds.largest) bounds.largest = radius;
    bounds.radius_sum += radius;
    bounds.drawable++;
  }
  pack->chunks[b / PACK_CHUNK] = bounds;
}

static GrainBounds pack_bounds(const PackBounds *chunks, int64_t count) {
  GrainBounds all = {.low = vec3(INFINITY, INFINITY, INFINITY), .high = vec3(-INFINITY, -INFINITY, -INFINITY)};
  double sum = 0;
  Vec3 squares = vec3(0, 0, 0);
  for (int64_t k = 0; k < count; k++) {
    const PackBounds *c = &chunks[k];
    if (!c->drawable) continue;
    all.mean = vec3_add(all.mean, vec3(c->sum[0], c->sum[1], c->sum[2]));
    squares = vec3_add(squares, vec3(c->squares[0], c->squares[1], c->squares[2]));
    all.low = vec3_min(all.low, vec3(c->low[0], c->low[1], c->low[2]));
    all.high = vec3_max(all.high, vec3(c->high[0], c->high[1], c->high[2]));
    if (c->largest > all.largest_radius) all.largest_radius = c->largest;
    sum += c->radius_sum;
    all.drawable += c->drawable;
  }
  if (!all.drawable) return all;
  double share = 1 / (double)all.drawable;
  all.mean_radius = sum * share;
  all.mean = vec3_scale(all.mean, share);
  Vec3 m = all.mean, s = vec3_scale(squares, share);
  all.spread = vec3(sqrt(fmax(s.x - m.x * m.x, 0)), sqrt(fmax(s.y - m.y * m.y, 0)), sqrt(fmax(s.z - m.z * m.z, 0)));
  return all;
}

Status pack_grains(Renderer *renderer, bool *changed) {
  const RenderFrame *frame = renderer->frame;
  int64_t count = frame->grains.count, chunks = parallel_chunks(0, count, PACK_CHUNK);
  bool same = frame->version && frame->version == renderer->packed_version && count == renderer->packed_count &&
              renderer->settings.color == renderer->packed_color;
  if (!same) TRY(scale_values(renderer));
  renderer->legend = scale_legend(renderer);
  *changed = !same || renderer->legend.low != renderer->packed_low || renderer->legend.high != renderer->packed_high;
  if (!*changed) return SCREE_OK;
  PackContext pack = {.renderer = renderer};
  TRY(memory_grow(&renderer->core, &renderer->packed, count, "packed grains"));
  TRY(memory_new(&renderer->core, &pack.chunks, chunks + 1, "bounds of grains"));
  parallel_for(&renderer->core, 0, count, PACK_CHUNK, pack_chunk, &pack);
  renderer->bounds = pack_bounds(pack.chunks, chunks);
  memory_drop(&renderer->core, &pack.chunks);
  renderer->packed_count = count;
  renderer->packed_version = frame->version;
  renderer->packed_color = renderer->settings.color;
  renderer->packed_low = renderer->legend.low;
  renderer->packed_high = renderer->legend.high;
  return SCREE_OK;
}
