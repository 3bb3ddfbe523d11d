/* A font of strokes, drawn for this program, so that text needs neither files nor libraries and is sharp at any size.
 *
 * A glyph is a list of strokes, each a row of points on a grid: one digit to the right, one up. The baseline is at 2,
 * small letters reach to 6, capitals to 8, descenders to 0. A stroke of one point written twice is a dot. */
#include "render/image.h"

#include <math.h>
#include <string.h>

static const char *const text_glyphs[95] = {
    "",                                 /* blank */
    "0804 0202",                        /* ! */
    "0806 2826",                        /* " */
    "1218 3238 0646 0444",              /* # */
    "473818070615354443321203 2129",    /* $ */
    "0248 0708181707 3233434232",       /* % */
    "4216172837360403122244",           /* & */
    "0806",                             /* ' */
    "18070312",                         /* ( */
    "08171302",                         /* ) */
    "1317 0426 0624",                   /* * */
    "2327 0545",                        /* + */
    "1201",                             /* , */
    "0535",                             /* - */
    "0202",                             /* . */
    "0238",                             /* / */
    "120307183847433212",               /* 0 */
    "062822 0242",                      /* 1 */
    "07183847460242",                   /* 2 */
    "071838474635 15354443321203",      /* 3 */
    "32380444",                         /* 4 */
    "480805354443321203",               /* 5 */
    "38180703123243443505",             /* 6 */
    "084812",                           /* 7 */
    "15060718384746351504031232434435", /* 8 */
    "45150607183847433212",             /* 9 */
    "0202 0606",                        /* : */
    "1616 1201",                        /* ; */
    "370533",                           /* < */
    "0444 0646",                        /* = */
    "073503",                           /* > */
    "07183847462524 2222",              /* ? */
    "343626151424344447381807031242",   /* @ */
    "022842 1434",                      /* A */
    "02083847463505 3544433202",        /* B */
    "4738180703123243",                 /* C */
    "02083847433202",                   /* D */
    "48080242 0535",                    /* E */
    "480802 0535",                      /* F */
    "47381807031232434525",             /* G */
    "0208 4248 0545",                   /* H */
    "0802",                             /* I */
    "3833221203",                       /* J */
    "0208 4804 1542",                   /* K */
    "080242",                           /* L */
    "0208254842",                       /* M */
    "02084248",                         /* N */
    "120307183847433212",               /* O */
    "02083847463505",                   /* P */
    "120307183847433212 2442",          /* Q */
    "02083847463505 2542",              /* R */
    "473818070615354443321203",         /* S */
    "0848 2822",                        /* T */
    "080312324348",                     /* U */
    "082248",                           /* V */
    "0812263248",                       /* W */
    "0842 0248",                        /* X */
    "082548 2522",                      /* Y */
    "08480242",                         /* Z */
    "18080212",                         /* [ */
    "0832",                             /* \ */
    "08181202",                         /* ] */
    "062846",                           /* ^ */
    "0141",                             /* _ */
    "0817",                             /* ` */
    "4536160503123243 4642",            /* a */
    "0802 0516364543321203",            /* b */
    "4536160503123243",                 /* c */
    "4842 4536160503123243",            /* d */
    "044445361605031232",               /* e */
    "38281712 0636",                    /* f */
    "4536160503123243 4641301001",      /* g */
    "0802 0516364542",                  /* h */
    "0602 0808",                        /* i */
    "161100 1818",                      /* j */
    "0802 3604 1532",                   /* k */
    "080312",                           /* l */
    "0602 0516263532 3546566562",       /* m */
    "0602 0516364542",                  /* n */
    "120305163645433212",               /* o */
    "0600 0516364543321203",            /* p */
    "4640 4536160503123243",            /* q */
    "0602 051636",                      /* r */
    "45361605143443321203",             /* s */
    "18132232 0636",                    /* t */
    "0603123243 4642",                  /* u */
    "062246",                           /* v */
    "0612253246",                       /* w */
    "0642 0246",                        /* x */
    "0622 4610",                        /* y */
    "06460242",                         /* z */
    "28171605141322",                   /* { */
    "0900",                             /* | */
    "08171625141302",                   /* } */
    "05163445",                         /* ~ */
};

static const double text_unit = 1.0 / 6;     /* of the grid, in heights of a capital */
static const double text_half_stroke = 0.45; /* in units */

static const char *text_glyph(char c) {
  unsigned char k = (unsigned char)c;
  return k >= 32 && k < 127 ? text_glyphs[k - 32] : text_glyphs['?' - 32];
}

static double text_glyph_width(const char *glyph) {
  int width = *glyph ? 0 : 2;
  for (const char *at = glyph; *at; at++) {
    if (*at == ' ') continue;
    if (*at - '0' > width) width = *at - '0';
    at++; /* the second digit */
  }
  return width;
}

double text_width(double size, const char *text) {
  double units = 0;
  for (; *text; text++) units += text_glyph_width(text_glyph(*text)) + 2;
  return units > 0 ? (units - 2) * size * text_unit : 0;
}

/* Squared. */
static double text_segment_distance(double px, double py, const double a[2], const double b[2]) {
  double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
  double t = length2 > 0 ? ((px - a[0]) * dx + (py - a[1]) * dy) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  double x = px - a[0] - t * dx, y = py - a[1] - t * dy;
  return x * x + y * y;
}

/* Distance of a point, in units of the grid, to the strokes. */
static double text_distance(const char *glyph, double px, double py) {
  double nearest = 1e9;
  while (*glyph) {
    double last[2] = {glyph[0] - '0', glyph[1] - '0'};
    glyph += 2;
    while (*glyph && *glyph != ' ') {
      double next[2] = {glyph[0] - '0', glyph[1] - '0'};
      nearest = fmin(nearest, text_segment_distance(px, py, last, next));
      memcpy(last, next, sizeof last);
      glyph += 2;
    }
    if (*glyph == ' ') glyph++;
  }
  return sqrt(nearest);
}

static void text_blend(uint8_t *pixel, ImageColor color, double cover) {
  double alpha = cover * color.a / 255, under = pixel[3] / 255.0, result = alpha + under * (1 - alpha);
  if (result <= 0) return;
  const uint8_t from[3] = {color.r, color.g, color.b};
  for (int k = 0; k < 3; k++) pixel[k] = (uint8_t)((from[k] * alpha + pixel[k] * under * (1 - alpha)) / result + 0.5);
  pixel[3] = (uint8_t)(result * 255 + 0.5);
}

void text_draw(Image *image, double x, double y, double size, const char *text, ImageColor color) {
  double unit = size * text_unit, half = fmax(text_half_stroke, 0.55 / unit);
  for (; *text; text++) {
    const char *glyph = text_glyph(*text);
    double width = text_glyph_width(glyph);
    int x0 = (int)floor(x - unit), x1 = (int)ceil(x + (width + 1) * unit);
    int y0 = (int)floor(y - 8 * unit), y1 = (int)ceil(y + 3 * unit);
    for (int row = y0 < 0 ? 0 : y0; row < y1 && row < image->height; row++)
      for (int column = x0 < 0 ? 0 : x0; column < x1 && column < image->width; column++) {
        double distance = text_distance(glyph, (column + 0.5 - x) / unit, 2 - (row + 0.5 - y) / unit);
        double cover = (half - distance) * unit + 0.5;
        if (cover > 0)
          text_blend(&image->pixels[4 * ((size_t)row * (size_t)image->width + (size_t)column)], color,
                     cover > 1 ? 1 : cover);
      }
    x += (width + 2) * unit;
  }
}
