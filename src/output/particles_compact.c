/* Writes compact frames. Every pass goes over chunks of grains on all threads: the radii there are; how many grains of
 * a chunk lie in which block; then, when every chunk knows where its part of each block begins, the grains. The order
 * within a block is that of storage, so the bytes are the same for any number of threads. */
#include "output/compact.h"

#include <assert.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "output/compact_kernels.h"
#include "output/committer.h"
#include "output/particles_file.h"
#include "output/stream.h"

enum { CHUNK = 32768, SLOTS = 64 };

/* The grains of a chunk in one block. */
typedef struct Part {
  CompactBlock block;
  int64_t at; /* where the next of them goes */
} Part;

typedef struct Chunk {
  Part *parts; /* in the order of blocks */
  int64_t part_count;
  const char *trouble; /* NULL, or what is wrong with the grain `wrong` */
  int64_t wrong;
} Chunk;

/* Radii by the bits of their floats: those of positive ones have their order. */
typedef struct Radii {
  uint32_t low, high;
  int count; /* above COMPACT_RADII: too many to tell each */
  uint32_t bits[COMPACT_RADII + 1];
} Radii;

typedef struct Encoder {
  Core *core;
  const ScreeParticles *particles;
  unsigned columns;
  double step, per_step;
  Radii radii;
  double radius_scale; /* codes a bit, where there are too many radii */
  Radii *chunk_radii;
  Chunk *chunks;
  Part *rooms;  /* of each thread, for the parts of a chunk */
  int64_t room; /* of each of them */
  CompactBuffers *buffers;
} Encoder;

static void trouble(Chunk *chunk, int64_t grain, const char *what) {
  if (chunk->trouble) return;
  chunk->trouble = what;
  chunk->wrong = grain;
}

