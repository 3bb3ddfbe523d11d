/* Free rigid motion.
 *
 * The centre moves by symplectic Euler: the method evaluates contact forces at the old pose, the velocity is kicked by
 * them and the position drifts with the new velocity. (Taking half of dt^2 a along as well would be exact for constant
 * forces, but pumps energy into springs, which is what contacts are.)
 *
 * The turning is split the same way: the torque kicks the angular momentum L in world axes, then the body turns freely.
 * The free turn solves the midpoint rule for the momentum l in body axes,
 *
 *   l' = l + h  m x I^-1 m,   m = (l + l') / 2,
 *
 * which keeps |l|^2 and the energy l . I^-1 l / 2 because both are quadratic (the increment is orthogonal to m and to
 * I^-1 m). The equation says l' = cay(-h w) l with w = I^-1 m, so turning the body by R' = R cay(h w) keeps the world
 * momentum R l as well (Austin, Krishnaprasad and Wang 1993). Cayley's map turns by 2 atan(h |w| / 2) instead of h |w|;
 * the step that is put in is therefore h = 2 tan(|w| dt / 2) / |w|, which makes a spin about a principal axis exact and
 * costs nothing of the above. Trapezoid forms of I w in world axes were rejected: they drift in energy. */
#include <math.h>

#include "bodies/parts.h"

enum { TURN_ITERATIONS = 30, TURN_SUBSTEPS_MAX = 4096 };
static const double TURN_ANGLE = 0.1; /* rad in one substep: the series of tan below is exact to 1e-9 there */

/* tan(x) / x for small x. */
static double tangent_ratio(double x) {
  double s = x * x;
  return 1 + s * (1.0 / 3 + s * (2.0 / 15 + s * (17.0 / 315)));
}

static Mat3 cross_matrix(Vec3 a) { return (Mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

/* The mean momentum m of the midpoint rule, by Newton's method from m = l. */
static Vec3 mean_momentum(Vec3 l, const Mat3 *inverse, double h) {
  Vec3 m = l;
  double scale = vec3_length(l);
  for (int k = 0; k < TURN_ITERATIONS; k++) {
    Vec3 w = mat3_apply(inverse, m);
    Vec3 residual = vec3_sub(vec3_scale(vec3_sub(m, l), 2), vec3_scale(vec3_cross(m, w), h));
    if (!(vec3_length(residual) > 1e-16 * scale)) break;
    Mat3 jacobian =
        mat3_add(mat3_scale(mat3_identity(), 2),
                 mat3_scale(mat3_add(mat3_mul(cross_matrix(m), *inverse), mat3_scale(cross_matrix(w), -1)), -h));
    Mat3 solve;
    if (!mat3_invert(jacobian, &solve)) break;
    Vec3 next = vec3_sub(m, mat3_apply(&solve, residual));
    if (next.x == m.x && next.y == m.y && next.z == m.z) break; /* as far as round-off lets it come */
    m = next;
  }
  return m;
}

/* Turns by dt with constant world momentum. */
static void turn_freely(Solid *solid, Vec3 momentum, const Mat3 *inverse, double dt) {
  Quat rotation = solid->rotation;
  Vec3 l = quat_rotate(quat_conjugate(rotation), momentum);
  double angle = vec3_length(mat3_apply(inverse, l)) * dt;
  int substeps = angle > TURN_ANGLE ? (int)fmin(ceil(angle / TURN_ANGLE), TURN_SUBSTEPS_MAX) : 1;
  double h = dt / substeps;
  for (int k = 0; k < substeps; k++) {
    double speed = vec3_length(mat3_apply(inverse, l));
    double stretched = h * tangent_ratio(fmin(speed * h / 2, TURN_ANGLE));
    Vec3 w = mat3_apply(inverse, mean_momentum(l, inverse, stretched));
    Vec3 half = vec3_scale(w, stretched / 2);
    rotation = quat_normalize(quat_mul(rotation, quat_normalize((Quat){1, half.x, half.y, half.z})));
    l = quat_rotate(quat_conjugate(rotation), momentum);
  }
  solid->rotation = rotation;
}

void rigid_kick(Solid *solid, Vec3 gravity, Vec3 force, Vec3 torque, double dt) {
  solid->velocity = vec3_madd(vec3_madd(solid->velocity, gravity, dt), force, dt / solid->mass);
  for (int i = 0; i < 3; i++) {
    const double *row = &solid->inverse_inertia[3 + i][3];
    double change = (row[0] * torque.x + row[1] * torque.y + row[2] * torque.z) * dt;
    if (i == 0) solid->spin.x += change;
    else if (i == 1) solid->spin.y += change;
    else solid->spin.z += change;
  }
}

/* Angular momentum with a spin, world axes. */
static Vec3 momentum_at(const Solid *solid, Vec3 spin) {
  Vec3 in_shape = quat_rotate(quat_conjugate(solid->rotation), spin);
  return quat_rotate(solid->rotation, mat3_apply(&solid->inertia, in_shape));
}

Status rigid_drift(Core *core, Solid *solid, double dt) {
  Vec3 center = vec3_madd(solid->center, vec3_sub(solid->velocity, solid->velocity_gain), dt);
  Mat3 inverse;
  if (mat3_invert(solid->inertia, &inverse)) {
    const Vec3 momentum = momentum_at(solid, solid->spin);
    turn_freely(solid, momentum_at(solid, vec3_sub(solid->spin, solid->spin_gain)), &inverse, dt);
    Vec3 l = quat_rotate(quat_conjugate(solid->rotation), momentum);
    solid->spin = quat_rotate(solid->rotation, mat3_apply(&inverse, l));
  }
  solid->velocity_gain = solid->spin_gain = vec3(0, 0, 0);
  solid->position = vec3_sub(center, quat_rotate(solid->rotation, solid->center_in_shape));
  solid_refresh(solid);
  if (!vec3_finite(solid->position) || !vec3_finite(solid->velocity) || !vec3_finite(solid->spin))
    return fail(core, SCREE_FAILED, "body '%s' blew up: its motion is no longer finite", solid->name);
  return SCREE_OK;
}
