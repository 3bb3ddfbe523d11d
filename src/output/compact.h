/* Compact frames: 8 bytes a grain for position, radius and material, 4 more for the velocity, 4 more for the id.
 * docs/output.md describes every byte.
 *
 * Positions are whole numbers of steps from the world's zero; a step is a power of two, at most a 128th of the smallest
 * radius. The upper bits of the three numbers name a block of 65,536 steps, which a table says once for all its grains;
 * the lower 16 stand with the grain. A power of two makes all of it exact: the position is the product of two numbers
 * that a double holds, the same in every reader, and a frame that is read and written again keeps its bytes. */
#ifndef OUTPUT_COMPACT_H
#define OUTPUT_COMPACT_H

#include <math.h>
#include <string.h>

#include "core/core.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frames are written as they lie in memory, little-endian"
#endif

enum {
  COMPACT_VERSION = 1,
  COMPACT_RADII = 256,
  COMPACT_BITS = 16,         /* of a place within its block */
  COMPACT_STEPS_MOST = 47,   /* bits of a whole number of steps, without its sign: block numbers have 32 */
  COMPACT_STEPS_RADIUS = 128 /* at least so many in the smallest radius */
};
#define COMPACT_MAGIC "\x89scree\r\n" /* a transfer as text damages it */
#define COMPACT_STEP_LEAST 0x1p-60
#define COMPACT_STEP_MOST 0x1p40

/* The file begins with it. Behind it: radii (float), blocks, places (8 bytes), velocities (4), ids (4). */
typedef struct CompactHeader {
  char magic[8];
  uint32_t version;
  uint32_t columns; /* FRAME_VELOCITY, FRAME_ID */
  uint64_t count, blocks;
  double time; /* s; NaN: not known */
  double step; /* m */
  uint32_t radii, zero;
  uint64_t size; /* of the file */
} CompactHeader;
_Static_assert(sizeof(CompactHeader) == 64, "the header is written as it lies in memory");

/* Grains of a block follow each other; blocks are in the order of z, y, x and have one grain or more. */
typedef struct CompactBlock {
  int32_t x, y, z;
  uint32_t count;
} CompactBlock;
_Static_assert(sizeof(CompactBlock) == 16, "blocks are written as they lie in memory");

static inline int compact_block_compare(const CompactBlock *a, const CompactBlock *b) {
  if (a->z != b->z) return a->z < b->z ? -1 : 1;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  return a->x != b->x ? (a->x < b->x ? -1 : 1) : 0;
}

/* Three numbers of 9 bits with a common power of two, as shared-exponent colours have it: what counts is the direction,
 * and a speed that is right by its own measure for grains that creep and grains that fly. */
enum { VELOCITY_BITS = 9, VELOCITY_LARGEST = 255, VELOCITY_LEAST = -23, VELOCITY_MOST = 8 };

static inline float compact_power(int exponent) {
  uint32_t bits = (uint32_t)(127 + exponent) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* Rounded to the nearest; v / 2^exponent is held within the range. */
static inline uint32_t compact_velocity_part(float v, float per_unit) {
  float scaled = v * per_unit;
  scaled = scaled < VELOCITY_LARGEST ? scaled : VELOCITY_LARGEST; /* NaN as well */
  scaled = scaled > -VELOCITY_LARGEST ? scaled : -VELOCITY_LARGEST;
  return (uint32_t)((int32_t)(scaled + 512.5f) - 512) & ((1u << VELOCITY_BITS) - 1);
}

/* Beyond 255 * 2^8 m/s the largest number stands; of NaN some number comes. */
static inline uint32_t compact_velocity(float vx, float vy, float vz) {
  float largest = fabsf(vx) > fabsf(vy) ? fabsf(vx) : fabsf(vy);
  if (fabsf(vz) > largest) largest = fabsf(vz);
  largest *= 1.002f; /* 255.5 and more would round to 256 */
  uint32_t bits;
  memcpy(&bits, &largest, sizeof bits);
  int exponent = (int)(bits >> 23) - 127 - (VELOCITY_BITS - 2);
  exponent = exponent < VELOCITY_LEAST ? VELOCITY_LEAST : exponent > VELOCITY_MOST ? VELOCITY_MOST : exponent;
  float per_unit = compact_power(-exponent);
  return compact_velocity_part(vx, per_unit) | compact_velocity_part(vy, per_unit) << VELOCITY_BITS |
         compact_velocity_part(vz, per_unit) << 2 * VELOCITY_BITS |
         (uint32_t)(exponent - VELOCITY_LEAST) << 3 * VELOCITY_BITS;
}

/* Its part 0, 1 or 2. */
static inline float compact_velocity_read(uint32_t packed, int part) {
  enum { UNUSED = 32 - VELOCITY_BITS };
  int32_t number = (int32_t)(packed << (UNUSED - VELOCITY_BITS * part)) >> UNUSED; /* with its sign */
  return (float)number * compact_power((int)(packed >> 3 * VELOCITY_BITS) + VELOCITY_LEAST);
}

#endif