/* ---- radii ---- */

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The first place whose radius is not smaller. */
static int radius_place(const Radii *radii, uint32_t bits) {
  int low = 0, high = radii->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (radii->bits[middle] < bits) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void add_radius(Radii *radii, uint32_t bits) {
  int at = radius_place(radii, bits);
  if (at < radii->count && radii->bits[at] == bits) return;
  memmove(radii->bits + at + 1, radii->bits + at, (size_t)(radii->count - at) * sizeof *radii->bits);
  radii->bits[at] = bits;
  radii->count++;
}

static void find_radii(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Encoder *encoder = context;
  Radii *radii = &encoder->chunk_radii[b / CHUNK];
  const float *radius = encoder->particles->radius;
  CompactBits range = KERNEL_CALL(encoder->core, compact_bits)(radius + b, e - b);
  uint32_t low = range.low, high = range.high; /* negative ones come behind all others, infinity and NaN before these */
  if (low == 0 || high >= float_bits(INFINITY))
    for (int64_t i = b; i < e; i++)
      if (!(radius[i] > 0) || !isfinite(radius[i])) trouble(&encoder->chunks[b / CHUNK], i, "has no radius");
  radii->low = low;
  radii->high = high;
  add_radius(radii, low);
  for (int64_t i = b; i < e && low != high && radii->count <= COMPACT_RADII; i++)
    add_radius(radii, float_bits(radius[i]));
}

/* Where there are more than the table holds, it is spread evenly over the bits: nearly a logarithmic scale, whose steps
 * are the same share of a radius everywhere, within 1/510 of it for each doubling from the smallest to the largest. */
static void spread_radii(Encoder *encoder) {
  Radii *radii = &encoder->radii;
  uint64_t range = radii->high - radii->low, last = COMPACT_RADII - 1;
  for (uint64_t k = 0; k <= last; k++) radii->bits[k] = radii->low + (uint32_t)((range * k + last / 2) / last);
  radii->count = COMPACT_RADII;
  encoder->radius_scale = (double)last / (double)range;
}

static Status gather_radii(Encoder *encoder, int64_t chunks) {
  Core *core = encoder->core;
  Radii *radii = &encoder->radii;
  TRY(memory_new(core, &encoder->chunk_radii, chunks + 1, "frame"));
  parallel_for(core, 0, encoder->particles->count, CHUNK, find_radii, encoder);
  radii->low = UINT32_MAX;
  for (int64_t c = 0; c < chunks; c++) {
    const Radii *part = &encoder->chunk_radii[c];
    if (part->low < radii->low) radii->low = part->low;
    if (part->high > radii->high) radii->high = part->high;
    if (part->count > COMPACT_RADII) radii->count = COMPACT_RADII + 1;
    for (int k = 0; k < part->count && radii->count <= COMPACT_RADII; k++) add_radius(radii, part->bits[k]);
  }
  memory_drop(core, &encoder->chunk_radii);
  if (radii->count > COMPACT_RADII) spread_radii(encoder);
  return SCREE_OK;
}

static void choose_step(Encoder *encoder) {
  int exponent = 0;
  float smallest = 1;
  if (encoder->particles->count > 0) memcpy(&smallest, &encoder->radii.low, sizeof smallest);
  frexp((double)smallest / COMPACT_STEPS_RADIUS, &exponent);
  encoder->step = ldexp(1, exponent - 1); /* the largest power of two that is not larger */
  encoder->per_step = ldexp(1, 1 - exponent);
}

/* ---- places ---- */

/* Tiles of grains: whole numbers of steps from the corner of a block that is SPAN blocks below that of the first grain.
 * Nearly always all the others are less than that away from it. */
enum { SPAN = 1 << 14 };

typedef struct Tile {
  int64_t first, count;
  CompactBlock base;
  double shift[3]; /* from the world's zero to it, in steps, and a half */
  int32_t steps[3][COMPACT_TILE];
  CompactBlock blocks[COMPACT_TILE]; /* where they are in several */
  bool together;                     /* all in `block` */
  CompactBlock block;
} Tile;

static bool within(double steps) { return fabs(steps) < (double)((int64_t)1 << COMPACT_STEPS_MOST) - 1; }

/* Of a grain that is far from the others: the same for it alone. False where it is nowhere, or too far away. */
static bool step_alone(double place, int32_t *block, int32_t *step) {
  if (!within(place)) return false;
  double nearest = floor(place + 0.5);
  int64_t steps = (int64_t)nearest;
  *block = (int32_t)(steps >> COMPACT_BITS);
  *step = (int32_t)(steps & 0xffff);
  return true;
}

static bool grain_alone(const Encoder *encoder, Tile *tile, int64_t k) {
  const ScreeParticles *p = encoder->particles;
  int64_t i = tile->first + k;
  CompactBlock *block = &tile->blocks[k];
  return step_alone((p->origin.x + (double)p->x[i]) * encoder->per_step, &block->x, &tile->steps[0][k]) &&
         step_alone((p->origin.y + (double)p->y[i]) * encoder->per_step, &block->y, &tile->steps[1][k]) &&
         step_alone((p->origin.z + (double)p->z[i]) * encoder->per_step, &block->z, &tile->steps[2][k]);
}

/* Returns the first grain that a compact frame cannot hold, or -1. */
static int64_t read_alone(const Encoder *encoder, Tile *tile) {
  tile->together = false;
  for (int64_t k = 0; k < tile->count; k++)
    if (!grain_alone(encoder, tile, k)) return tile->first + k;
  return -1;
}

/* Steps within the tile, and blocks of those that are not together. */
static void find_steps(const Encoder *encoder, Tile *tile) {
  const ScreeParticles *p = encoder->particles;
  const float *const columns[3] = {p->x + tile->first, p->y + tile->first, p->z + tile->first};
  const double origin[3] = {p->origin.x, p->origin.y, p->origin.z};
  for (int c = 0; c < 3; c++) {
    KERNEL_CALL(encoder->core, compact_steps)
    (columns[c], tile->count, origin[c], encoder->per_step, tile->shift[c], tile->steps[c]);
  }
  for (int64_t k = 0; k < tile->count && !tile->together; k++)
    tile->blocks[k] = (CompactBlock){.x = tile->base.x + (tile->steps[0][k] >> COMPACT_BITS),
                                     .y = tile->base.y + (tile->steps[1][k] >> COMPACT_BITS),
                                     .z = tile->base.z + (tile->steps[2][k] >> COMPACT_BITS)};
}

/* The block of all grains of the tile along an axis, of those above `base`; -1: they are in several. Rounding keeps the
 * order, so the least and the largest coordinate tell. */
enum { SEVERAL = -1, FAR_AWAY = -2 };
static int32_t common_block(const Encoder *encoder, const float *x, int64_t count, double origin, double shift) {
  CompactBounds bounds = KERNEL_CALL(encoder->core, compact_bounds)(x, count);
  double low = compact_place(bounds.low, origin, encoder->per_step, shift);
  double high = compact_place(bounds.high, origin, encoder->per_step, shift);
  if (!bounds.numbers || !(low >= 0) || !(high < COMPACT_FAR)) return FAR_AWAY;
  int32_t block = (int32_t)low >> COMPACT_BITS;
  return block == (int32_t)high >> COMPACT_BITS ? block : SEVERAL;
}

/* Where the grains of a tile are; their steps too where they are asked for, or where grains are in several blocks.
 * Returns the first grain that a compact frame cannot hold, or -1. */
static int64_t read_tile(const Encoder *encoder, int64_t first, int64_t end, bool steps, Tile *tile) {
  const ScreeParticles *p = encoder->particles;
  const float *const columns[3] = {p->x + first, p->y + first, p->z + first};
  const double origin[3] = {p->origin.x, p->origin.y, p->origin.z};
  tile->first = first;
  tile->count = end - first < COMPACT_TILE ? end - first : COMPACT_TILE;
  if (!grain_alone(encoder, tile, 0)) return first;
  int32_t *base[3] = {&tile->base.x, &tile->base.y, &tile->base.z}, common[3];
  const int32_t own[3] = {tile->blocks[0].x, tile->blocks[0].y, tile->blocks[0].z};
  tile->together = true;
  for (int c = 0; c < 3; c++) {
    if (own[c] < INT32_MIN + SPAN || own[c] > INT32_MAX - SPAN) return read_alone(encoder, tile);
    *base[c] = own[c] - SPAN;
    tile->shift[c] = 0.5 - ldexp((double)*base[c], COMPACT_BITS);
    common[c] = common_block(encoder, columns[c], tile->count, origin[c], tile->shift[c]);
    if (common[c] == FAR_AWAY) return read_alone(encoder, tile);
    tile->together &= common[c] != SEVERAL;
  }
  tile->block =
      (CompactBlock){.x = tile->base.x + common[0], .y = tile->base.y + common[1], .z = tile->base.z + common[2]};
  if (steps || !tile->together) find_steps(encoder, tile);
  return -1;
}

/* ---- blocks ---- */

static bool same_block(const CompactBlock *a, const CompactBlock *b) {
  return a->x == b->x && a->y == b->y && a->z == b->z;
}

/* Blocks that are near each other have different slots. */
static int slot_of(const CompactBlock *block) { return (block->x & 3) | (block->y & 3) << 2 | (block->z & 3) << 4; }

static int by_block(const void *a, const void *b) {
  return compact_block_compare(&((const Part *)a)->block, &((const Part *)b)->block);
}

/* Sorts the parts that a chunk has found and makes one of those that are of the same block. */
static int64_t merge_parts(Part *parts, int64_t count) {
  int64_t kept = 0;
  if (count > 1) qsort(parts, (size_t)count, sizeof *parts, by_block);
  for (int64_t k = 0; k < count; k++) {
    if (kept > 0 && same_block(&parts[kept - 1].block, &parts[k].block))
      parts[kept - 1].block.count += parts[k].block.count;
    else parts[kept++] = parts[k];
  }
  return kept;
}

/* Counts go through a few slots: grains that follow each other lie in few blocks, in whatever order. A block that loses
 * its slot to another is handed over and may come again. */
typedef struct Counts {
  CompactBlock slots[SLOTS];
  Part *parts;
  int64_t part_count;
} Counts;

static void count_block(Counts *counts, CompactBlock block, int64_t grains) {
  CompactBlock *slot = &counts->slots[slot_of(&block)];
  if (slot->count > 0 && !same_block(slot, &block)) {
    counts->parts[counts->part_count++] = (Part){.block = *slot};
    slot->count = 0;
  }
  block.count = slot->count + (uint32_t)grains;
  *slot = block;
}

static void count_blocks(void *context, int64_t b, int64_t e, int thread) {
  Encoder *encoder = context;
  Chunk *chunk = &encoder->chunks[b / CHUNK];
  Counts counts = {.parts = encoder->rooms + thread * encoder->room};
  Tile tile;
  for (int64_t first = b; first < e; first += COMPACT_TILE) {
    int64_t wrong = read_tile(encoder, first, e, false, &tile);
    if (wrong >= 0) {
      trouble(chunk, wrong, "is nowhere, or too far away for its radius");
      return;
    }
    if (tile.together) count_block(&counts, tile.block, tile.count);
    else
      for (int64_t k = 0; k < tile.count; k++) count_block(&counts, tile.blocks[k], 1);
  }
  for (int k = 0; k < SLOTS; k++)
    if (counts.slots[k].count > 0) counts.parts[counts.part_count++] = (Part){.block = counts.slots[k]};
  int64_t count = merge_parts(counts.parts, counts.part_count);
  chunk->parts = memory_get(&encoder->core->memory, count, sizeof *chunk->parts, "frame");
  if (!chunk->parts) return;
  chunk->part_count = count;
  memcpy(chunk->parts, counts.parts, (size_t)count * sizeof *chunk->parts);
}

typedef struct PartOfChunk {
  Part *part;
  int64_t chunk;
} PartOfChunk;

static int by_block_and_chunk(const void *a, const void *b) {
  const PartOfChunk *p = a, *q = b;
  int order = by_block(p->part, q->part);
  return order ? order : p->chunk < q->chunk ? -1 : 1;
}

/* The table of blocks, and where each part begins. */
static Status place_parts(Encoder *encoder, int64_t chunks, CompactBlock **blocks, int64_t *block_count) {
  Core *core = encoder->core;
  int64_t count = 0, at = 0;
  for (int64_t c = 0; c < chunks; c++) {
    if (!encoder->chunks[c].parts) return fail(core, SCREE_NO_MEMORY, "out of memory for a frame");
    count += encoder->chunks[c].part_count;
  }
  PartOfChunk *all = NULL;
  TRY(memory_new(core, &all, count + 1, "frame"));
  Status status = memory_new(core, blocks, count + 1, "frame");
  for (int64_t c = 0, k = 0; c < chunks; c++)
    for (int64_t p = 0; p < encoder->chunks[c].part_count; p++)
      all[k++] = (PartOfChunk){&encoder->chunks[c].parts[p], c};
  if (count > 1) qsort(all, (size_t)count, sizeof *all, by_block_and_chunk);
  for (int64_t k = 0; k < count && status == SCREE_OK; k++) {
    Part *part = all[k].part;
    part->at = at;
    at += part->block.count;
    if (*block_count > 0 && same_block(&(*blocks)[*block_count - 1], &part->block))
      (*blocks)[*block_count - 1].count += part->block.count;
    else (*blocks)[(*block_count)++] = part->block;
  }
  memory_drop(core, &all);
  return status;
}

/* ---- grains ---- */

static Part *find_part(const Chunk *chunk, const CompactBlock *block) {
  int64_t low = 0, high = chunk->part_count - 1;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (compact_block_compare(&chunk->parts[middle].block, block) < 0) low = middle + 1;
    else high = middle;
  }
  return &chunk->parts[low];
}

