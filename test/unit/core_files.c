/* Files that appear only when complete, and stay when the machine goes down behind them: the order of calls to the
 * system, which this program sees because it has them instead of the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/files.h"
#include "world_fixture.h"

static char calls[64]; /* f: a file was synced, r: renamed, d: its folder was synced */
static struct stat synced_folder;
static int folder_fails; /* with this number of an error */

static void called(char what) {
  size_t length = strlen(calls);
  if (length + 1 < sizeof calls) calls[length] = what, calls[length + 1] = 0;
}

int fsync(int file) {
  struct stat about;
  if (fstat(file, &about) != 0) return -1;
  called(S_ISDIR(about.st_mode) ? 'd' : 'f');
  if (!S_ISDIR(about.st_mode)) return (int)syscall(SYS_fsync, file);
  synced_folder = about;
  errno = folder_fails;
  return folder_fails ? -1 : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to) {
  called('r');
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static Status write_it(Core *core, const char *path) {
  calls[0] = 0;
  return files_write(core, path, "grains", 6);
}

static void a_file_is_synced_before_its_name_and_the_folder_behind(void **unused) {
  (void)unused;
  Core core = {0};
  memory_create(&core.memory, 0);
  struct stat folder;
  char parent[TEMPORARY_NAME] = "", path[TEMPORARY_NAME + 8];
  temporary_file(parent);
  unlink(parent);
  assert_int_equal(mkdir(parent, 0777), 0);
  assert_int_equal(stat(parent, &folder), 0);
  snprintf(path, sizeof path, "%s/a", parent);
  assert_ok(&core, write_it(&core, path));
  assert_string_equal(calls, "frd");
  assert_true(synced_folder.st_ino == folder.st_ino && synced_folder.st_dev == folder.st_dev);
  /* A file system that cannot sync folders is none that fails; a disk that does is. */
  folder_fails = EINVAL;
  assert_ok(&core, write_it(&core, path));
  folder_fails = EIO;
  assert_int_equal(write_it(&core, path), SCREE_CANNOT_WRITE);
  folder_fails = 0;
  /* Without a folder in its name. */
  char *before = getcwd(NULL, 0);
  assert_non_null(before);
  assert_int_equal(chdir(parent), 0);
  assert_ok(&core, write_it(&core, "b"));
  assert_string_equal(calls, "frd");
  assert_true(synced_folder.st_ino == folder.st_ino);
  assert_int_equal(chdir(before), 0);
  free(before);
  unlink(path);
  snprintf(path, sizeof path, "%s/b", parent);
  unlink(path);
  assert_int_equal(rmdir(parent), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_synced_before_its_name_and_the_folder_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
