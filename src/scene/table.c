#include "scene/table.h"

#include <math.h>
#include <string.h>

#include "core/number.h"

/* A row knows its section and struct through these two, which change from section to section below. */
#define ROW(kind_, name_, default_, low_, high_, usual_low_, usual_high_, unit_, readers_, help_)                      \
  {.section = SECTION_NAME,                                                                                            \
   .name = #name_,                                                                                                     \
   .kind = SCREE_KIND_##kind_,                                                                                         \
   .default_text = default_,                                                                                           \
   .low = low_,                                                                                                        \
   .high = high_,                                                                                                      \
   .usual_low = usual_low_,                                                                                            \
   .usual_high = usual_high_,                                                                                          \
   .unit = unit_,                                                                                                      \
   .readers = readers_,                                                                                                \
   .help = help_,                                                                                                      \
   .offset = offsetof(OWNER, name_)},

static const ScreeParameter table[] = {
#define SECTION_NAME "scene"
#define OWNER ScreeSceneDef
    SCREE_SCENE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "method"
#define OWNER ScreeMethodDef
        SCREE_METHOD_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "material"
#define OWNER ScreeMaterialDef
            SCREE_MATERIAL_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "grains"
#define OWNER ScreeGrainsDef
                SCREE_GRAINS_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "emitter"
#define OWNER ScreeEmitterDef
                    SCREE_EMITTER_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "boundary"
#define OWNER ScreeBoundaryDef
                        SCREE_BOUNDARY_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "body"
#define OWNER ScreeBodyDef
                            SCREE_BODY_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "placement"
#define OWNER ScreeShapeDef
                                SCREE_PLACEMENT_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "key"
#define OWNER ScreeKeyDef
                                    SCREE_KEY_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "mechanism"
#define OWNER ScreeMechanismDef
                                        SCREE_MECHANISM_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "event"
#define OWNER ScreeEventDef
                                            SCREE_EVENT_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "impulse"
#define OWNER ScreeImpulseDef
                                                SCREE_IMPULSE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "terrain"
#define OWNER ScreeTerrainDef
                                                    SCREE_TERRAIN_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "upsample"
#define OWNER ScreeUpsampleDef
                                                        SCREE_UPSAMPLE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "camera"
#define OWNER ScreeCameraDef
                                                            SCREE_CAMERA_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "probe"
#define OWNER ScreeProbeDef
                                                                SCREE_PROBE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "box"
#define OWNER ScreeBoxDef
                                                                    SCREE_BOX_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "sized_box"
#define OWNER SizedBox
                                                                        SCREE_SIZED_BOX_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "sphere"
#define OWNER ScreeSphereDef
                                                                            SCREE_SPHERE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "cylinder"
#define OWNER ScreeCylinderDef
                                                                                SCREE_CYLINDER_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "capsule"
#define OWNER ScreeCapsuleDef
                                                                                    SCREE_CAPSULE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "plane"
#define OWNER ScreePlaneDef
                                                                                        SCREE_PLANE_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
#define SECTION_NAME "disc"
#define OWNER ScreeDiscDef
                                                                                            SCREE_DISC_PARAMETERS(ROW)
#undef OWNER
#undef SECTION_NAME
};

#define ONE_MORE(...) +1
#define FIRST_AND_LAST(name, rows, where) FIRST_##name, LAST_##name = FIRST_##name + (0 rows(ONE_MORE)) - 1,
enum { SECTIONS(FIRST_AND_LAST) };
#define SPAN(name, rows, where) {#name, where, table + FIRST_##name, LAST_##name - FIRST_##name + 1},
static const SectionRows spans[] = {SECTIONS(SPAN)};

const ScreeParameter *scree_parameters(int32_t *count) {
  if (count) *count = (int32_t)(sizeof table / sizeof *table);
  return table;
}

SectionRows section_rows(Section section) { return spans[section]; }

