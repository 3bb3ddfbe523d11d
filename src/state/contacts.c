#include "state/contacts.h"

#include <string.h>

#include "core/parallel.h"

enum { ROW_GRAIN = 1024, HISTORY_MAX = 64 };

typedef struct Carry {
  const ContactList *old;
  const int32_t *order;
  ContactList *fresh;
} Carry;

/* A row holds a dozen entries: a plain search is faster than anything with an index. */
static void carry_rows(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  const Carry *carry = context;
  const ContactList *old = carry->old;
  ContactList *fresh = carry->fresh;
  int32_t size = fresh->history_size;
  for (int64_t row = b; row < e; row++) {
    int64_t old_row = carry->order ? carry->order[row] : row;
    bool known = old_row >= 0 && old_row < old->list.count;
    int64_t begin = known ? old->list.start[old_row] : 0, end = known ? old->list.start[old_row + 1] : 0;
    for (int64_t k = fresh->list.start[row]; k < fresh->list.start[row + 1]; k++) {
      int64_t m = begin;
      while (m < end && old->partner[m] != fresh->partner[k]) m++;
      if (m < end) memcpy(fresh->history + k * size, old->history + m * size, sizeof(float) * (size_t)size);
      else memset(fresh->history + k * size, 0, sizeof(float) * (size_t)size);
    }
  }
}

Status contact_list_carry(Core *core, const ContactList *old, const int32_t *order, ContactList *fresh) {
  if (fresh->history_size == 0) return SCREE_OK;
  if (!old->partner || old->history_size != fresh->history_size) {
    memset(fresh->history, 0, sizeof(float) * (size_t)(fresh->list.entries * fresh->history_size));
    return SCREE_OK;
  }
  Carry carry = {old, order, fresh};
  parallel_for(core, 0, fresh->list.count, ROW_GRAIN, carry_rows, &carry);
  return SCREE_OK;
}

static void keep_rows(ContactList *contacts, const int32_t *order, int64_t count) {
  NeighborList *list = &contacts->list;
  int64_t filled = 0;
  for (int64_t row = 0; row < count; row++) {
    int64_t begin = list->start[order[row]], length = list->start[order[row] + 1] - begin;
    size_t floats = (size_t)contacts->history_size;
    memmove(contacts->partner + filled, contacts->partner + begin, sizeof(uint32_t) * (size_t)length);
    memmove(contacts->history + filled * (int64_t)floats, contacts->history + begin * (int64_t)floats,
            sizeof(float) * floats * (size_t)length);
    list->start[row] = filled;
    filled += length;
  }
  list->start[count] = filled;
  list->count = count;
  list->entries = filled;
}

void contacts_keep_rows(Contacts *contacts, const int32_t *order, int64_t count) {
  ContactList *lists[] = {&contacts->particles, &contacts->samples, &contacts->solids};
  for (int k = 0; k < 3; k++)
    if (lists[k]->partner) keep_rows(lists[k], order, count);
}

void contact_list_destroy(Core *core, ContactList *list) {
  neighbor_list_destroy(core, &list->list);
  memory_drop(core, &list->partner);
  memory_drop(core, &list->history);
}

/* Only what a rebuild needs to find the history again: rows, partners and floats. */
Status contact_list_archive(Core *core, Archive *archive, ContactList *list, int64_t rows) {
  TRY(archive_section(core, archive, "contacts"));
  /* A fresh world has no lists yet, so the file says how wide the history is. */
  TRY(archive_value(core, archive, &list->history_size));
  if (list->history_size < 0 || list->history_size > HISTORY_MAX)
    return archive_bad(core, archive, "contact history of no sensible size");
  if (list->history_size == 0) return SCREE_OK;
  int64_t entries = list->partner ? list->list.entries : 0;
  int64_t row_bytes = (int64_t)sizeof(uint32_t) + list->history_size * (int64_t)sizeof(float);
  int64_t saved_rows = list->partner ? list->list.count : 0;
  TRY(archive_count(core, archive, &saved_rows, 0));
  TRY(archive_count(core, archive, &entries, row_bytes));
  if (saved_rows != rows && saved_rows != 0) return archive_bad(core, archive, "contacts of other particles");
  if (saved_rows == 0) return SCREE_OK;
  if (archive->loading) {
    TRY(memory_grow(core, &list->list.start, rows + 1, "neighbours"));
    TRY(memory_grow(core, &list->partner, entries, "contacts"));
    TRY(memory_grow(core, &list->history, entries * list->history_size, "contacts"));
    list->list.count = rows;
    list->list.entries = entries;
  }
  TRY(archive_array(core, archive, list->list.start, rows + 1));
  if (archive->loading)
    for (int64_t row = 0; row < rows; row++)
      if (list->list.start[0] != 0 || list->list.start[row] > list->list.start[row + 1] ||
          list->list.start[rows] != entries)
        return archive_bad(core, archive, "contacts in disorder");
  TRY(archive_array(core, archive, list->partner, entries));
  return archive_array(core, archive, list->history, entries * list->history_size);
}

void solid_samples_destroy(Core *core, SolidSamples *samples) {
  memory_drop(core, &samples->x);
  memory_drop(core, &samples->y);
  memory_drop(core, &samples->z);
  memory_drop(core, &samples->vx);
  memory_drop(core, &samples->vy);
  memory_drop(core, &samples->vz);
  memory_drop(core, &samples->local_x);
  memory_drop(core, &samples->local_y);
  memory_drop(core, &samples->local_z);
  memory_drop(core, &samples->mass);
  memory_drop(core, &samples->id);
  memory_drop(core, &samples->solid);
  *samples = (SolidSamples){0};
}
