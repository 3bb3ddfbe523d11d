#include "geometry/grid_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"

/* Changes when the same mesh and cells would give another grid. */
enum { GRID_FORMAT = 1 };
enum { CACHE_PATH_MAX = 1024, CACHE_FILES_MAX = 4096 };
/* Smaller grids are made as quickly as they are read. */
enum { CACHED_BLOCKS_LEAST = 256 };
/* The oldest files go when there are more bytes than this; a single one is not larger than half of it. */
#define CACHE_BYTES_MOST ((int64_t)1 << 30)
#define CACHE_SUFFIX ".grid"

typedef struct GridHeader {
  char magic[8];
  uint64_t key[2];
  int64_t places, blocks; /* of the table; with nodes */
  uint64_t sum;           /* of all that follows */
} GridHeader;

GridKey grid_cache_key(const DistanceGrid *grid, const Shape *shape) {
  const Mesh *mesh = &shape->mesh;
  const double numbers[] = {GRID_FORMAT,
                            (double)grid->cell,
                            (double)grid->band,
                            (double)grid->low_f[0],
                            (double)grid->low_f[1],
                            (double)grid->low_f[2],
                            grid->blocks[0],
                            grid->blocks[1],
                            grid->blocks[2],
                            (double)mesh->vertex_count,
                            (double)mesh->triangle_count};
  GridKey key;
  for (uint64_t k = 0; k < 2; k++) {
    uint64_t hash = hash_bytes(numbers, sizeof numbers, k);
    hash = hash_bytes(mesh->vertices, sizeof *mesh->vertices * (size_t)mesh->vertex_count, hash);
    key.hash[k] = hash_bytes(mesh->triangles, sizeof *mesh->triangles * (size_t)mesh->triangle_count, hash);
  }
  return key;
}

#if defined(__EMSCRIPTEN__)
bool grid_cache_load(Core *core, GridKey key, DistanceGrid *grid) {
  (void)core, (void)key, (void)grid;
  return false;
}
void grid_cache_store(Core *core, GridKey key, const DistanceGrid *grid) { (void)core, (void)key, (void)grid; }
#else

