/* What colours stand for: a number per grain, a range in round numbers, and a colour for each number. */
#include "render/internal.h"

/* From deep indigo over teal to the yellow of dry sand: lightness rises all the way, so it reads in grey too. */
void scale_map(double t, uint8_t rgb[3]) {
  static const uint8_t stops[][3] = {{38, 22, 84},   {45, 54, 125},  {38, 92, 146},  {33, 127, 146}, {52, 160, 130},
                                     {112, 189, 98}, {178, 210, 72}, {233, 222, 92}, {252, 245, 190}};
  enum { LAST = (int)(sizeof stops / sizeof *stops) - 1 };
  double at = (t >= 0 ? t < 1 ? t : 1 : 0) * LAST;
  int k = (int)at < LAST ? (int)at : LAST - 1;
  for (int c = 0; c < 3; c++)
    rgb[c] = (uint8_t)(stops[k][c] + (stops[k + 1][c] - (double)stops[k][c]) * (at - k) + 0.5);
}

/* The next of 1, 2, 5, 10, ... that is not below v. */
static double scale_round_up(double v) {
  if (!(v > 0)) return 0;
  double power = pow(10, floor(log10(v)));
  double lead = v / power;
  return (lead <= 1.0000001 ? 1 : lead <= 2.0000001 ? 2 : lead <= 5.0000001 ? 5 : 10) * power;
}

/* The grains binned into boxes, and for every box what rests on it without a gap: where that heap ends above, and its
 * mass. */
typedef struct ScaleColumns {
  Vec3 low;
  double cell;
  int64_t size[3];
  float *top;   /* largest z in the box; then the top of the unbroken run above */
  double *mass; /* in the box; then of the boxes above it in the run */
  double *own;
} ScaleColumns;

static int64_t scale_cell(const ScaleColumns *columns, float x, float y, float z) {
  double at[3] = {x - columns->low.x, y - columns->low.y, z - columns->low.z};
  int64_t index = 0;
  for (int k = 0; k < 3; k++) {
    int64_t i = (int64_t)(at[k] / columns->cell);
    i = i < 0 ? 0 : i >= columns->size[k] ? columns->size[k] - 1 : i;
    index = index * columns->size[k] + i;
  }
  return index;
}

static double scale_mass(const RenderFrame *frame, int64_t i) {
  int32_t material = frame->grains.material ? frame->grains.material[i] : 0;
  double density = material < frame->material_count ? frame->materials[material].grain_density : 0;
  double r = frame->grains.radius[i];
  return (density > 0 ? density : 2650) * 4.18879020478639 * r * r * r;
}

static bool scale_finite(const ScreeParticles *g, int64_t i) {
  return isfinite(g->x[i]) && isfinite(g->y[i]) && isfinite(g->z[i]) && isfinite(g->radius[i]);
}

static Status scale_columns(Renderer *renderer, ScaleColumns *columns) {
  const ScreeParticles *g = &renderer->frame->grains;
  Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY);
  double radius = 0;
  for (int64_t i = 0; i < g->count; i++) {
    if (!scale_finite(g, i)) continue;
    Vec3 p = vec3(g->x[i], g->y[i], g->z[i]);
    low = vec3_min(low, p);
    high = vec3_max(high, p);
    if (g->radius[i] > radius) radius = g->radius[i];
  }
  if (!(low.x <= high.x)) low = high = vec3(0, 0, 0);
  /* Half a radius off, so that grains on a lattice do not lie on the borders of the boxes. */
  low = vec3_sub(low, vec3(0.5 * radius, 0.5 * radius, 0.5 * radius));
  columns->low = low;
  columns->cell = radius > 0 ? 6 * radius : 1;
  double boxes;
  for (;; columns->cell *= 1.5) { /* a few stray grains must not cost gigabytes */
    Vec3 span = vec3_sub(high, low);
    boxes = 1;
    for (int k = 0; k < 3; k++) boxes *= floor(vec3_get(span, k) / columns->cell) + 1;
    if (boxes <= 4e6) break;
  }
  for (int k = 0; k < 3; k++) columns->size[k] = (int64_t)(vec3_get(vec3_sub(high, low), k) / columns->cell) + 1;
  int64_t count = columns->size[0] * columns->size[1] * columns->size[2];
  TRY(memory_new(&renderer->core, &columns->top, count, "columns of grains"));
  TRY(memory_new(&renderer->core, &columns->mass, count, "columns of grains"));
  TRY(memory_new(&renderer->core, &columns->own, count, "columns of grains"));
  for (int64_t c = 0; c < count; c++) columns->top[c] = -INFINITY;
  for (int64_t i = 0; i < g->count; i++) {
    if (!scale_finite(g, i)) continue;
    int64_t c = scale_cell(columns, g->x[i], g->y[i], g->z[i]);
    columns->own[c] += scale_mass(renderer->frame, i);
    if (g->z[i] + g->radius[i] > columns->top[c]) columns->top[c] = g->z[i] + g->radius[i];
  }
  for (int64_t column = 0; column < count; column += columns->size[2])
    for (int64_t c = column + columns->size[2] - 2; c >= column; c--)
      if (columns->own[c] > 0 && columns->own[c + 1] > 0) {
        columns->mass[c] = columns->mass[c + 1] + columns->own[c + 1];
        columns->top[c] = columns->top[c + 1];
      }
  return SCREE_OK;
}

