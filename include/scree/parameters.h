/* The one table of parameters. Every key of a scene file is declared here and nowhere else: the members of the
 * definition structs (definitions.h), their defaults, the parser, `--set`, `scree list parameters`, docs/scene.md and
 * the controls of the viewer are all made from these rows. So are the tables of choices, of shapes and of probes.
 *
 * X(kind, name, default, low, high, usual_low, usual_high, unit, readers, help)
 *   kind     REAL INT BOOL VEC2 VEC3 QUAT TEXT (any string) NAME (refers to or names something) FILE CHOICE
 *   default  as it would be written in a scene; "auto": derived, stored as NaN (REAL, VEC) or -1 (INT); "required"
 *   low,high     legal range, inclusive, of each component; outside it is an error
 *   usual_low,usual_high   outside it is legal but odd: a warning
 *   unit     SI unit, or for CHOICE the words it may be: SCREE_WORDS(list of the choice)
 *   readers  who reads the key, separated by blanks; "" when all do. Methods by their names; `upsample`: fine grains of
 *            any mode but points; a mode of upsample by its word; `terrain`. A scene in which none of them is gets a
 *            warning. Rows in the list of a method leave it empty: that list says who reads them. Rows of probes too:
 *            SCREE_PROBES says it
 *
 * docs/adding_a_parameter.md walks through a new row, docs/adding_a_probe.md and docs/adding_a_shape.md through those
 * of the tables at the end. */
#ifndef SCREE_PARAMETERS_H
#define SCREE_PARAMETERS_H

#define SCREE_BIG 1e30

/* Choices. X(group, id, word): `word` in a scene is SCREE_<group>_<id> in a definition. */
#define SCREE_CHOICE_ID(group, id, word) SCREE_##group##_##id,
#define SCREE_CHOICE_WORD(group, id, word) "|" word
#define SCREE_WORDS(choices) (&(choices(SCREE_CHOICE_WORD))[1])

#define SCREE_STARTS(X) X(START, RANDOM, "random") X(START, DENSE, "dense")
#define SCREE_RADIUS_DISTRIBUTIONS(X) X(RADII, UNIFORM, "uniform") X(RADII, LOGNORMAL, "lognormal")
#define SCREE_CONTACTS(X) X(CONTACT, DISTANCE, "distance") X(CONTACT, SAMPLES, "samples")
#define SCREE_FRICTION_LIMITS(X) X(FRICTION, DEPTH, "depth") X(FRICTION, PRINTED, "printed")
#define SCREE_ERROR_ORDERS(X) X(ERROR, TILT, "tilt") X(ERROR, GROUND, "ground")
#define SCREE_INTEGRATORS(X) X(INTEGRATOR, VERLET, "verlet") X(INTEGRATOR, EULER, "euler")
#define SCREE_SHEAR_CAPS(X) X(SHEAR, TOTAL, "total") X(SHEAR, SPRING, "spring")
#define SCREE_YIELD_SURFACES(X) X(YIELD, CONE, "cone") X(YIELD, PLANES, "planes") X(YIELD, BOX, "box")
#define SCREE_UPSAMPLE_MODES(X) X(UPSAMPLE, BETTER, "better") X(UPSAMPLE, PAPER, "paper") X(UPSAMPLE, POINTS, "points")
#define SCREE_MOTIONS(X) X(MOTION, FREE, "free") X(MOTION, KEYFRAMES, "keyframes") X(MOTION, FIXED, "fixed")

/* ---- the scene ---- */

#define SCREE_SCENE_PARAMETERS(X)                                                                                      \
  X(TEXT, title, "", 0, 0, 0, 0, "", "", "what the scene is called in pictures and lists")                             \
  X(VEC3, gravity, "[0, 0, -9.81]", -1e4, 1e4, -30, 30, "m/s^2", "", "acceleration of free fall")                      \
  X(REAL, duration, "1", 0, 1e6, 0.01, 3600, "s", "", "how long a run simulates unless told otherwise")                \
  X(REAL, frame_rate, "60", 0.001, 1e5, 10, 1000, "1/s", "", "frames a second; outputs are written once a frame")      \
  X(INT, seed, "1", 0, 9007199254740992, 0, SCREE_BIG, "", "", "all randomness follows from it")                       \
  X(VEC3, wind, "[0, 0, 0]", -1e3, 1e3, -50, 50, "m/s", "sph upsample", "velocity of the air; still unless given")

