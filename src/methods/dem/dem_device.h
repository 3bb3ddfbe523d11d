/* dem on a device, to the bits of the CPU. Lists come from the host (Contacts); springs stay on the device. */
#ifndef METHODS_DEM_DEM_DEVICE_H
#define METHODS_DEM_DEM_DEVICE_H

#include "methods/dem/contacts.h"

typedef struct DemDevice DemDevice;

/* What of the scene has no device form; NULL: all has. */
const char *dem_device_missing(const State *state);
Status dem_device_open(Core *core, State *state, DemDevice **device);
void dem_device_close(Core *core, DemDevice *device);

/* As dem_contacts_fill after the first half kick. */
Status dem_device_kick(DemDevice *device, DemStep *work);
/* Reads what the kick has counted: longest displacement, m. */
Status dem_device_longest(Step *step, double *longest);
/* No grain goes farther in the step, as far as is known without asking the device; INFINITY: nothing is. */
double dem_device_farthest(const DemDevice *device, double dt);
/* As dem_contacts_begin and dem_contacts_forces. */
Status dem_device_forces(DemDevice *device, DemStep *work);

/* What a step has counted, from the words of State.mirror. */
double dem_device_displacement(const int32_t *words);
double dem_device_stiffest(const int32_t *words);
void dem_device_react(const int32_t *words, State *state);
/* Speeds and accelerations as they are at the end of a step: for dem_device_farthest. */
void dem_device_note_speeds(DemDevice *device, const int32_t *words, double fastest);

/* Springs come into the topology, which is then made anew; or the topology's count from now on. */
Status dem_device_fetch(Core *core, DemDevice *device, DemTopology *topology);
void dem_device_forget(DemDevice *device);
/* Constants or what contacts can do have changed. */
void dem_device_change(DemDevice *device);

#endif
