#include "core/vec.h"

#include <float.h>

#include "core/portable.h"
#include "core/rotation_shared.h"

void vec3_frame(Vec3 n, Vec3 *t1, Vec3 *t2) {
  Vec3 other = fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0);
  *t1 = vec3_normalize(vec3_cross(other, n));
  *t2 = vec3_cross(n, *t1);
}

Vec3 quat_to_vector(Quat q) {
  if (q.w < 0) q = (Quat){-q.w, -q.x, -q.y, -q.z};
  Vec3 u = vec3(q.x, q.y, q.z);
  double s = vec3_length(u);
  double scale = s > 1e-8 ? 2 * portable_atan2(s, q.w) / s : 2;
  return vec3_scale(u, scale);
}

Quat quat_slerp(Quat a, Quat b, double t) {
  Vec3 turn = quat_to_vector(quat_mul(quat_conjugate(a), b));
  return quat_normalize(quat_mul(a, quat_from_vector(vec3_scale(turn, t))));
}

Quat quat_from_mat3(Mat3 a) {
  /* Shepperd: the largest of the four squares decides which is divided by. */
  double trace = a.m[0][0] + a.m[1][1] + a.m[2][2];
  if (trace > 0) {
    double s = 2 * sqrt(1 + trace);
    return quat_normalize(
        (Quat){s / 4, (a.m[2][1] - a.m[1][2]) / s, (a.m[0][2] - a.m[2][0]) / s, (a.m[1][0] - a.m[0][1]) / s});
  }
  int i = 0;
  if (a.m[1][1] > a.m[0][0]) i = 1;
  if (a.m[2][2] > a.m[i][i]) i = 2;
  int j = (i + 1) % 3, k = (i + 2) % 3;
  double s = 2 * sqrt(fmax(0, 1 + a.m[i][i] - a.m[j][j] - a.m[k][k]));
  double u[3];
  u[i] = s / 4;
  u[j] = (a.m[j][i] + a.m[i][j]) / s;
  u[k] = (a.m[k][i] + a.m[i][k]) / s;
  return quat_normalize((Quat){(a.m[k][j] - a.m[j][k]) / s, u[0], u[1], u[2]});
}

Mat3 mat3_mul(Mat3 a, Mat3 b) {
  Mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return c;
}

Mat3 mat3_transpose(Mat3 a) {
  Mat3 t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) t.m[i][j] = a.m[j][i];
  return t;
}

void mat3_eigen_symmetric(Mat3 a, double values[3], Mat3 *vectors) {
  Mat3 v = mat3_identity();
  for (int sweep = 0; sweep < 32; sweep++) {
    double off = fabs(a.m[0][1]) + fabs(a.m[0][2]) + fabs(a.m[1][2]);
    double diagonal = fabs(a.m[0][0]) + fabs(a.m[1][1]) + fabs(a.m[2][2]);
    if (!(off > DBL_EPSILON * 1e-2 * diagonal)) break;
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (a.m[p][q] == 0) continue;
        double theta = (a.m[q][q] - a.m[p][p]) / (2 * a.m[p][q]);
        double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
        double c = 1 / sqrt(t * t + 1), s = t * c;
        Mat3 turn = mat3_identity();
        turn.m[p][p] = turn.m[q][q] = c;
        turn.m[p][q] = s;
        turn.m[q][p] = -s;
        a = mat3_mul(mat3_transpose(turn), mat3_mul(a, turn));
        v = mat3_mul(v, turn);
      }
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (a.m[order[j]][order[j]] > a.m[order[j + 1]][order[j + 1]]) {
        int t = order[j];
        order[j] = order[j + 1];
        order[j + 1] = t;
      }
  for (int k = 0; k < 3; k++) {
    values[k] = a.m[order[k]][order[k]];
    for (int i = 0; i < 3; i++) vectors->m[i][k] = v.m[i][order[k]];
  }
}

/* Solves h x = b for a symmetric matrix that is positive definite beyond doubt; false where it is not. */
static bool solve_definite(Mat3 h, Vec3 b, Vec3 *x) {
  const double(*m)[3] = h.m;
  double trace = m[0][0] + m[1][1] + m[2][2];
  Vec3 u = vec3(m[1][1] * m[2][2] - m[1][2] * m[1][2], m[0][2] * m[1][2] - m[0][1] * m[2][2],
                m[0][1] * m[1][2] - m[0][2] * m[1][1]); /* first column of the adjugate, then the rest of it */
  double v = m[0][0] * m[2][2] - m[0][2] * m[0][2], w = m[0][0] * m[1][1] - m[0][1] * m[0][1];
  double vw = m[0][1] * m[0][2] - m[0][0] * m[1][2];
  double determinant = m[0][0] * u.x + m[0][1] * u.y + m[0][2] * u.z;
  if (!(m[0][0] > 0 && w > 0 && determinant > 1e-9 * trace * trace * trace)) return false;
  *x =
      vec3_scale(vec3(vec3_dot(u, b), u.y * b.x + v * b.y + vw * b.z, u.z * b.x + vw * b.y + w * b.z), 1 / determinant);
  return true;
}

/* Turns by a vector w change the trace of R^T A by w . t - w . H w / 2, where with M = A R^T the torque t is twice the
 * skew part of M and H = tr(M) - (M + M^T) / 2. Newton's step is H^-1 t. What is cubic in w vanishes where M is
 * symmetric, so the error of a step is of the order of its cube. Where H is not definite, or the step long, it turns
 * towards the torque as the paper does. Half the vector with a 1 before it, brought to length 1, is a rotation by about
 * that vector: no sine is needed. */
Quat mat3_polar_rotation(Mat3 a, Quat start) {
  const double longest = 0.5, last = 1e-6, nothing = 1e-12;
  double largest = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) largest = fabs(a.m[i][j]) > largest ? fabs(a.m[i][j]) : largest;
  Quat q = quat_normalize(start);
  if (!(largest > 1e16 * DBL_MIN) || !isfinite(largest)) return q;
  a = mat3_scale(a, 1 / largest); /* products of three must not leave the range of numbers */
  for (int iteration = 0; iteration < 100; iteration++) {
    Mat3 m = mat3_mul(a, mat3_transpose(mat3_from_quat(q)));
    Vec3 torque = vec3(m.m[2][1] - m.m[1][2], m.m[0][2] - m.m[2][0], m.m[1][0] - m.m[0][1]), turn;
    double trace = m.m[0][0] + m.m[1][1] + m.m[2][2];
    Mat3 bend = mat3_scale(mat3_add(m, mat3_transpose(m)), -0.5);
    for (int k = 0; k < 3; k++) bend.m[k][k] += trace;
    bool newton = solve_definite(bend, torque, &turn) && vec3_length(turn) < longest;
    if (!newton) turn = vec3_scale(torque, 1 / fmax(fabs(trace), vec3_length(torque)));
    double angle = vec3_length(turn);
    if (!(angle > nothing) && !newton) break;
    q = quat_normalize(quat_mul((Quat){1, turn.x / 2, turn.y / 2, turn.z / 2}, q));
    if (newton && angle < last) break;
  }
  return q;
}
