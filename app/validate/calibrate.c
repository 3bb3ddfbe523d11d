/* Contacts for sand of an angle.
 *
 * A method's contacts go along a path: from those that make flat heaps to those that make steep ones. For each, heaps
 * are poured and a column of a = 1.2 is let go, as for the laws. The angle of a contact is the mean of its heaps,
 * brought to heaps of TABLE_GRAINS by what all contacts of the samples lose for each factor e in the number of grains.
 * The table has a row for each contact. The collapse is measured for the choice of the path: see docs/methods/dem.md.
 */
#include "app/validate/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/validate/law.h"
#include "output/output.h"

enum { PATH_MOST = 32, SAMPLES_MOST = 4096 };
#define TABLE_GRAINS 3000.0
#define SAMPLE_RADIUS 0.01
#define SAMPLE_ASPECT 1.2
#define SAMPLE_DIAMETERS 15

typedef struct Contact {
  double friction_static, friction_kinetic, rolling_friction;
  double about_deg; /* the angle of its heaps, nearly: what a rough floor holds them with */
} Contact;

/* rolling_friction sets the angle above 30 degrees, friction below. Of contacts that make the same heap, those of high
 * friction and low rolling friction let columns run farthest, and beds on long slopes rest nearest to the angle of the
 * heap: docs/methods/pbd.md. */
static const Contact position_path[] = {
    {0.06, 0.06, 0.02, 19}, {0.1, 0.1, 0.02, 22}, {0.2, 0.2, 0.02, 26}, {0.4, 0.4, 0.02, 29}, {0.8, 0.8, 0.02, 31},
    {0.8, 0.8, 0.05, 33},   {0.8, 0.8, 0.1, 36},  {0.8, 0.8, 0.15, 38}, {0.8, 0.8, 0.2, 40},  {0.8, 0.8, 0.3, 43}};
static const Contact dem_path[] = {{0.06, 0.06, 0.02, 19}, {0.2, 0.2, 0.02, 24}, {0.8, 0.8, 0.02, 29},
                                   {0.8, 0.8, 0.05, 31},   {0.8, 0.8, 0.1, 34},  {0.8, 0.8, 0.2, 38},
                                   {0.8, 0.8, 0.4, 42}};

typedef struct Path {
  const char *methods, *prefix; /* `prefix`: of the names in the table's file */
  const Contact *contacts;
  int count;
} Path;
static const Path paths[] = {{"pbd p2", "POSITION", position_path, sizeof position_path / sizeof *position_path},
                             {"dem", "DEM", dem_path, sizeof dem_path / sizeof *dem_path}};

