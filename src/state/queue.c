#include "state/queue.h"

Status queue_birth(Core *core, Queue *queue, const Birth *birth) {
  TRY(memory_grow(core, &queue->births, queue->birth_count + 1, "births"));
  queue->births[queue->birth_count++] = *birth;
  return SCREE_OK;
}

Status queue_death(Core *core, Queue *queue, uint32_t id, QueueReason reason, uint32_t heir) {
  TRY(memory_grow(core, &queue->deaths, queue->death_count + 1, "deaths"));
  queue->deaths[queue->death_count++] = (Death){.id = id, .reason = reason, .heir = heir};
  return SCREE_OK;
}

Status queue_bury(Core *core, Queue *queue, uint32_t id, float mass) {
  TRY(queue_death(core, queue, id, REASON_BURY, 0));
  queue->deaths[queue->death_count - 1].mass = mass;
  return SCREE_OK;
}

Status queue_archive(Core *core, Archive *archive, Queue *queue) {
  TRY(archive_section(core, archive, "queue"));
  TRY(archive_count(core, archive, &queue->birth_count, sizeof *queue->births));
  TRY(archive_count(core, archive, &queue->death_count, sizeof *queue->deaths));
  TRY(memory_grow(core, &queue->births, queue->birth_count, "births"));
  TRY(memory_grow(core, &queue->deaths, queue->death_count, "deaths"));
  TRY(archive_array(core, archive, queue->births, queue->birth_count));
  return archive_array(core, archive, queue->deaths, queue->death_count);
}

void queue_destroy(Core *core, Queue *queue) {
  memory_drop(core, &queue->births);
  memory_drop(core, &queue->deaths);
  memory_drop(core, &queue->done_births);
  memory_drop(core, &queue->done_deaths);
  *queue = (Queue){0};
}
