/* A law as a picture: on the left the lines of its runs, on the right where the measured numbers lie in their bands. */
#ifndef VALIDATE_PLOT_H
#define VALIDATE_PLOT_H

#include "app/validate/report.h"

/* Writes FOLDER/<law>.png. */
ScreeStatus plot_law(const Report *report, const Law *law, ScreeError *error);

#endif
