#include "render/internal.h"

Mat4 mat4_mul(const Mat4 *a, const Mat4 *b) {
  Mat4 c;
  for (int column = 0; column < 4; column++)
    for (int row = 0; row < 4; row++) {
      float sum = 0;
      for (int k = 0; k < 4; k++) sum += a->m[k * 4 + row] * b->m[column * 4 + k];
      c.m[column * 4 + row] = sum;
    }
  return c;
}

Mat4 mat4_pose(Vec3 position, Quat rotation) {
  Mat3 r = mat3_from_quat(quat_normalize(rotation));
  Mat4 m = {{0}};
  for (int row = 0; row < 3; row++) {
    for (int column = 0; column < 3; column++) m.m[column * 4 + row] = (float)r.m[row][column];
    m.m[12 + row] = (float)vec3_get(position, row);
  }
  m.m[15] = 1;
  return m;
}

Mat4 mat4_view(Vec3 eye, Vec3 right, Vec3 up, Vec3 forward) {
  Vec3 axes[3] = {right, up, vec3_scale(forward, -1)};
  Mat4 m = {{0}};
  for (int row = 0; row < 3; row++) {
    m.m[row] = (float)axes[row].x;
    m.m[4 + row] = (float)axes[row].y;
    m.m[8 + row] = (float)axes[row].z;
    m.m[12 + row] = (float)-vec3_dot(axes[row], eye);
  }
  m.m[15] = 1;
  return m;
}

Mat4 mat4_perspective(double focal_x, double focal_y, double near, double far) {
  Mat4 m = {{0}};
  m.m[0] = (float)focal_x;
  m.m[5] = (float)focal_y;
  m.m[10] = (float)((far + near) / (near - far));
  m.m[11] = -1;
  m.m[14] = (float)(2 * far * near / (near - far));
  return m;
}

Mat4 mat4_orthographic(double half, double near, double far) {
  Mat4 m = {{0}};
  m.m[0] = m.m[5] = (float)(1 / half);
  m.m[10] = (float)(-2 / (far - near));
  m.m[14] = (float)(-(far + near) / (far - near));
  m.m[15] = 1;
  return m;
}
