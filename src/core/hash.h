/* Hashes: of the state (by id, free of storage order) and of scenes and checkpoints (XXH3). */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3 of a block. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

/* Adds one record to a hash whose value does not depend on the order of the records. */
static inline uint64_t hash_unordered(uint64_t sum, uint64_t record_hash) { return sum + record_hash; }

#endif