static void find_codes(const Encoder *encoder, const float *radius, int64_t count, uint8_t *codes) {
  const Radii *radii = &encoder->radii;
  if (encoder->radius_scale > 0) {
    KERNEL_CALL(encoder->core, compact_codes)(radius, count, radii->low, encoder->radius_scale, codes);
    return;
  }
  memset(codes, 0, (size_t)count);
  for (int64_t k = 0; k < count && radii->count > 1; k++)
    codes[k] = (uint8_t)radius_place(radii, float_bits(radius[k]));
}

/* The columns of a tile, wherever they belong. */
typedef struct Rows {
  uint64_t places[COMPACT_TILE];
  uint32_t velocities[COMPACT_TILE];
  uint8_t codes[COMPACT_TILE];
} Rows;

static void fill_rows(const Encoder *encoder, Chunk *chunk, const Tile *tile, uint8_t *codes, uint64_t *places,
                      uint32_t *velocities) {
  const ScreeParticles *p = encoder->particles;
  int64_t first = tile->first;
  find_codes(encoder, p->radius + first, tile->count, codes);
  KERNEL_CALL(encoder->core, compact_places)
  (tile->steps[0], tile->steps[1], tile->steps[2], p->material + first, codes, tile->count, places);
  if (!(encoder->columns & FRAME_VELOCITY)) return;
  if (!KERNEL_CALL(encoder->core, compact_velocities)(p->vx + first, p->vy + first, p->vz + first, tile->count,
                                                      velocities))
    for (int64_t i = first; i < first + tile->count; i++)
      if (!isfinite(fabsf(p->vx[i]) + fabsf(p->vy[i]) + fabsf(p->vz[i]))) trouble(chunk, i, "has no velocity");
}

