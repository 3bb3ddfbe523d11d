/* The table of methods. A new one is a folder below src/methods/ and a row here. */
#include <string.h>

#include "methods/dem/dem.h"
#include "methods/flip/flip.h"
#include "methods/none/none.h"
#include "methods/p2/p2.h"
#include "methods/pbd/pbd.h"
#include "methods/sph/sph.h"
#include "parameters/table.h"
#include "world/world.h"

/* A row each. */
/* clang-format off */
static const Method *const METHODS[] = {
    &METHOD_NONE,
    &METHOD_PBD,
    &METHOD_P2,
    &METHOD_DEM,
    &METHOD_SPH,
    &METHOD_FLIP,
};
/* clang-format on */
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

const Method *world_find_method(const char *name) {
  for (int k = 0; k < METHOD_COUNT; k++)
    if (name && strcmp(METHODS[k]->info.name, name) == 0) return METHODS[k];
  return NULL;
}

int32_t scree_method_count(void) { return METHOD_COUNT; }

const ScreeMethodInfo *scree_method_info(int32_t index) {
  return index >= 0 && index < METHOD_COUNT ? &METHODS[index]->info : NULL;
}

void scree_method_angles(int32_t index, double *low, double *high) {
  const ScreeParameter *row = section_find(SECTION_material, "friction_angle_deg");
  const Method *method = index >= 0 && index < METHOD_COUNT ? METHODS[index] : NULL;
  const ScreeMethodDef plain = scree_method_default(method ? method->info.name : "none");
  const Calibration *table = method && method->calibration ? method->calibration(&plain) : NULL;
  *low = table ? calibration_low(table) : row->low;
  *high = table ? calibration_high(table) : row->high;
}
