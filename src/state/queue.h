/* The one queue of births and deaths. Whoever makes or takes particles (emitters, sinks, split, merge, bury, exhume)
 * says so here with a reason; the queue is worked off at the start of the next step, deaths in id order, births in the
 * order of their key, so that ids do not depend on threads. What was done is kept until the end of the frame for the
 * upsampler. */
#ifndef STATE_QUEUE_H
#define STATE_QUEUE_H

#include "core/archive.h"
#include "core/core.h"
#include "core/vec.h"

typedef enum QueueReason {
  REASON_FILL,
  REASON_EMIT,
  REASON_SINK,
  REASON_SPLIT,
  REASON_MERGE,
  REASON_BURY,
  REASON_EXHUME
} QueueReason;

typedef struct Birth {
  uint64_t key; /* births are done in ascending key; equal keys in the order they came */
  QueueReason reason;
  int32_t material;
  Vec3 position; /* world */
  Vec3 velocity;
  float radius;
  float mass;      /* 0: from the radius and the material */
  uint32_t parent; /* split: the id it came from */
  uint32_t id;     /* filled when done */
} Birth;

typedef struct Death {
  uint32_t id;
  QueueReason reason;
  uint32_t heir; /* merge: who takes its mass */
  float mass;    /* bury: what the columns hold of it already */
  float x, y, z; /* where it was, once it is done */
} Death;

typedef struct Queue {
  Birth *births; /* waiting */
  int64_t birth_count;
  Death *deaths;
  int64_t death_count;
  Birth *done_births; /* of this frame */
  int64_t done_birth_count;
  Death *done_deaths;
  int64_t done_death_count;
} Queue;

Status queue_birth(Core *core, Queue *queue, const Birth *birth);
Status queue_death(Core *core, Queue *queue, uint32_t id, QueueReason reason, uint32_t heir);
/* The columns have its mass from now on. */
Status queue_bury(Core *core, Queue *queue, uint32_t id, float mass);
Status queue_archive(Core *core, Archive *archive, Queue *queue);
void queue_destroy(Core *core, Queue *queue);

#endif
