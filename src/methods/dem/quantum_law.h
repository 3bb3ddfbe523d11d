/* Places of grains as whole numbers of quanta, modulo 2^32: differences of neighbours are exact wherever they are. The
 * sum of a float and what it leaves over is taken in double; the quantum is a power of two. */
#ifndef METHODS_DEM_QUANTUM_LAW_H
#define METHODS_DEM_QUANTUM_LAW_H

#include "core/lane.h"

#define QUANTUM_INTEGER 6755399441055744.0 /* 1.5 * 2^52: the sum with it has the whole part in its lowest bits */

#if LANE_WIDTH == 1
typedef double QuantumReal;
#ifdef __OPENCL_C_VERSION__
typedef long QuantumBits;
LANE_INLINE QuantumBits quantum_bits(QuantumReal a) { return as_long(a); }
#else
typedef long long QuantumBits;
LANE_INLINE QuantumBits quantum_bits(QuantumReal a) {
  union {
    QuantumReal real;
    QuantumBits bits;
  } both = {a};
  return both.bits;
}
#endif
#else /* half of the lanes */
typedef double QuantumReal __attribute__((vector_size(32)));
typedef WideInt QuantumBits;
LANE_INLINE QuantumBits quantum_bits(QuantumReal a) { return (QuantumBits)a; }
#endif

/* The lowest 32 bits are the number. */
LANE_INLINE QuantumBits quantum_of(QuantumReal high, QuantumReal low, double per_quantum) {
  QuantumReal at = (high + low) * per_quantum;
  QuantumReal turns = (at * 0x1p-32 + QUANTUM_INTEGER) - QUANTUM_INTEGER;
  return quantum_bits((at - turns * 0x1p32) + QUANTUM_INTEGER);
}

#endif
