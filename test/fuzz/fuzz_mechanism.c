/* The first byte chooses: the text is a control file, or the XML of a mechanism for the scanner. Both must refuse or
 * accept without reading beyond the text; what the scanner accepts has as many ends as beginnings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies/controls.h"
#include "bodies/xml_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int32_t lookup(void *context, const char *name) {
  (void)context;
  return name[0] >= 'a' && name[0] <= 'z' && !name[1] ? name[0] - 'a' : -1;
}

static void try_controls(Core *core, const char *text, int64_t size) {
  Controls controls;
  if (controls_parse(core, "fuzz.csv", text, size, lookup, NULL, &controls) != SCREE_OK) return;
  for (int32_t k = 0; k < controls.column_count; k++)
    for (double time = -1; time < 2; time += 0.3)
      if (isnan(controls_value(&controls, k, time))) abort();
  controls_destroy(core, &controls);
}

static void try_scan(Core *core, const char *text, int64_t size) {
  XmlScan scan;
  xml_scan_begin(&scan, core, "fuzz.xml", text, size);
  for (;;) {
    bool found;
    if (xml_scan_element(&scan, &found) != SCREE_OK) return;
    if (!found) break;
    do
      if (xml_scan_attribute(&scan, &found) != SCREE_OK) return;
    while (found);
  }
  if (scan.depth != 0 || scan.at != scan.end) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  Core core = {0};
  memory_create(&core.memory, 0);
  /* an own block of exactly that size lets the sanitizer see every byte too far */
  char *text = malloc(size - 1 ? size - 1 : 1);
  memcpy(text, data + 1, size - 1);
  if (data[0] & 1) try_controls(&core, text, (int64_t)size - 1);
  else try_scan(&core, text, (int64_t)size - 1);
  free(text);
  if (core.memory.used != 0) abort();
  return 0;
}
