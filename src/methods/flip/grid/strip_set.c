/* Keys are dealt into buckets, cut at quantiles of a sample, and each bucket is sorted by itself. What is round them is
 * the union of nine copies of the sorted keys, each moved by one row: these are merged, piece by piece. */
#include "methods/flip/grid/strip_set.h"

#include <string.h>

#include "core/parallel.h"

enum {
  BUCKETS = 64,
  BUCKET_KEYS = 512, /* aimed at */
  SAMPLES_EACH = 16,
  DEAL_CHUNK = 4096,
  PIECES = 64, /* to be merged */
  PIECE_KEYS = 256,
  COPIES = 9
};

typedef struct Dealing {
  const uint64_t *from;
  uint64_t *to, *spare;
  int buckets;                 /* a power of two */
  uint64_t splitters[BUCKETS]; /* bucket b has splitters[b - 1] <= key < splitters[b] */
  uint8_t *bucket;             /* of each key */
  int32_t (*places)[BUCKETS];  /* of each chunk: counts, then where it writes */
  int64_t first[BUCKETS + 1];  /* of each bucket */
  int64_t kept[BUCKETS + 1];   /* of each bucket, without those that come twice; then where they begin */
} Dealing;

/* Ascending, by the bytes in which the keys differ; `spare` is as large. Returns where they are. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, int64_t count) {
  uint64_t differ = 0;
  for (int64_t k = 1; k < count; k++) differ |= keys[k] ^ keys[0];
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & 255)) continue;
    int64_t start[257] = {0};
    for (int64_t k = 0; k < count; k++) start[(keys[k] >> shift & 255) + 1]++;
    for (int byte = 0; byte < 256; byte++) start[byte + 1] += start[byte];
    for (int64_t k = 0; k < count; k++) spare[start[keys[k] >> shift & 255]++] = keys[k];
    uint64_t *swap = keys;
    keys = spare;
    spare = swap;
  }
  return keys;
}

static int bucket_of(const Dealing *dealing, uint64_t key) {
  int bucket = 0;
  for (int half = dealing->buckets / 2; half > 0; half /= 2)
    bucket += dealing->splitters[bucket + half - 1] <= key ? half : 0;
  return bucket;
}

static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Dealing *dealing = context;
  int32_t *counts = dealing->places[b / DEAL_CHUNK];
  memset(counts, 0, sizeof *dealing->places);
  for (int64_t k = b; k < e; k++) counts[dealing->bucket[k] = (uint8_t)bucket_of(dealing, dealing->from[k])]++;
}

static void deal_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Dealing *dealing = context;
  int32_t *places = dealing->places[b / DEAL_CHUNK];
  for (int64_t k = b; k < e; k++) dealing->to[places[dealing->bucket[k]]++] = dealing->from[k];
}

/* Sorts buckets, each where it stands, and drops what comes twice. */
static void sort_bucket(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Dealing *dealing = context;
  for (int64_t bucket = b; bucket < e; bucket++) {
    int64_t first = dealing->first[bucket], count = dealing->first[bucket + 1] - first, kept = 0;
    uint64_t *to = dealing->to + first, *sorted = sort_keys(to, dealing->spare + first, count);
    for (int64_t k = 0; k < count; k++)
      if (k == 0 || sorted[k] != sorted[k - 1]) to[kept++] = sorted[k];
    dealing->kept[bucket] = kept;
  }
}

static void gather_bucket(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Dealing *dealing = context;
  for (int64_t bucket = b; bucket < e; bucket++) {
    int64_t at = dealing->kept[bucket], count = dealing->kept[bucket + 1] - at;
    memcpy(dealing->spare + at, dealing->to + dealing->first[bucket], sizeof *dealing->to * (size_t)count);
  }
}

/* Of counts: where each begins, and behind the last where all end. */
static int64_t begins(int64_t *counts, int64_t parts) {
  int64_t total = 0;
  for (int64_t k = 0; k < parts; k++) {
    int64_t here = counts[k];
    counts[k] = total;
    total += here;
  }
  return counts[parts] = total;
}

static Status choose_splitters(Core *core, Scratch *scratch, Dealing *dealing, int64_t count) {
  uint64_t *sample = NULL;
  int64_t samples = SAMPLES_EACH * dealing->buckets < count ? SAMPLES_EACH * dealing->buckets : count;
  TRY(scratch_take(core, scratch, &sample, 2 * samples, "strips"));
  for (int64_t k = 0; k < samples; k++) sample[k] = dealing->from[k * count / samples];
  const uint64_t *sorted = sort_keys(sample, sample + samples, samples);
  for (int b = 1; b < dealing->buckets; b++) dealing->splitters[b - 1] = sorted[b * samples / dealing->buckets];
  return SCREE_OK;
}

