#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <unistd.h>

#include "core/core.h"
#include "core/limits.h"

typedef struct Header {
  int64_t size;
  const char *label;
  char pad[MEMORY_ALIGNMENT - sizeof(int64_t) - sizeof(char *)];
} Header;
_Static_assert(sizeof(Header) == MEMORY_ALIGNMENT, "the header fills one line, so that blocks stay aligned");

void memory_create(Memory *memory, int64_t limit) {
  atomic_init(&memory->used, 0);
  atomic_init(&memory->peak, 0);
  if (limit <= 0) {
    int64_t pages = sysconf(_SC_PHYS_PAGES);
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t there = pages > 0 && page > 0 ? pages * page : INT64_MAX, allowed = limits_memory("");
    if (allowed < there) there = allowed;
    limit = there < INT64_MAX ? there / 10 * 9 : INT64_MAX;
  }
  memory->limit = limit;
}

int64_t memory_left(const Memory *memory) { return memory->limit - atomic_load(&memory->used); }

enum { HUGE_PAGE = 2 << 20 };

static void *allocate_small(int64_t bytes) {
  void *block = aligned_alloc(MEMORY_ALIGNMENT, (size_t)bytes);
  return block ? memset(block, 0, (size_t)bytes) : NULL;
}

/* All zero. Large blocks come from the system itself, on huge pages where it has them: gathers over millions of
 * particles otherwise spend much of their time on address translation. Such pages are zero without being touched, and
 * get their place in memory, and are cleared, by the thread that writes them first. Not in a browser, whose mmap cannot
 * give back a part. */
#if defined(MADV_HUGEPAGE) && !defined(__EMSCRIPTEN__)
static void *allocate(int64_t bytes) {
  if (bytes < HUGE_PAGE) return allocate_small(bytes);
  char *block = mmap(NULL, (size_t)bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return NULL;
  size_t before = (size_t)(-(intptr_t)block & (HUGE_PAGE - 1)), page = (size_t)sysconf(_SC_PAGESIZE);
  size_t kept = ((size_t)bytes + page - 1) / page * page;
  size_t mapped = ((size_t)bytes + HUGE_PAGE + page - 1) / page * page, behind = mapped - before - kept;
  if (before > 0) munmap(block, before);
  if (behind > 0) munmap(block + before + kept, behind);
  madvise(block + before, kept, MADV_HUGEPAGE);
  return block + before;
}

static void give_back(void *block, int64_t bytes) {
  if (bytes < HUGE_PAGE) free(block);
  else munmap(block, (size_t)bytes);
}
#else
static void *allocate(int64_t bytes) { return allocate_small(bytes); }

static void give_back(void *block, int64_t bytes) {
  (void)bytes;
  free(block);
}
#endif

void *memory_get(Memory *memory, int64_t count, int64_t size, const char *label) {
  if (count < 0 || size <= 0 || count > (INT64_MAX - 2 * MEMORY_ALIGNMENT) / size) return NULL;
  int64_t bytes = (count * size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
  if (bytes == 0) bytes = MEMORY_ALIGNMENT;
  int64_t total = bytes + (int64_t)sizeof(Header);
  int64_t used = atomic_fetch_add(&memory->used, total) + total;
  Header *header = used <= memory->limit ? allocate(total) : NULL;
  if (!header) {
    atomic_fetch_sub(&memory->used, total);
    return NULL;
  }
  int64_t peak = atomic_load(&memory->peak);
  while (used > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, used)) {
  }
  header->size = bytes;
  header->label = label;
  return header + 1;
}

void memory_free(Memory *memory, void *block) {
  if (!block) return;
  Header *header = (Header *)block - 1;
  atomic_fetch_sub(&memory->used, header->size + (int64_t)sizeof(Header));
  give_back(header, header->size + (int64_t)sizeof(Header));
}

int64_t memory_size(const void *block) { return block ? ((const Header *)block - 1)->size : 0; }

int memory_new_(Core *core, void **pointer, int64_t count, int64_t size, const char *label) {
  *pointer = memory_get(&core->memory, count, size, label);
  if (*pointer) return SCREE_OK;
  return fail(core, SCREE_NO_MEMORY, "out of memory: %lld x %lld bytes for %s, %lld MB left", (long long)count,
              (long long)size, label, (long long)(memory_left(&core->memory) >> 20));
}

int memory_grow_(Core *core, void **pointer, int64_t count, int64_t size, const char *label) {
  int64_t have = memory_size(*pointer);
  if (*pointer && count <= have / size) return SCREE_OK;
  int64_t spare = have / size / 2;
  int64_t want = *pointer && have / size + spare > count ? have / size + spare : count;
  void *block = NULL;
  TRY(memory_new_(core, &block, want, size, label));
  if (*pointer) memcpy(block, *pointer, (size_t)have);
  memory_free(&core->memory, *pointer);
  *pointer = block;
  return SCREE_OK;
}