/* ---- methods ---- */

/* What every method has. */
#define SCREE_METHOD_PARAMETERS(X)                                                                                     \
  X(NAME, name, "required", 0, 0, 0, 0, "", "", "which method simulates: see `scree list methods`")                    \
  X(REAL, radius, "0.02", 1e-6, 1e3, 1e-4, 1, "m", "", "radius of a simulated particle")                               \
  X(REAL, time_step, "auto", 1e-9, 10, 1e-6, 0.05, "s", "", "longest step; auto: what the method recommends")          \
  X(REAL, cfl, "auto", 0.01, 10, 0.1, 2, "", "",                                                                       \
    "longest displacement in a step, in radii; auto: 1, pbd and p2 0.5, dem 0.1, sph 0.3, flip 2")

/* Rows that several methods include. */
#define SCREE_POSITION_PARAMETERS(X)                                                                                   \
  X(INT, iterations, "8", 0, 100000, 1, 200, "", "", "passes over the contacts in a step, each in its own substep")    \
  X(INT, stabilization, "1", 0, 100000, 0, 50, "", "", "passes that move old overlap apart without making speed")      \
  X(REAL, relaxation, "1.6", 0.01, 1.99, 0.5, 1.9, "", "", "over-relaxation of a pass")                                \
  X(BOOL, averaging, "false", 0, 0, 0, 0, "", "", "the papers' averaging instead of mass splitting")
#define SCREE_MEMORY_PARAMETERS(X)                                                                                     \
  X(BOOL, memory, "true", 0, 0, 0, 0, "", "", "begin with the forces of the last step: no creep")

/* The methods that have more: X(name, struct, rows). Each has a struct of its own in ScreeMethodDef, named after it;
 * a key that several have stands in each of these structs. */
#define SCREE_METHODS(X)                                                                                               \
  X(pbd, ScreePbdParameters, SCREE_PBD_PARAMETERS)                                                                     \
  X(p2, ScreeP2Parameters, SCREE_P2_PARAMETERS)                                                                        \
  X(dem, ScreeDemParameters, SCREE_DEM_PARAMETERS)                                                                     \
  X(sph, ScreeSphParameters, SCREE_SPH_PARAMETERS)                                                                     \
  X(flip, ScreeFlipParameters, SCREE_FLIP_PARAMETERS)

#define SCREE_PBD_PARAMETERS(X)                                                                                        \
  SCREE_POSITION_PARAMETERS(X)                                                                                         \
  X(CHOICE, friction_limit, "depth", 0, 0, 0, 0, SCREE_WORDS(SCREE_FRICTION_LIMITS), "",                               \
    "with averaging: what limits friction")                                                                            \
  SCREE_MEMORY_PARAMETERS(X)                                                                                           \
  X(REAL, mass_scaling, "0", 0, 100, 0, 5, "1/m", "", "k of m* = m exp(-k h); 1 is the paper's")
#define SCREE_P2_PARAMETERS(X)                                                                                         \
  SCREE_POSITION_PARAMETERS(X)                                                                                         \
  SCREE_MEMORY_PARAMETERS(X)                                                                                           \
  X(REAL, error_reduction, "0", 0, 1, 0, 0.9, "", "", "how much more the upper grain of a contact moves")              \
  X(CHOICE, error_reduction_by, "tilt", 0, 0, 0, 0, SCREE_WORDS(SCREE_ERROR_ORDERS), "",                               \
    "which is the upper: by tilt, or by steps to the ground")                                                          \
  X(REAL, sleep_speed, "0", 0, 100, 0, 0.1, "m/s", "", "slower than this against its support, a grain rests; 0: off")