static void scatter_rows(const Encoder *encoder, Chunk *chunk, const Tile *tile, const Rows *rows) {
  const CompactBuffers *to = encoder->buffers;
  Part *current = find_part(chunk, &tile->blocks[0]);
  for (int64_t k = 0; k < tile->count; k++) {
    if (!same_block(&current->block, &tile->blocks[k])) current = find_part(chunk, &tile->blocks[k]);
    int64_t at = current->at++;
    to->places[at] = rows->places[k];
    if (encoder->columns & FRAME_VELOCITY) to->velocities[at] = rows->velocities[k];
    if (encoder->columns & FRAME_ID) to->ids[at] = encoder->particles->id[tile->first + k];
  }
}

static void write_grains(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Encoder *encoder = context;
  Chunk *chunk = &encoder->chunks[b / CHUNK];
  const CompactBuffers *to = encoder->buffers;
  Tile tile;
  Rows rows;
  for (int64_t first = b; first < e; first += COMPACT_TILE) {
    int64_t wrong = read_tile(encoder, first, e, true, &tile);
    assert(wrong < 0); /* it was looked at when blocks were counted */
    (void)wrong;
    if (tile.together) {
      Part *part = find_part(chunk, &tile.block);
      uint32_t *velocities = to->velocities ? to->velocities + part->at : NULL;
      fill_rows(encoder, chunk, &tile, rows.codes, to->places + part->at, velocities);
      if (encoder->columns & FRAME_ID)
        memcpy(to->ids + part->at, encoder->particles->id + first, (size_t)tile.count * sizeof *to->ids);
      part->at += tile.count;
    } else {
      fill_rows(encoder, chunk, &tile, rows.codes, rows.places, rows.velocities);
      scatter_rows(encoder, chunk, &tile, &rows);
    }
  }
}

