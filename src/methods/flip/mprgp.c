#include "methods/flip/mprgp.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/grid.h"
#include "methods/flip/mprgp_kernels.h"

enum { BLOCK_CHUNK = 64 };

/* How much larger than the free gradient the chopped one may be before the face is left (Gamma^2). */
#define PROPORTION 1.0

typedef enum Pass {
  PASS_CLAMP,
  PASS_GRADIENT,
  PASS_LINE,
  PASS_GO,
  PASS_CONJUGATE,
  PASS_TURN,
  PASS_CHOP,
  PASS_EXPAND,
  PASS_JUDGE
} Pass;

typedef struct Solver {
  Mprgp *problem;
  MprgpVectors v;
  Pass pass;
  double (*sums)[SUMS]; /* per chunk */
  float *extreme;       /* per chunk: longest feasible step, or largest compression */
  double measured[SUMS];
} Solver;

static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Solver *s = context;
  const Core *core = s->problem->core;
  double *sums = s->sums[b / BLOCK_CHUNK];
  float *extreme = &s->extreme[b / BLOCK_CHUNK];
  switch (s->pass) {
  case PASS_CLAMP: KERNEL_CALL(core, mprgp_clamp)(&s->v, b, e); break;
  case PASS_GRADIENT: KERNEL_CALL(core, mprgp_gradient)(&s->v, b, e, sums); break;
  case PASS_LINE: *extreme = KERNEL_CALL(core, mprgp_line)(&s->v, b, e, sums); break;
  case PASS_GO: KERNEL_CALL(core, mprgp_go)(&s->v, b, e, sums); break;
  case PASS_CONJUGATE: KERNEL_CALL(core, mprgp_conjugate)(&s->v, b, e, sums); break;
  case PASS_TURN: KERNEL_CALL(core, mprgp_turn)(&s->v, b, e); break;
  case PASS_CHOP: KERNEL_CALL(core, mprgp_chop)(&s->v, b, e); break;
  case PASS_EXPAND: KERNEL_CALL(core, mprgp_expand)(&s->v, b, e); break;
  case PASS_JUDGE: *extreme = KERNEL_CALL(core, mprgp_judge)(&s->v, b, e, sums); break;
  }
}

/* Runs a pass; `total` gets its sums, in the order of the chunks. */
static void run(Solver *s, Pass pass, double total[SUMS]) {
  int64_t chunks = parallel_chunks(0, s->problem->block_count, BLOCK_CHUNK);
  s->pass = pass;
  memset(s->sums, 0, sizeof *s->sums * (size_t)chunks);
  parallel_for(s->problem->core, 0, s->problem->block_count, BLOCK_CHUNK, pass_chunk, s);
  for (int k = 0; total && k < SUMS; k++) total[k] = 0;
  for (int64_t c = 0; total && c < chunks; c++)
    for (int k = 0; k < SUMS; k++) total[k] += s->sums[c][k];
}

static double longest_step(const Solver *s) {
  double least = INFINITY;
  int64_t chunks = parallel_chunks(0, s->problem->block_count, BLOCK_CHUNK);
  for (int64_t c = 0; c < chunks; c++) least = fmin(least, (double)s->extreme[c]);
  return least;
}

/* g = A x + b, afresh. */
static void gradient(Solver *s) {
  Mprgp *problem = s->problem;
  problem->apply(problem->context, problem->x, s->v.g);
  run(s, PASS_GRADIENT, s->measured);
}

/* z = M^-1 (free gradient), where there is a preconditioner. */
static void precondition(Solver *s) {
  Mprgp *problem = s->problem;
  if (problem->precondition) problem->precondition(problem->context, s->v.r, s->v.free, s->v.z);
}

/* p = z: conjugate gradients begin anew on this face. */
static void restart(Solver *s) {
  precondition(s);
  s->v.step = 0;
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
    run(s, PASS_GO, s->measured);
    precondition(s);
    run(s, PASS_CONJUGATE, sums);
    s->v.step = (float)(sums[SUM_FQ] / pq);
    run(s, PASS_TURN, NULL);
    return;
  }
  s->v.step = isfinite(feasible) && feasible < 3e38 ? (float)feasible : 0;
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
  run(s, PASS_GO, s->measured);
  restart(s);
}

/* Operators look at the neighbours of unknown elements: what they read there is 0. */
static Status take_clear(Mprgp *problem, float **to, const char *what) {
  TRY(scratch_take(problem->core, problem->scratch, to, problem->count, what));
  grid_clear(problem->core, *to, problem->count);
  return SCREE_OK;
}

static Status take_vectors(Mprgp *problem, Solver *s) {
  Core *core = problem->core;
  Scratch *scratch = problem->scratch;
  int64_t chunks = parallel_chunks(0, problem->block_count, BLOCK_CHUNK);
  TRY(scratch_take(core, scratch, &s->v.g, problem->count, "gradient"));
  TRY(take_clear(problem, &s->v.p, "direction"));
  TRY(scratch_take(core, scratch, &s->v.q, problem->count, "direction"));
  TRY(scratch_take(core, scratch, &s->sums, chunks + 1, "sums"));
  TRY(scratch_take(core, scratch, &s->extreme, chunks + 1, "sums"));
  if (!problem->precondition) return SCREE_OK;
  TRY(take_clear(problem, &s->v.r, "preconditioned"));
  TRY(scratch_take(core, scratch, &s->v.z, problem->count, "preconditioned"));
  return scratch_take(core, scratch, &s->v.free, problem->count, "free elements");
}

/* How well the conditions of the solution hold. */
static void judge(Solver *s) {
  Mprgp *problem = s->problem;
  double sums[SUMS];
  run(s, PASS_JUDGE, sums);
  problem->gap = sums[SUM_SIZE] > 0 ? sums[SUM_GAP] / sums[SUM_SIZE] : 0;
  int64_t chunks = parallel_chunks(0, problem->block_count, BLOCK_CHUNK);
  for (int64_t c = 0; c < chunks; c++) problem->below = fmax(problem->below, (double)s->extreme[c]);
}

Status mprgp_solve(Mprgp *problem) {
  int mark = scratch_mark(problem->scratch);
  Solver s = {.problem = problem};
  s.v = (MprgpVectors){
      .blocks = problem->blocks, .x = problem->x, .lower = problem->lower, .upper = problem->upper, .b = problem->b};
  s.v.fixed = (float)(1.9 / problem->norm);
  Status status = take_vectors(problem, &s);
  problem->steps = 0;
  problem->residual = problem->gap = problem->below = 0;
  if (status == SCREE_OK && problem->block_count > 0 && problem->norm > 0) {
    const double *sums = s.measured;
    run(&s, PASS_CLAMP, NULL);
    gradient(&s);
    for (;; problem->steps++) {
      problem->residual = sqrt(sums[SUM_FREE] + sums[SUM_CHOPPED]);
      if (!(problem->residual > problem->tolerance) || problem->steps >= problem->most) break;
      if (problem->steps == 0) restart(&s);
      if (sums[SUM_CHOPPED] <= PROPORTION * sums[SUM_REDUCED]) step_in_face(&s);
      else step_off_face(&s);
    }
    judge(&s);
  }
  scratch_release(problem->core, problem->scratch, mark);
  return status;
}
