#include "output/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

NumberText number_csv(double value) {
  NumberText number;
  if (isnan(value)) {
    snprintf(number.text, sizeof number.text, "nan"); /* never -nan: its sign has no meaning */
    return number;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(number.text, sizeof number.text, "%.*g", digits, value);
    if (strtod(number.text, NULL) == value) break;
  }
  return number;
}

NumberText number_json(double value) {
  NumberText number = {"null"};
  return isfinite(value) ? number_csv(value) : number;
}
