/* Limits of control groups, of made-up machines and of this one. */
#include <stdlib.h>
#include <sys/stat.h>

#include "core/limits.h"
#include "core/memory.h"
#include "world_fixture.h"

typedef struct Machine {
  char root[TEMPORARY_NAME];
} Machine;

static void machine_make(Machine *machine) {
  const char *place = getenv("TMPDIR");
  snprintf(machine->root, sizeof machine->root, "%s/scree_limits_XXXXXX", place && *place ? place : P_tmpdir);
  assert_non_null(mkdtemp(machine->root));
}

/* Writes a file below the root, with its folders. */
static void machine_file(const Machine *machine, const char *name, const char *text) {
  char path[2 * TEMPORARY_NAME];
  snprintf(path, sizeof path, "%s%s", machine->root, name);
  for (char *slash = path + strlen(machine->root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    mkdir(path, 0777);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void machine_drop(const Machine *machine) {
  char command[2 * TEMPORARY_NAME];
  snprintf(command, sizeof command, "rm -rf '%s'", machine->root);
  assert_int_equal(system(command), 0);
}

static void nothing_is_no_limit(void **unused) {
  (void)unused;
  Machine machine;
  machine_make(&machine);
  assert_true(limits_memory(machine.root) == INT64_MAX);
  assert_int_equal(limits_processors(machine.root), INT32_MAX);
  machine_file(&machine, "/proc/self/cgroup", "0::/\n");
  machine_file(&machine, "/sys/fs/cgroup/memory.max", "max\n");
  machine_file(&machine, "/sys/fs/cgroup/cpu.max", "max 100000\n");
  assert_true(limits_memory(machine.root) == INT64_MAX);
  assert_int_equal(limits_processors(machine.root), INT32_MAX);
  machine_drop(&machine);
}

static void version_2(void **unused) {
  (void)unused;
  Machine machine;
  machine_make(&machine);
  machine_file(&machine, "/proc/self/cgroup", "0::/user.slice/job.scope\n");
  machine_file(&machine, "/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
  machine_file(&machine, "/sys/fs/cgroup/user.slice/memory.max", "3000000000\n");
  machine_file(&machine, "/sys/fs/cgroup/user.slice/job.scope/cpu.max", "250000 100000\n");
  machine_file(&machine, "/sys/fs/cgroup/user.slice/cpu.max", "800000 100000\n");
  assert_true(limits_memory(machine.root) == 3000000000);
  assert_int_equal(limits_processors(machine.root), 3);
  /* a container sees its own group as the root, whatever it is called outside */
  machine_file(&machine, "/sys/fs/cgroup/memory.max", "1000000000\n");
  machine_file(&machine, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
  assert_true(limits_memory(machine.root) == 1000000000);
  assert_int_equal(limits_processors(machine.root), 1);
  machine_drop(&machine);
}

static void version_1(void **unused) {
  (void)unused;
  Machine machine;
  machine_make(&machine);
  machine_file(&machine, "/proc/self/cgroup", "7:cpuset:/\n4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n0::/x\n");
  machine_file(&machine, "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "536870912\n");
  machine_file(&machine, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine_file(&machine, "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "200000\n");
  machine_file(&machine, "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  assert_true(limits_memory(machine.root) == 536870912);
  assert_int_equal(limits_processors(machine.root), 2);
  machine_file(&machine, "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
  assert_int_equal(limits_processors(machine.root), INT32_MAX);
  machine_drop(&machine);
}

static void odd_files_are_no_limit(void **unused) {
  (void)unused;
  Machine machine;
  machine_make(&machine);
  machine_file(&machine, "/proc/self/cgroup", "\n::\nrubbish\n4:cpu\n3:memory:/a\n0::/a\n");
  machine_file(&machine, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "-5\n");
  machine_file(&machine, "/sys/fs/cgroup/a/memory.max", "12many\n");
  machine_file(&machine, "/sys/fs/cgroup/a/cpu.max", "100000\n");
  assert_true(limits_memory(machine.root) == INT64_MAX);
  assert_int_equal(limits_processors(machine.root), INT32_MAX);
  machine_drop(&machine);
}

static void of_this_machine(void **unused) {
  (void)unused;
  assert_true(limits_memory("") > 0);
  assert_true(limits_processors("") >= 1);
  Memory memory;
  memory_create(&memory, 0);
  assert_true(memory.limit > 0 && memory.limit <= limits_memory("") / 10 * 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_no_limit),    cmocka_unit_test(version_2),       cmocka_unit_test(version_1),
      cmocka_unit_test(odd_files_are_no_limit), cmocka_unit_test(of_this_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
