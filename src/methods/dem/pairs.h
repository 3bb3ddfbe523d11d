/* Which contacts are nearly there: kept for as long as nothing has moved far, springs carried from one set to the next
 * by who touches whom. */
#ifndef METHODS_DEM_PAIRS_H
#define METHODS_DEM_PAIRS_H

#include "methods/dem/contacts.h"

/* Renews the topology where need be. Rows must be filled. */
Status dem_topology_update(DemStep *work);
Status dem_topology_archive(Core *core, Archive *archive, DemTopology *topology);
void dem_topology_destroy(Core *core, DemTopology *topology);

/* For both kinds of contact: start[i + 1] holds the number of grain i's contacts; afterwards start is where they begin,
 * each slab's padded to whole groups. Answers the total, `fullest` the most that a slab has. */
int64_t dem_starts(const DemTopology *topology, int32_t *start, int64_t *fullest);
Status dem_contacts_room(Core *core, DemContacts *contacts, int64_t count, int32_t spring_size);
void dem_contacts_drop(Core *core, DemContacts *contacts);
/* Springs of old contact `from` for new contact `to`, turned round with sign -1. */
void dem_carry_springs(const DemTopology *old, const DemContacts *old_contacts, int64_t from, const DemTopology *fresh,
                       DemContacts *contacts, int64_t to, float sign);

#endif
