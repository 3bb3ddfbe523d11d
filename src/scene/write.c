/* Definitions to YAML, with every default filled in. Keys that nobody reads and that stand at their default are left
 * out, so that the file can be read again without warnings it would not deserve. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/hash.h"
#include "core/number.h"
#include "core/text.h"
#include "core/vec.h"
#include "scene/scene.h"
#include "parameters/table.h"

typedef struct Writer {
  Core *core;
  Text text;
  const char *reader; /* the method, or the kind of the probe in hand */
  char readers[READERS_MAX];
} Writer;

#define put(writer, ...) text_add((writer)->core, &(writer)->text, __VA_ARGS__)

static void refuse(Writer *writer, const char *what, const char *why) {
  if (writer->text.status == SCREE_OK)
    writer->text.status = fail(writer->core, SCREE_BAD_ARGUMENT, "the scene cannot be written: %s %s", what, why);
}

/* ---- values ---- */

/* The code point at *text, which moves on; -1 for bytes that are not UTF-8. */
static int32_t next_code_point(const char **text) {
  const unsigned char *at = (const unsigned char *)*text;
  int more = at[0] < 0x80 ? 0 : at[0] >= 0xf0 && at[0] < 0xf8 ? 3 : at[0] >= 0xe0 ? 2 : at[0] >= 0xc2 ? 1 : -1;
  if (at[0] >= 0xf8) more = -1;
  static const int32_t masks[] = {0x7f, 0x1f, 0x0f, 0x07};
  int32_t code = more < 0 ? -1 : at[0] & masks[more];
  int taken = 1;
  for (; taken <= more && code >= 0; taken++) {
    if ((at[taken] & 0xc0) != 0x80) {
      *text += taken;
      return -1;
    }
    code = code << 6 | (at[taken] & 0x3f);
  }
  *text += taken;
  return code;
}

/* What YAML does not take as it stands between double quotes, line breaks of every kind among it. */
static bool needs_escape(int32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029 || code == 0xfeff ||
         code == 0xfffe || code == 0xffff;
}

static bool is_plain_word(const char *text) {
  static const char *const special[] = {"true", "false", "yes", "no",  "on", "off",
                                        "null", "auto",  "nan", "inf", "y",  "n"};
  if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))) return false;
  for (size_t k = 0; k < sizeof special / sizeof *special; k++)
    if (strcasecmp(text, special[k]) == 0) return false;
  for (; *text; text++)
    if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ||
          *text == '_' || *text == '-' || *text == '.'))
      return false;
  return true;
}

static void put_string(Writer *writer, const char *text) {
  if (is_plain_word(text)) {
    put(writer, "%s", text);
    return;
  }
  put(writer, "\"");
  while (*text) {
    const char *start = text;
    int32_t code = next_code_point(&text);
    if (code == '"' || code == '\\') put(writer, "\\%c", (char)code);
    else if (code == '\n') put(writer, "\\n");
    else if (code == '\t') put(writer, "\\t");
    else if (code < 0) put(writer, "?");
    else if (needs_escape(code)) put(writer, "\\u%04X", (unsigned)code);
    else text_add_bytes(writer->core, &writer->text, start, text - start);
  }
  put(writer, "\"");
}

static void put_number(Writer *writer, const ScreeParameter *row, double value) {
  char number[NUMBER_TEXT];
  if (isfinite(value)) put(writer, "%s", number_print(value, number));
  else if (isnan(value) && parameter_is(row, "auto")) put(writer, "auto");
  else refuse(writer, row->name, "is not a finite number");
}

static void put_value(Writer *writer, const ScreeParameter *row, const void *definition) {
  const void *value = parameter_value(definition, row);
  char word[WORD_MAX];
  switch (row->kind) {
  case SCREE_KIND_REAL: put_number(writer, row, *(const double *)value); break;
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3:
  case SCREE_KIND_QUAT:
    if (isnan(*(const double *)value) && parameter_is(row, "auto")) {
      put(writer, "auto");
      break;
    }
    for (int k = 0; k < parameter_components(row->kind); k++) {
      put(writer, k ? ", " : "[");
      put_number(writer, row, ((const double *)value)[k]);
    }
    put(writer, "]");
    break;
  case SCREE_KIND_INT:
    if (*(const int64_t *)value == -1 && parameter_is(row, "auto")) put(writer, "auto");
    else put(writer, "%lld", (long long)*(const int64_t *)value);
    break;
  case SCREE_KIND_BOOL: put(writer, "%s", *(const bool *)value ? "true" : "false"); break;
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: put_string(writer, *(const char *const *)value ? *(const char *const *)value : ""); break;
  case SCREE_KIND_CHOICE:
    if (word_at(row->unit, '|', *(const int *)value, word)) put(writer, "%s", word);
    else refuse(writer, row->name, "is not one of its words");
    break;
  }
}

