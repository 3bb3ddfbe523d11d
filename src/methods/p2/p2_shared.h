/* What the host hands to the kernels of p2 (p2.cl): one text for both. */
#ifndef METHODS_P2_P2_SHARED_H
#define METHODS_P2_P2_SHARED_H

/* Counters of a step, behind MIRROR_METHOD_WORD: the square of the longest displacement without contacts, as the bits
 * of a float, and how many grains were too fast. */
enum { P2_WORD_FASTEST, P2_WORD_LIMITED, P2_WORDS };

/* Numbers of a material, in double: stiffness, damping, adhesion. */
enum { P2_MATERIAL_DOUBLES = 3 };

typedef struct P2Shared {
  double dt;             /* of a substep */
  double gravity, rigid; /* see P2Meeting */
  double way;            /* m: solids let grains go so far, see p2_longest */
  int springs;           /* contacts have numbers of their own; 0: all are rigid */
  int rolls, reduces;    /* lumps turn; errors are reduced */
  int words;             /* where those of the step begin */
  float step_dt, slow;   /* s, of the whole step; m: who goes no farther may sleep */
  float error_reduction, down[3];
  float radius; /* nominal */
  int iterations;
  int levels, tied; /* errors are reduced by the distance to the ground; who is tied to a solid sleeps */
} P2Shared;

#endif