static const Path *path_of(const char *method) {
  for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
    const char *at = strstr(paths[k].methods, method);
    size_t length = strlen(method);
    if (length > 1 && at && (at == paths[k].methods || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
      return &paths[k];
  }
  return NULL;
}

bool calibrate_knows(const char *method) { return path_of(method) != NULL; }

typedef struct Sample {
  Contact contact;
  int64_t grains; /* of a heap; 0: collapse */
  int64_t seed;
  double value; /* degrees, or radius over that of Lube */
} Sample;

typedef struct Samples {
  Sample items[SAMPLES_MOST];
  int count;
} Samples;

static ScreeStatus refuse(ScreeError *error, ScreeStatus status, const char *what, const char *name) {
  *error = (ScreeError){.status = status};
  snprintf(error->message, sizeof error->message, "%s '%.200s'", what, name);
  return status;
}

/* ---- measuring ---- */

/* A run's `parameter` is the contact's place on the path, `number` the grains of the heap, 0 for the collapse. */
static ScreeStatus sample_run(Run *run, ScreeError *error) {
  const Contact *contact = &path_of(run->method)->contacts[(int)run->parameter];
  char material[160];
  snprintf(material, sizeof material,
           "friction_angle_deg: %g, friction_static: %g, friction_kinetic: %g, rolling_friction: %g",
           contact->about_deg, contact->friction_static, contact->friction_kinetic, contact->rolling_friction);
  Trial trial = run_trial(run, material, SAMPLE_RADIUS);
  if (run->number > 0) return heap_measure(&trial, run->number, &run->values[0], error);
  Collapse collapse;
  ScreeStatus status = collapse_measure(&trial, SAMPLE_ASPECT, SAMPLE_DIAMETERS, &collapse, error);
  run->values[0] = collapse.radius / collapse.start / collapse_lube(SAMPLE_ASPECT);
  return status;
}

static const Law SAMPLES_LAW = {.name = "calibrate", .run = sample_run};

static bool plan_sample(Plan *plan, int contact, int64_t seed, int64_t grains) {
  double cost = grains > 0 ? pow((double)grains / 3000, 5.0 / 3) : 1;
  Run *run = plan_run(plan, contact, seed, cost, grains > 0 ? "contact %d, seed %lld" : "contact %d, collapse %lld",
                      contact + 1, (long long)seed);
  if (run) run->number = (int)grains;
  return run != NULL;
}

static ScreeStatus measure(const CalibrateOptions *options, const Path *path, Samples *samples, ScreeError *error) {
  Plan plan = {
      .law = &SAMPLES_LAW, .method = options->method, .level = LEVEL_COARSE, .runs = calloc(RUNS_MOST, sizeof(Run *))};
  bool planned = plan.runs != NULL;
  for (int k = 0; planned && k < path->count; k++) {
    planned = plan_sample(&plan, k, 1, 0);
    for (int64_t seed = 1; planned && seed <= options->seeds; seed++)
      planned = plan_sample(&plan, k, seed, options->grains);
  }
  ScreeStatus status = planned ? runs_execute(&options->runs, &plan, error)
                               : refuse(error, SCREE_NO_MEMORY, "no memory for the runs of", options->method);
  for (int k = 0; k < plan.count; k++) {
    const Run *run = plan.runs[k];
    if (status == SCREE_OK && run->status != SCREE_OK) {
      *error = run->error;
      status = run->status;
    }
    if (samples->count < SAMPLES_MOST)
      samples->items[samples->count++] =
          (Sample){path->contacts[(int)run->parameter], run->number, run->seed, run->values[0]};
    free(plan.runs[k]);
  }
  free(plan.runs);
  return status;
}

/* ---- samples in a file ---- */

#define SAMPLES_HEADER "friction_static,friction_kinetic,rolling_friction,grains,seed,value"

static ScreeStatus read_samples(const char *file, Samples *samples, ScreeError *error) {
  char line[256];
  FILE *from = fopen(file, "r");
  if (!from) return refuse(error, SCREE_BAD_INPUT, "cannot read", file);
  ScreeStatus status = SCREE_OK;
  for (int number = 1; status == SCREE_OK && fgets(line, sizeof line, from); number++) {
    Sample s;
    long long grains, seed;
    if (line[0] == '#' || strncmp(line, SAMPLES_HEADER, strlen(SAMPLES_HEADER)) == 0) continue;
    bool good = sscanf(line, "%lf,%lf,%lf,%lld,%lld,%lf", &s.contact.friction_static, &s.contact.friction_kinetic,
                       &s.contact.rolling_friction, &grains, &seed, &s.value) == 6;
    if (!good || !isfinite(s.value) || grains < 0 || samples->count >= SAMPLES_MOST) {
      status = refuse(error, SCREE_BAD_INPUT, "no samples are in", file);
      error->line = number;
      snprintf(error->file, sizeof error->file, "%s", file);
      break;
    }
    s.grains = grains, s.seed = seed;
    samples->items[samples->count++] = s;
  }
  fclose(from);
  return status;
}

static ScreeStatus write_samples(const char *file, const Samples *samples, ScreeError *error) {
  FILE *to = fopen(file, "w");
  if (!to) return refuse(error, SCREE_CANNOT_WRITE, "cannot write", file);
  fprintf(to,
          "# value: degrees of a heap of so many grains; grains 0: radius of a collapse of a = %g over Lube's\n%s\n",
          SAMPLE_ASPECT, SAMPLES_HEADER);
  for (int k = 0; k < samples->count; k++) {
    const Sample *s = &samples->items[k];
    fprintf(to, "%g,%g,%g,%lld,%lld,%.5g\n", s->contact.friction_static, s->contact.friction_kinetic,
            s->contact.rolling_friction, (long long)s->grains, (long long)s->seed, s->value);
  }
  return fclose(to) == 0 ? SCREE_OK : refuse(error, SCREE_CANNOT_WRITE, "cannot write", file);
}

/* ---- the table ---- */

typedef struct TableRow {
  Contact contact;
  double angle, deviation, collapse; /* deviation: of one heap */
  int heaps;
} TableRow;

static bool same_contact(const Contact *a, const Contact *b) {
  return a->friction_static == b->friction_static && a->friction_kinetic == b->friction_kinetic &&
         a->rolling_friction == b->rolling_friction;
}

/* Degrees for each factor e in grains: least squares over all contacts, each with an angle of its own. */
static double size_slope(const Path *path, const Samples *samples) {
  double sum_xy = 0, sum_xx = 0;
  for (int k = 0; k < path->count; k++) {
    double n = 0, x = 0, y = 0, xy = 0, xx = 0;
    for (int s = 0; s < samples->count; s++) {
      const Sample *at = &samples->items[s];
      if (at->grains == 0 || !same_contact(&at->contact, &path->contacts[k])) continue;
      double l = log((double)at->grains / TABLE_GRAINS);
      n++, x += l, y += at->value, xy += l * at->value, xx += l * l;
    }
    if (n > 0) sum_xy += xy - x * y / n, sum_xx += xx - x * x / n;
  }
  return sum_xx > 1e-9 ? sum_xy / sum_xx : 0;
}

static void fill_row(const Samples *samples, double slope, TableRow *row) {
  double sum = 0, squares = 0;
  for (int s = 0; s < samples->count; s++) {
    const Sample *at = &samples->items[s];
    if (!same_contact(&at->contact, &row->contact)) continue;
    if (at->grains == 0) {
      row->collapse = at->value;
      continue;
    }
    double angle = at->value - slope * log((double)at->grains / TABLE_GRAINS);
    sum += angle, squares += angle * angle, row->heaps++;
  }
  if (row->heaps == 0) return;
  row->angle = sum / row->heaps;
  if (row->heaps > 1) row->deviation = sqrt(fmax(0, squares - sum * row->angle) / (row->heaps - 1));
}

/* Rows of the contacts that were sampled, by ascending angle along the path. */
static int make_rows(const Path *path, const Samples *samples, double slope, TableRow *rows) {
  int count = 0;
  for (int k = 0; k < path->count; k++) {
    TableRow row = {.contact = path->contacts[k], .collapse = NAN};
    fill_row(samples, slope, &row);
    if (row.heaps > 0 && (count == 0 || row.angle > rows[count - 1].angle)) rows[count++] = row;
  }
  return count;
}

static void print_table(const CalibrateOptions *options, const TableRow *rows, int count, double slope) {
  printf("%s: contacts and the angle of their heaps; %+.2f deg for each factor e in grains\n", options->method, slope);
  printf("%8s %8s %8s  %9s %6s %6s  %s\n", "static", "kinetic", "rolling", "angle deg", "+-one", "heaps", "collapse");
  for (int k = 0; k < count; k++)
    printf("%8g %8g %8g  %9.1f %6.1f %6d  %+.0f %%\n", rows[k].contact.friction_static,
           rows[k].contact.friction_kinetic, rows[k].contact.rolling_friction, rows[k].angle, rows[k].deviation,
           rows[k].heaps, 100 * (rows[k].collapse - 1));
}

static ScreeStatus write_table(const char *file, const Path *path, const TableRow *rows, int count, double slope,
                               ScreeError *error) {
  FILE *to = fopen(file, "w");
  if (!to) return refuse(error, SCREE_CANNOT_WRITE, "cannot write", file);
  char sizes[128] = "of one size";
  if (slope != 0)
    snprintf(sizes, sizeof sizes, "of %g grains, %+.2f degrees for each factor e in grains", TABLE_GRAINS, slope);
  fprintf(
      to,
      "/* Made by `scree calibrate`; do not edit. Contacts of %s and the angle of the heaps that they make: grains of\n"
      " * one radius, poured slowly on a rough floor; heaps %s. */\n"
      "#ifndef METHODS_%s_CALIBRATION_H\n#define METHODS_%s_CALIBRATION_H\n\n"
      "#include \"methods/calibration.h\"\n\n"
      "/* angle_deg, friction_static, friction_kinetic, rolling_friction */\n/* clang-format off */\n"
      "static const CalibratedContact %s_CONTACTS[] = {\n",
      path->methods, sizes, path->prefix, path->prefix, path->prefix);
  for (int k = 0; k < count; k++)
    fprintf(to, "    {%.1f, %g, %g, %g},\n", rows[k].angle, rows[k].contact.friction_static,
            rows[k].contact.friction_kinetic, rows[k].contact.rolling_friction);
  fprintf(
      to,
      "};\n/* clang-format on */\n\nstatic const Calibration %s_CALIBRATION = CALIBRATION_OF(%s_CONTACTS);\n\n#endif\n",
      path->prefix, path->prefix);
  return fclose(to) == 0 ? SCREE_OK : refuse(error, SCREE_CANNOT_WRITE, "cannot write", file);
}

ScreeStatus calibrate_run(const CalibrateOptions *options, ScreeError *error) {
  const Path *path = path_of(options->method);
  char file[SCREE_FILE_MAX];
  TableRow rows[PATH_MOST];
  Samples *samples = calloc(1, sizeof *samples);
  if (!path || !samples) {
    free(samples);
    return refuse(error, path ? SCREE_NO_MEMORY : SCREE_BAD_ARGUMENT, "no table belongs to", options->method);
  }
  ScreeStatus status =
      options->from ? read_samples(options->from, samples, error) : measure(options, path, samples, error);
  snprintf(file, sizeof file, "%s/%s.csv", options->folder, options->method);
  if (status == SCREE_OK && !options->from) status = write_samples(file, samples, error);
  if (status == SCREE_OK) {
    double slope = size_slope(path, samples);
    int count = make_rows(path, samples, slope, rows);
    print_table(options, rows, count, slope);
    snprintf(file, sizeof file, "%s/%s.h", options->folder, options->method);
    status = count > 1 ? write_table(file, path, rows, count, slope, error)
                       : refuse(error, SCREE_BAD_INPUT, "too few contacts were sampled for", options->method);
  }
  free(samples);
  return status;
}
