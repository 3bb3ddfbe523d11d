/* The world behind the page: opened from text, stepped, reported. */
#include "app/web/web.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

Web web = {.tool = -1};

int web_done(ScreeStatus status) {
  web.message[0] = 0;
  if (status != SCREE_OK) scree_error_line(&web.error, web.message, sizeof web.message);
  return (int)status;
}

const char *web_give(char *text) {
  free(web.text);
  web.text = text;
  return text ? text : "";
}

/* ---- texts ---- */

typedef struct Text {
  char *data;
  size_t size, room;
} Text;

static void text_bytes(Text *text, const char *bytes, size_t size) {
  if (text->size + size + 1 > text->room) {
    size_t room = 2 * (text->size + size + 256);
    char *grown = realloc(text->data, room);
    if (!grown) return;
    text->data = grown;
    text->room = room;
  }
  memcpy(text->data + text->size, bytes, size);
  text->size += size;
  text->data[text->size] = 0;
}

static void text_add(Text *text, const char *format, ...) {
  char piece[256];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (size > 0) text_bytes(text, piece, (size_t)size < sizeof piece ? (size_t)size : sizeof piece - 1);
}

static void text_quoted(Text *text, const char *from) {
  text_add(text, "\"");
  for (const char *c = from ? from : ""; *c; c++)
    if (*c == '"' || *c == '\\') text_add(text, "\\%c", *c);
    else if ((unsigned char)*c < ' ') text_add(text, "\\u%04x", (unsigned)*c);
    else text_bytes(text, c, 1);
  text_add(text, "\"");
}

/* JSON has no infinities and no NaN. */
static void text_number(Text *text, double value) {
  if (isfinite(value)) text_add(text, "%.9g", value);
  else text_add(text, "null");
}

static void text_vector(Text *text, const char *name, ScreeVec3 v) {
  text_add(text, ",\"%s\":[", name);
  text_number(text, v.x), text_add(text, ","), text_number(text, v.y), text_add(text, ","), text_number(text, v.z);
  text_add(text, "]");
}

const char *web_message(void) { return web.message; }
int web_line(void) { return web.error.line; }
int web_column(void) { return web.error.column; }
const char *web_version(void) { return scree_version(); }

static void keep_warning(void *context, const char *line) {
  Text *text = context;
  text_add(text, "%s\n", line);
}

const char *web_warnings(void) { return web.warnings ? web.warnings : ""; }

/* ---- the world ---- */

static void close_world(void) {
  tools_forget();
  if (web.frame_made) scene_frame_destroy(&web.frame);
  web.frame_made = false;
  scree_world_destroy(web.world);
  scree_scene_free(web.scene);
  web.world = NULL;
  web.scene = NULL;
}

/* Where the grains are, and the terrain where there is one. */
static void measure(void) {
  ScreeParticles p = scree_world_particles(web.world);
  ScreeMeshView ground = scree_world_terrain(web.world);
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < p.count; i++) {
    const float at[3] = {p.x[i], p.y[i], p.z[i]};
    for (int k = 0; k < 3; k++) low[k] = fminf(low[k], at[k]), high[k] = fmaxf(high[k], at[k]);
  }
  for (int64_t v = 0; v < ground.vertex_count; v++)
    for (int k = 0; k < 3; k++)
      low[k] = fminf(low[k], ground.vertices[3 * v + k]), high[k] = fmaxf(high[k], ground.vertices[3 * v + k]);
  if (!(low[0] <= high[0])) { /* all is still to be poured */
    double half = 0.25 * camera_distance(&web.camera);
    ScreeVec3 t = web.camera.target;
    web.low = (ScreeVec3){t.x - half, t.y - half, t.z - half};
    web.high = (ScreeVec3){t.x + half, t.y + half, t.z + half};
    return;
  }
  web.low = (ScreeVec3){p.origin.x + (double)low[0], p.origin.y + (double)low[1], p.origin.z + (double)low[2]};
  web.high = (ScreeVec3){p.origin.x + (double)high[0], p.origin.y + (double)high[1], p.origin.z + (double)high[2]};
}

enum { SETS_MOST = 64 };

static ScreeStatus open_world(const char *text, const char *name, const char *folder, char *sets, ScreeError *error) {
  const char *list[SETS_MOST];
  Text warnings = {0};
  ScreeSceneOptions options = {.sets = list, .warning = keep_warning, .warning_context = &warnings};
  for (char *at = strtok(sets, "\n"); at && options.set_count < SETS_MOST; at = strtok(NULL, "\n"))
    list[options.set_count++] = at;
  ScreeStatus status =
      scree_scene_parse(text, strlen(text), name, *folder ? folder : NULL, &options, &web.scene, error);
  free(web.warnings);
  web.warnings = warnings.data;
  if (status != SCREE_OK) return status;
  ScreeWorldOptions plan = scree_world_options_default();
  plan.threads = web.threads;
  status = scree_world_create(scree_scene_definition(web.scene), &plan, &web.world, error);
  if (status == SCREE_OK) status = scene_frame_create(&web.frame, web.world, ++web.worlds, error);
  web.frame_made = status == SCREE_OK;
  return status;
}