#define SCREE_DEM_PARAMETERS(X)                                                                                        \
  X(CHOICE, integrator, "verlet", 0, 0, 0, 0, SCREE_WORDS(SCREE_INTEGRATORS), "",                                      \
    "velocity Verlet, or semi-implicit Euler")                                                                         \
  X(BOOL, rotation, "true", 0, 0, 0, 0, "", "", "grains turn; false: the paper's model")                               \
  X(CHOICE, shear_cap, "total", 0, 0, 0, 0, SCREE_WORDS(SCREE_SHEAR_CAPS), "",                                         \
    "what Coulomb's limit cuts; spring: as printed")                                                                   \
  X(REAL, step_safety, "0.2", 0.001, 0.5, 0.02, 0.3, "", "", "step over 1 / frequency of the stiffest contact")
#define SCREE_SPH_PARAMETERS(X)                                                                                        \
  SCREE_MEMORY_PARAMETERS(X)                                                                                           \
  X(REAL, compression, "0.001", 1e-6, 0.5, 1e-4, 0.02, "", "",                                                         \
    "mean compression that ends the search for the pressure")                                                          \
  X(REAL, strain, "0.000005", 1e-7, 1e9, 1e-6, 0.02, "", "",                                                           \
    "strain of a step (root mean square) that may stay unstopped")                                                     \
  X(INT, max_iterations, "200", 2, 100000, 10, 1000, "", "", "passes of that search at most; a warning counts more")   \
  X(REAL, drag, "0.47", 0, 1e6, 0, 100, "", "", "drag coefficient of a parcel, a ball of the radius, in the air")
#define SCREE_FLIP_PARAMETERS(X)                                                                                       \
  X(REAL, cell, "auto", 1e-6, 1e3, 1e-3, 4, "m", "", "side of a grid cell; auto: 4 radius")                            \
  X(REAL, loose_cfl, "8", 0.01, 64, 1, 16, "", "", "longest displacement of loose sand; up to cfl: as dense sand")     \
  X(CHOICE, yield_surface, "cone", 0, 0, 0, 0, SCREE_WORDS(SCREE_YIELD_SURFACES), "",                                  \
    "limit of friction: cone, 728 planes, or as printed")                                                              \
  X(INT, staggered, "2", 1, 1000, 1, 20, "", "", "staggered projections of friction and pressure in a step, at most")  \
  X(REAL, staggered_tolerance, "0", 0, 1, 0, 0.1, "", "", "they end when the pressure changes by less; 0: do all")     \
  X(REAL, tolerance, "0.001", 1e-9, 1, 1e-6, 0.1, "", "", "of the pressure's solve, share of what it starts with")     \
  X(INT, solver_steps, "200", 1, 100000, 20, 5000, "", "", "most steps of a solve for the pressure")                   \
  X(INT, friction_steps, "20", 1, 100000, 5, 1000, "", "", "most steps of a solve for the friction")                   \
  X(BOOL, pulling, "false", 0, 0, 0, 0, "", "", "pressure also pulls, as in an incompressible fluid")                  \
  X(BOOL, shapes, "true", 0, 0, 0, 0, "", "", "particles are stretched, split and merged")                             \
  X(REAL, settle, "4", 0, 1e4, 0, 20, "", "",                                                                          \
    "how fast dense sand loses what the grid does not see, in sqrt(max(g, 1.6 m/s^2) / cell)")

/* ---- what a scene is made of ---- */