/* The keys, ascending and each once, are then in dealing->spare. Returns how many in *count. */
static Status sort_all(Core *core, Scratch *scratch, Dealing *dealing, int64_t *count) {
  int64_t chunks = parallel_chunks(0, *count, DEAL_CHUNK);
  for (dealing->buckets = 1; dealing->buckets < BUCKETS && dealing->buckets * BUCKET_KEYS < *count;)
    dealing->buckets *= 2;
  TRY(choose_splitters(core, scratch, dealing, *count));
  TRY(scratch_take(core, scratch, &dealing->bucket, *count, "strips"));
  TRY(scratch_take(core, scratch, &dealing->places, chunks, "strips"));
  parallel_for(core, 0, *count, DEAL_CHUNK, count_chunk, dealing);
  int32_t total = 0;
  for (int b = 0; b < dealing->buckets; b++) {
    dealing->first[b] = total;
    for (int64_t c = 0; c < chunks; c++) {
      int32_t here = dealing->places[c][b];
      dealing->places[c][b] = total;
      total += here;
    }
  }
  dealing->first[dealing->buckets] = total;
  parallel_for(core, 0, *count, DEAL_CHUNK, deal_chunk, dealing);
  parallel_for(core, 0, dealing->buckets, 1, sort_bucket, dealing);
  *count = begins(dealing->kept, dealing->buckets);
  parallel_for(core, 0, dealing->buckets, 1, gather_bucket, dealing);
  return SCREE_OK;
}

/* ---- the rows round them ---- */

typedef struct Merging {
  const uint64_t *keys;
  int64_t count, pieces;
  uint64_t row[COPIES];     /* what each copy adds, modulo 2^64 */
  uint64_t *merged, *to;    /* with room for all copies; without gaps */
  int64_t room[PIECES + 1]; /* where each piece has its room */
  int64_t kept[PIECES + 1]; /* how many are in it; then where they begin */
} Merging;

/* The first of a copy's keys that a piece has, or a later one; they end where those of the next piece begin. */
static int64_t copy_begin(const Merging *merging, int64_t piece, int copy) {
  if (piece == 0) return 0;
  if (piece == merging->pieces) return merging->count;
  uint64_t first = merging->keys[piece * merging->count / merging->pieces];
  return strip_keys_below(merging->keys, merging->count, first - merging->row[copy]);
}

static void merge_piece(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Merging *merging = context;
  for (int64_t piece = b; piece < e; piece++) {
    int64_t at[COPIES], end[COPIES], kept = 0;
    uint64_t head[COPIES], *to = merging->merged + merging->room[piece];
    for (int c = 0; c < COPIES; c++) {
      at[c] = copy_begin(merging, piece, c);
      end[c] = copy_begin(merging, piece + 1, c);
      head[c] = at[c] < end[c] ? merging->keys[at[c]] + merging->row[c] : UINT64_MAX;
    }
    for (;;) {
      uint64_t least = UINT64_MAX;
      for (int c = 0; c < COPIES; c++) least = head[c] < least ? head[c] : least;
      if (least == UINT64_MAX) break;
      to[kept++] = least;
      for (int c = 0; c < COPIES; c++) {
        if (head[c] != least) continue;
        head[c] = ++at[c] < end[c] ? merging->keys[at[c]] + merging->row[c] : UINT64_MAX;
      }
    }
    merging->kept[piece] = kept;
  }
}

static void gather_piece(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Merging *merging = context;
  for (int64_t piece = b; piece < e; piece++) {
    int64_t at = merging->kept[piece], count = merging->kept[piece + 1] - at;
    memcpy(merging->to + at, merging->merged + merging->room[piece], sizeof *merging->to * (size_t)count);
  }
}

static Status spread(Core *core, Scratch *scratch, const uint64_t *keys, int64_t count, StripSet *set) {
  Merging merging = {.keys = keys, .count = count, .pieces = 1 + count / PIECE_KEYS};
  if (merging.pieces > PIECES) merging.pieces = PIECES;
  for (int c = 0; c < COPIES; c++)
    merging.row[c] =
        ((uint64_t)(int64_t)(c / 3 - 1) << (2 * GRID_BITS)) + ((uint64_t)(int64_t)(c % 3 - 1) << GRID_BITS);
  TRY(scratch_take(core, scratch, &merging.merged, COPIES * count, "strips"));
  for (int64_t piece = 0; piece < merging.pieces; piece++)
    for (int c = 0; c < COPIES; c++)
      merging.room[piece] += copy_begin(&merging, piece + 1, c) - copy_begin(&merging, piece, c);
  begins(merging.room, merging.pieces);
  parallel_for(core, 0, merging.pieces, 1, merge_piece, &merging);
  set->count = begins(merging.kept, merging.pieces);
  TRY(scratch_take(core, scratch, &set->keys, set->count, "strips"));
  merging.to = set->keys;
  parallel_for(core, 0, merging.pieces, 1, gather_piece, &merging);
  return SCREE_OK;
}

Status strip_set_make(Core *core, Scratch *scratch, const uint64_t *keys, int64_t count, StripSet *set) {
  Dealing dealing = {.from = keys};
  *set = (StripSet){0};
  if (count == 0) return SCREE_OK;
  TRY(scratch_take(core, scratch, &dealing.to, count, "strips"));
  TRY(scratch_take(core, scratch, &dealing.spare, count, "strips"));
  TRY(sort_all(core, scratch, &dealing, &count));
  return spread(core, scratch, dealing.spare, count, set);
}