/* ---- mappings: the first line of a list entry starts with `- ` ---- */

typedef struct Indent {
  int depth;
  bool entry; /* the next line starts an entry of a list */
} Indent;

static void put_key(Writer *writer, Indent *indent, const char *key) {
  put(writer, "%*s%s%s:", indent->depth - (indent->entry ? 2 : 0), "", indent->entry ? "- " : "", key);
  indent->entry = false;
}

static void put_rows(Writer *writer, Indent *indent, Section section, const void *definition, const char *without) {
  const ScreeParameter *row;
  for (int k = 0; (row = section_row(section, k)); k++) {
    row = parameter_of_reader(row, writer->reader);
    if (without && strcmp(without, row->name) == 0) continue;
    bool probe = section == SECTION_probe;
    if (!parameter_read_by(row, probe ? writer->reader : writer->readers) && parameter_is_default(row, definition))
      continue;
    put_key(writer, indent, row->name);
    put(writer, " ");
    put_value(writer, row, definition);
    put(writer, "\n");
  }
}

/* `{key: value, ...}` */
static void put_flow(Writer *writer, Section section, const void *definition) {
  const ScreeParameter *row;
  put(writer, "{");
  for (int k = 0; (row = section_row(section, k)); k++) {
    put(writer, "%s%s: ", k ? ", " : "", row->name);
    put_value(writer, row, definition);
  }
  put(writer, "}\n");
}

static void put_flow_key(Writer *writer, Indent *indent, const char *word, Section section, const void *definition) {
  put_key(writer, indent, word);
  put(writer, " ");
  put_flow(writer, section, definition);
}

/* ---- shapes ---- */

/* Whether the box of a body can be written by its size alone. */
static bool has_size(const ScreeBoxDef *box, ScreeVec3 size) {
  const ScreeParameter *row = section_row(SECTION_sized_box, 0);
  bool centred = box->max.x == -box->min.x && box->max.y == -box->min.y && box->max.z == -box->min.z;
  return centred && fmin(fmin(size.x, size.y), size.z) >= row->low && fmax(fmax(size.x, size.y), size.z) <= row->high;
}

static void put_mesh(Writer *writer, Indent *indent, const ScreeMeshDef *mesh) {
  put_key(writer, indent, "mesh");
  put(writer, " ");
  if (mesh->file) put_string(writer, mesh->file);
  else {
    /* Triangles in memory have no file to be read from again, but they are told apart. */
    uint64_t hash = hash_bytes(mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof *mesh->vertices, 0);
    hash = hash_bytes(mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof *mesh->triangles, hash);
    put(writer, "\"(in memory, %016llx)\"", (unsigned long long)hash);
  }
  put(writer, "\n");
}