#define SCREE_MATERIAL_PARAMETERS(X)                                                                                   \
  X(REAL, density, "1600", 1e-3, 1e6, 50, 25000, "kg/m^3", "", "bulk density of the settled material")                 \
  X(REAL, grain_density, "auto", 1e-3, 1e6, 50, 25000, "kg/m^3", "none pbd p2 dem upsample terrain",                   \
    "of a grain itself; auto: density / 0.6")                                                                          \
  X(REAL, friction_static, "auto", 0, 100, 0, 2, "", "pbd p2 dem sph flip upsample terrain",                           \
    "contact: Coulomb coefficient, sticking; auto: of the angle")                                                      \
  X(REAL, friction_kinetic, "auto", 0, 100, 0, 2, "", "pbd p2 dem upsample terrain",                                   \
    "contact: Coulomb coefficient, sliding; auto: of the angle")                                                       \
  X(REAL, friction_angle_deg, "auto", 0, 89, 5, 60, "deg", "pbd p2 dem sph flip upsample terrain",                     \
    "slope at which flowing sand comes to rest; auto: 33, or atan(friction_static) where that is given")               \
  X(REAL, adhesion, "0", 0, 1e9, 0, 1e6, "Pa", "p2", "tension that a contact area can bear")                           \
  X(REAL, cohesion, "0", 0, 1e9, 0, 1e6, "Pa", "pbd p2 dem sph flip", "shear strength without pressure")               \
  X(REAL, radius_spread, "0", 0, 0.9, 0, 0.6, "", "none pbd p2 dem upsample",                                          \
    "half width of the distribution of radii, share of the radius")                                                    \
  X(CHOICE, radius_distribution, "uniform", 0, 0, 0, 0, SCREE_WORDS(SCREE_RADIUS_DISTRIBUTIONS),                       \
    "none pbd p2 dem upsample", "how radii are distributed")                                                           \
  X(VEC3, color, "[0.85, 0.70, 0.45]", 0, 1, 0, 1, "", "", "red, green, blue in pictures")                             \
  X(REAL, young, "auto", 1, 1e13, 1e4, 1e12, "Pa", "dem", "Young's modulus of a grain")                                \
  X(REAL, poisson, "0.25", 0, 0.499, 0.05, 0.49, "", "dem", "Poisson's ratio of a grain")                              \
  X(REAL, restitution, "auto", 0, 1, 0, 1, "", "dem", "speed after over speed before a head-on hit")                   \
  X(REAL, rolling_friction, "auto", 0, 10, 0, 1, "", "pbd p2 dem",                                                     \
    "contact: resistance to rolling, share of the radius; auto: of the angle")                                         \
  X(REAL, stiffness_n, "auto", 0, 1e15, 1, 1e13, "N/m^1.5", "dem", "Hertz constant of a contact")                      \
  X(REAL, stiffness_t, "auto", 0, 1e15, 1, 1e13, "N/m", "dem", "shear spring of a contact")                            \
  X(REAL, damping_n, "auto", 0, 1e9, 0, 1e7, "1/s", "dem", "damping of the approach, per effective mass")              \
  X(REAL, damping_t, "auto", 0, 1e9, 0, 1e7, "1/s", "dem", "damping of the sliding, per effective mass")               \
  X(REAL, stiffness, "auto", 0, 1e12, 1, 1e9, "N/m", "p2", "spring of a contact; auto: rigid, soft with adhesion")     \
  X(REAL, damping, "auto", 0, 1e12, 0, 1e9, "N s/m", "p2", "damper of a contact; auto: critical or more")

#define SCREE_GRAINS_PARAMETERS(X)                                                                                     \
  X(NAME, material, "", 0, 0, 0, 0, "", "", "which material fills the shape; the first unless given")                  \
  X(VEC3, velocity, "[0, 0, 0]", -1e4, 1e4, -100, 100, "m/s", "", "velocity at the start")                             \
  X(CHOICE, start, "random", 0, 0, 0, 0, SCREE_WORDS(SCREE_STARTS), "",                                                \
    "plain random placement, or near settled packing")

#define SCREE_EMITTER_PARAMETERS(X)                                                                                    \
  X(NAME, material, "", 0, 0, 0, 0, "", "", "what is poured; the first material unless given")                         \
  X(REAL, rate, "1", 0, 1e9, 1e-6, 1e5, "kg/s", "", "mass poured a second")                                            \
  X(REAL, speed, "0", 0, 1e4, 0, 100, "m/s", "", "speed along the direction of the disc")                              \
  X(REAL, from, "0", 0, 1e6, 0, 1e6, "s", "", "when pouring starts")                                                   \
  X(REAL, until, "auto", 0, 1e6, 0, 1e6, "s", "", "when it ends; auto: never")

