#include "bodies/mjcf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bodies/xml_scan.h"
#include "core/files.h"

enum {
  XML_BYTES_MAX = 16 << 20,
  INCLUDE_DEPTH_MAX = 8,
  FILES_MAX = 1000,
  SIZE_MAX_VALUE = 10000000,
  COPIES_MAX = 20000
};
static const int64_t FILE_MOST = 256ll << 20;

/* A file that the XML names, before it is looked up: the folders may be declared behind it. */
typedef struct Reference {
  char file[XML_VALUE_MAX];
  char xml[SCREE_FILE_MAX]; /* where it is named */
  ScreeSource place;
  bool is_texture, is_mesh;
} Reference;

typedef struct Gather {
  Core *core;
  const BodiesPlan *plan;
  Mjcf *mjcf;
  char folder[PATH_MAX]; /* real path of the model's folder */
  char mesh_folder[XML_VALUE_MAX], texture_folder[XML_VALUE_MAX];
  bool strip_path;
  Reference *references;
  int32_t reference_count;
} Gather;

static const char *base_name(const char *path) {
  const char *base = path;
  for (const char *c = path; *c; c++)
    if (*c == '/' || *c == '\\') base = c + 1;
  return base;
}

/* What may stand in a reference: a plain relative path. */
static const char *path_fault(const char *path) {
  if (path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':')) return "is an absolute path";
  for (const char *c = path; *c; c++)
    if (*c == '&' || *c == '\\' || (unsigned char)*c < 0x20) return "has a letter that file names may not have here";
  for (const char *part = path; part; part = strchr(part, '/')) {
    if (*part == '/') part++;
    if (strncmp(part, "..", 2) == 0 && (part[2] == 0 || part[2] == '/')) return "leads out of the folder ('..')";
  }
  return NULL;
}

static Status wrong_at(const Gather *gather, const Reference *reference, const char *what) {
  return fail_at(gather->core, SCREE_BAD_INPUT, reference->xml, reference->place, "file '%.200s' %s", reference->file,
                 what);
}

