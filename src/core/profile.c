#include "core/profile.h"

#include <string.h>

static ScreePhase *find(const Profile *profile, const char *name) {
  for (int32_t k = 0; k < profile->count; k++)
    if (strcmp(profile->phases[k].name, name) == 0) return (ScreePhase *)&profile->phases[k];
  return NULL;
}

void profile_end(Profile *profile, const char *name, double began) {
  ScreePhase *phase = find(profile, name);
  if (!phase) {
    if (profile->count == PROFILE_PHASES_MAX) return;
    phase = &profile->phases[profile->count++];
    *phase = (ScreePhase){.name = name};
  }
  phase->seconds += timer_now() - began;
  phase->calls++;
}

double profile_seconds(const Profile *profile, const char *name) {
  const ScreePhase *phase = find(profile, name);
  return phase ? phase->seconds : 0;
}