#define SCREE_BOUNDARY_PARAMETERS(X)                                                                                   \
  X(NAME, name, "", 0, 0, 0, 0, "", "", "what probes call it")                                                         \
  X(REAL, friction_static, "0.5", 0, 100, 0, 2, "", "pbd p2 dem sph flip", "Coulomb coefficient, sticking")            \
  X(REAL, friction_kinetic, "0.4", 0, 100, 0, 2, "", "pbd p2 dem sph upsample", "Coulomb coefficient, sliding")        \
  X(REAL, stiffness_n, "auto", 0, 1e15, 1, 1e13, "N/m^1.5", "dem", "Hertz constant on it; auto: the grain's")          \
  X(REAL, restitution, "auto", 0, 1, 0, 1, "", "dem", "of a head-on hit on it; auto: the grain's")                     \
  X(BOOL, inside, "false", 0, 0, 0, 0, "", "", "grains live inside the shape")                                         \
  X(CHOICE, contact, "distance", 0, 0, 0, 0, SCREE_WORDS(SCREE_CONTACTS), "pbd p2 dem sph",                            \
    "signed distance, or particles on the surface")                                                                    \
  X(VEC3, color, "auto", 0, 1, 0, 1, "", "", "red, green, blue in pictures; auto: glass or grey")

#define SCREE_BODY_PARAMETERS(X)                                                                                       \
  X(NAME, name, "", 0, 0, 0, 0, "", "", "what probes and bodies.csv call it")                                          \
  X(REAL, density, "2500", 1e-3, 1e6, 10, 25000, "kg/m^3", "", "of the solid")                                         \
  X(REAL, mass, "auto", 1e-9, 1e12, 1e-6, 1e9, "kg", "", "auto: volume times density")                                 \
  X(VEC3, velocity, "[0, 0, 0]", -1e4, 1e4, -100, 100, "m/s", "", "of the centre of mass at the start")                \
  X(VEC3, spin, "[0, 0, 0]", -1e5, 1e5, -1e3, 1e3, "rad/s", "", "angular velocity at the start, world axes")           \
  X(REAL, friction_static, "0.5", 0, 100, 0, 2, "", "pbd p2 dem sph flip", "Coulomb coefficient, sticking")            \
  X(REAL, friction_kinetic, "0.4", 0, 100, 0, 2, "", "pbd p2 dem sph upsample terrain",                                \
    "Coulomb coefficient, sliding")                                                                                    \
  X(REAL, stiffness_n, "auto", 0, 1e15, 1, 1e13, "N/m^1.5", "dem", "Hertz constant on it; auto: the grain's")          \
  X(REAL, restitution, "auto", 0, 1, 0, 1, "", "dem", "of a head-on hit on it; auto: the grain's")                     \
  X(CHOICE, motion, "free", 0, 0, 0, 0, SCREE_WORDS(SCREE_MOTIONS), "", "what moves it")                               \
  X(CHOICE, contact, "distance", 0, 0, 0, 0, SCREE_WORDS(SCREE_CONTACTS), "pbd p2 dem sph",                            \
    "signed distance, or particles in the body")                                                                       \
  X(VEC3, color, "auto", 0, 1, 0, 1, "", "", "red, green, blue in pictures; auto: by its name")

/* Where a shape stands; boundaries, bodies and meshes of fills have these. */
#define SCREE_PLACEMENT_PARAMETERS(X)                                                                                  \
  X(VEC3, position, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "of the shape's own origin")                           \
  X(QUAT, rotation, "[1, 0, 0, 0]", -1, 1, -1, 1, "", "", "quaternion w, x, y, z")                                     \
  X(REAL, scale, "1", 1e-6, 1e6, 1e-3, 1e3, "", "", "of a mesh")