int web_open(const char *text, const char *name, const char *folder, const char *sets, int threads) {
  char *own = strdup(sets);
  if (!own) return SCREE_NO_MEMORY;
  close_world();
  web.threads = threads;
  ScreeStatus status = open_world(text, name, folder, own, &web.error);
  free(own);
  if (status != SCREE_OK) close_world();
  else {
    web.home = web.camera = scene_camera(scree_world_definition(web.world));
    measure();
  }
  return web_done(status);
}

int web_frame(void) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  ScreeStatus status = tools_move(1 / scree_world_definition(web.world)->frame_rate, &web.error);
  if (status == SCREE_OK) status = scree_world_frame(web.world, &web.error);
  clock_gettime(CLOCK_MONOTONIC, &end);
  web.seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  return web_done(status);
}

int web_save(const char *path) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  return web_done(scree_world_save(web.world, path, &web.error));
}
int web_load(const char *path) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  return web_done(scree_world_load(web.world, path, &web.error));
}

static const char *hash_text(uint64_t hash) {
  char *text = malloc(17);
  if (text) snprintf(text, 17, "%016llx", (unsigned long long)hash);
  return web_give(text);
}
const char *web_state_hash(void) { return web.world ? hash_text(scree_world_state_hash(web.world)) : ""; }
const char *web_grains_hash(void) {
  if (!web.world || scree_world_grains(web.world).count == 0) return "-";
  return hash_text(scree_world_grains_hash(web.world));
}

/* ---- what the page shows ---- */

/* Motors of the mechanism: name, value, range. */
static void report_controls(Text *text) {
  text_add(text, ",\"controls\":[");
  for (int32_t k = 0; k < scree_world_control_count(web.world); k++) {
    const char *name;
    double value, low, high;
    if (scree_world_control(web.world, (ScreeControlId)(k + 1), &name, &value, &low, &high) != SCREE_OK) continue;
    text_add(text, k ? ",[" : "[");
    text_quoted(text, name);
    text_add(text, ","), text_number(text, value), text_add(text, ","), text_number(text, low);
    text_add(text, ","), text_number(text, high), text_add(text, "]");
  }
  text_add(text, "]");
}

const char *web_report(void) {
  Text text = {0};
  if (!web.world) return "{}";
  ScreeStatistics s;
  scree_world_statistics(web.world, &s);
  text_add(&text, "{\"time\":%.6f,\"frame\":%lld,\"steps\":%lld,\"coarse\":%lld,\"grains\":%lld,\"threads\":%d",
           scree_world_time(web.world), (long long)s.frames, (long long)s.steps, (long long)s.coarse,
           (long long)s.grains, s.threads);
  text_add(&text, ",\"ms\":%.3f,\"memory\":%lld,\"mass\":", 1e3 * web.seconds, (long long)s.memory_bytes);
  text_number(&text, s.mass_final);
  const ScreeSceneDef *def = scree_world_definition(web.world);
  text_add(&text, ",\"rate\":%g,\"method\":", def->frame_rate);
  text_quoted(&text, def->method.name);
  text_add(&text, ",\"title\":");
  text_quoted(&text, def->title);
  text_vector(&text, "low", web.low);
  text_vector(&text, "high", web.high);
  if (web.tool >= 0 && web.tools[web.tool].body) {
    ScreeBodyState body;
    if (scree_world_body(web.world, web.tools[web.tool].body, &body) == SCREE_OK) {
      text_vector(&text, "force", body.force);
      text_vector(&text, "tool", web.tools[web.tool].at);
    }
  }
  text_add(&text, ",\"probes\":[");
  for (int32_t id = 1, shown = 0; id <= scree_world_probe_count(web.world); id++) {
    ScreeProbeState probe;
    if (scree_world_probe(web.world, id, &probe) != SCREE_OK) continue;
    for (int32_t v = 0; v < probe.value_count; v++, shown++) {
      text_add(&text, "%s[", shown ? "," : "");
      char name[128];
      snprintf(name, sizeof name, "%s%s", probe.name, probe.suffixes[v] ? probe.suffixes[v] : "");
      text_quoted(&text, name);
      text_add(&text, ",");
      text_number(&text, probe.values[v]);
      text_add(&text, ",");
      text_quoted(&text, probe.unit);
      text_add(&text, "]");
    }
  }
  text_add(&text, "]");
  report_controls(&text);
  text_add(&text, ",\"warnings\":{");
  for (int32_t k = 0, shown = 0; k < s.warning_count; k++) {
    if (s.warnings[k].count == 0) continue;
    text_add(&text, shown++ ? "," : "");
    text_quoted(&text, s.warnings[k].name);
    text_add(&text, ":%lld", (long long)s.warnings[k].count);
  }
  text_add(&text, "}}");
  return web_give(text.data);
}