static Status check_chunks(const Encoder *encoder, const char *path, int64_t chunks) {
  for (int64_t c = 0; c < chunks; c++)
    if (encoder->chunks[c].trouble)
      return fail_at(encoder->core, SCREE_CANNOT_WRITE, path, (ScreeSource){0, 0},
                     "grain %u %s: a compact frame cannot hold it", encoder->particles->id[encoder->chunks[c].wrong],
                     encoder->chunks[c].trouble);
  return SCREE_OK;
}

/* ---- the file ---- */

/* Room that stays from frame to frame. */
#define ROOM(core, pointer, count)                                                                                     \
  do {                                                                                                                 \
    if (memory_size(*(pointer)) < (count) * (int64_t)sizeof **(pointer)) {                                             \
      memory_drop((core), (pointer));                                                                                  \
      TRY(memory_new((core), (pointer), (count) + (count) / 8, "frame"));                                              \
    }                                                                                                                  \
  } while (0)

static Status make_room(Encoder *encoder) {
  CompactBuffers *buffers = encoder->buffers;
  int64_t count = encoder->particles->count;
  ROOM(encoder->core, &buffers->places, count);
  if (encoder->columns & FRAME_VELOCITY) ROOM(encoder->core, &buffers->velocities, count);
  if (encoder->columns & FRAME_ID) ROOM(encoder->core, &buffers->ids, count);
  return SCREE_OK;
}