#define SCREE_KEY_PARAMETERS(X)                                                                                        \
  X(REAL, t, "0", 0, 1e6, 0, 1e6, "s", "", "when")                                                                     \
  X(VEC3, position, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "where the shape's origin is then")                    \
  X(QUAT, rotation, "[1, 0, 0, 0]", -1, 1, -1, 1, "", "", "quaternion w, x, y, z")

#define SCREE_MECHANISM_PARAMETERS(X)                                                                                  \
  X(FILE, mjcf, "required", 0, 0, 0, 0, "", "", "MuJoCo model: bodies, joints, motors")                                \
  X(FILE, controls, "", 0, 0, 0, 0, "", "", "csv with the header time,<actuator>,...")                                 \
  X(VEC3, position, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "where the model's origin stands")                     \
  X(REAL, friction_static, "0.5", 0, 100, 0, 2, "", "pbd p2 dem sph flip", "of every part of it against grains")       \
  X(REAL, friction_kinetic, "0.4", 0, 100, 0, 2, "", "pbd p2 dem sph upsample terrain",                                \
    "of every part of it against grains")                                                                              \
  X(REAL, stiffness_n, "auto", 0, 1e15, 1, 1e13, "N/m^1.5", "dem", "Hertz constant on it; auto: the grain's")          \
  X(REAL, restitution, "auto", 0, 1, 0, 1, "", "dem", "of a head-on hit on it; auto: the grain's")

#define SCREE_EVENT_PARAMETERS(X) X(REAL, t, "0", 0, 1e6, 0, 1e6, "s", "", "when it happens")

#define SCREE_IMPULSE_PARAMETERS(X)                                                                                    \
  X(VEC3, center, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "of the explosion")                                      \
  X(REAL, radius, "0.2", 1e-6, 1e6, 1e-3, 1e3, "m", "", "grains inside it are thrown")                                 \
  X(REAL, speed, "5", 0, 1e5, 0, 300, "m/s", "", "outward speed that they get")

