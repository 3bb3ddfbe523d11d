/* Sums over the coarse grains for as many fine grains as a register has lanes; included once for eight and once for
 * sixteen. Before: SUMS(name) names what is made here, SUMS_INLINE begins each function, SUMS_LANES is their number,
 * SumsLanes the type, and SUMS(load, store, set, less, min, max, keep_less, pack) are there. Every lane does
 * the same operations in the same order whatever their number is. */

typedef struct SUMS(Box) {
  SumsLanes low[3], high[3];
} SUMS(Box);

/* Which of the points, of which `left` are meant, are nearer to the box than the reach. Rounding grows with the value,
 * so that no coordinate of a grain in the box is nearer than what is found here. */
SUMS_INLINE unsigned SUMS(near)(const SUMS(Box) * box, const float *x, const float *y, const float *z, int64_t left,
                                float reach2) {
  const float *const from[3] = {x, y, z};
  SumsLanes d[3];
  for (int axis = 0; axis < 3; axis++) {
    SumsLanes at = SUMS(load)(from[axis]);
    d[axis] = at - SUMS(min)(SUMS(max)(at, box->low[axis]), box->high[axis]);
  }
  unsigned bits = SUMS(less)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], SUMS(set)(reach2));
  return left < SUMS_LANES ? bits & ((1u << left) - 1) : bits;
}

/* The box round the grains from g on. */
SUMS_INLINE SUMS(Box) SUMS(box)(const FineBoxes *boxes, int64_t g) {
  SUMS(Box) box;
  for (int axis = 0; axis < 3; axis++) {
    float low = boxes->low[axis][g / LANES], high = boxes->high[axis][g / LANES];
    for (int64_t k = g / LANES + 1; k < (g + SUMS_LANES) / LANES; k++) {
      low = boxes->low[axis][k] < low ? boxes->low[axis][k] : low;
      high = boxes->high[axis][k] > high ? boxes->high[axis][k] : high;
    }
    box.low[axis] = SUMS(set)(low), box.high[axis] = SUMS(set)(high);
  }
  return box;
}

/* Appends those of [b, e) that are near the box; `index` NULL: their numbers are their places. */
SUMS_INLINE void SUMS(gather)(const float *x, const float *y, const float *z, const int32_t *index, int64_t b,
                              int64_t e, const float bounds[6], float reach2, const uint64_t *pack, Candidates *to) {
  SUMS(Box) box;
  int64_t count = to->count;
  for (int axis = 0; axis < 3; axis++)
    box.low[axis] = SUMS(set)(bounds[axis]), box.high[axis] = SUMS(set)(bounds[3 + axis]);
  for (int64_t k = b; k < e; k += SUMS_LANES) {
    int32_t places[SUMS_LANES];
    unsigned bits = SUMS(near)(&box, x + k, y + k, z + k, e - k, reach2);
    if (!bits) continue;
    if (!index)
      for (int lane = 0; lane < SUMS_LANES; lane++) places[lane] = (int32_t)k + lane;
    SUMS(pack)((int32_t *)to->x + count, bits, (const int32_t *)x + k, pack);
    SUMS(pack)((int32_t *)to->y + count, bits, (const int32_t *)y + k, pack);
    SUMS(pack)((int32_t *)to->z + count, bits, (const int32_t *)z + k, pack);
    SUMS(pack)(to->index + count, bits, index ? index + k : places, pack);
    count += __builtin_popcount(bits);
  }
  to->count = count;
}

/* The candidates within reach of the box round the grains from g on. */
SUMS_INLINE int64_t SUMS(list)(const Candidates *c, const FineBlock *block, int64_t g, float reach2,
                               const uint64_t *pack, int32_t *list) {
  const SUMS(Box) box = SUMS(box)(block->boxes, g);
  int64_t count = 0;
  for (int64_t k = 0; k < c->count; k += SUMS_LANES) {
    unsigned bits = SUMS(near)(&box, c->x + k, c->y + k, c->z + k, c->count - k, reach2);
    SUMS(pack)(list + count, bits, c->index + k, pack);
    count += __builtin_popcount(bits);
  }
  return count;
}

typedef struct SUMS(Values) {
  SumsLanes sum, x, y, z, top, square;
} SUMS(Values);

SUMS_INLINE SUMS(Values) SUMS(pairs)(const CoarseRow *rows, const int32_t *list, int64_t count, const FineBlock *block,
                                     int64_t g, float reach2, bool walled, bool squares) {
  const SumsLanes zero = SUMS(set)(0), reach = SUMS(set)(reach2);
  SumsLanes x = SUMS(load)(block->x + g), y = SUMS(load)(block->y + g), z = SUMS(load)(block->z + g);
  SumsLanes gap = zero, nx = zero, ny = zero, nz = zero;
  if (walled)
    gap = SUMS(load)(block->gap + g), nx = SUMS(load)(block->nx + g), ny = SUMS(load)(block->ny + g),
    nz = SUMS(load)(block->nz + g);
  SUMS(Values) s = {zero, zero, zero, zero, zero, zero};
  for (int64_t k = 0; k < count; k++) {
    const CoarseRow *row = &rows[list[k]];
    SumsLanes dx = x - row->x, dy = y - row->y, dz = z - row->z;
    SumsLanes t = SUMS(max)(reach - (dx * dx + dy * dy + dz * dz), zero);
    if (walled) t = SUMS(keep_less)(t, dx * nx + dy * ny + dz * nz, gap);
    SumsLanes w = t * t * t;
    s.top = SUMS(max)(s.top, t);
    s.sum += w;
    s.x += w * row->vx;
    s.y += w * row->vy;
    s.z += w * row->vz;
    if (squares) s.square += w * row->square;
  }
  return s;
}

/* The sums of the grains from g on. Answers the number of pairs. */
SUMS_INLINE int64_t SUMS(group)(const CoarseSet *set, const Candidates *candidates, int32_t *list, float reach2,
                                bool squares, const uint64_t *pack, FineBlock *block, int64_t g) {
  int64_t count = SUMS(list)(candidates, block, g, reach2, pack, list);
  /* Nothing in reach is behind a wall that is out of it. */
  bool walled = block->walled && SUMS(less)(SUMS(load)(block->gap + g), SUMS(set)(1.00001f * __builtin_sqrtf(reach2)));
  SUMS(Values) s;
  if (walled) s = SUMS(pairs)(set->rows, list, count, block, g, reach2, true, true);
  else if (squares) s = SUMS(pairs)(set->rows, list, count, block, g, reach2, false, true);
  else s = SUMS(pairs)(set->rows, list, count, block, g, reach2, false, false);
  SUMS(store)(block->sum + g, s.sum);
  SUMS(store)(block->sum_x + g, s.x);
  SUMS(store)(block->sum_y + g, s.y);
  SUMS(store)(block->sum_z + g, s.z);
  SUMS(store)(block->top + g, s.top);
  SUMS(store)(block->square + g, s.square);
  return count * SUMS_LANES;
}

#undef SUMS
#undef SUMS_INLINE
#undef SUMS_LANES
#undef SumsLanes
