/* Where the time goes: named phases, timed by wall clock. Phases may nest; a phase's time includes what is inside. */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include "core/timer.h"
#include "scree/world.h"

enum { PROFILE_PHASES_MAX = 48 };

typedef struct Profile {
  int32_t count;
  ScreePhase phases[PROFILE_PHASES_MAX];
} Profile;

/* name must be a string literal: phases are told apart by their text. Returns when the phase began. */
static inline double profile_begin(void) { return timer_now(); }
void profile_end(Profile *profile, const char *name, double began);
/* Times that somebody else has added up. */
void profile_set(Profile *profile, const char *name, double seconds, int64_t calls);
/* Seconds in a phase so far; 0 when it never ran. */
double profile_seconds(const Profile *profile, const char *name);

#endif
