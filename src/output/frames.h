/* Reading frames back: which ones a folder holds, and the particles of one. Files may be damaged or lie. */
#ifndef OUTPUT_FRAMES_H
#define OUTPUT_FRAMES_H

#include "output/particles_file.h"

/* The frames of one kind ("coarse", "grains") in a folder, by number; where a frame is there in several formats, PLY
 * comes before VTP before compact. */
typedef struct Frames Frames;

ScreeStatus frames_open(const char *folder, const char *kind, Frames **frames, ScreeError *error);
void frames_close(Frames *frames);

int64_t frames_count(const Frames *frames);
/* Number, format and path of the k-th frame there is, k from 0. */
int64_t frames_number(const Frames *frames, int64_t k);
FrameFormat frames_format(const Frames *frames, int64_t k);
const char *frames_path(Frames *frames, int64_t k);

/* The k-th frame; the view is good until the next read or close. time may be NULL; NaN where the file does not say. */
ScreeStatus frames_read(Frames *frames, int64_t k, ScreeParticles *particles, double *time, ScreeError *error);

/* Of the frame that was read last: FRAME_VELOCITY, FRAME_ID. Velocities that a file does not have are zero, ids are the
 * places in the file. */
unsigned frames_columns(const Frames *frames);

/* Whether `name` is that of a frame file: `<kind>_<six digits or more>.<format>`. */
bool frame_name_parse(const char *name, const char *kind, int64_t *number, FrameFormat *format);
/* FOLDER/<kind>_<number>.<ending> */
void frame_name_write(char *path, size_t size, const char *folder, const char *kind, int64_t number,
                      FrameFormat format);

#endif
