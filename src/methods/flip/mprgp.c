#include "methods/flip/mprgp.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/mprgp_kernels.h"

enum { VECTOR_CHUNK = 8192, VECTOR_CHUNKS_MAX = 1 << 18 };

/* How much larger than the free gradient the chopped one may be before the face is left (Gamma^2). */
#define PROPORTION 1.0

typedef enum Pass {
  PASS_MEASURE,
  PASS_LINE,
  PASS_GO,
  PASS_CONJUGATE,
  PASS_TURN,
  PASS_CHOP,
  PASS_EXPAND,
  PASS_MARK
} Pass;

typedef struct Solver {
  Mprgp *problem;
  MprgpVectors v;
  Pass pass;
  double (*sums)[SUMS]; /* per chunk */
  float *longest;
  float *r;
} Solver;

static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Solver *s = context;
  const Core *core = s->problem->core;
  double *sums = s->sums[b / VECTOR_CHUNK];
  switch (s->pass) {
  case PASS_MEASURE: KERNEL_CALL(core, mprgp_measure)(&s->v, b, e, sums); break;
  case PASS_LINE: s->longest[b / VECTOR_CHUNK] = KERNEL_CALL(core, mprgp_line)(&s->v, b, e, sums); break;
  case PASS_GO: KERNEL_CALL(core, mprgp_go)(&s->v, b, e); break;
  case PASS_CONJUGATE: KERNEL_CALL(core, mprgp_conjugate)(&s->v, b, e, sums); break;
  case PASS_TURN: KERNEL_CALL(core, mprgp_turn)(&s->v, b, e); break;
  case PASS_CHOP: KERNEL_CALL(core, mprgp_chop)(&s->v, b, e); break;
  case PASS_EXPAND: KERNEL_CALL(core, mprgp_expand)(&s->v, b, e); break;
  case PASS_MARK: KERNEL_CALL(core, mprgp_mark)(&s->v, b, e); break;
  }
}

/* Runs a pass; `total` gets its sums, in the order of the chunks. */
static void run(Solver *s, Pass pass, double total[SUMS]) {
  int64_t chunks = parallel_chunks(0, s->problem->count, VECTOR_CHUNK);
  s->pass = pass;
  memset(s->sums, 0, sizeof *s->sums * (size_t)chunks);
  parallel_for(s->problem->core, 0, s->problem->count, VECTOR_CHUNK, pass_chunk, s);
  for (int k = 0; total && k < SUMS; k++) total[k] = 0;
  for (int64_t c = 0; total && c < chunks; c++)
    for (int k = 0; k < SUMS; k++) total[k] += s->sums[c][k];
}

static double longest_step(const Solver *s) {
  double least = INFINITY;
  int64_t chunks = parallel_chunks(0, s->problem->count, VECTOR_CHUNK);
  for (int64_t c = 0; c < chunks; c++) least = fmin(least, (double)s->longest[c]);
  return least;
}

/* g = A x + b, afresh. */
static void gradient(Solver *s) {
  Mprgp *problem = s->problem;
  problem->apply(problem->context, problem->x, s->v.g);
  for (int64_t k = 0; k < problem->count; k++) s->v.g[k] += problem->b[k];
}

static void clamp(Mprgp *problem) {
  for (int64_t k = 0; k < problem->count; k++) {
    float x = problem->x[k];
    x = x < problem->upper[k] ? x : problem->upper[k];
    problem->x[k] = x > problem->lower[k] ? x : problem->lower[k];
  }
}

/* z = M^-1 (free gradient), where there is a preconditioner. */
static void precondition(Solver *s) {
  Mprgp *problem = s->problem;
  if (!problem->precondition) return;
  run(s, PASS_MARK, NULL);
  memcpy(s->r, s->v.z, sizeof(float) * (size_t)problem->count);
  problem->precondition(problem->context, s->r, s->v.free, s->v.z);
}

/* p = z: conjugate gradients begin anew on this face. */
static void restart(Solver *s) {
  precondition(s);
  s->v.step = 0;
  memset(s->v.p, 0, sizeof(float) * (size_t)s->problem->count);
  run(s, PASS_TURN, NULL);
}

/* A step of conjugate gradients on the face; where it would leave the box, only as far as that, and then a projected
 * step of fixed length. */