void compact_buffers_destroy(Core *core, CompactBuffers *buffers) {
  memory_drop(core, &buffers->places);
  memory_drop(core, &buffers->velocities);
  memory_drop(core, &buffers->ids);
}

static Status write_file(const Encoder *encoder, Committer *committer, const char *path, const CompactBlock *blocks,
                         int64_t block_count, double time) {
  int64_t count = encoder->particles->count, radii = encoder->radii.count;
  int64_t velocities = encoder->columns & FRAME_VELOCITY ? count : 0, ids = encoder->columns & FRAME_ID ? count : 0;
  CompactHeader header = {.magic = COMPACT_MAGIC,
                          .version = COMPACT_VERSION,
                          .columns = encoder->columns,
                          .count = (uint64_t)count,
                          .blocks = (uint64_t)block_count,
                          .time = time,
                          .step = encoder->step,
                          .radii = (uint32_t)radii};
  header.size = (uint64_t)((int64_t)sizeof header + 4 * radii + (int64_t)sizeof *blocks * block_count + 8 * count +
                           4 * velocities + 4 * ids);
  Stream stream;
  stream_open(&stream, path);
  stream_write(&stream, &header, sizeof header);
  stream_write(&stream, encoder->radii.bits, 4 * radii);
  stream_write(&stream, blocks, (int64_t)sizeof *blocks * block_count);
  stream_write(&stream, encoder->buffers->places, 8 * count);
  stream_write(&stream, encoder->buffers->velocities, 4 * velocities);
  stream_write(&stream, encoder->buffers->ids, 4 * ids);
  return committer_take(encoder->core, committer, &stream);
}

static Status encode(Encoder *encoder, Committer *committer, const char *path, double time, CompactBlock **blocks) {
  Core *core = encoder->core;
  int64_t count = encoder->particles->count, chunks = parallel_chunks(0, count, CHUNK), block_count = 0;
  TRY(memory_new(core, &encoder->chunks, chunks + 1, "frame"));
  encoder->room = count < CHUNK ? count : CHUNK; /* each grain may be a part of its own */
  TRY(memory_new(core, &encoder->rooms, pool_threads(core->pool) * encoder->room, "frame"));
  TRY(make_room(encoder));
  TRY(gather_radii(encoder, chunks));
  TRY(check_chunks(encoder, path, chunks));
  choose_step(encoder);
  if (!(encoder->step >= COMPACT_STEP_LEAST && encoder->step <= COMPACT_STEP_MOST))
    return fail_at(core, SCREE_CANNOT_WRITE, path, (ScreeSource){0, 0}, "radii are too %s for a compact frame",
                   encoder->step < 1 ? "small" : "large");
  parallel_for(core, 0, count, CHUNK, count_blocks, encoder);
  TRY(check_chunks(encoder, path, chunks));
  TRY(place_parts(encoder, chunks, blocks, &block_count));
  parallel_for(core, 0, count, CHUNK, write_grains, encoder);
  TRY(check_chunks(encoder, path, chunks));
  return write_file(encoder, committer, path, *blocks, block_count, time);
}

Status particles_write_compact(Core *core, FrameWriter *writer, const char *path, const ScreeParticles *particles,
                               double time) {
  Encoder encoder = {.core = core,
                     .particles = particles,
                     .columns = writer->columns & (FRAME_VELOCITY | FRAME_ID),
                     .buffers = &writer->buffers};
  CompactBlock *blocks = NULL;
  Status status = encode(&encoder, writer->committer, path, time, &blocks);
  memory_drop(core, &blocks);
  for (int64_t c = 0; encoder.chunks && c < parallel_chunks(0, particles->count, CHUNK); c++)
    memory_drop(core, &encoder.chunks[c].parts);
  memory_drop(core, &encoder.chunks);
  memory_drop(core, &encoder.rooms);
  memory_drop(core, &encoder.chunk_radii);
  return status;
}
