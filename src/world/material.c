/* What a material's `auto` keys mean.
 *
 * friction_angle_deg, cohesion and density are of the bulk and rule; friction_static, friction_kinetic and
 * rolling_friction are of a contact. Where the contact's are not given they follow from the angle, by what was measured
 * for the method (methods/calibration.h). A friction_static that is given without an angle is the older way to say
 * both: the angle is its atan, contacts and walls have it as it stands. */
#include <math.h>

#include "core/portable.h"
#include "world/world.h"

/* Dry sand. */
#define ANGLE_DEG 33.0
/* Of contacts that slide, where friction_static is given alone. */
#define FRICTION_KINETIC 0.3

static double or_else(double value, double otherwise) { return scree_is_auto(value) ? otherwise : value; }

/* Contacts of the angle, where the material does not give them. */
static Status calibrate(ScreeWorld *world, ScreeMaterialDef *own) {
  const Method *method = world->method;
  const Calibration *table = method->calibration ? method->calibration(&world->definition.scene.method) : NULL;
  double tangent = portable_tan(own->friction_angle_deg * M_PI / 180);
  CalibratedContact contact = {own->friction_angle_deg, tangent, tangent, own->rolling_friction};
  if (table && !calibration_at(table, own->friction_angle_deg, &contact))
    return world_fail_at(world, SCREE_BAD_INPUT, own->source,
                         "friction_angle_deg %g of '%s': %s can have angles from %g to %g; others need friction_static",
                         own->friction_angle_deg, own->name, method->info.name, calibration_low(table),
                         calibration_high(table));
  own->friction_static = contact.friction_static;
  own->friction_kinetic = or_else(own->friction_kinetic, contact.friction_kinetic);
  own->rolling_friction = or_else(own->rolling_friction, contact.rolling_friction);
  return SCREE_OK;
}

Status world_resolve_material(ScreeWorld *world, ScreeMaterialDef *def, Material *made) {
  def->grain_density = or_else(def->grain_density, def->density / SETTLED_FRACTION);
  ScreeMaterialDef own = *def;
  bool contacts_rule = scree_is_auto(def->friction_angle_deg) && !scree_is_auto(def->friction_static);
  if (contacts_rule) own.friction_angle_deg = portable_atan(own.friction_static) * 180 / M_PI;
  own.friction_angle_deg = or_else(own.friction_angle_deg, ANGLE_DEG);
  if (scree_is_auto(own.friction_static)) TRY(calibrate(world, &own));
  own.friction_kinetic = or_else(own.friction_kinetic, fmin(FRICTION_KINETIC, own.friction_static));
  double tangent = portable_tan(own.friction_angle_deg * M_PI / 180);
  *made = (Material){.definition = own,
                     .wall_static = contacts_rule ? own.friction_static : tangent,
                     .wall_kinetic = contacts_rule ? own.friction_kinetic : tangent,
                     .of_angle = !contacts_rule};
  return SCREE_OK;
}
