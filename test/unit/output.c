/* output/: frames written and read back, damaged frames, tables that are cut back, full disks, numbers. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "output/base64.h"
#include "output/folder.h"
#include "output/frame_times.h"
#include "output/frames.h"
#include "output/number.h"
#include "output/output.h"
#include "output/stream.h"
#include "output/table.h"

enum { COUNT = 1000 };

typedef struct Sample {
  float numbers[7][COUNT];
  uint32_t ids[COUNT];
  uint8_t materials[COUNT];
} Sample;

static ScreeParticles sample_particles(Sample *sample, int64_t count) {
  for (int i = 0; i < COUNT; i++) {
    for (int c = 0; c < 7; c++) sample->numbers[c][i] = (float)(c * 1000 + i) / 7;
    sample->ids[i] = (uint32_t)(4294967295u - (unsigned)i);
    sample->materials[i] = (uint8_t)i;
  }
  return (ScreeParticles){.count = count,
                          .origin = {1000, -2000, 0.5},
                          .x = sample->numbers[0],
                          .y = sample->numbers[1],
                          .z = sample->numbers[2],
                          .vx = sample->numbers[3],
                          .vy = sample->numbers[4],
                          .vz = sample->numbers[5],
                          .radius = sample->numbers[6],
                          .id = sample->ids,
                          .material = sample->materials};
}

static char folder[] = "build/test_output_XXXXXX";

static int make_folder(void **state) {
  (void)state;
  mkdir("build", 0777);
  return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static const char *in_folder(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void check_round_trip(FrameFormat format, int64_t count) {
  static Sample sample;
  ScreeParticles written = sample_particles(&sample, count), read;
  ScreeError error;
  Frames *frames;
  double time = 0;
  assert_int_equal(output_particles(folder, "grains", 7, format, 0, &written, 0.1, &error), SCREE_OK);
  assert_int_equal(frames_open(folder, "grains", &frames, &error), SCREE_OK);
  assert_int_equal(frames_count(frames), 1);
  assert_int_equal(frames_number(frames, 0), 7);
  assert_int_equal(frames_format(frames, 0), format);
  assert_int_equal(frames_read(frames, 0, &read, &time, &error), SCREE_OK);
  assert_true(time == 0.1);
  assert_int_equal(read.count, count);
  for (int64_t i = 0; i < count; i++) {
    assert_true(read.x[i] == (float)(1000 + (double)written.x[i]));
    assert_true(read.y[i] == (float)(-2000 + (double)written.y[i]));
    assert_true(read.z[i] == (float)(0.5 + (double)written.z[i]));
    assert_true(read.vx[i] == written.vx[i] && read.vy[i] == written.vy[i] && read.vz[i] == written.vz[i]);
    assert_true(read.radius[i] == written.radius[i]);
    assert_int_equal(read.id[i], written.id[i]);
    assert_int_equal(read.material[i], written.material[i]);
  }
  unlink(frames_path(frames, 0));
  frames_close(frames);
}

static void frames_come_back(void **state) {
  (void)state;
  for (int64_t count = 0; count < 5; count++) {
    check_round_trip(FRAME_PLY, count);
    check_round_trip(FRAME_VTP, count);
  }
  check_round_trip(FRAME_PLY, COUNT);
  check_round_trip(FRAME_VTP, COUNT);
}

static void frame_names_are_exact(void **state) {
  (void)state;
  int64_t number = -1;
  FrameFormat format;
  assert_true(frame_name_parse("coarse_000012.ply", "coarse", &number, &format));
  assert_int_equal(number, 12);
  assert_true(frame_name_parse("coarse_1234567.vtp", "coarse", &number, &format));
  assert_int_equal(format, FRAME_VTP);
  static const char *const others[] = {"coarse_12.ply",     "coarse_0000012.ply", "coarse_000012.ply.part",
                                       "coarse_000012.obj", "grains_000012.ply",  "coarse_99999999999999999999.ply",
                                       "coarse_-00012.ply", "coarse_000012.ply~", "coarse"};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    assert_false(frame_name_parse(others[k], "coarse", &number, &format));
}

static Status read_text(const char *name, const char *text, int64_t size) {
  Core core = test_core(1);
  assert_ok(&core, files_write(&core, in_folder(name), text, size));
  core_destroy(&core);
  Frames *frames;
  ScreeError error;
  ScreeParticles particles;
  assert_int_equal(frames_open(folder, "coarse", &frames, &error), SCREE_OK);
  assert_int_equal(frames_count(frames), 1);
  Status status = frames_read(frames, 0, &particles, NULL, &error);
  if (status != SCREE_OK) assert_non_null(strstr(error.file, name));
  unlink(frames_path(frames, 0));
  frames_close(frames);
  return status;
}

/* Every cut of a good file, and files that lie, are refused or read: never a crash. */
static void damaged_frames_are_refused(void **state) {
  (void)state;
  static Sample sample;
  ScreeError error;
  for (int f = FRAME_PLY; f <= FRAME_VTP; f++) {
    ScreeParticles particles = sample_particles(&sample, 3);
    const char *name = f == FRAME_PLY ? "coarse_000000.ply" : "coarse_000000.vtp";
    assert_int_equal(output_particles(folder, "coarse", 0, (FrameFormat)f, 0, &particles, 0, &error), SCREE_OK);
    Core core = test_core(1);
    char *data = NULL;
    int64_t size = 0;
    assert_ok(&core, files_read(&core, in_folder(name), 1 << 20, &data, &size));
    for (int64_t cut = 0; cut < (f == FRAME_PLY ? size : size / 2); cut += 3)
      assert_int_equal(read_text(name, data, cut), SCREE_BAD_INPUT);
    memory_drop(&core, &data);
    core_destroy(&core);
  }
  static const char *const lies[] = {
      "ply\nformat binary_little_endian 1.0\nelement vertex 9000000000000000000\nproperty float x\nproperty float "
      "y\nproperty float z\nend_header\n",
      "ply\nformat binary_little_endian 1.0\nelement vertex -1\nend_header\n",
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty list uchar int x\nend_header\n",
      "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
      "ply\nend_header\n"};
  for (size_t k = 0; k < sizeof lies / sizeof *lies; k++)
    assert_int_equal(read_text("coarse_000000.ply", lies[k], (int64_t)strlen(lies[k])), SCREE_BAD_INPUT);
}

