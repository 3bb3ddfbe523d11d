/* Contacts of a position-based step: from the lists into slots, and back out as memory and forces. */
#ifndef METHODS_COMMON_POSITION_CONTACTS_H
#define METHODS_COMMON_POSITION_CONTACTS_H

#include "methods/common/position.h"

/* Displacements of the solids over the step; contacts with them and with samples, and how many there are. */
Status position_find_ghosts(PositionStep *work);
/* Rows of the ghosts of grains [b, e), once there are rows. */
void position_load_ghosts(PositionStep *work, int64_t b, int64_t e);
/* Where the partners of grain i that may touch it stand. Behind every window is room that wide stores may spill into.
 */
static inline int32_t *position_found(const PositionStep *work, int64_t i) {
  const NeighborList *list = &work->step->state->contacts.particles.list;
  return work->found + list->start[i] + i / POSITION_WINDOW * LANES;
}
static inline int32_t position_contacts_of(const PositionStep *work, int64_t i) {
  return work->found_count[i] + (work->ghost_start ? work->ghost_start[i + 1] - work->ghost_start[i] : 0);
}
/* What a contact with a solid is remembered by: its sample, or its face. */
static inline uint32_t position_ghost_key(const PositionStep *work, int64_t g) {
  const PositionGhost *ghost = &work->ghosts[g];
  int32_t faces = POSITION_FACES * work->step->state->solids.count;
  return contact_key_from_top(ghost->sample >= 0 ? faces + ghost->sample : POSITION_FACES * ghost->solid + ghost->face);
}
/* Counts each grain's contacts and fills the slots. */
Status position_lay_out(PositionStep *work);
/* After a pass: bodies that grains can move take up what pushed them. */
void position_move_bodies(PositionStep *work);
/* What the slots have now is remembered. */
void position_keep(PositionStep *work);
void position_push_solids(PositionStep *work);

#endif