int parameter_components(ScreeParameterKind kind) {
  switch (kind) {
  case SCREE_KIND_REAL: return 1;
  case SCREE_KIND_VEC2: return 2;
  case SCREE_KIND_VEC3: return 3;
  case SCREE_KIND_QUAT: return 4;
  default: return 0;
  }
}

bool parameter_is(const ScreeParameter *row, const char *default_text) {
  return strcmp(row->default_text, default_text) == 0;
}

bool word_at(const char *list, char separator, int index, char word[WORD_MAX]) {
  for (; index > 0; index--) {
    list = strchr(list, separator);
    if (!list) return false;
    list++;
  }
  const char *end = strchr(list, separator);
  size_t length = end ? (size_t)(end - list) : strlen(list);
  if (length == 0 || length >= WORD_MAX) return false;
  memcpy(word, list, length);
  word[length] = 0;
  return true;
}

int word_index(const char *list, char separator, const char *word) {
  char known[WORD_MAX];
  for (int index = 0; word_at(list, separator, index, known); index++)
    if (strcmp(known, word) == 0) return index;
  return -1;
}

bool parameter_read_by(const ScreeParameter *row, const char *reader) {
  return !*row->readers || word_index(row->readers, ' ', reader) >= 0;
}

/* Numbers of `[a, b, c]` or of a single one; unreadable ones (auto, required) become NaN. */
static void default_numbers(const char *text, double *values, int count) {
  for (int k = 0; k < count; k++) {
    char number[NUMBER_TEXT];
    size_t skip = strspn(text, "[, ");
    size_t length = strcspn(text + skip, ",] ");
    values[k] = NAN;
    if (length > 0 && length < sizeof number) {
      memcpy(number, text + skip, length);
      number[length] = 0;
      if (number_parse(number, &values[k]) != NUMBER_GOOD) values[k] = NAN;
    }
    text += skip + length;
  }
}

static void set_default(const ScreeParameter *row, void *member) {
  bool required = parameter_is(row, "required");
  switch (row->kind) {
  case SCREE_KIND_REAL:
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3:
  case SCREE_KIND_QUAT: default_numbers(row->default_text, member, parameter_components(row->kind)); break;
  case SCREE_KIND_INT:
    if (number_parse_integer(row->default_text, member) != NUMBER_GOOD) *(int64_t *)member = -1;
    break;
  case SCREE_KIND_BOOL: *(bool *)member = parameter_is(row, "true"); break;
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: *(const char **)member = required ? NULL : row->default_text; break;
  case SCREE_KIND_CHOICE: *(int *)member = word_index(row->unit, '|', row->default_text); break;
  }
}

void section_defaults(Section section, void *definition) {
  SectionRows rows = section_rows(section);
  for (int k = 0; k < rows.count; k++) set_default(&rows.rows[k], parameter_member(definition, &rows.rows[k]));
}

bool parameter_equal(const ScreeParameter *row, const void *a, const void *b) {
  switch (row->kind) {
  case SCREE_KIND_REAL:
  case SCREE_KIND_VEC2:
  case SCREE_KIND_VEC3:
  case SCREE_KIND_QUAT:
    for (int k = 0; k < parameter_components(row->kind); k++) {
      double x = ((const double *)a)[k], y = ((const double *)b)[k];
      if (x != y && !(isnan(x) && isnan(y))) return false;
    }
    return true;
  case SCREE_KIND_INT: return *(const int64_t *)a == *(const int64_t *)b;
  case SCREE_KIND_BOOL: return *(const bool *)a == *(const bool *)b;
  case SCREE_KIND_CHOICE: return *(const int *)a == *(const int *)b;
  case SCREE_KIND_TEXT:
  case SCREE_KIND_NAME:
  case SCREE_KIND_FILE: {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    return x == y || strcmp(x ? x : "", y ? y : "") == 0;
  }
  }
  return false;
}

bool parameter_is_default(const ScreeParameter *row, const void *definition) {
  union {
    double numbers[4];
    int64_t integer;
    const char *text;
    int choice;
    bool truth;
  } usual;
  set_default(row, &usual);
  return parameter_equal(row, parameter_value(definition, row), &usual);
}
