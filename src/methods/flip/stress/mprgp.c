#include "methods/flip/stress/mprgp.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "methods/flip/grid/grid.h"
#include "methods/flip/stress/mprgp_kernels.h"

enum { BLOCK_CHUNK = 64 };

/* How much larger than the free gradient the chopped one may be before the face is left (Gamma^2). */
#define PROPORTION 1.0

/* Bold steps without a smaller residual after which the rest is done as published. */
enum { PATIENCE = 20 };

typedef enum Pass {
  PASS_CLAMP,
  PASS_MEASURE,
  PASS_GRADIENT,
  PASS_LINE,
  PASS_GO,
  PASS_HALF,
  PASS_DIRECTION,
  PASS_TURN,
  PASS_CHOP,
  PASS_EXPAND,
  PASS_JUDGE
} Pass;

typedef struct Solver {
  Mprgp *problem;
  MprgpVectors v;
  float *half; /* of the preconditioner */
  Pass pass;
  double (*sums)[SUMS]; /* per chunk */
  float *extreme;       /* per chunk: longest feasible step, whether a bound was met, or largest compression */
  double measured[SUMS];
  bool fresh; /* p is the gradient, not yet made conjugate to another */
} Solver;

/* z = M^-1 (free gradient) and its product with q. */
static void direction_chunk(const Solver *s, int64_t b, int64_t e, double *sums) {
  const Mprgp *problem = s->problem;
  if (problem->precondition) problem->precondition(problem->context, 1, s->half, s->v.free, s->v.z, b, e);
  KERNEL_CALL(problem->core, mprgp_conjugate)(&s->v, b, e, sums);
}

static void gradient_chunk(const Solver *s, int64_t b, int64_t e, double *sums) {
  const Mprgp *problem = s->problem;
  problem->apply(problem->context, s->v.x, s->v.g, b, e);
  KERNEL_CALL(problem->core, mprgp_add)(&s->v, b, e);
  if (!problem->couple) KERNEL_CALL(problem->core, mprgp_measure)(&s->v, b, e, sums);
}