/* Keeps the data, which it then owns. */
static Status keep_file(Gather *gather, const Reference *reference, const char *path, const char *xml, char *data,
                        int64_t size) {
  Mjcf *mjcf = gather->mjcf;
  char name[MJCF_NAME_MAX];
  int length = snprintf(name, sizeof name, "%s", base_name(path));
  Status status = SCREE_OK;
  if (length <= 0 || length >= MJCF_NAME_MAX) status = wrong_at(gather, reference, "has no usable name");
  for (char *c = name; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  for (int32_t k = 0; status == SCREE_OK && k < mjcf->count; k++)
    if (strcmp(mjcf->files[k].name, name) == 0)
      status = wrong_at(gather, reference, "has the name of another file of the model (folders and case do not count)");
  if (status == SCREE_OK && mjcf->count == FILES_MAX) status = wrong_at(gather, reference, "is one file too many");
  if (status == SCREE_OK) status = memory_grow(gather->core, &mjcf->files, mjcf->count + 1, "mechanism files");
  if (status != SCREE_OK) {
    memory_drop(gather->core, &data);
    return status;
  }
  MjcfFile *file = &mjcf->files[mjcf->count++];
  memcpy(file->name, name, sizeof name);
  snprintf(file->path, sizeof file->path, "%s", xml);
  file->data = data;
  file->size = size;
  return SCREE_OK;
}

/* Looks beside the model, then where the scene's own files are looked up. Links that lead out are not followed. */
static Status find_file(Gather *gather, const Reference *reference, const char *folder, char path[PATH_MAX]) {
  const char *fault = path_fault(reference->file);
  if (!fault && folder[0]) fault = path_fault(folder);
  if (fault) return wrong_at(gather, reference, fault);
  if (!base_name(reference->file)[0]) return wrong_at(gather, reference, "has no name");
  char asked[PATH_MAX + 2 * XML_VALUE_MAX + 4];
  snprintf(asked, sizeof asked, "%s/%s%s%s", gather->folder, folder, folder[0] ? "/" : "", reference->file);
  if (realpath(asked, path)) {
    size_t length = strlen(gather->folder);
    if (strncmp(path, gather->folder, length) == 0 && (path[length] == '/' || gather->folder[length - 1] == '/'))
      return SCREE_OK;
    return wrong_at(gather, reference, "lies outside the folder of the model");
  }
  ScreeError before = gather->core->error;
  Status status = gather->plan->resolve(gather->plan->resolve_context, gather->core, reference->file, reference->place,
                                        path, SCREE_FILE_MAX);
  if (status == SCREE_OK) return SCREE_OK;
  gather->core->error = before; /* the XML is the better place to point at than the scene */
  return wrong_at(gather, reference, "is neither beside the model nor among the shipped assets");
}

/* ---- meshes, written anew ---- */

static Status write_obj(Core *core, const Mesh *mesh, char **data, int64_t *size) {
  const int64_t most = mesh->vertex_count * 80 + mesh->triangle_count * 40 + 1;
  TRY(memory_new(core, data, most, "mechanism mesh"));
  int64_t at = 0;
  for (int64_t k = 0; k < mesh->vertex_count; k++) {
    Vec3 v = mesh->vertices[k];
    at += snprintf(*data + at, (size_t)(most - at), "v %.9g %.9g %.9g\n", v.x, v.y, v.z);
  }
  for (int64_t k = 0; k < mesh->triangle_count; k++) {
    const int32_t *t = mesh->triangles[k];
    at += snprintf(*data + at, (size_t)(most - at), "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
  *size = at;
  return SCREE_OK;
}

static Status write_stl(Core *core, const Mesh *mesh, char **data, int64_t *size) {
  *size = 84 + 50 * mesh->triangle_count;
  TRY(memory_new(core, data, *size, "mechanism mesh"));
  uint32_t count = (uint32_t)mesh->triangle_count;
  memcpy(*data + 80, &count, 4);
  for (int64_t k = 0; k < mesh->triangle_count; k++)
    for (int corner = 0; corner < 3; corner++) {
      Vec3 v = mesh->vertices[mesh->triangles[k][corner]];
      float numbers[3] = {(float)v.x, (float)v.y, (float)v.z};
      memcpy(*data + 84 + 50 * k + 12 + 12 * corner, numbers, sizeof numbers);
    }
  return SCREE_OK;
}

/* MuJoCo keeps coordinates as floats and counts in ints. */
static Status check_mesh(const Gather *gather, const Reference *reference, const Mesh *mesh) {
  Vec3 low, high;
  mesh_bounds(mesh, &low, &high);
  double largest = fmax(vec3_length(low), vec3_length(high));
  if (!(largest < 1e6)) return wrong_at(gather, reference, "is a mesh with coordinates beyond 1e6 m");
  if (mesh->triangle_count > 5000000) return wrong_at(gather, reference, "is a mesh of more than 5 million triangles");
  return SCREE_OK;
}

static bool has_extension(const char *file, const char *extension) {
  const char *dot = strrchr(file, '.');
  return dot && strcasecmp(dot, extension) == 0;
}

static Status read_mesh(Gather *gather, const Reference *reference, const char *path, char **data, int64_t *size) {
  bool is_obj = has_extension(reference->file, ".obj"), is_stl = has_extension(reference->file, ".stl");
  if (!is_obj && !is_stl) return wrong_at(gather, reference, "is no mesh format that mechanisms have: use OBJ or STL");
  Mesh mesh = {0};
  TRY(mesh_load(gather->core, path, &mesh));
  Status status = check_mesh(gather, reference, &mesh);
  if (status == SCREE_OK)
    status = is_obj ? write_obj(gather->core, &mesh, data, size) : write_stl(gather->core, &mesh, data, size);
  mesh_destroy(gather->core, &mesh);
  return status;
}

/* ---- the XML ---- */

static Status scan_file(Gather *gather, const char *path, const char *text, int64_t size, int depth);

static Status make_reference(const XmlScan *scan, const char *element, Reference *reference) {
  *reference = (Reference){.place = scan->place, .is_mesh = strcmp(element, "mesh") == 0};
  reference->is_texture = strcmp(element, "texture") == 0;
  if (scan->value_cut) return xml_scan_wrong(scan, "file name is too long");
  snprintf(reference->file, sizeof reference->file, "%s", scan->value);
  snprintf(reference->xml, sizeof reference->xml, "%s", scan->file);
  return SCREE_OK;
}

static Status read_include(Gather *gather, const Reference *reference, int depth) {
  char path[PATH_MAX];
  gather->mjcf->has_includes = true;
  if (depth >= INCLUDE_DEPTH_MAX) return wrong_at(gather, reference, "is included too deep");
  TRY(find_file(gather, reference, "", path));
  char *text;
  int64_t size;
  TRY(files_read(gather->core, path, XML_BYTES_MAX, &text, &size));
  TRY(keep_file(gather, reference, reference->file, path, text, size));
  return scan_file(gather, path, text, size, depth + 1);
}

/* Numbers that make MuJoCo allocate: absurd ones are refused here. */
static Status check_count(const XmlScan *scan, double most) {
  double product = 1;
  const char *at = scan->value;
  for (int k = 0; k < 3; k++) {
    char *stop;
    double value = strtod(at, &stop);
    if (stop == at) break;
    product *= fmax(1, value);
    at = stop;
  }
  return product <= most ? SCREE_OK : xml_scan_wrong(scan, "%s is larger than %g", scan->name, most);
}

static Status read_folder(const XmlScan *scan, char folder[XML_VALUE_MAX]) {
  const char *fault = scan->value_cut ? "is too long" : path_fault(scan->value);
  if (fault) return xml_scan_wrong(scan, "%s '%.200s' %s", scan->name, scan->value, fault);
  memcpy(folder, scan->value, XML_VALUE_MAX);
  return SCREE_OK;
}

static Status read_attribute(Gather *gather, const XmlScan *scan, const char *element, int depth) {
  if (strcmp(element, "compiler") == 0) {
    bool both = strcmp(scan->name, "assetdir") == 0;
    if (both || strcmp(scan->name, "meshdir") == 0) TRY(read_folder(scan, gather->mesh_folder));
    if (both || strcmp(scan->name, "texturedir") == 0) TRY(read_folder(scan, gather->texture_folder));
    if (strcmp(scan->name, "strippath") == 0) gather->strip_path = strcmp(scan->value, "true") == 0;
  }
  if (strcmp(element, "size") == 0) TRY(check_count(scan, SIZE_MAX_VALUE));
  if (strcmp(element, "composite") == 0 && strcmp(scan->name, "count") == 0) TRY(check_count(scan, COPIES_MAX));
  if (strncmp(scan->name, "file", 4) != 0) return SCREE_OK;
  Reference reference;
  TRY(make_reference(scan, element, &reference));
  if (strcmp(element, "include") == 0) return read_include(gather, &reference, depth);
  TRY(memory_grow(gather->core, &gather->references, gather->reference_count + 1, "mechanism files"));
  gather->references[gather->reference_count++] = reference;
  return SCREE_OK;
}

static Status scan_file(Gather *gather, const char *path, const char *text, int64_t size, int depth) {
  XmlScan scan;
  xml_scan_begin(&scan, gather->core, path, text, size);
  if (memchr(text, 0, (size_t)size))
    return fail_at(gather->core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "is not text");
  bool found, is_root = true;
  for (;; is_root = false) {
    TRY(xml_scan_element(&scan, &found));
    if (!found) break;
    char element[XML_NAME_MAX];
    memcpy(element, scan.name, sizeof element);
    if (is_root && depth == 0 && strcmp(element, "mujoco") != 0)
      return xml_scan_wrong(&scan, "is not MJCF: the root element is '%s', not 'mujoco'", element);
    if (strcmp(element, "extension") == 0 || strcmp(element, "plugin") == 0)
      return xml_scan_wrong(&scan, "plugins are not loaded");
    for (;;) {
      TRY(xml_scan_attribute(&scan, &found));
      if (!found) break;
      TRY(read_attribute(gather, &scan, element, depth));
    }
    if (is_root && depth == 0 && scan.at - text >= 2 && scan.at[-2] != '/') {
      gather->mjcf->behind_root = scan.at - text;
      gather->mjcf->root_line = scan.line;
    }
  }
  return is_root ? xml_scan_wrong(&scan, "has no XML element") : SCREE_OK;
}

static Status read_reference(Gather *gather, const Reference *reference) {
  if (!reference->is_mesh && !has_extension(reference->file, ".png"))
    return wrong_at(gather, reference, "is of no kind that is read: pictures and height fields are PNG");
  char path[PATH_MAX];
  TRY(find_file(gather, reference, reference->is_texture ? gather->texture_folder : gather->mesh_folder, path));
  char *data = NULL;
  int64_t size = 0;
  if (reference->is_mesh) TRY(read_mesh(gather, reference, path, &data, &size));
  else TRY(files_read(gather->core, path, FILE_MOST, &data, &size));
  return keep_file(gather, reference, reference->file, "", data, size);
}

static int32_t same_reference(const Gather *gather, int32_t index) {
  for (int32_t k = 0; k < index; k++)
    if (strcmp(gather->references[k].file, gather->references[index].file) == 0 &&
        gather->references[k].is_texture == gather->references[index].is_texture)
      return k;
  return -1;
}

static Status gather_all(Gather *gather, const char *path) {
  char real[PATH_MAX];
  if (!realpath(path, real))
    return fail_at(gather->core, SCREE_BAD_INPUT, path, (ScreeSource){0, 0}, "cannot be read: %s", strerror(errno));
  snprintf(gather->folder, sizeof gather->folder, "%.*s", (int)(base_name(real) - real - 1), real);
  if (!gather->folder[0]) snprintf(gather->folder, sizeof gather->folder, "/");
  char *text;
  int64_t size;
  TRY(files_read(gather->core, path, XML_BYTES_MAX, &text, &size));
  Reference itself = {0};
  snprintf(itself.file, sizeof itself.file, "%s", base_name(path));
  snprintf(itself.xml, sizeof itself.xml, "%s", path);
  TRY(keep_file(gather, &itself, path, path, text, size));
  TRY(scan_file(gather, path, text, size, 0));
  for (int32_t k = 0; gather->strip_path && k < gather->reference_count; k++) {
    const char *base = base_name(gather->references[k].file);
    memmove(gather->references[k].file, base, strlen(base) + 1);
  }
  for (int32_t k = 0; k < gather->reference_count; k++)
    if (same_reference(gather, k) < 0) TRY(read_reference(gather, &gather->references[k]));
  return SCREE_OK;
}

/* MJCF may have any number of worldbody sections, in any order. Type and size are given: the model's defaults may be
 * those of meshes. */
static const char ANCHOR[] =
    "<worldbody><geom name='" MJCF_ANCHOR "' type='sphere' size='0.001' contype='0' conaffinity='0'/></worldbody>";
static Status add_anchor(Core *core, Mjcf *mjcf) {
  MjcfFile *model = &mjcf->files[0];
  int64_t more = sizeof ANCHOR - 1, at = mjcf->behind_root;
  if (at == 0) return SCREE_OK;
  char *data;
  TRY(memory_new(core, &data, model->size + more + 1, "mechanism files"));
  memcpy(data, model->data, (size_t)at);
  memcpy(data + at, ANCHOR, (size_t)more);
  memcpy(data + at + more, model->data + at, (size_t)(model->size - at));
  memory_drop(core, &model->data);
  model->data = data;
  model->size += more;
  return SCREE_OK;
}

Status mjcf_gather(Core *core, const BodiesPlan *plan, const char *path, Mjcf *mjcf) {
  *mjcf = (Mjcf){0};
  Gather *gather;
  TRY(memory_new(core, &gather, 1, "mechanism files"));
  gather->core = core;
  gather->plan = plan;
  gather->mjcf = mjcf;
  Status status = gather_all(gather, path);
  if (status == SCREE_OK) status = add_anchor(core, mjcf);
  memory_drop(core, &gather->references);
  memory_drop(core, &gather);
  if (status != SCREE_OK) mjcf_destroy(core, mjcf);
  return status;
}

/* Whether the next element of a file, or something of it, is called so. */
static Status find_in_element(XmlScan *scan, const char *word, bool *found, bool *more) {
  TRY(xml_scan_element(scan, more));
  *found = *more && strcmp(scan->name, word) == 0;
  for (bool attribute = *more; attribute && !*found;) {
    TRY(xml_scan_attribute(scan, &attribute));
    *found = attribute && (strcmp(scan->name, word) == 0 || strcmp(scan->value, word) == 0);
  }
  return SCREE_OK;
}

bool mjcf_find_word(Core *core, const Mjcf *mjcf, const char *word, const char **path, ScreeSource *place) {
  for (int32_t k = 0; k < mjcf->count; k++) {
    const MjcfFile *file = &mjcf->files[k];
    if (!file->path[0]) continue;
    XmlScan scan;
    xml_scan_begin(&scan, core, file->path, file->data, file->size);
    for (bool found = false, more = true; more;) {
      if (find_in_element(&scan, word, &found, &more) != SCREE_OK) break; /* it was read before */
      if (!found) continue;
      *path = file->path;
      *place = scan.place;
      bool shifted = k == 0 && scan.place.line == mjcf->root_line && scan.at - file->data > mjcf->behind_root;
      if (shifted) place->column -= (int)sizeof ANCHOR - 1;
      return true;
    }
  }
  return false;
}

void mjcf_destroy(Core *core, Mjcf *mjcf) {
  for (int32_t k = 0; k < mjcf->count; k++) memory_drop(core, &mjcf->files[k].data);
  memory_drop(core, &mjcf->files);
  *mjcf = (Mjcf){0};
}
