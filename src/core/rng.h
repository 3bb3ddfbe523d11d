/* Stateless random numbers, keyed by (seed, particle id, step, purpose).
 *
 * The same key gives the same number on any machine and in any order, so emission and sampling do not depend on
 * threads, and a resumed run draws what the uninterrupted one would have drawn. The mixer is the 64-bit finaliser
 * of splitmix64 applied after each word of the key. */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#ifdef __OPENCL_C_VERSION__
typedef ulong uint64_t;
#else
#include <stdint.h>
#endif

typedef enum RngPurpose {
  RNG_VOLUME_SAMPLE = 1,
  RNG_SURFACE_SAMPLE,
  RNG_RADIUS,
  RNG_EMIT,
  RNG_DENSE,
  RNG_UPSAMPLE,
  RNG_EXCHANGE,
  RNG_COINCIDENT,
  RNG_TEST,
  RNG_TILE
} RngPurpose;

static inline uint64_t rng_mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline uint64_t rng_bits(uint64_t seed, uint64_t id, uint64_t step, RngPurpose purpose) {
  return rng_mix(rng_mix(rng_mix(rng_mix(seed) ^ id) ^ step) ^ (uint64_t)purpose);
}

/* Uniform in [0, 1): 53 bits, respectively 24. */
#ifndef __OPENCL_C_VERSION__
static inline double rng_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }
#endif
static inline float rng_unitf(uint64_t bits) { return (float)(bits >> 40) * 0x1p-24f; }

#endif
