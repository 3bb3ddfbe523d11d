/* Plain types shared by every public header: status, error, vectors, ids. */
#ifndef SCREE_TYPES_H
#define SCREE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SCREE_API
#else
#define SCREE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. Anything but SCREE_OK leaves the objects it was given usable (or untouched). */
typedef enum ScreeStatus {
  SCREE_OK = 0,
  SCREE_FAILED,       /* the simulation failed: a blow-up, a solve that cannot go on */
  SCREE_NO_MEMORY,    /* an allocation failed or would not fit the machine */
  SCREE_BAD_ARGUMENT, /* the caller broke the rules of the function */
  SCREE_BAD_INPUT,    /* a scene, mesh, checkpoint or other file is wrong */
  SCREE_CANNOT_WRITE, /* an output could not be written */
  SCREE_INTERRUPTED   /* the caller asked to stop */
} ScreeStatus;

enum { SCREE_FILE_MAX = 512, SCREE_MESSAGE_MAX = 512 };

/* The whole story of a failure. line and column count from 1; 0 means that they have no meaning. */
typedef struct ScreeError {
  ScreeStatus status;
  int line;
  int column;
  char file[SCREE_FILE_MAX];
  char message[SCREE_MESSAGE_MAX];
} ScreeError;

/* The conventional exit code of a status: 0, 1 (failed), 2 (bad input), 3 (cannot write), 130 (interrupted). */
SCREE_API int scree_exit_code(ScreeStatus status);

/* Writes `file:line:column: error: message` (the parts that are known) into text; returns text. */
SCREE_API char *scree_error_line(const ScreeError *error, char *text, size_t size);

typedef struct ScreeVec2 {
  double x, y;
} ScreeVec2;

typedef struct ScreeVec3 {
  double x, y, z;
} ScreeVec3;

/* A unit quaternion, w first. */
typedef struct ScreeQuat {
  double w, x, y, z;
} ScreeQuat;

/* Where in the scene file a definition stands; zeros when it was made by a program. */
typedef struct ScreeSource {
  int line, column;
} ScreeSource;

/* Handles are 1-based; 0 is null. */
typedef int32_t ScreeBodyId;
typedef int32_t ScreeProbeId;
typedef int32_t ScreeControlId;
typedef int32_t ScreeEmitterId;

/* Real numbers whose default is `auto` hold a NaN until somebody sets them. */
static inline bool scree_is_auto(double value) { return value != value; }

/* "0.1.0". */
SCREE_API const char *scree_version(void);

#ifdef __cplusplus
}
#endif
#endif
