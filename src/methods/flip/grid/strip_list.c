#include "methods/flip/grid/strip_list.h"

#include "core/parallel.h"

typedef struct Listing {
  const FlipGrid *grid;
  const uint8_t *lanes;
  uint8_t *near;        /* strips with lanes round them; NULL: the lanes say who is listed */
  const uint8_t *taken; /* near or lanes */
  int32_t *begin;       /* of each chunk: first how many, then where they begin */
  int32_t *strips;
} Listing;

static void count_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  int32_t count = 0;
  for (int64_t strip = b; strip < e; strip++) {
    if (listing->near) listing->near[strip] = grid_any_round(listing->grid, listing->lanes, (int32_t)strip);
    count += listing->taken[strip] != 0;
  }
  listing->begin[b / STRIP_CHUNK] = count;
}

static void list_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  int32_t *to = listing->strips + listing->begin[b / STRIP_CHUNK];
  for (int64_t strip = b; strip < e; strip++)
    if (listing->taken[strip]) *to++ = (int32_t)strip;
}

Status grid_list_strips(Core *core, Scratch *scratch, const FlipGrid *grid, const uint8_t *lanes, bool round,
                        StripList *list) {
  int64_t strips = grid->strips, chunks = parallel_chunks(1, strips, STRIP_CHUNK);
  Listing listing = {.grid = grid, .lanes = lanes, .taken = lanes};
  TRY(scratch_take(core, scratch, &list->strips, strips, "strips"));
  TRY(scratch_take(core, scratch, &listing.begin, chunks + 1, "strips"));
  if (round) {
    TRY(scratch_take(core, scratch, &listing.near, strips, "strips"));
    listing.taken = listing.near;
  }
  listing.strips = list->strips;
  list->count = 0;
  parallel_for(core, 1, strips, STRIP_CHUNK, count_chunk, &listing);
  for (int64_t c = 0; c < chunks; c++) {
    int32_t here = listing.begin[c];
    listing.begin[c] = (int32_t)list->count;
    list->count += here;
  }
  parallel_for(core, 1, strips, STRIP_CHUNK, list_chunk, &listing);
  return SCREE_OK;
}
