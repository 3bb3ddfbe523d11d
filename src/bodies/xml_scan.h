/* A scanner for the tags and attributes of an XML file, strict where a lenient one could be fooled: document types,
 * entities in values that matter, and anything not well-formed are errors with line and column. It builds no tree. */
#ifndef BODIES_XML_SCAN_H
#define BODIES_XML_SCAN_H

#include "core/core.h"

enum { XML_NAME_MAX = 64, XML_VALUE_MAX = 512, XML_DEPTH_MAX = 64 };

typedef struct XmlScan {
  Core *core;
  const char *file; /* for messages */
  const char *at, *end;
  const char *line_begin;
  int line;
  int depth;
  /* of the tag or attribute last read */
  char name[XML_NAME_MAX];
  char value[XML_VALUE_MAX]; /* raw; cut when longer, then value_cut */
  bool value_cut;
  ScreeSource place;
  bool in_tag; /* between the name of an element and its '>' */
} XmlScan;

/* The text must be free of NUL bytes. */
void xml_scan_begin(XmlScan *scan, Core *core, const char *file, const char *text, int64_t size);
/* Goes to the next element (not its end) and reads its name; *found is false at the end of the file. Attributes that
 * were not read are skipped. */
Status xml_scan_element(XmlScan *scan, bool *found);
/* Reads the next attribute of the element; *found is false when there is none. */
Status xml_scan_attribute(XmlScan *scan, bool *found);
Status xml_scan_wrong(const XmlScan *scan, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
