/* A world that runs in a thread of its own, beside whoever draws it. The drawing side asks for the newest frame (a
 * copy) and posts wishes; the world is only ever touched by its thread, between two frames. */
#ifndef VIEWER_SIMULATION_H
#define VIEWER_SIMULATION_H

#include "picture/scene_frame.h"

typedef struct Simulation Simulation;

typedef struct SimulationPlan {
  const ScreeSceneDef *definition; /* lives as long as the simulation */
  int32_t threads;
  const char *device; /* as ScreeWorldOptions has it */
  bool fine;          /* show the fine grains, where there are any */
  bool paused;        /* begin so */
  double speed;       /* simulated seconds a second at most; 0: as fast as it goes */
  uint64_t keys;      /* tells the meshes of one simulation from those of another */
} SimulationPlan;

enum { SIMULATION_NAME = 48, SIMULATION_LINES = 32, SIMULATION_CONTROLS = 16 };

typedef struct SimulationLine {
  char name[SIMULATION_NAME], unit[16];
  double value;
} SimulationLine;

typedef struct SimulationControl {
  char name[SIMULATION_NAME];
  double value, low, high;
} SimulationControl;

/* How it goes, as of the last frame. */
typedef struct SimulationReport {
  bool ready, paused, failed;
  const char *preparing;                            /* what is done before the first frame; NULL: not known yet */
  double prepared;                                  /* share of it, 0 to 1 */
  int32_t dropped;                                  /* bodies so far */
  char message[SCREE_MESSAGE_MAX + SCREE_FILE_MAX]; /* of a failure, or of a wish that could not be granted */
  double time, frame_ms;
  int64_t frame, steps, coarse, grains;
  uint64_t hash;             /* of the state when the simulation ended */
  double kinetic, potential; /* J, of the simulated particles */
  ScreeVec3 middle;          /* their centre of mass */
  ScreeVec3 tool_force;      /* of the grains on the bucket or blade, N; its name, or "" */
  char tool[SIMULATION_NAME];
  int32_t phase_count, probe_count, control_count;
  SimulationLine phases[SIMULATION_LINES]; /* ms per step in the last frame */
  SimulationLine probes[SIMULATION_LINES];
  SimulationControl controls[SIMULATION_CONTROLS];
} SimulationReport;

ScreeStatus simulation_start(const SimulationPlan *plan, Simulation **simulation, ScreeError *error);
/* Ends the thread after the frame it is at. The last report is given when wanted. */
void simulation_stop(Simulation *simulation, SimulationReport *report);

/* The newest frame; NULL as long as there is none. It stays as it is until the next call. */
const SceneFrame *simulation_frame(Simulation *simulation);
void simulation_report(Simulation *simulation, SimulationReport *report);

void simulation_pause(Simulation *simulation, bool paused);
void simulation_step(Simulation *simulation); /* one frame, also when paused */
void simulation_speed(Simulation *simulation, double speed);
void simulation_fine(Simulation *simulation, bool fine);
void simulation_impulse(Simulation *simulation, ScreeVec3 center, double radius, double speed);
/* X(constant, word): what can be dropped. */
#define SIMULATION_OBJECTS(X)                                                                                          \
  X(OBJECT_BALL, "ball")                                                                                               \
  X(OBJECT_BLOCK, "block")                                                                                             \
  X(OBJECT_ROLLER, "roller")
#define SIMULATION_OBJECT_CONSTANT(constant, word) constant,
typedef enum SimulationObject { SIMULATION_OBJECTS(SIMULATION_OBJECT_CONSTANT) OBJECT_COUNT } SimulationObject;
/* Puts another body into the world, `size` from side to side, and lets it fall from there. */
void simulation_drop(Simulation *simulation, SimulationObject object, ScreeVec3 from, double size, double density);
/* Whether frames carry the pressure. */
void simulation_pressure(Simulation *simulation, bool wanted);
void simulation_control(Simulation *simulation, int32_t control, double value); /* index into the report's controls */

#endif
