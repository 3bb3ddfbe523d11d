/* The world beside the window, in its thread: wishes come from another while it runs. */
#include <time.h>

#include "app/viewer/simulation.h"
#include "core/timer.h"
#include "everything_fixture.h"
#include "world_fixture.h"

#define PATIENCE 400.0 /* s: what takes longer hangs */
/* With sanitizers a small world is enough: what matters is who touches it when. */
#define ACROSS (SANITIZED ? 3 : 4)
enum { WISHES = SANITIZED ? 5 : 12, KINDS = SANITIZED ? 1 : 3, THREADS = SANITIZED ? 1 : 2 };

static void wait_a_little(void) {
  struct timespec pause = {0, 2000000};
  nanosleep(&pause, NULL);
}

/* Looks as the window does until the simulation is so far. */
static SimulationReport look_until(Simulation *simulation, int64_t frame) {
  SimulationReport report;
  double began = timer_now();
  for (;;) {
    const SceneFrame *seen = simulation_frame(simulation);
    simulation_report(simulation, &report);
    assert_false(report.failed);
    if (seen && report.ready && report.frame >= frame) return report;
    assert_true(timer_now() - began < PATIENCE);
    wait_a_little();
  }
}

static void wishes_reach_a_running_world(void **unused) {
  (void)unused;
  static const int kinds[] = {EVERYTHING_PBD, EVERYTHING_DEM, EVERYTHING_POINTS};
  for (int k = 0; k < KINDS; k++) {
    Everything e;
    everything(&e, kinds[k], 0.12, ACROSS, "");
    SimulationPlan plan = {.definition = &e.scene, .threads = THREADS, .fine = true, .keys = 1};
    Simulation *simulation = NULL;
    ScreeError error;
    assert_done(simulation_start(&plan, &simulation, &error));
    SimulationReport report = look_until(simulation, 1);
    assert_true(report.coarse > 0);
    for (int wish = 0; wish < WISHES; wish++) {
      simulation_impulse(simulation, (ScreeVec3){0, 0, 0.05}, 0.05, 0.5);
      simulation_fine(simulation, wish % 2 == 0);
      simulation_pressure(simulation, wish % 3 == 0);
      simulation_speed(simulation, wish % 2 ? 0 : 1);
      if (wish % 4 == 0) simulation_drop(simulation, OBJECT_BALL, (ScreeVec3){0, 0, 0.5}, 0.05, 2000);
      report = look_until(simulation, report.frame + 1);
    }
    report = look_until(simulation, report.frame + 2); /* the frame after the last wish may have begun before it */
    assert_int_equal(report.dropped, (WISHES + 3) / 4);
    simulation_pause(simulation, true);
    do {
      simulation_report(simulation, &report);
      wait_a_little();
    } while (!report.paused);
    simulation_step(simulation);
    report = look_until(simulation, report.frame + 1);
    simulation_stop(simulation, &report);
    assert_true(report.hash != 0);
  }
}

/* The window may be closed while the world is still being made, or in the middle of a frame. */
static void it_can_be_stopped_at_any_time(void **unused) {
  (void)unused;
  for (int k = 0; k < 6; k++) {
    Everything e;
    everything(&e, EVERYTHING_PBD, 0.12, ACROSS, "");
    SimulationPlan plan = {.definition = &e.scene, .threads = THREADS, .fine = true, .keys = 1};
    Simulation *simulation = NULL;
    ScreeError error;
    assert_done(simulation_start(&plan, &simulation, &error));
    for (int wait = 0; wait < 3 * k; wait++) wait_a_little();
    simulation_stop(simulation, NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wishes_reach_a_running_world),
      cmocka_unit_test(it_can_be_stopped_at_any_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