static int64_t table_places(const DistanceGrid *grid) {
  return (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
}

static bool cache_folder(char folder[CACHE_PATH_MAX]) {
  const char *chosen = getenv("SCREE_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (chosen && strcmp(chosen, "off") == 0) return false;
  if (chosen && *chosen == '/') length = snprintf(folder, CACHE_PATH_MAX, "%s", chosen);
  else if (cache && *cache == '/') length = snprintf(folder, CACHE_PATH_MAX, "%s/scree", cache);
  else if (home && *home == '/') length = snprintf(folder, CACHE_PATH_MAX, "%s/.cache/scree", home);
  return length > 0 && length < CACHE_PATH_MAX;
}

static bool cache_path(const char *folder, GridKey key, const char *suffix, char path[CACHE_PATH_MAX]) {
  int length = snprintf(path, CACHE_PATH_MAX, "%s/%016llx%016llx%s", folder, (unsigned long long)key.hash[0],
                        (unsigned long long)key.hash[1], suffix);
  return length < CACHE_PATH_MAX;
}

static bool read_all(int file, void *data, int64_t size) {
  for (int64_t have = 0; have < size;) {
    ssize_t got = read(file, (char *)data + have, (size_t)(size - have));
    if (got <= 0) return false;
    have += got;
  }
  return true;
}

static bool write_all(int file, const void *data, int64_t size) {
  for (int64_t done = 0; done < size;) {
    ssize_t put = write(file, (const char *)data + done, (size_t)(size - done));
    if (put <= 0) return false;
    done += put;
  }
  return true;
}

static uint64_t grid_sum(const DistanceGrid *grid, int64_t places, int64_t blocks) {
  uint64_t sum = hash_bytes(grid->table, sizeof *grid->table * (size_t)places, (uint64_t)blocks);
  return hash_bytes(grid->values, sizeof *grid->values * (size_t)(blocks * GRID_NODES), sum);
}

/* Whether every place of the table leads into the values, and these are numbers. */
static bool grid_sound(const DistanceGrid *grid, int64_t places, int64_t blocks) {
  for (int64_t k = 0; k < places; k++) {
    int32_t at = grid->table[k];
    if (at == GRID_OUTSIDE || at == GRID_INSIDE) continue;
    if (at < 0 || at % GRID_NODES != 0 || at / GRID_NODES >= blocks) return false;
  }
  for (int64_t k = 0; k < blocks * GRID_NODES; k++)
    if (!(fabsf(grid->values[k]) < SCREE_BIG)) return false;
  return true;
}

/* From a file of the right size. Whatever was allocated stays in the grid. */
static bool read_grid(Core *core, int file, GridKey key, DistanceGrid *grid) {
  GridHeader header;
  struct stat about;
  int64_t places = table_places(grid);
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || !read_all(file, &header, sizeof header)) return false;
  if (memcmp(header.magic, "screegrd", sizeof header.magic) != 0 || header.key[0] != key.hash[0] ||
      header.key[1] != key.hash[1] || header.places != places || header.blocks < 0 || header.blocks > places ||
      header.blocks > INT32_MAX / GRID_NODES)
    return false;
  int64_t bytes = places * (int64_t)sizeof *grid->table + header.blocks * GRID_NODES * (int64_t)sizeof *grid->values;
  if (about.st_size != (int64_t)sizeof header + bytes || bytes > memory_left(&core->memory) / 2) return false;
  grid->table = memory_get(&core->memory, places, sizeof *grid->table, "distance grid");
  grid->values = memory_get(&core->memory, header.blocks * GRID_NODES, sizeof *grid->values, "distance grid");
  if (!grid->table || !grid->values) return false;
  if (!read_all(file, grid->table, places * (int64_t)sizeof *grid->table) ||
      !read_all(file, grid->values, header.blocks * GRID_NODES * (int64_t)sizeof *grid->values) ||
      header.sum != grid_sum(grid, places, header.blocks) || !grid_sound(grid, places, header.blocks))
    return false;
  grid->block_count = header.blocks;
  return true;
}

bool grid_cache_load(Core *core, GridKey key, DistanceGrid *grid) {
  char folder[CACHE_PATH_MAX], path[CACHE_PATH_MAX];
  if (!cache_folder(folder) || !cache_path(folder, key, CACHE_SUFFIX, path)) return false;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  bool good = read_grid(core, file, key, grid);
  close(file);
  if (good) return true;
  memory_drop(core, &grid->table);
  memory_drop(core, &grid->values);
  return false;
}

typedef struct Kept {
  char name[64];
  int64_t bytes, time;
} Kept;

static int oldest_first(const void *a, const void *b) {
  int64_t x = ((const Kept *)a)->time, y = ((const Kept *)b)->time;
  return x < y ? -1 : x > y;
}

/* Takes the oldest files away until there is room for `bytes` more. */
static void make_room(Core *core, const char *folder, int64_t bytes) {
  DIR *directory = opendir(folder);
  Kept *kept = memory_get(&core->memory, CACHE_FILES_MAX, sizeof *kept, "kept grids");
  int64_t count = 0, sum = bytes;
  char path[CACHE_PATH_MAX + sizeof kept->name];
  for (struct dirent *entry; kept && directory && count < CACHE_FILES_MAX && (entry = readdir(directory));) {
    struct stat about;
    const char *end = strstr(entry->d_name, CACHE_SUFFIX);
    if (!end || strlen(entry->d_name) >= sizeof kept->name) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    kept[count] = (Kept){.bytes = about.st_size, .time = about.st_mtime};
    snprintf(kept[count].name, sizeof kept->name, "%s", entry->d_name);
    sum += kept[count++].bytes;
  }
  if (directory) closedir(directory);
  if (kept) qsort(kept, (size_t)count, sizeof *kept, oldest_first);
  for (int64_t k = 0; k < count && sum > CACHE_BYTES_MOST; k++) {
    snprintf(path, sizeof path, "%s/%s", folder, kept[k].name);
    if (unlink(path) == 0) sum -= kept[k].bytes;
  }
  memory_drop(core, &kept);
}

/* The folder and those above it. */
static void make_folder(char *folder) {
  for (char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(folder, 0755);
    *slash = '/';
  }
  mkdir(folder, 0700);
}

void grid_cache_store(Core *core, GridKey key, const DistanceGrid *grid) {
  char folder[CACHE_PATH_MAX], path[CACHE_PATH_MAX], part[CACHE_PATH_MAX], suffix[48];
  if (grid->block_count < CACHED_BLOCKS_LEAST || !cache_folder(folder)) return;
  int64_t places = table_places(grid), table = places * (int64_t)sizeof *grid->table,
          values = grid->block_count * GRID_NODES * (int64_t)sizeof *grid->values;
  GridHeader header = {.magic = "screegrd",
                       .key = {key.hash[0], key.hash[1]},
                       .places = places,
                       .blocks = grid->block_count,
                       .sum = grid_sum(grid, places, grid->block_count)};
  /* Another grid of this process may be stored by another thread at the same time. */
  snprintf(suffix, sizeof suffix, CACHE_SUFFIX ".%ld.%llx", (long)getpid(), (unsigned long long)(uintptr_t)grid);
  if (table + values > CACHE_BYTES_MOST / 2 || !cache_path(folder, key, CACHE_SUFFIX, path) ||
      !cache_path(folder, key, suffix, part))
    return;
  make_folder(folder);
  make_room(core, folder, table + values);
  int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  bool good = write_all(file, &header, sizeof header) && write_all(file, grid->table, table) &&
              write_all(file, grid->values, values);
  if (close(file) != 0 || !good || rename(part, path) != 0) unlink(part);
}
#endif
