/* Tone curve, and the sky as a function of the direction: there is no pass for it, the shading pass asks where nothing
 * was drawn, the ground fades into it and glass mirrors it. Colours are linear light. */
#include "render/internal.h"

const char *const shader_light =
    /* Powers of 2.2 and 1/2.2 without logarithms, which cost more than all the rest on the CPU's driver; at most
     * 0.0014 and 0.0083 off. */
    "vec3 to_linear(vec3 c) { return max(c * (-0.03828 + c * (0.86211 + c * 0.17617)), 0.0); }\n"
    "vec3 to_gamma(vec3 c) {\n"
    "  vec3 a = sqrt(c), b = sqrt(a);\n"
    "  return clamp(0.76964 * a + 0.34296 * b - 0.11259 * sqrt(b), 0.0, 1.0);\n"
    "}\n"
    /* A film's curve per channel: soft in the shadows, 0.17 for 0.18, 0.72 for 1, and highlights that roll off towards
     * white; then the curve of a display. */
    "vec3 to_display(vec3 c) {\n"
    "  c *= 0.82;\n"
    "  return to_gamma(min(c * (1.03 * c + 0.104) / (c * (c + 0.367) + 0.208), 1.0));\n"
    "}\n"
    /* A fixed pattern of less than one step of an 8-bit picture, against bands in smooth gradients. */
    "vec3 dithered(vec3 c, vec2 at) {\n"
    "  float noise = fract(52.9829189 * fract(dot(at, vec2(0.06711056, 0.00583715))));\n"
    "  return c + (noise - 0.5) / 255.0;\n"
    "}\n"
    "uniform vec3 u_to_sun;\n"
    "const vec3 sun_color = vec3(3.2, 2.74, 2.16);\n"
    "const vec3 sky_above = vec3(0.17, 0.34, 0.68);\n"
    "const vec3 sky_horizon = vec3(0.80, 0.87, 0.94);\n"
    "const vec3 sky_below = vec3(0.60, 0.60, 0.60);\n"
    "vec3 sky_color(vec3 d) {\n"
    "  float up = clamp(d.z, -1.0, 1.0);\n"
    "  float high = 1.0 - max(up, 0.0);\n"
    "  vec3 c = mix(sky_above, sky_horizon, high * high * high);\n"
    "  c = mix(c, sky_below, smoothstep(0.0, 0.9, -up));\n"
    "  float near = max(dot(d, u_to_sun), 0.0);\n"
    "  near *= near;\n"
    "  near *= near;\n"
    "  near *= near;\n"
    "  return c + sun_color * 0.05 * near * near * near;\n"
    "}\n"
    /* What a matt surface of that normal gets from the sky and, from below, from sunlit ground. */
    "vec3 sky_ambient(vec3 n) {\n"
    "  return mix(vec3(0.34, 0.29, 0.24), vec3(0.56, 0.66, 0.82), n.z * 0.5 + 0.5);\n"
    "}\n";
