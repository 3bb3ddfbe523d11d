/* MuJoCo reports errors through one handler of the whole process, which must not return, and prints warnings to a log
 * file. A guarded call turns the first into a status and the second into lines of our log.
 *
 * The handler jumps back into mujoco_guarded with longjmp, over MuJoCo's C frames only: `body` must hold nothing that
 * would leak (no memory of ours taken and not yet stored). What MuJoCo was working on is not to be used any more
 * after a failure, except to be deleted. MuJoCo's compiler installs a handler of its own, so loading excludes
 * everything else; other calls of any number of worlds run side by side. While no guarded call runs, the handlers of
 * the host program are in place. */
#ifndef BODIES_MUJOCO_GUARD_H
#define BODIES_MUJOCO_GUARD_H

#include "core/core.h"

/* `status` is what an error of MuJoCo comes to. */
Status mujoco_guarded(Core *core, Status status, bool loading, void (*body)(void *context), void *context);

#endif
