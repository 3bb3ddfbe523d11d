/* Elementary functions whose bits do not depend on the C library.
 *
 * sin, exp and their like are not exactly rounded, and every C library rounds a few arguments differently: glibc, musl
 * (which the browser's build has) and others would then disagree on a scene. These are made of + - * / in a fixed
 * order, and of frexp, ldexp, fmod and floor, which are exact, so that every machine gives the same bits. The test
 * unit/portable measures their errors against wider arithmetic and keeps a hash of their bits; the test layers/portable
 * sees to it that nothing of src/ that results depend on calls the C library's.
 *
 * Errors, in units in the last place, at most: sin, cos, exp, log 1; cbrt, atan, atan2 2; tan 2.5. Beyond 10^6 the
 * argument of sin, cos and tan counts as known to one unit in its last place. Domains and values at infinity, zero and
 * NaN are those of the C library. */
#ifndef CORE_PORTABLE_H
#define CORE_PORTABLE_H

double portable_sin(double x);
double portable_cos(double x);
double portable_tan(double x);
double portable_atan(double x);
double portable_atan2(double y, double x);
double portable_exp(double x);
double portable_log(double x);
double portable_cbrt(double x);

#endif
