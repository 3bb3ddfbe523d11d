/* Base64, as XML files of VTK carry their arrays. */
#ifndef OUTPUT_BASE64_H
#define OUTPUT_BASE64_H

#include "output/stream.h"

/* Bytes go in by pieces of any size; three that are complete leave as four letters. */
typedef struct Base64 {
  Stream *stream;
  int waiting;
  unsigned char bytes[3];
} Base64;

void base64_put(Base64 *base64, const void *data, int64_t size);
void base64_end(Base64 *base64);

/* Decodes letters (blanks between them are skipped) until a letter that does not belong; writes at most `most` bytes.
 * Returns how many were written, or -1 when the text holds more or is not base64. */
int64_t base64_decode(const char *text, int64_t length, void *data, int64_t most);

#endif
