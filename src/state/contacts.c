#include "state/contacts.h"

void contacts_destroy(Core *core, Contacts *contacts) {
  neighbor_list_destroy(core, &contacts->particles.list);
  neighbor_list_destroy(core, &contacts->samples.list);
  neighbor_list_destroy(core, &contacts->solids.list);
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
