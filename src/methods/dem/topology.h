/* Which contacts may touch soon. The topology is kept while nothing has moved far; springs are carried from one to the
 * next by who touches whom. */
#ifndef METHODS_DEM_TOPOLOGY_H
#define METHODS_DEM_TOPOLOGY_H

#include "methods/dem/contacts.h"

/* Makes the topology anew where need be. Rows must be filled. */
Status dem_topology_update(DemStep *work);
Status dem_topology_archive(Core *core, Archive *archive, DemTopology *topology);
void dem_topology_destroy(Core *core, DemTopology *topology);

/* On entry start[i + 1] is the number of contacts of grain i; on return start[i] is its first contact, the contacts of
 * each window padded to whole groups; `count` is the total, `fullest` the most that a window has. */
Status dem_starts(Core *core, const DemTopology *topology, int32_t *start, int64_t *count, int64_t *fullest);
/* Makes room for contacts; `partner` is the member of `contacts` that says what is touched: second or key. */
Status dem_contacts_room(Core *core, DemContacts *contacts, int32_t **partner, int64_t count, int32_t spring_size);
void dem_contacts_drop(Core *core, DemContacts *contacts);
/* Copies the springs of old contact `from` to new contact `to`; sign -1 where the two grains have changed places. */
void dem_carry_springs(const DemTopology *old, const DemContacts *old_contacts, int64_t from, const DemTopology *fresh,
                       DemContacts *contacts, int64_t to, float sign);

#endif