#define SCREE_TERRAIN_PARAMETERS(X)                                                                                    \
  X(NAME, material, "", 0, 0, 0, 0, "", "", "what the ground is made of; the first material unless given")             \
  X(VEC2, origin, "[0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "corner of the heightfield")                                \
  X(REAL, base, "0", -1e6, 1e6, -1e4, 1e4, "m", "", "height of the hard ground below the columns")                     \
  X(VEC2, size, "[4, 4]", 1e-6, 1e6, 1e-2, 1e4, "m", "", "extent in x and y")                                          \
  X(REAL, cell, "0.05", 1e-6, 1e3, 1e-3, 10, "m", "", "side of a column")                                              \
  X(REAL, height, "0", 0, 1e6, 0, 1e3, "m", "", "of the material over the base")                                       \
  X(FILE, png, "", 0, 0, 0, 0, "", "", "16-bit picture that gives the heights instead")                                \
  X(VEC2, height_range, "[0, 1]", 0, 1e6, 0, 1e3, "m", "", "heights of black and white in the picture")                \
  X(REAL, compaction, "0.3", 0, 1, 0, 1, "", "", "share of what an object displaces that is compacted")                \
  X(REAL, theta_out_deg, "auto", 0, 89, 10, 60, "deg", "", "steeper slopes erode; auto: the material's angle")         \
  X(REAL, theta_stop_deg, "auto", 0, 89, 10, 60, "deg", "",                                                            \
    "erosion of a slope ends here; auto: the material's angle")                                                        \
  X(REAL, erosion_fraction, "0.12", 1e-3, 0.5, 0.02, 0.2, "", "", "share of the excess height that a pass moves")      \
  X(BOOL, exchange, "true", 0, 0, 0, 0, "", "pbd p2 dem",                                                              \
    "resting grains become ground, disturbed ground becomes grains")

#define SCREE_UPSAMPLE_PARAMETERS(X)                                                                                   \
  X(REAL, radius, "0.005", 1e-6, 1e3, 1e-4, 1, "m", "", "radius of a fine grain")                                      \
  X(CHOICE, mode, "better", 0, 0, 0, 0, SCREE_WORDS(SCREE_UPSAMPLE_MODES), "",                                         \
    "sand that rests and stays even; the paper's rule; flip: points that the flow carries")                            \
  X(INT, points, "20", 1, 1000, 4, 200, "", "points", "how many a full particle has")                                  \
  X(BOOL, body_rule, "true", 0, 0, 0, 0, "", "paper", "walls and bodies count only near simulated grains")             \
  X(REAL, air_drag, "auto", 0, 1e6, 0, 1e3, "1/m", "upsample",                                                         \
    "k of a = k u^2 in moving air; auto: of a sphere that size")                                                       \
  X(REAL, stir, "0.5", 0, 1, 0, 1, "", "better", "how fast crowds dissolve; a share of how unevenly sand moves")

#define SCREE_CAMERA_PARAMETERS(X)                                                                                     \
  X(VEC3, eye, "[3, -3, 2]", -1e6, 1e6, -1e4, 1e4, "m", "", "where the camera stands")                                 \
  X(VEC3, target, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "what it looks at")                                      \
  X(REAL, fov_deg, "40", 1, 170, 10, 100, "deg", "", "vertical angle of view")

/* ---- probes ---- */

/* X(id, kind, unit, columns, keys, help)
 *   id       SCREE_PROBE_<id> in a definition, PROBE_<id> in src/world/probes/<kind>.c
 *   columns  what follows the probe's name in the header of probes.csv, separated by ','; "" for a scalar
 *   keys     rows of SCREE_PROBE_PARAMETERS that it reads, and `box`, separated by blanks */
#define SCREE_PROBES(X)                                                                                                \
  X(FLOW, flow, "kg/s", "", "plane_z", "mass downward through z = plane_z, mean over the frame")                       \
  X(REPOSE_ANGLE, repose_angle, "deg", "", "axis", "line through the free surface, 15 to 85 % of its height")          \
  X(RUNOUT, runout, "m", "", "axis fraction", "radius about the axis that holds that share of the mass")               \
  X(FORCE_ON, force_on, "N", "_x,_y,_z", "target", "force of the grains on the target, mean over the frame")           \
  X(PACKING, packing, "1", "", "box", "solid volume fraction in the box")                                              \
  X(MASS_IN, mass_in, "kg", "", "box", "mass in the box")                                                              \
  X(POSE_OF, pose_of, "m", "_x,_y,_z,_qw,_qx,_qy,_qz,_vx,_vy,_vz,_wx,_wy,_wz", "target",                               \
    "position, rotation, velocity, spin")                                                                              \
  X(CREEP, creep, "m", "", "from", "99th percentile of displacement since then")                                       \
  X(ENERGY, energy, "J", "_kinetic,_potential", "", "of the grains")                                                   \
  X(PRESSURE_AT, pressure_at, "Pa", "", "box", "mean pressure of the particles in the box, by mass; 0 where none is")

#define SCREE_PROBE_ID(id, ...) SCREE_PROBE_##id,
#define SCREE_PROBE_WORD(id, kind, ...) "|" #kind

#define SCREE_PROBE_PARAMETERS(X)                                                                                      \
  X(NAME, name, "", 0, 0, 0, 0, "", "", "column in probes.csv; the kind unless given")                                 \
  X(CHOICE, kind, "required", 0, 0, 0, 0, SCREE_WORDS_OF_PROBES, "", "what is measured")                               \
  X(REAL, plane_z, "0", -1e6, 1e6, -1e4, 1e4, "m", "", "height of the plane that is crossed")                          \
  X(VEC2, axis, "[0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "where the vertical axis stands")                             \
  X(REAL, fraction, "0.99", 0.001, 1, 0.5, 1, "", "", "share of the mass inside the radius")                           \
  X(NAME, target, "", 0, 0, 0, 0, "", "", "name of a boundary or body, or of a mechanism's part")                      \
  X(REAL, from, "0", 0, 1e6, 0, 1e6, "s", "", "displacement since then")
#define SCREE_WORDS_OF_PROBES (&(SCREE_PROBES(SCREE_PROBE_WORD))[1])

/* ---- shapes ---- */

/* X(id, word, struct, rows, places, where): each is a mapping under a key of its own name.
 *   id      SCREE_SHAPE_<id> in a definition; SHAPE_<id> in src/geometry/shapes/<word>.c
 *   word    the key, and the member of ScreeShapeDef
 *   places  where it may stand: fill emitter sink boundary body probe
 *   where   for docs/scene.md: behind the key
 * Solid shapes have an inside. A mesh is a file, not a mapping, and has no row. */
#define SCREE_SOLID_SHAPES(X)                                                                                          \
  X(BOX, box, ScreeBoxDef, SCREE_BOX_PARAMETERS, "fill sink boundary body probe", "")                                  \
  X(SPHERE, sphere, ScreeSphereDef, SCREE_SPHERE_PARAMETERS, "fill sink boundary body", "")                            \
  X(CYLINDER, cylinder, ScreeCylinderDef, SCREE_CYLINDER_PARAMETERS, "fill sink boundary body", "")                    \
  X(CAPSULE, capsule, ScreeCapsuleDef, SCREE_CAPSULE_PARAMETERS, "fill sink boundary body", "")                        \
  X(PLANE, plane, ScreePlaneDef, SCREE_PLANE_PARAMETERS, "sink boundary", " of boundaries and sinks")
#define SCREE_SHAPES(X)                                                                                                \
  SCREE_SOLID_SHAPES(X)                                                                                                \
  X(DISC, disc, ScreeDiscDef, SCREE_DISC_PARAMETERS, "emitter", " of an emitter")

#define SCREE_BOX_PARAMETERS(X)                                                                                        \
  X(VEC3, min, "[-0.5, -0.5, -0.5]", -1e6, 1e6, -1e4, 1e4, "m", "", "lowest corner")                                   \
  X(VEC3, max, "[0.5, 0.5, 0.5]", -1e6, 1e6, -1e4, 1e4, "m", "", "highest corner")
#define SCREE_SIZED_BOX_PARAMETERS(X)                                                                                  \
  X(VEC3, size, "[1, 1, 1]", 1e-6, 1e6, 1e-3, 1e3, "m", "", "edge lengths; the origin is the centre")
#define SCREE_SPHERE_PARAMETERS(X)                                                                                     \
  X(VEC3, center, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "of the sphere")                                         \
  X(REAL, radius, "0.5", 1e-6, 1e6, 1e-3, 1e3, "m", "", "of the sphere")
#define SCREE_CYLINDER_PARAMETERS(X)                                                                                   \
  X(VEC3, base, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "centre of the lower disc; a body's origin is the middle") \
  X(REAL, radius, "0.5", 1e-6, 1e6, 1e-3, 1e3, "m", "", "of the cylinder, whose axis is z")                            \
  X(REAL, height, "1", 1e-6, 1e6, 1e-3, 1e3, "m", "", "along z")
#define SCREE_CAPSULE_PARAMETERS(X)                                                                                    \
  X(VEC3, base, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "centre of the lower cap; a body's origin is the middle")  \
  X(REAL, radius, "0.5", 1e-6, 1e6, 1e-3, 1e3, "m", "", "of the caps; the axis is z")                                  \
  X(REAL, height, "1", 1e-6, 1e6, 1e-3, 1e3, "m", "", "between the centres of the caps")
#define SCREE_PLANE_PARAMETERS(X)                                                                                      \
  X(VEC3, point, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "on the plane")                                           \
  X(VEC3, normal, "[0, 0, 1]", -1e6, 1e6, -1, 1, "", "", "towards the grains")
#define SCREE_DISC_PARAMETERS(X)                                                                                       \
  X(VEC3, center, "[0, 0, 0]", -1e6, 1e6, -1e4, 1e4, "m", "", "of the disc")                                           \
  X(REAL, radius, "0.1", 1e-6, 1e6, 1e-3, 1e3, "m", "", "of the disc")                                                 \
  X(VEC3, direction, "[0, 0, -1]", -1e6, 1e6, -1, 1, "", "", "in which grains leave it")

#endif
