#include "core/limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

/* A controller of one version: where its groups are, and what says how much. */
typedef struct Controller {
  const char *name;   /* of v1, as /proc/self/cgroup has it; "": v2 */
  const char *folder; /* below /sys/fs/cgroup */
  double (*limit)(const char *group);
} Controller;

/* The first words of a file of a group as numbers; how many there are. "max" and everything else is none. */
static int numbers_of(const char *group, const char *file, double number[2]) {
  char path[PATH_MAX + 64], word[2][32];
  snprintf(path, sizeof path, "%s/%s", group, file);
  FILE *stream = fopen(path, "re");
  if (!stream) return 0;
  int words = fscanf(stream, "%31s %31s", word[0], word[1]), count = 0;
  fclose(stream);
  for (; count < words; count++) {
    char *end;
    number[count] = strtod(word[count], &end);
    if (*end || !(number[count] > 0)) break;
  }
  return count;
}

static double memory_v1(const char *group) {
  double bytes[2];
  return numbers_of(group, "memory.limit_in_bytes", bytes) >= 1 ? bytes[0] : 1e300;
}
static double memory_v2(const char *group) {
  double bytes[2];
  return numbers_of(group, "memory.max", bytes) >= 1 ? bytes[0] : 1e300;
}
static double processors_v1(const char *group) {
  double quota[2], period[2]; /* a quota of -1: none */
  if (numbers_of(group, "cpu.cfs_quota_us", quota) < 1 || numbers_of(group, "cpu.cfs_period_us", period) < 1)
    return 1e300;
  return quota[0] / period[0];
}
static double processors_v2(const char *group) {
  double share[2]; /* quota and period */
  return numbers_of(group, "cpu.max", share) == 2 ? share[0] / share[1] : 1e300;
}

/* Of a group and all above it. In a container the file system shows the container's group as the root. */
static double least_of(const Controller *controller, const char *root, char *group) {
  char path[PATH_MAX];
  double least = 1e300;
  for (;;) {
    int length = snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s", root, controller->folder, group);
    if (length < (int)sizeof path) {
      double here = controller->limit(path);
      if (here < least) least = here;
    }
    char *slash = strrchr(group, '/');
    if (!slash) return least;
    *slash = 0;
  }
}

static bool lists(const char *controllers, const char *name) {
  size_t length = strlen(name);
  for (const char *at = controllers; (at = strstr(at, name)) != NULL; at += length)
    if ((at == controllers || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

/* Lines are `number:controllers:group`; v2 has no controllers. */
static double least(const char *root, const Controller controllers[], int count) {
  char path[PATH_MAX], line[LINE_MAX_BYTES];
  double found = 1e300;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  if (!file) return found;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    for (int k = 0; k < count; k++) {
      const Controller *controller = &controllers[k];
      if (controller->name[0] ? !lists(names + 1, controller->name) : names[1] != 0) continue;
      char copy[LINE_MAX_BYTES];
      snprintf(copy, sizeof copy, "%s", strcmp(group, "/") == 0 ? "" : group);
      double here = least_of(controller, root, copy);
      if (here < found) found = here;
    }
  }
  fclose(file);
  return found;
}

int64_t limits_memory(const char *root) {
  static const Controller controllers[] = {
      {"memory", "/memory", memory_v1}, {"", "", memory_v2}, {"", "/unified", memory_v2}};
  double bytes = least(root, controllers, 3);
  return bytes < 0x1p62 ? (int64_t)bytes : INT64_MAX;
}

int32_t limits_processors(const char *root) {
  static const Controller controllers[] = {{"cpu", "/cpu", processors_v1},
                                           {"cpu", "/cpu,cpuacct", processors_v1},
                                           {"", "", processors_v2},
                                           {"", "/unified", processors_v2}};
  double share = least(root, controllers, 4);
  if (!(share < 1e6)) return INT32_MAX;
  int32_t whole = (int32_t)share;
  return whole < share ? whole + 1 : whole;
}