static void put_shape(Writer *writer, Indent *indent, const ScreeShapeDef *shape, bool body) {
  SizedBox sized = {vec3_sub(shape->box.max, shape->box.min)};
  if (shape->kind == SCREE_SHAPE_BOX && body && has_size(&shape->box, sized.size)) {
    put_flow_key(writer, indent, "box", SECTION_sized_box, &sized);
    return;
  }
#define PUT_SHAPE(id, word, ...)                                                                                       \
  if (shape->kind == SCREE_SHAPE_##id) put_flow_key(writer, indent, #word, SECTION_##word, &shape->word);
  SCREE_SHAPES(PUT_SHAPE)
  if (shape->kind == SCREE_SHAPE_MESH) put_mesh(writer, indent, &shape->mesh);
}

/* Meshes are placed wherever they stand, plain shapes only where `placed`; scale is for meshes alone. */
static void put_placed_shape(Writer *writer, Indent *indent, const ScreeShapeDef *shape, bool placed, bool body) {
  bool mesh = shape->kind == SCREE_SHAPE_MESH;
  if (shape->kind == SCREE_SHAPE_NONE) refuse(writer, "an entry", "has no shape");
  put_shape(writer, indent, shape, body);
  if (mesh || placed) put_rows(writer, indent, SECTION_placement, shape, mesh ? NULL : "scale");
}

static void put_keys(Writer *writer, int depth, const ScreeKeyDef *keys, int32_t count) {
  if (count == 0) return;
  put(writer, "%*skeys:\n", depth, "");
  for (int32_t k = 0; k < count; k++) {
    put(writer, "%*s- ", depth + 2, "");
    put_flow(writer, SECTION_key, &keys[k]);
  }
}

/* ---- sections ---- */

static void put_single(Writer *writer, const char *key, Section section, const void *definition) {
  if (!definition) return;
  Indent indent = {.depth = 2};
  put(writer, "%s:\n", key);
  put_rows(writer, &indent, section, definition, NULL);
}

static void put_grains(Writer *writer, const ScreeGrainsDef *grains) {
  Indent indent = {4, true}, inner = {6, false};
  put_rows(writer, &indent, SECTION_grains, grains, NULL);
  put_key(writer, &indent, "fill");
  put(writer, "\n");
  put_placed_shape(writer, &inner, &grains->fill, false, false);
}

static void put_sources(Writer *writer, const ScreeSceneDef *scene) {
  put(writer, "materials:\n");
  for (int32_t k = 0; k < scene->material_count; k++) {
    Indent indent = {.depth = 4};
    put(writer, "  ");
    put_string(writer, scene->materials[k].name);
    put(writer, ":\n");
    put_rows(writer, &indent, SECTION_material, &scene->materials[k], NULL);
  }
  if (scene->grains_count) put(writer, "grains:\n");
  for (int32_t k = 0; k < scene->grains_count; k++) put_grains(writer, &scene->grains[k]);
  if (scene->emitter_count) put(writer, "emitters:\n");
  for (int32_t k = 0; k < scene->emitter_count; k++) {
    Indent indent = {4, true};
    put_rows(writer, &indent, SECTION_emitter, &scene->emitters[k], NULL);
    put_shape(writer, &indent, &scene->emitters[k].shape, false);
  }
  if (scene->sink_count) put(writer, "sinks:\n");
  for (int32_t k = 0; k < scene->sink_count; k++) {
    Indent indent = {4, true};
    put_placed_shape(writer, &indent, &scene->sinks[k].shape, false, false);
  }
  if (scene->event_count) put(writer, "events:\n");
  for (int32_t k = 0; k < scene->event_count; k++) {
    Indent indent = {4, true};
    put_rows(writer, &indent, SECTION_event, &scene->events[k], NULL);
    put_flow_key(writer, &indent, "impulse", SECTION_impulse, &scene->events[k].impulse);
  }
}

static void put_solids(Writer *writer, const ScreeSceneDef *scene) {
  if (scene->boundary_count) put(writer, "boundaries:\n");
  for (int32_t k = 0; k < scene->boundary_count; k++) {
    Indent indent = {4, true};
    const ScreeBoundaryDef *boundary = &scene->boundaries[k];
    put_rows(writer, &indent, SECTION_boundary, boundary, NULL);
    put_placed_shape(writer, &indent, &boundary->shape, true, false);
    put_keys(writer, 4, boundary->keys, boundary->key_count);
  }
  if (scene->body_count) put(writer, "bodies:\n");
  for (int32_t k = 0; k < scene->body_count; k++) {
    Indent indent = {4, true};
    const ScreeBodyDef *body = &scene->bodies[k];
    put_rows(writer, &indent, SECTION_body, body, NULL);
    put_placed_shape(writer, &indent, &body->shape, true, true);
    put_keys(writer, 4, body->keys, body->key_count);
  }
}

static void put_probes(Writer *writer, const ScreeSceneDef *scene) {
  if (scene->probe_count) put(writer, "probes:\n");
  for (int32_t k = 0; k < scene->probe_count; k++) {
    Indent indent = {4, true};
    const ScreeProbeDef *probe = &scene->probes[k];
    const ScreeProbeInfo *info = scree_probe_info(probe->kind);
    writer->reader = info ? info->kind : "";
    put_rows(writer, &indent, SECTION_probe, probe, NULL);
    put_shape(writer, &indent, &probe->box, false);
  }
}

ScreeStatus scree_scene_write(const ScreeSceneDef *scene, char **text, ScreeError *error) {
  Core core;
  if (text) *text = NULL;
  Status status = scene_core_create(&core);
  if (status == SCREE_OK && (!scene || !text || !scene->method.name))
    status = fail(&core, SCREE_BAD_ARGUMENT, "definition, method or text is NULL");
  if (status == SCREE_OK) {
    Writer writer = {.core = &core, .reader = scene->method.name};
    char mode[WORD_MAX];
    bool fine =
        scene->upsample && word_at(section_find(SECTION_upsample, "mode")->unit, '|', scene->upsample->mode, mode);
    readers_of_scene(scene->method.name, fine ? mode : NULL, scene->terrain != NULL, writer.readers);
    Indent top = {0, false};
    put(&writer, "scree: 1\n");
    put_rows(&writer, &top, SECTION_scene, scene, NULL);
    put_single(&writer, "method", SECTION_method, &scene->method);
    put_sources(&writer, scene);
    put_solids(&writer, scene);
    put_single(&writer, "mechanism", SECTION_mechanism, scene->mechanism);
    put_single(&writer, "terrain", SECTION_terrain, scene->terrain);
    put_single(&writer, "upsample", SECTION_upsample, scene->upsample);
    put_single(&writer, "camera", SECTION_camera, &scene->camera);
    put_probes(&writer, scene);
    status = text_finish(&core, &writer.text, text);
  }
  status = core_report(&core, status, error);
  core_destroy(&core);
  return status;
}