static void remember_row(void *context, const char *row) {
  snprintf((char *)context + strlen(context), 64, "%s;", row);
}

static void table_row(Core *core, Table *table, double frame, double value) {
  assert_ok(core, table_number(core, table, frame));
  assert_ok(core, table_number(core, table, value));
  assert_ok(core, table_end_row(core, table));
}

static void tables_are_cut_back(void **state) {
  (void)state;
  Core core = test_core(1);
  Table table;
  char rows[256] = "";
  const char *path = in_folder("table.csv");
  assert_ok(&core, table_create(&core, &table, path, "frame,a"));
  for (int frame = 0; frame < 12; frame++) table_row(&core, &table, frame, frame / 10.0);
  table_close(&core, &table);
  assert_ok(&core, table_reopen(&core, &table, path, "frame,a", 2, remember_row, rows));
  assert_string_equal(rows, "0,0;1,0.1;2,0.2;");
  assert_ok(&core, table_text(&core, &table, "3"));
  assert_ok(&core, table_text(&core, &table, "a \"b\", c"));
  assert_ok(&core, table_end_row(&core, &table));
  assert_ok(&core, table_sync(&core, &table));
  table_close(&core, &table);
  char *data = NULL;
  int64_t size = 0;
  assert_ok(&core, files_read(&core, path, 1000, &data, &size));
  assert_string_equal(data, "frame,a\n0,0\n1,0.1\n2,0.2\n3,\"a \"\"b\"\", c\"\n");
  memory_drop(&core, &data);
  assert_int_equal(table_reopen(&core, &table, path, "frame,b", 2, NULL, NULL), SCREE_BAD_INPUT);
  core_report(&core, SCREE_OK, NULL);
  assert_int_equal(table_reopen(&core, &table, path, "frame,a", 9, NULL, NULL), SCREE_BAD_INPUT);
  core_report(&core, SCREE_OK, NULL);
  assert_ok(&core, table_reopen(&core, &table, path, "frame,a", -1, NULL, NULL));
  table_close(&core, &table);
  assert_ok(&core, files_read(&core, path, 1000, &data, &size));
  assert_string_equal(data, "frame,a\n");
  memory_drop(&core, &data);
  core_destroy(&core);
}

static void full_disks_are_noticed(void **state) {
  (void)state;
  ScreeError error;
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(output_text("/dev/full", "text", &error), SCREE_CANNOT_WRITE);
  assert_non_null(strstr(error.message, "space"));
  struct stat about;
  assert_int_equal(stat("/dev/full", &about), 0);
  assert_true(S_ISCHR(about.st_mode));
  Core core = test_core(1);
  Table table;
  assert_int_equal(table_create(&core, &table, "/dev/full", "frame"), SCREE_CANNOT_WRITE);
  table_close(&core, &table);
  core_destroy(&core);
}

static void failed_files_leave_nothing(void **state) {
  (void)state;
  ScreeError error;
  assert_int_equal(output_text(in_folder("missing/text"), "text", &error), SCREE_CANNOT_WRITE);
  assert_int_equal(output_text(folder, "text", &error), SCREE_CANNOT_WRITE);
  char long_path[2000];
  memset(long_path, 'a', sizeof long_path - 1);
  long_path[sizeof long_path - 1] = 0;
  assert_int_equal(output_text(long_path, "text", &error), SCREE_CANNOT_WRITE);
  assert_int_equal(output_check(long_path, &error), SCREE_CANNOT_WRITE);
  assert_int_equal(output_text(in_folder("good"), "text", &error), SCREE_OK);
  assert_int_equal(access(in_folder("good.part"), F_OK), -1);
  assert_int_equal(output_check(in_folder("good"), &error), SCREE_CANNOT_WRITE);
  assert_int_equal(output_make_folder(in_folder("good/deeper"), &error), SCREE_CANNOT_WRITE);
  assert_int_equal(output_make_folder(in_folder("a/b//c/"), &error), SCREE_OK);
  assert_int_equal(output_make_folder(in_folder("a/b/c"), &error), SCREE_OK);
}