static void pass_chunk(void *context, int64_t b, int64_t e, int thread) {
  (void)thread;
  Solver *s = context;
  Mprgp *problem = s->problem;
  const Core *core = problem->core;
  double *sums = s->sums[b / BLOCK_CHUNK];
  float *extreme = &s->extreme[b / BLOCK_CHUNK];
  switch (s->pass) {
  case PASS_CLAMP: KERNEL_CALL(core, mprgp_clamp)(&s->v, b, e); break;
  case PASS_MEASURE: KERNEL_CALL(core, mprgp_measure)(&s->v, b, e, sums); break;
  case PASS_GRADIENT: gradient_chunk(s, b, e, sums); break;
  case PASS_LINE:
    problem->apply(problem->context, s->v.p, s->v.q, b, e);
    *extreme = KERNEL_CALL(core, mprgp_line)(&s->v, b, e, sums);
    break;
  case PASS_GO: *extreme = KERNEL_CALL(core, mprgp_go)(&s->v, b, e, sums) ? 1 : 0; break;
  case PASS_HALF: problem->precondition(problem->context, 0, s->v.g, s->v.free, s->half, b, e); break;
  case PASS_DIRECTION: direction_chunk(s, b, e, sums); break;
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

static double largest_extreme(const Solver *s) {
  double most = 0;
  int64_t chunks = parallel_chunks(0, s->problem->block_count, BLOCK_CHUNK);
  for (int64_t c = 0; c < chunks; c++) most = fmax(most, (double)s->extreme[c]);
  return most;
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
  run(s, PASS_GRADIENT, s->measured);
  if (!problem->couple) return;
  problem->couple(problem->context, s->v.x, s->v.g);
  run(s, PASS_MEASURE, s->measured);
}

/* q = A p; sums has p q and g p. */
static void line(Solver *s, double sums[SUMS]) {
  run(s, PASS_LINE, sums);
  if (s->problem->couple) sums[SUM_PQ] += s->problem->couple(s->problem->context, s->v.p, s->v.q);
}

/* p = the preconditioned gradient of the free elements, conjugate to what p was where `pq` is not 0. */
static void turn(Solver *s, double pq) {
  double sums[SUMS] = {0};
  if (s->problem->precondition) run(s, PASS_HALF, NULL);
  if (s->problem->precondition || pq > 0) run(s, PASS_DIRECTION, sums);
  s->v.step = pq > 0 ? (float)(sums[SUM_ZQ] / pq) : 0;
  s->fresh = s->v.step == 0;
  run(s, PASS_TURN, NULL);
}

/* A step of conjugate gradients on the free elements, projected. Returns whether there was one to take. */
static bool step_boldly(Solver *s) {
  double sums[SUMS];
  line(s, sums);
  if (!(sums[SUM_PQ] > 0) || !(sums[SUM_GP] > 0)) {
    if (s->fresh) return false;
    turn(s, 0);
    return true;
  }
  s->v.step = (float)(sums[SUM_GP] / sums[SUM_PQ]);
  run(s, PASS_GO, s->measured);
  if (largest_extreme(s) > 0) gradient(s);
  turn(s, sums[SUM_PQ]);
  return true;
}

/* A step of conjugate gradients on the face; where it would leave the box, only as far as that, and then a projected
 * step of fixed length. */
static void step_in_face(Solver *s) {
  double sums[SUMS];
  line(s, sums);
  double pq = sums[SUM_PQ], gp = sums[SUM_GP], feasible = longest_step(s);
  double cg = pq > 0 ? gp / pq : INFINITY;
  if (cg <= feasible) {
    s->v.step = (float)cg;
    run(s, PASS_GO, s->measured);
    turn(s, pq);
    return;
  }
  s->v.step = isfinite(feasible) && feasible < 3e38 ? (float)feasible : 0;
  run(s, PASS_EXPAND, NULL);
  gradient(s);
  turn(s, 0);
}

/* Elements that want to leave their bound are let go, as far as the box allows. */
static void step_off_face(Solver *s) {
  double sums[SUMS];
  run(s, PASS_CHOP, NULL);
  line(s, sums);
  double length = sums[SUM_PQ] > 0 ? sums[SUM_GP] / sums[SUM_PQ] : 1 / s->problem->norm;
  s->v.step = (float)fmin(length, longest_step(s));
  run(s, PASS_GO, s->measured);
  turn(s, 0);
}

/* From here on as published: elements at their bounds are not free. */
static void become_cautious(Solver *s) {
  s->v.cautious = true;
  gradient(s);
  turn(s, 0);
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
  TRY(scratch_take(core, scratch, &s->v.free, problem->count / LANES, "free elements"));
  memset(s->v.free, 0, (size_t)(problem->count / LANES));
  TRY(scratch_take(core, scratch, &s->sums, chunks + 1, "sums"));
  TRY(scratch_take(core, scratch, &s->extreme, chunks + 1, "sums"));
  if (!problem->precondition) return SCREE_OK;
  TRY(take_clear(problem, &s->half, "preconditioned"));
  return scratch_take(core, scratch, &s->v.z, problem->count, "preconditioned");
}

/* How well the conditions of the solution hold. */
static void judge(Solver *s) {
  Mprgp *problem = s->problem;
  double sums[SUMS];
  run(s, PASS_JUDGE, sums);
  problem->gap = sums[SUM_SIZE] > 0 ? sums[SUM_GAP] / sums[SUM_SIZE] : 0;
  problem->below = largest_extreme(s);
}

static void iterate(Solver *s) {
  Mprgp *problem = s->problem;
  const double *sums = s->measured;
  double best = INFINITY;
  int since = 0;
  run(s, PASS_CLAMP, NULL);
  gradient(s);
  for (;; problem->steps++) {
    problem->residual = sqrt(sums[SUM_FREE] + sums[SUM_CHOPPED]);
    if (!(problem->residual > problem->tolerance) || problem->steps >= problem->most) return;
    if (problem->steps == 0) turn(s, 0);
    since = problem->residual < best ? 0 : since + 1;
    best = fmin(best, problem->residual);
    if (!s->v.cautious && since <= PATIENCE && step_boldly(s)) continue;
    if (!s->v.cautious) become_cautious(s);
    if (sums[SUM_CHOPPED] <= PROPORTION * sums[SUM_REDUCED]) step_in_face(s);
    else step_off_face(s);
  }
}

Status mprgp_solve(Mprgp *problem) {
  int mark = scratch_mark(problem->scratch);
  Solver s = {.problem = problem};
  s.v = (MprgpVectors){
      .blocks = problem->blocks, .x = problem->x, .lower = problem->lower, .upper = problem->upper, .b = problem->b};
  s.v.fixed = (float)(1.9 / problem->norm);
  s.v.cautious = problem->cautious;
  Status status = take_vectors(problem, &s);
  problem->steps = 0;
  problem->residual = problem->gap = problem->below = 0;
  if (status == SCREE_OK && problem->block_count > 0 && problem->norm > 0) {
    iterate(&s);
    judge(&s);
  }
  scratch_release(problem->core, problem->scratch, mark);
  return status;
}