static void scale_columns_destroy(Renderer *renderer, ScaleColumns *columns) {
  memory_drop(&renderer->core, &columns->top);
  memory_drop(&renderer->core, &columns->mass);
  memory_drop(&renderer->core, &columns->own);
}

static Status scale_buried(Renderer *renderer, bool pressure) {
  const ScreeParticles *g = &renderer->frame->grains;
  ScaleColumns columns = {0};
  Status status = scale_columns(renderer, &columns);
  double area = columns.cell * columns.cell;
  for (int64_t i = 0; status == SCREE_OK && i < g->count; i++) {
    renderer->values[i] = NAN;
    if (!scale_finite(g, i)) continue;
    int64_t c = scale_cell(&columns, g->x[i], g->y[i], g->z[i]);
    /* Of its own box, the share that lies above the grain. */
    int64_t layer = c % columns.size[2];
    double share = 1 - ((g->z[i] - columns.low.z) / columns.cell - (double)layer);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    double above = columns.mass[c] + columns.own[c] * share;
    renderer->values[i] = pressure                       ? (float)(above * renderer->frame->gravity / area)
                          : columns.top[c] - g->z[i] > 0 ? columns.top[c] - g->z[i]
                                                         : 0;
  }
  scale_columns_destroy(renderer, &columns);
  return status;
}

static Status scale_fill(Renderer *renderer) {
  const RenderFrame *frame = renderer->frame;
  const ScreeParticles *g = &frame->grains;
  float *values = renderer->values;
  switch (renderer->settings.color) {
  case RENDER_COLOR_SPEED:
    for (int64_t i = 0; i < g->count; i++)
      values[i] = g->vx ? sqrtf(g->vx[i] * g->vx[i] + g->vy[i] * g->vy[i] + g->vz[i] * g->vz[i]) : 0;
    return SCREE_OK;
  case RENDER_COLOR_HEIGHT:
    for (int64_t i = 0; i < g->count; i++) values[i] = (float)(g->z[i] + g->origin.z);
    return SCREE_OK;
  case RENDER_COLOR_PRESSURE:
    if (!frame->pressure) return scale_buried(renderer, true);
    for (int64_t i = 0; i < g->count; i++) values[i] = frame->pressure[i];
    return SCREE_OK;
  case RENDER_COLOR_DEPTH: return scale_buried(renderer, false);
  default: return SCREE_OK;
  }
}

Status scale_values(Renderer *renderer) {
  RenderColor mode = renderer->settings.color;
  if (mode == RENDER_COLOR_MATERIAL || mode == RENDER_COLOR_ID) return SCREE_OK;
  int64_t count = renderer->frame->grains.count;
  TRY(memory_grow(&renderer->core, &renderer->values, count, "values of grains"));
  TRY(scale_fill(renderer));
  if (mode != renderer->scale_color) {
    renderer->scale_color = mode;
    renderer->scale_low = INFINITY;
    renderer->scale_high = -INFINITY;
  }
  for (int64_t i = 0; i < count; i++) {
    float v = renderer->values[i];
    if (!isfinite(v)) continue;
    if (v < renderer->scale_low) renderer->scale_low = v;
    if (v > renderer->scale_high) renderer->scale_high = v;
  }
  return SCREE_OK;
}

RenderLegend scale_legend(const Renderer *renderer) {
  RenderColor mode = renderer->settings.color;
  static const char *const units[RENDER_COLOR_COUNT] = {NULL, "m/s", "m", "Pa", "m", NULL};
  if ((unsigned)mode >= RENDER_COLOR_COUNT || !units[mode]) return (RenderLegend){0};
  RenderLegend legend = {render_color_name(mode), units[mode], 0, 1};
  double low = renderer->scale_low, high = renderer->scale_high;
  if (low <= high) {
    if (mode == RENDER_COLOR_HEIGHT) {
      /* Round steps that take in the lowest and the highest grain. */
      double step = scale_round_up((high - low) / 8);
      legend.low = step > 0 ? floor(low / step) * step : low;
      legend.high = step > 0 ? ceil(high / step) * step : high;
    } else {
      legend.high = scale_round_up(high);
    }
  }
  if (!isnan(renderer->settings.low)) legend.low = renderer->settings.low;
  if (!isnan(renderer->settings.high)) legend.high = renderer->settings.high;
  if (!(legend.high > legend.low)) legend.high = legend.low + 1;
  return legend;
}
