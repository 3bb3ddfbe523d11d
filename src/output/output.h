/* The output folder of a run: scene.yaml, frames, probes.csv, bodies.csv, checkpoint.scree, report.json.
 *
 *   output_create(&options, world, &output, &error)       the start (frame 0), or the checkpoint that it goes on from
 *   for each frame: scree_world_frame(...), output_frame(output, world, &error)
 *   output_checkpoint(output, world, &error), output_report(output, world, &error), output_destroy(output)
 *
 * All files but the two csv appear under their final name only when complete. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "output/particles_file.h"

typedef struct Output Output;

typedef struct OutputOptions {
  const char *folder; /* made when missing, with the folders above it */
  const char *report; /* a second copy of report.json; NULL: none */
  const char *scene;  /* short name, for the report */
  const char *source; /* the file that the scene was read from, which is not written over; NULL: none */
  FrameFormat format;
  unsigned columns; /* of compact frames */
  int32_t threads;  /* that make them; 0: one per core */
  bool resume;      /* the world was loaded from the folder's checkpoint: later results are cut off */
} OutputOptions;

/* Cheap and without a trace: would output_create get such a folder? For use before the world is made. */
ScreeStatus output_check(const char *folder, ScreeError *error);

/* A new run takes away what an earlier one left in the folder (files of the names above, no others), writes
 * scene.yaml and the start. A resumed run cuts the tables back and removes later frames. */
ScreeStatus output_create(const OutputOptions *options, const ScreeWorld *world, Output **output, ScreeError *error);
void output_destroy(Output *output);

/* What is done with a frame from here to output_frame, as drawing it, counts as output in the report. */
void output_begin(Output *output);
/* Writes the frame that has just been simulated. The time since the last call counts as the frame's. */
ScreeStatus output_frame(Output *output, const ScreeWorld *world, ScreeError *error);

ScreeStatus output_checkpoint(Output *output, const ScreeWorld *world, ScreeError *error);
/* Whether a checkpoint is worth its time: a while has passed since the last one, long against what it took. */
bool output_checkpoint_due(const Output *output);
/* FOLDER/checkpoint.scree; SCREE_BAD_INPUT when there is none. */
ScreeStatus output_find_checkpoint(const char *folder, char *path, size_t size, ScreeError *error);

ScreeStatus output_report(Output *output, const ScreeWorld *world, ScreeError *error);

/* How the run goes, by the wall clock, since output_create. */
typedef struct OutputProgress {
  int64_t frames; /* written by this process, without the start */
  double wall_seconds;
  double seconds_per_frame; /* median of the last few */
  const char *report;       /* where the report is or will be */
} OutputProgress;
void output_progress(const Output *output, OutputProgress *progress);

/* Points as a PLY file of the same columns: velocity and material zero, one radius, ids in order. */
ScreeStatus output_points(const char *path, const ScreeSamples *samples, double radius, ScreeError *error);
/* A text as a file that appears only when complete. */
ScreeStatus output_text(const char *path, const char *text, ScreeError *error);
/* Whether such a file could be written, for use before what it is to hold is worked out. */
ScreeStatus output_check_file(const char *path, ScreeError *error);
/* Makes a folder and those above it. */
ScreeStatus output_make_folder(const char *folder, ScreeError *error);
/* One frame in another format, as output_frame names it, with such columns where it is a compact one. */
ScreeStatus output_particles(const char *folder, const char *kind, int64_t number, FrameFormat format, unsigned columns,
                             const ScreeParticles *particles, double time, ScreeError *error);

#endif