static void step_in_face(Solver *s) {
  Mprgp *problem = s->problem;
  double sums[SUMS];
  problem->apply(problem->context, s->v.p, s->v.q);
  run(s, PASS_LINE, sums);
  double pq = sums[SUM_PQ], gp = sums[SUM_GP], feasible = longest_step(s);
  double cg = pq > 0 ? gp / pq : INFINITY;
  if (cg <= feasible) {
    s->v.step = (float)cg;
    run(s, PASS_GO, NULL);
    precondition(s);
    run(s, PASS_CONJUGATE, sums);
    s->v.step = (float)(sums[SUM_FQ] / pq);
    run(s, PASS_TURN, NULL);
    return;
  }
  s->v.step = isfinite(feasible) && feasible < 3e38 ? (float)feasible : 0;
  run(s, PASS_GO, NULL);
  run(s, PASS_EXPAND, NULL);
  gradient(s);
  restart(s);
}

/* Elements that want to leave their bound are let go, as far as the box allows. */
static void step_off_face(Solver *s) {
  Mprgp *problem = s->problem;
  double sums[SUMS];
  run(s, PASS_CHOP, NULL);
  problem->apply(problem->context, s->v.p, s->v.q);
  run(s, PASS_LINE, sums);
  double length = sums[SUM_PQ] > 0 ? sums[SUM_GP] / sums[SUM_PQ] : 1 / problem->norm;
  s->v.step = (float)fmin(length, longest_step(s));
  run(s, PASS_GO, NULL);
  restart(s);
}

static Status take_vectors(Mprgp *problem, Solver *s) {
  Core *core = problem->core;
  Scratch *scratch = problem->scratch;
  int64_t chunks = parallel_chunks(0, problem->count, VECTOR_CHUNK);
  TRY(scratch_take(core, scratch, &s->v.g, problem->count, "gradient"));
  TRY(scratch_take(core, scratch, &s->v.p, problem->count, "direction"));
  TRY(scratch_take(core, scratch, &s->v.q, problem->count, "direction"));
  TRY(scratch_take(core, scratch, &s->sums, chunks + 1, "sums"));
  TRY(scratch_take(core, scratch, &s->longest, chunks + 1, "sums"));
  if (!problem->precondition) return SCREE_OK;
  TRY(scratch_take(core, scratch, &s->r, problem->count, "preconditioned"));
  TRY(scratch_take(core, scratch, &s->v.z, problem->count, "preconditioned"));
  return scratch_take(core, scratch, &s->v.free, problem->count, "free elements");
}

/* How well the conditions of the solution hold. */
static void judge(const Solver *s) {
  Mprgp *problem = s->problem;
  double product = 0, size = 0;
  float most = 0;
  for (int64_t k = 0; k < problem->count; k++) {
    if (!(problem->lower[k] < problem->upper[k])) continue;
    float x = fabsf(problem->x[k]), g = s->v.g[k];
    product += (double)(x * fabsf(g));
    size += (double)x;
    if (problem->x[k] < problem->upper[k] && -g > most) most = -g;
  }
  problem->gap = size > 0 ? product / size : 0;
  problem->below = (double)most;
}

Status mprgp_solve(Mprgp *problem) {
  int mark = scratch_mark(problem->scratch);
  Solver s = {.problem = problem};
  s.v = (MprgpVectors){.x = problem->x, .lower = problem->lower, .upper = problem->upper};
  s.v.fixed = (float)(1.9 / problem->norm);
  Status status = take_vectors(problem, &s);
  problem->steps = 0;
  problem->residual = problem->gap = problem->below = 0;
  if (status == SCREE_OK && problem->count > 0 && problem->norm > 0) {
    double sums[SUMS];
    clamp(problem);
    gradient(&s);
    restart(&s);
    for (;; problem->steps++) {
      run(&s, PASS_MEASURE, sums);
      problem->residual = sqrt(sums[SUM_FREE] + sums[SUM_CHOPPED]);
      if (!(problem->residual > problem->tolerance) || problem->steps >= problem->most) break;
      if (sums[SUM_CHOPPED] <= PROPORTION * sums[SUM_REDUCED]) step_in_face(&s);
      else step_off_face(&s);
    }
    judge(&s);
  }
  scratch_release(problem->core, problem->scratch, mark);
  return status;
}
