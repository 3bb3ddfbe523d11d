/* A csv file that grows row by row and can be cut back to a frame. Rows go to the file at once; table_sync makes sure
 * that they outlive a crash of the machine. The first column of every row is the frame. */
#ifndef OUTPUT_TABLE_H
#define OUTPUT_TABLE_H

#include "core/core.h"

typedef struct Table {
  int file; /* -1: not open */
  char path[SCREE_FILE_MAX + 32];
  char *row; /* in the making */
  int64_t used;
} Table;

/* Begins an empty table with this header (no line end). */
Status table_create(Core *core, Table *table, const char *path, const char *header);
/* Opens a table whose header must be this one and drops every row after `frame` (-1: every row); visit (may be NULL)
 * is called with each row that stays. */
typedef void (*TableVisit)(void *context, const char *row);
Status table_reopen(Core *core, Table *table, const char *path, const char *header, int64_t frame, TableVisit visit,
                    void *context);
void table_close(Core *core, Table *table);

/* A row is put together from texts and numbers and ended; commas are set between them. */
Status table_text(Core *core, Table *table, const char *text);
Status table_number(Core *core, Table *table, double value);
Status table_end_row(Core *core, Table *table);
Status table_sync(Core *core, Table *table);

#endif
