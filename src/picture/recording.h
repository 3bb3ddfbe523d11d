/* The output folder of a run, read back as frames to be drawn: grains from its files, bodies from bodies.csv, and what
 * they look like from its scene.yaml. */
#ifndef PICTURE_RECORDING_H
#define PICTURE_RECORDING_H

#include "picture/scene_frame.h"

typedef struct Recording Recording;

/* fine: the fine grains, where the run wrote any. SCREE_BAD_INPUT when the folder has no frames. */
ScreeStatus recording_open(const char *folder, bool fine, Recording **recording, ScreeError *error);
void recording_close(Recording *recording);

int64_t recording_count(const Recording *recording);
int64_t recording_number(const Recording *recording, int64_t k); /* of the k-th frame there is */
const ScreeSceneDef *recording_definition(const Recording *recording);
/* What its pictures lack because its scene.yaml, or a file that this names, cannot be read, and why; NULL: nothing. A
 * folder without scene.yaml is drawn as it is. */
const char *recording_missing(const Recording *recording, const ScreeError **trouble);

/* Name of a solid by its number (boundaries from 1, then the bodies of bodies.csv); "" where it has none. */
const char *recording_solid_name(const Recording *recording, int32_t number);
/* Its solids alone, without reading a file of particles: where they are in the k-th frame. */
SceneFrame *recording_pose(Recording *recording, int64_t k);
/* The k-th frame there is; good until the next read. */
ScreeStatus recording_read(Recording *recording, int64_t k, SceneFrame **scene, ScreeError *error);
/* What compact frames may be without: whether the frame that was read last has it. */
bool recording_has_velocity(const Recording *recording);
bool recording_has_id(const Recording *recording);

#endif
