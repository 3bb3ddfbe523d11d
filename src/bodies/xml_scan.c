#include "bodies/xml_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void xml_scan_begin(XmlScan *scan, Core *core, const char *file, const char *text, int64_t size) {
  *scan = (XmlScan){.core = core, .file = file, .at = text, .end = text + size, .line_begin = text, .line = 1};
}

Status xml_scan_wrong(const XmlScan *scan, const char *format, ...) {
  char said[SCREE_MESSAGE_MAX];
  va_list list;
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return fail_at(scan->core, SCREE_BAD_INPUT, scan->file, scan->place, "%s", said);
}

static void mark_place(XmlScan *scan) {
  scan->place = (ScreeSource){scan->line, (int)(scan->at - scan->line_begin) + 1};
}

static void step(XmlScan *scan) {
  if (*scan->at == '\n') {
    scan->line++;
    scan->line_begin = scan->at + 1;
  }
  scan->at++;
}

static bool starts(const XmlScan *scan, const char *word) {
  size_t length = strlen(word);
  return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void skip_space(XmlScan *scan) {
  while (scan->at < scan->end && is_space(*scan->at)) step(scan);
}

/* Goes behind the opening word and, from there, behind the closing one. */
static Status skip_past(XmlScan *scan, const char *opening, const char *word, const char *what) {
  scan->at += strlen(opening);
  while (scan->at < scan->end && !starts(scan, word)) step(scan);
  if (scan->at == scan->end) return xml_scan_wrong(scan, "%s is not closed", what);
  scan->at += strlen(word);
  return SCREE_OK;
}

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static Status read_name(XmlScan *scan) {
  mark_place(scan);
  const char *begin = scan->at;
  while (scan->at < scan->end && is_name(*scan->at)) scan->at++;
  if (scan->at == begin) return xml_scan_wrong(scan, "not well-formed XML: a name is missing");
  if (scan->at - begin >= XML_NAME_MAX) return xml_scan_wrong(scan, "not MJCF: a name is too long");
  memcpy(scan->name, begin, (size_t)(scan->at - begin));
  scan->name[scan->at - begin] = 0;
  return SCREE_OK;
}

Status xml_scan_attribute(XmlScan *scan, bool *found) {
  *found = false;
  if (!scan->in_tag) return SCREE_OK;
  skip_space(scan);
  mark_place(scan);
  if (starts(scan, "/>")) {
    scan->at += 2;
    scan->in_tag = false;
    scan->depth--;
    return SCREE_OK;
  }
  if (starts(scan, ">")) {
    scan->at++;
    scan->in_tag = false;
    return SCREE_OK;
  }
  TRY(read_name(scan));
  skip_space(scan);
  if (scan->at == scan->end || *scan->at != '=') return xml_scan_wrong(scan, "attribute '%s' has no value", scan->name);
  scan->at++;
  skip_space(scan);
  if (scan->at == scan->end || (*scan->at != '"' && *scan->at != '\''))
    return xml_scan_wrong(scan, "the value of attribute '%s' is not quoted", scan->name);
  char quote = *scan->at++;
  size_t length = 0;
  scan->value_cut = false;
  for (; scan->at < scan->end && *scan->at != quote; step(scan)) {
    if (length + 1 < XML_VALUE_MAX) scan->value[length++] = *scan->at;
    else scan->value_cut = true;
  }
  scan->value[length] = 0;
  if (scan->at == scan->end) return xml_scan_wrong(scan, "the value of attribute '%s' is not closed", scan->name);
  scan->at++;
  *found = true;
  return SCREE_OK;
}

/* Skips what stands at '<' and is no element; *element says that one begins here instead. */
static Status skip_markup(XmlScan *scan, bool *element) {
  *element = false;
  if (starts(scan, "<!--")) return skip_past(scan, "<!--", "-->", "comment");
  if (starts(scan, "<![CDATA[")) return skip_past(scan, "<![CDATA[", "]]>", "CDATA section");
  if (starts(scan, "<?")) return skip_past(scan, "<?", "?>", "declaration");
  if (starts(scan, "<!")) return xml_scan_wrong(scan, "document types are not read");
  if (starts(scan, "</")) {
    if (--scan->depth < 0) return xml_scan_wrong(scan, "not well-formed XML: an end without a beginning");
    return skip_past(scan, "</", ">", "end tag");
  }
  *element = true;
  return SCREE_OK;
}

Status xml_scan_element(XmlScan *scan, bool *found) {
  *found = false;
  for (bool more = true; more;) TRY(xml_scan_attribute(scan, &more));
  for (;;) {
    while (scan->at < scan->end && *scan->at != '<') step(scan);
    mark_place(scan);
    if (scan->at == scan->end) {
      return scan->depth == 0 ? SCREE_OK : xml_scan_wrong(scan, "not well-formed XML: the file ends inside an element");
    }
    bool element;
    TRY(skip_markup(scan, &element));
    if (element) break;
  }
  scan->at++;
  TRY(read_name(scan));
  if (++scan->depth > XML_DEPTH_MAX)
    return xml_scan_wrong(scan, "elements are nested deeper than %d levels", XML_DEPTH_MAX);
  scan->in_tag = true;
  *found = true;
  return SCREE_OK;
}