static void hand_over(Core *core, Committer *committer, const char *name, Status expected) {
  Stream stream;
  stream_open(&stream, in_folder(name));
  stream_print(&stream, "%s", name);
  assert_int_equal(committer_take(core, committer, &stream), expected);
}

static void files_are_ended_in_the_background(void **state) {
  (void)state;
  Core core = test_core(1);
  Committer *committer;
  char name[32];
  assert_ok(&core, committer_create(&core, &committer));
  for (int k = 0; k < 40; k++) {
    snprintf(name, sizeof name, "later_%d", k);
    hand_over(&core, committer, name, SCREE_OK);
  }
  assert_ok(&core, committer_drain(&core, committer));
  for (int k = 0; k < 40; k++) {
    snprintf(name, sizeof name, "later_%d", k);
    assert_int_equal(access(in_folder(name), F_OK), 0);
    snprintf(name, sizeof name, "later_%d.part", k);
    assert_int_equal(access(in_folder(name), F_OK), -1);
  }
  hand_over(&core, committer, "missing/file", SCREE_CANNOT_WRITE);
  core_report(&core, SCREE_OK, NULL);
  /* The name is taken by a folder in between: the rename fails, and every later call tells. */
  Stream stream;
  stream_open(&stream, in_folder("taken"));
  assert_int_equal(mkdir(in_folder("taken"), 0777), 0);
  assert_ok(&core, committer_take(&core, committer, &stream));
  assert_int_equal(committer_drain(&core, committer), SCREE_CANNOT_WRITE);
  assert_non_null(strstr(core.error.file, "taken"));
  assert_int_equal(access(in_folder("taken.part"), F_OK), -1);
  committer_destroy(&core, committer);
  core_destroy(&core);
}

static void touch(const char *name) {
  ScreeError error;
  assert_int_equal(output_text(in_folder(name), "", &error), SCREE_OK);
}

static void folders_are_cut_back(void **state) {
  (void)state;
  static const char *const names[] = {"coarse_000000.ply", "grains_000003.ply",      "terrain_000004.ply",
                                      "coarse_000004.vtp", "coarse_000005.ply.part", "checkpoint.scree",
                                      "notes.txt",         "coarse_4.ply",           "mine.part"};
  static const bool kept_by_resume[] = {true, true, false, false, false, true, true, true, true};
  static const bool kept_by_start[] = {false, false, false, false, false, false, true, true, true};
  Core core = test_core(1);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) touch(names[k]);
  assert_ok(&core, folder_cut(&core, folder, 3));
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    assert_int_equal(access(in_folder(names[k]), F_OK) == 0, kept_by_resume[k]);
  assert_ok(&core, folder_cut(&core, folder, -1));
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    assert_int_equal(access(in_folder(names[k]), F_OK) == 0, kept_by_start[k]);
  core_destroy(&core);
}

static void numbers_read_back(void **state) {
  (void)state;
  static const double values[] = {0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 0, 123456789.123456789, 1 / 60.0};
  for (size_t k = 0; k < sizeof values / sizeof *values; k++)
    assert_true(strtod(number_csv(values[k]).text, NULL) == values[k]);
  assert_string_equal(number_csv(0.1).text, "0.1");
  assert_string_equal(number_csv(-(double)NAN).text, "nan");
  assert_string_equal(number_json((double)NAN).text, "null");
  assert_string_equal(number_json((double)INFINITY).text, "null");
}

static void medians_are_in_the_middle(void **state) {
  (void)state;
  Core core = test_core(1);
  FrameTimes times[] = {{.total = 5}, {.total = 1}, {.total = 3}, {.total = 100}};
  double median = -1;
  assert_ok(&core, frame_times_median(&core, times, 3, offsetof(FrameTimes, total), &median));
  assert_true(median == 3);
  assert_ok(&core, frame_times_median(&core, times, 4, offsetof(FrameTimes, total), &median));
  assert_true(median == 4);
  assert_ok(&core, frame_times_median(&core, times, 0, offsetof(FrameTimes, total), &median));
  assert_true(median == 0);
  core_destroy(&core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_come_back),           cmocka_unit_test(frame_names_are_exact),
      cmocka_unit_test(damaged_frames_are_refused), cmocka_unit_test(tables_are_cut_back),
      cmocka_unit_test(full_disks_are_noticed),     cmocka_unit_test(failed_files_leave_nothing),
      cmocka_unit_test(folders_are_cut_back),       cmocka_unit_test(numbers_read_back),
      cmocka_unit_test(medians_are_in_the_middle),  cmocka_unit_test(files_are_ended_in_the_background)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
