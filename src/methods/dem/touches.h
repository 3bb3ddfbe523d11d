/* Contacts of grains with solids: by the distance to their surface, or with the points that sample it. */
#ifndef METHODS_DEM_TOUCHES_H
#define METHODS_DEM_TOUCHES_H

#include "methods/dem/contacts.h"

/* The contacts with solids that are nearly there, for a topology in the making. */
Status dem_touches_list(DemStep *work, DemTopology *fresh);
/* Where the solids of contacts [b, e) are now. */
void dem_touches_refresh(const DemStep *work, int64_t b, int64_t e);
/* Reactions on the solids of contacts [b, e), `results` from the first of them on. */
void dem_touches_push(const DemStep *work, int64_t b, int64_t e, const float (*results)[DEM_SUM]);

#endif
