/* Contacts of a position-based step: from the search into slots, and back out as memory and forces. */
#ifndef METHODS_COMMON_POSITION_CONTACTS_H
#define METHODS_COMMON_POSITION_CONTACTS_H

#include "methods/common/position.h"
#include "methods/common/position_boundary_law.h"

/* Contacts of the window of grains [b, e) with solids and with samples; adds to the grains' numbers of contacts. */
void position_find_boundary(PositionStep *work, int64_t b, int64_t e);
static inline Vec3 position_vec3(const float from[3]) {
  return vec3((double)from[0], (double)from[1], (double)from[2]);
}

/* A grain that looks for its contacts: where it is in the world, and where it goes without them. */
typedef struct SeekingGrain {
  int32_t number;
  Vec3 start, way;
  float radius;
} SeekingGrain;
/* Contacts with the surface of one solid, SHAPE_CONTACTS_MAX at most. Returns how many. */
int position_find_by_distance(const PositionStep *work, const SeekingGrain *grain, int32_t index,
                              BoundaryContact *contacts);
/* Room for contacts with solids, as many as the last try wanted. */
Status position_make_room(PositionStep *work);
/* Tables of friction, rolling and bonds; whether slots have to say which kind is theirs. */
Status position_mix_kinds(PositionStep *work, bool *told);
/* Room to list those with bodies that grains can move, when all are found; then the ones of a window. */
Status position_take_riding(PositionStep *work);
void position_list_pushed(PositionStep *work, const PositionWindow *window);
/* Displacements of the solids over the step, before the contacts are looked for; what depends on the contacts. */
Status position_take_bodies(PositionStep *work);
void position_bodies_found(PositionStep *work);
/* Of a matched body: where the centre of its samples is, and how they are spread. */
void position_measure_shape(const PositionStep *work, int32_t index);
/* Where the solid brings a point in the whole step, without the grains. */
static inline Vec3 position_body_displacement(const PositionBody *body, const float arm[3]) {
  Vec3 linear = vec3(body->free.part[0], body->free.part[1], body->free.part[2]);
  return boundary_way(linear, body->turns, &body->free_turn, position_vec3(arm));
}
/* The same of what its samples go with. */
SampleBody position_sample_body(const State *state, const Solid *solid, const PositionBody *body);
/* Rows of the boundary contacts of a window, once there are rows; those of the solve into both buffers, once the
 * stabilisation needs the other no more. */
void position_load_boundary(PositionStep *work, const PositionWindow *window);
/* The same of their turns, where grains turn. */
void position_load_boundary_turns(PositionStep *work, const PositionWindow *window);
void position_copy_boundary(PositionStep *work, const PositionWindow *window);
/* Where the partners of grain i that may touch it stand; behind the last is something to read. */
static inline const int32_t *position_found(const PositionStep *work, int64_t i) {
  return work->candidates.pairs.found + work->candidates.pairs.start[i];
}
/* Finds each grain's contacts, takes memory for the rows and fills the slots. */
Status position_lay_out(PositionStep *work);
/* Of the window of grains from b on, once there are slots and rows: which of its chunks have contacts with bodies that
 * grains can move, and the masses of grains that bodies press against something fixed. */
void position_ride(PositionStep *work, int64_t b);
/* Slices [b, e), before a pass: rows of their contacts follow the bodies. After it: what pushes matched bodies. */
void position_move_boundary(PositionStep *work, int64_t b, int64_t e);
void position_sum_pushes(PositionStep *work, int64_t b, int64_t e);
/* After all have been through a pass: bodies that grains can move take up what pushed them. */
void position_move_bodies(PositionStep *work);
/* Bodies before and after a substep. */
void position_begin_substep(PositionStep *work);
void position_end_substep(PositionStep *work);
/* Forces on solids: what a window of grains pushes walls with; and on bodies that grains can move, when all have
 * pushed. */
void position_push_solids(PositionStep *work, const PositionWindow *window);
/* The same of a body that has been summed up elsewhere: its motion in the substep with what pushes it, what that is,
 * and what resists its rolling. */
void position_move_by(PositionStep *work, int32_t index, const double moved[6], const double push[6],
                      double resistance);
/* And of a matched one, whose pushes are in PositionBody.match. */
void position_match(PositionStep *work, int32_t index);
/* What contacts push a matched body with, in fixed point: a sum of so many numbers, without an order. */
static inline void position_add_match(PositionBody *body, const int64_t sum[MATCH_SUMS]) {
  for (int k = 0; k < MATCH_SUMS; k++) atomic_fetch_add_explicit(&body->match[k], sum[k], memory_order_relaxed);
}
/* Inverse mass of a solid at a contact, at most: by its centre, and by the square of the contact's arm. */
void position_body_weight(const Solid *solid, double *linear, double *angular);
/* The solid's centre of mass at the step's start. */
Vec3 position_body_center(const Solid *solid, const PositionBody *body);
void position_push_bodies(PositionStep *work);

#endif
