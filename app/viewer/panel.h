/* The controls of the window, made with Dear ImGui. Everything that the panel shows comes in through one struct, and
 * everything that was wished goes out through it, so that nothing else needs C++. */
#ifndef VIEWER_PANEL_H
#define VIEWER_PANEL_H

#include "app/viewer/simulation.h"

struct GLFWwindow;

/* The last few hundred frames, oldest first at `begin`. */
enum { HISTORY_LENGTH = 240 };
typedef struct History {
  int count, begin;
  float frame_ms[HISTORY_LENGTH], draw_ms[HISTORY_LENGTH], kinetic[HISTORY_LENGTH], potential[HISTORY_LENGTH];
  float tool[HISTORY_LENGTH];
  float phases[SIMULATION_LINES][HISTORY_LENGTH], probes[SIMULATION_LINES][HISTORY_LENGTH];
} History;

/* Changes of the scene as `--set path=value`, applied when the simulation starts anew. */
enum { EDITS_MOST = 200, EDIT_TEXT = 120 };
typedef struct Edits {
  int count;
  char paths[EDITS_MOST][EDIT_TEXT], values[EDITS_MOST][EDIT_TEXT];
} Edits;

typedef struct PanelScenes {
  int count;
  char (*names)[EDIT_TEXT];
} PanelScenes;

typedef struct Panel {
  /* shown */
  const ScreeSceneDef *definition;
  const SimulationReport *report;
  const History *history;
  const PanelScenes *scenes;
  const char *scene_name, *message;
  double draw_ms;
  bool recording;
  /* shown and changed */
  RenderSettings *settings;
  Edits *edits;
  double speed; /* 0: as fast as it goes */
  bool paused, fine;
  bool half; /* resolution */
  double blast_radius, blast_speed;
  int drop_object; /* SimulationObject */
  double drop_size, drop_density;
  /* wished */
  bool wants_reset, wants_step, wants_record, wants_picture, wants_home, wants_blast, wants_drop;
  int wants_scene;          /* index, or -1 */
  const char *wants_method; /* or NULL */
  int control;              /* index of a control that was moved, or -1 */
  double control_value;
} Panel;

bool panel_create(struct GLFWwindow *window);
void panel_destroy(void);
/* Draws over what is in the window. */
void panel_draw(Panel *panel);
bool panel_takes_mouse(void);
bool panel_takes_keys(void);

#endif
