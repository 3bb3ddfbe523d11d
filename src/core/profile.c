#include "core/profile.h"

#include <string.h>

static ScreePhase *find(const Profile *profile, const char *name) {
  for (int32_t k = 0; k < profile->count; k++)
    if (strcmp(profile->phases[k].name, name) == 0) return (ScreePhase *)&profile->phases[k];
  return NULL;
}

/* NULL: there are too many. */
static ScreePhase *find_or_add(Profile *profile, const char *name) {
  ScreePhase *phase = find(profile, name);
  if (phase || profile->count == PROFILE_PHASES_MAX) return phase;
  phase = &profile->phases[profile->count++];
  *phase = (ScreePhase){.name = name};
  return phase;
}

void profile_end(Profile *profile, const char *name, double began) {
  ScreePhase *phase = find_or_add(profile, name);
  if (!phase) return;
  phase->seconds += timer_now() - began;
  phase->calls++;
}

void profile_set(Profile *profile, const char *name, double seconds, int64_t calls) {
  ScreePhase *phase = find_or_add(profile, name);
  if (!phase) return;
  phase->seconds = seconds;
  phase->calls = calls;
}

double profile_seconds(const Profile *profile, const char *name) {
  const ScreePhase *phase = find(profile, name);
  return phase ? phase->seconds : 0;
}
