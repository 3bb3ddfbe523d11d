#include "output/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(Base64 *base64) {
  const unsigned char *b = base64->bytes;
  char group[4] = {letters[b[0] >> 2], letters[(b[0] & 3) << 4 | b[1] >> 4], letters[(b[1] & 15) << 2 | b[2] >> 6],
                   letters[b[2] & 63]};
  for (int k = base64->waiting + 1; k < 4; k++) group[k] = '=';
  stream_write(base64->stream, group, 4);
  base64->waiting = 0;
}

void base64_put(Base64 *base64, const void *data, int64_t size) {
  const unsigned char *bytes = data;
  for (int64_t k = 0; k < size; k++) {
    base64->bytes[base64->waiting++] = bytes[k];
    if (base64->waiting == 3) put_group(base64);
  }
}

void base64_end(Base64 *base64) {
  if (base64->waiting == 0) return;
  for (int k = base64->waiting; k < 3; k++) base64->bytes[k] = 0;
  put_group(base64);
}

static int value_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  if (letter == '+') return 62;
  return letter == '/' ? 63 : -1;
}

int64_t base64_decode(const char *text, int64_t length, void *data, int64_t most) {
  unsigned char *bytes = data;
  int64_t written = 0;
  unsigned group = 0;
  int bits = 0;
  for (int64_t k = 0; k < length; k++) {
    if (text[k] == ' ' || text[k] == '\n' || text[k] == '\r' || text[k] == '\t') continue;
    int value = value_of(text[k]);
    if (value < 0) break;
    group = (group << 6 | (unsigned)value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    if (written == most) return -1;
    bytes[written++] = (unsigned char)(group >> bits);
  }
  return written;
}
