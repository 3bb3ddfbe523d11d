/* scree bench: measure speed against published figures. It stands here and not in app/cli because a suite may look into
 * every room and the program may not. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/scene_arguments.h"
#include "bench/bench.h"
#include "core/parallel.h"
#include "device/device.h"
#include "output/stream.h"
#include "scene/suggest.h"

static const struct {
  const char *name, *summary;
  Status (*function)(Core *core, BenchTable *table); /* NULL: this build does not have it */
} suites[] = {
    {"sommer", "pbd and upsampling", bench_sommer},
    {"upsample", "the fine grains of sommer alone", bench_upsample},
    {"narain", "flip", bench_narain},
    {"holz", "p2", bench_holz},
    {"dem", "discrete elements", bench_dem},
    {"exchange", "terrain that gives grains back", bench_exchange},
    {"neder", "sph", bench_neder},
    {"scaling", "threads and sizes", bench_scaling},
    {"threads", "small scenes on more and more threads", bench_crew},
    {"neighbors", "sort and neighbour search", bench_neighbors},
    {"geometry", "meshes and signed distance", bench_geometry},
    {"sampling", "filling shapes with points", bench_sampling},
    {"start", "from the command to the first frame", bench_start},
    {"render", "pictures", bench_render},
    {"frames", "frames written and read", bench_frames},
    {"device", "pbd and fine grains on an OpenCL device", bench_device},
};
enum { SUITE_COUNT = sizeof suites / sizeof *suites };

/* What the command line asks for. */
typedef struct Wanted {
  const char *method, *device, *only, *report;
  int64_t threads;
  bool quick;
} Wanted;

static Status measure(Core *core, int suite, const Wanted *wanted) {
  BenchTable table = {.suite = suites[suite].name,
                      .method = wanted->method,
                      .only = wanted->only,
                      .device = strcmp(wanted->device, "cpu") == 0 ? "opencl" : wanted->device,
                      .threads = pool_threads(core->pool),
                      .quick = wanted->quick,
                      .progress = stderr};
  Status status = suites[suite].function(core, &table);
  if (status == SCREE_OK) bench_table_print(&table, stdout);
  if (status == SCREE_OK && wanted->report) status = bench_table_write(core, &table, wanted->report);
  bench_table_destroy(core, &table);
  return status;
}

/* A device that is not there is an error in every suite; one that is there but not measured is said. */
static Status check_device(Core *core, int suite, const char *device) {
  int32_t index = DEVICE_CPU;
  TRY(device_find(core, device, &index));
  if (index != DEVICE_CPU && suites[suite].function != bench_device)
    fprintf(stderr, "note: the suite '%s' measures the processor; 'device' measures %s\n", suites[suite].name, device);
  return SCREE_OK;
}

static int run_suite(int suite, const Wanted *wanted) {
  ScreeWorldOptions options = {.threads = (int32_t)wanted->threads, .log_level = SCREE_LOG_WARNING};
  Core core;
  ScreeError error;
  Status status = core_create(&core, &options);
  if (status == SCREE_OK && wanted->report) status = stream_check(&core, wanted->report); /* now, not after an hour */
  if (status == SCREE_OK) status = check_device(&core, suite, wanted->device);
  if (status == SCREE_OK) status = measure(&core, suite, wanted);
  core_report(&core, status, &error);
  core_destroy(&core);
  return status == SCREE_OK ? 0 : print_error(&error);
}

static int find_suite(const char *name) {
  char text[SUGGEST_TEXT];
  Suggestion suggestion = suggest_begin(name);
  for (int k = 0; k < SUITE_COUNT; k++) {
    if (strcmp(name, suites[k].name) == 0) return k;
    suggest_offer(&suggestion, suites[k].name);
  }
  usage_error("there is no suite '%s'%s; scree bench --help lists them", name, suggest_text(&suggestion, text));
  return -1;
}

static const char *suite_list(char text[1024]) {
  int used = snprintf(text, 1024, "SUITE is one of");
  for (int k = 0; k < SUITE_COUNT && used < 960; k++)
    used += snprintf(text + used, 1024 - (size_t)used, "\n  %-10s %s%s", suites[k].name, suites[k].summary,
                     suites[k].function ? "" : " (not in this build)");
  return text;
}

int command_bench(int argc, char **argv) {
  Wanted wanted = {.threads = 2};
  char details[1024];
  const Option options[] = {
      {0, "--report", OPTION_TEXT, &wanted.report, "FILE", "also write the rows as JSON", 0, 0},
      {0, "--method", OPTION_TEXT, &wanted.method, "M", "scaling, threads: this method alone", 0, 0},
      {0, "--device", OPTION_TEXT, &wanted.device, "cpu|opencl|opencl:N", "device: which one (default opencl)", 0, 0},
      {0, "--only", OPTION_TEXT, &wanted.only, "WORDS",
       "only rows with these words in their names ('device' does not measure the others)", 0, 0},
      {0, "--threads", OPTION_INTEGER, &wanted.threads, "N", "threads (default 2; 0: one per core)", 0, 256},
      {0, "--quick", OPTION_FLAG, &wanted.quick, NULL, "only try everything out, in seconds: the figures say nothing",
       0, 0}};
  const Usage usage = {.command = "bench",
                       .arguments = "SUITE",
                       .summary = "measure speed against published figures",
                       .details = suite_list(details),
                       .example = "scree bench neighbors --report neighbors.json",
                       USAGE_TABLE(options, 1, 1)};
  Arguments arguments;
  int code;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  wanted.device = device_wanted(wanted.device);
  int suite = find_suite(arguments.items[0]);
  if (suite < 0) return EXIT_USAGE;
  if (!suites[suite].function)
    return usage_error("this build of scree does not have 'scree bench %s' yet", suites[suite].name);
  return run_suite(suite, &wanted);
}
