/* Ends files in the background. Syncing a file takes the disk several milliseconds, longer than many a frame takes to
 * simulate; a thread of its own waits for it. Files appear under their names in the order in which they were handed
 * over, complete as ever; a failure is reported by the next call. */
#ifndef OUTPUT_COMMITTER_H
#define OUTPUT_COMMITTER_H

#include "output/stream.h"

typedef struct Committer Committer;

Status committer_create(Core *core, Committer **committer);
/* Waits for all files and ends the thread. */
void committer_destroy(Core *core, Committer *committer);

/* Takes a stream over, as stream_commit would end it. committer NULL: ends it now. */
Status committer_take(Core *core, Committer *committer, Stream *stream);
/* Returns when every file is there, or with the first failure. */
Status committer_drain(Core *core, Committer *committer);

#endif
