#include "methods/flip/grid/strip_list.h"

#include "core/parallel.h"

typedef struct Listing {
  const FlipGrid *grid;
  const uint8_t *lanes;
  uint8_t *taken;
} Listing;

static void round_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Listing *listing = context;
  for (int64_t strip = b; strip < e; strip++)
    listing->taken[strip] = grid_any_round(listing->grid, listing->lanes, (int32_t)strip);
}

Status grid_list_strips(Core *core, Scratch *scratch, const FlipGrid *grid, const uint8_t *lanes, bool round,
                        StripList *list) {
  int64_t strips = grid->strips;
  TRY(scratch_take(core, scratch, &list->strips, strips, "strips"));
  Listing listing = {.grid = grid, .lanes = lanes};
  TRY(scratch_take(core, scratch, &listing.taken, strips, "strips"));
  listing.taken[0] = 0;
  if (round) parallel_for(core, 1, strips, STRIP_CHUNK, round_chunk, &listing);
  const uint8_t *taken = round ? listing.taken : lanes;
  list->count = 0;
  for (int64_t strip = 1; strip < strips; strip++)
    if (taken[strip]) list->strips[list->count++] = (int32_t)strip;
  return SCREE_OK;
}
