/* Reads compact frames, which may be damaged or lie. */
#include "output/compact.h"
#include "output/frame_reader.h"

typedef struct Compact {
  CompactHeader header;
  float radii[COMPACT_RADII];
  const char *blocks, *places, *velocities, *ids;
} Compact;

static CompactBlock block_at(const Compact *compact, uint64_t k) {
  CompactBlock block;
  memcpy(&block, compact->blocks + k * sizeof block, sizeof block);
  return block;
}

/* Returns what is wrong, or NULL. */
static const char *read_header(Compact *compact, const char *data, int64_t size) {
  CompactHeader *header = &compact->header;
  if (size < (int64_t)sizeof *header || memcmp(data, COMPACT_MAGIC, sizeof header->magic) != 0)
    return "not a compact frame of scree";
  memcpy(header, data, sizeof *header);
  if (header->version != COMPACT_VERSION) return "of a version that this program does not know";
  if (header->columns & ~(uint32_t)(FRAME_VELOCITY | FRAME_ID) || header->zero != 0) return "unknown columns";
  uint64_t whole = (uint64_t)size;
  if (header->size > whole) return "it ends early";
  if (header->radii > COMPACT_RADII || header->count > whole / 8 || header->count > UINT32_MAX ||
      header->blocks > header->count)
    return "promises more particles than it holds";
  uint64_t row = 8u + (header->columns & FRAME_VELOCITY ? 4u : 0u) + (header->columns & FRAME_ID ? 4u : 0u);
  uint64_t radii = 4u * (uint64_t)header->radii, blocks = sizeof(CompactBlock) * header->blocks;
  if (header->size != whole || whole != sizeof *header + radii + blocks + row * header->count)
    return "its size does not fit what it promises";
  memcpy(compact->radii, data + sizeof *header, radii);
  compact->blocks = data + sizeof *header + radii;
  compact->places = compact->blocks + blocks;
  compact->velocities = compact->places + 8 * header->count;
  compact->ids = compact->velocities + (header->columns & FRAME_VELOCITY ? 4 * header->count : 0);
  return NULL;
}

static const char *check_numbers(const Compact *compact) {
  const CompactHeader *header = &compact->header;
  int exponent;
  if (!(header->step >= COMPACT_STEP_LEAST && header->step <= COMPACT_STEP_MOST) ||
      frexp(header->step, &exponent) != 0.5)
    return "its step is no power of two";
  if (isinf(header->time)) return "its time is infinite";
  if (header->count > 0 && header->radii == 0) return "no radii";
  for (uint32_t k = 0; k < header->radii; k++)
    if (!isfinite(compact->radii[k]) || !(compact->radii[k] > (k > 0 ? compact->radii[k - 1] : 0)))
      return "radii are not in order";
  uint64_t sum = 0;
  for (uint64_t k = 0; k < header->blocks; k++) {
    CompactBlock block = block_at(compact, k), before = k > 0 ? block_at(compact, k - 1) : block;
    if (block.count == 0 || (k > 0 && compact_block_compare(&before, &block) >= 0)) return "blocks are not in order";
    sum += block.count;
  }
  return sum == header->count ? NULL : "blocks do not hold the particles that it promises";
}

/* The corner of the block with most grains: floats are exact for 128 blocks on each side of it, and one grain that has
 * flown away costs the others nothing. */
static CompactBlock fullest(const Compact *compact) {
  CompactBlock full = {0};
  for (uint64_t k = 0; k < compact->header.blocks; k++) {
    CompactBlock block = block_at(compact, k);
    if (block.count > full.count) full = block;
  }
  return full;
}

/* Of the grains [first, end), which have the block in common; false where one has no radius. */
static bool read_block(const Compact *compact, CompactBlock block, CompactBlock origin, int64_t first, int64_t end,
                       FrameColumns *columns) {
  int64_t n = columns->count;
  double step = compact->header.step, edge = ldexp(step, COMPACT_BITS);
  double corner[3] = {((double)block.x - origin.x) * edge, ((double)block.y - origin.y) * edge,
                      ((double)block.z - origin.z) * edge};
  for (int64_t i = first; i < end; i++) {
    uint64_t place;
    memcpy(&place, compact->places + 8 * i, sizeof place);
    for (int c = 0; c < 3; c++)
      columns->numbers[(COLUMN_X + c) * n + i] = (float)(corner[c] + (double)(place >> 16 * c & 0xffff) * step);
    columns->materials[i] = (uint8_t)(place >> 48);
    if (place >> 56 >= compact->header.radii) return false;
    columns->numbers[COLUMN_RADIUS * n + i] = compact->radii[place >> 56];
  }
  return true;
}

static void read_velocities(const Compact *compact, FrameColumns *columns) {
  int64_t n = columns->count;
  for (int64_t i = 0; i < n; i++) {
    uint32_t packed;
    memcpy(&packed, compact->velocities + 4 * i, sizeof packed);
    for (int c = 0; c < 3; c++) columns->numbers[(COLUMN_VX + c) * n + i] = compact_velocity_read(packed, c);
  }
}

Status frame_read_compact(Core *core, const char *path, const char *data, int64_t size, FrameColumns *columns) {
  Compact compact = {0};
  const char *wrong = read_header(&compact, data, size);
  if (!wrong) wrong = check_numbers(&compact);
  if (wrong) return frame_damaged(core, path, wrong);
  TRY(frame_columns_create(core, columns, (int64_t)compact.header.count));
  columns->time = compact.header.time;
  columns->columns = compact.header.columns;
  CompactBlock origin = fullest(&compact);
  double edge = ldexp(compact.header.step, COMPACT_BITS);
  columns->origin = (ScreeVec3){origin.x * edge, origin.y * edge, origin.z * edge};
  int64_t first = 0;
  for (uint64_t k = 0; k < compact.header.blocks; k++) {
    CompactBlock block = block_at(&compact, k);
    if (!read_block(&compact, block, origin, first, first + block.count, columns))
      return frame_damaged(core, path, "a grain has a radius that is not in its table");
    first += block.count;
  }
  if (columns->columns & FRAME_VELOCITY) read_velocities(&compact, columns);
  if (columns->columns & FRAME_ID) memcpy(columns->ids, compact.ids, 4 * (size_t)columns->count);
  else
    for (int64_t i = 0; i < columns->count; i++) columns->ids[i] = (uint32_t)i;
  return SCREE_OK;
}