const char *web_parameters(void) {
  static const char *const kinds[] = {"real", "int", "bool", "vec2", "vec3", "quat", "text", "name", "file", "choice"};
  Text text = {0};
  text_add(&text, "[");
  for (int32_t k = 0; k < scree_parameter_count(); k++) {
    const ScreeParameter *row = scree_parameter(k);
    char readers[256];
    text_add(&text, "%s{\"section\":", k ? "," : "");
    text_quoted(&text, row->section);
    text_add(&text, ",\"name\":");
    text_quoted(&text, row->name);
    text_add(&text, ",\"kind\":\"%s\",\"default\":", kinds[row->kind]);
    text_quoted(&text, row->default_text);
    text_add(&text, ",\"low\":%g,\"high\":%g,\"usualLow\":%g,\"usualHigh\":%g,\"unit\":", row->low, row->high,
             row->usual_low, row->usual_high);
    text_quoted(&text, row->unit);
    text_add(&text, ",\"readers\":");
    text_quoted(&text, scree_parameter_readers(row, readers, sizeof readers));
    text_add(&text, ",\"help\":");
    text_quoted(&text, row->help);
    text_add(&text, "}");
  }
  text_add(&text, "]");
  return web_give(text.data);
}

const char *web_methods(void) {
  Text text = {0};
  text_add(&text, "[");
  for (int32_t k = 0; k < scree_method_count(); k++) {
    const ScreeMethodInfo *info = scree_method_info(k);
    text_add(&text, "%s{\"name\":", k ? "," : "");
    text_quoted(&text, info->name);
    text_add(&text, ",\"summary\":");
    text_quoted(&text, info->summary);
    double low = 0, high = 0;
    scree_method_angles(k, &low, &high);
    text_add(&text, ",\"angleLow\":%g,\"angleHigh\":%g}", low, high);
  }
  text_add(&text, "]");
  return web_give(text.data);
}

/* The scene as understood, every default filled in. */
const char *web_scene_text(void) {
  char *text = NULL;
  if (!web.world || web_done(scree_scene_write(scree_world_definition(web.world), &text, &web.error))) return "";
  char *own = strdup(text);
  scree_text_free(text);
  return web_give(own);
}
const char *web_scene_json(void) {
  char *text = NULL, *json = NULL, *own = NULL;
  if (!web.world || web_done(scree_scene_write(scree_world_definition(web.world), &text, &web.error))) return "";
  if (!web_done(scree_scene_json(text, strlen(text), "scene", &json, &web.error))) own = strdup(json);
  scree_text_free(text);
  if (json) scree_text_free(json);
  return web_give(own);
}

int web_control(int motor, double value) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  return web_done(scree_world_set_control(web.world, (ScreeControlId)(motor + 1), value, &web.error));
}
void web_control_release(void) {
  for (int32_t k = 0; web.world && k < scree_world_control_count(web.world); k++)
    scree_world_release_control(web.world, (ScreeControlId)(k + 1));
}

int web_set_gravity(double x, double y, double z) {
  if (!web.world) return SCREE_BAD_ARGUMENT;
  return web_done(scree_world_set_gravity(web.world, (ScreeVec3){x, y, z}, &web.error));
}

/* Sets one key of a material, by the table of parameters. Contacts follow from a friction angle that is set, also where
 * the scene gives them: otherwise nobody would read it. */
int web_set_material(int material, const char *key, double value) {
  const ScreeSceneDef *def = web.world ? scree_world_definition(web.world) : NULL;
  if (!def || material < 0 || material >= def->material_count) return SCREE_BAD_ARGUMENT;
  ScreeMaterialDef changed = def->materials[material];
  for (int32_t k = 0; k < scree_parameter_count(); k++) {
    const ScreeParameter *row = scree_parameter(k);
    if (strcmp(row->section, "material") != 0 || strcmp(row->name, key) != 0 || row->kind != SCREE_KIND_REAL) continue;
    *(double *)((char *)&changed + row->offset) = value;
    if (row->offset == offsetof(ScreeMaterialDef, friction_angle_deg))
      changed.friction_static = changed.friction_kinetic = changed.rolling_friction = NAN; /* auto */
    return web_done(scree_world_set_material(web.world, &changed, &web.error));
  }
  web.error = (ScreeError){.status = SCREE_BAD_ARGUMENT};
  snprintf(web.error.message, sizeof web.error.message, "a material has no number '%s'", key);
  return web_done(SCREE_BAD_ARGUMENT);
}

int main(void) { return 0; }
