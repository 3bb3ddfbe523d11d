/* Pictures by their properties: what is covered, what is hidden, what colours say, and that nothing is changed. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/rng.h"
#include "render/film.h"
#include "render/internal.h"

typedef struct Studio {
  RenderContext *context;
  Renderer *renderer;
  RenderSettings settings;
  Camera camera;
  Image image;
} Studio;

enum { GRAINS_MAX = 60000 };
typedef struct Heap {
  float x[GRAINS_MAX], y[GRAINS_MAX], z[GRAINS_MAX], v[GRAINS_MAX], radius[GRAINS_MAX];
  uint32_t id[GRAINS_MAX];
  uint8_t material[GRAINS_MAX];
  RenderMaterial materials[2];
  RenderFrame frame;
} Heap;

static void must(ScreeStatus status, const ScreeError *error) {
  if (status == SCREE_OK) return;
  print_error("%s\n", error->message);
  _fail(__FILE__, __LINE__);
}

static Studio studio_open(RenderApi api, int32_t threads) {
  Studio studio = {.settings = render_settings_default(), .camera = {{0, -10, 0}, {0, 0, 0}, 40}};
  ScreeError error;
  must(render_context_create(api, &studio.context, &error), &error);
  must(renderer_create(render_context_loader(studio.context), threads, &studio.renderer, &error), &error);
  studio.settings.width = 400;
  studio.settings.height = 300;
  studio.settings.shadows = studio.settings.occlusion = studio.settings.legend = false;
  studio.settings.antialias = RENDER_PLAIN;
  return studio;
}

static void studio_close(Studio *studio) {
  image_destroy(&studio->image);
  renderer_destroy(studio->renderer);
  render_context_destroy(studio->context);
}

static void studio_draw(Studio *studio, const RenderFrame *frame) {
  ScreeError error;
  must(renderer_draw(studio->renderer, frame, &studio->camera, &studio->settings, &error), &error);
  must(renderer_read(studio->renderer, &studio->image, &error), &error);
}

static Heap *heap_new(void) {
  Heap *heap = calloc(1, sizeof *heap);
  heap->materials[0] = (RenderMaterial){{1, 0, 0}, 2600};
  heap->materials[1] = (RenderMaterial){{0, 0, 1}, 2600};
  heap->frame = (RenderFrame){.grains = {.x = heap->x,
                                         .y = heap->y,
                                         .z = heap->z,
                                         .vx = heap->v,
                                         .vy = heap->v,
                                         .vz = heap->v,
                                         .radius = heap->radius,
                                         .id = heap->id,
                                         .material = heap->material},
                              .gravity = 9.81,
                              .material_count = 2,
                              .materials = heap->materials};
  return heap;
}

static void heap_add(Heap *heap, Vec3 at, double radius, uint8_t material) {
  int64_t i = heap->frame.grains.count++;
  heap->x[i] = (float)at.x;
  heap->y[i] = (float)at.y;
  heap->z[i] = (float)at.z;
  heap->radius[i] = (float)radius;
  heap->id[i] = (uint32_t)i;
  heap->material[i] = material;
}

static double heap_random(uint64_t i, uint64_t k) { return rng_unit(rng_bits(7, i, k, RNG_TEST)); }

static void heap_pile(Heap *heap, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    double angle = 6.2831853 * heap_random((uint64_t)i, 1), r = sqrt(heap_random((uint64_t)i, 2));
    heap_add(heap, vec3(r * cos(angle), r * sin(angle), (1 - r) * heap_random((uint64_t)i, 3)),
             0.02 * (0.7 + 0.6 * heap_random((uint64_t)i, 4)), (uint8_t)(i & 1));
    heap->v[i] = (float)heap_random((uint64_t)i, 5);
  }
}

/* Pixels that are red rather than grey, and where their middle is. */
static int64_t count_red(const Image *image, double *x, double *y, int64_t *blue) {
  int64_t count = 0;
  *x = *y = 0;
  if (blue) *blue = 0;
  for (int row = 0; row < image->height; row++)
    for (int column = 0; column < image->width; column++) {
      const uint8_t *p = &image->pixels[4 * ((size_t)row * (size_t)image->width + (size_t)column)];
      if (p[0] > p[2] + 25) {
        count++;
        *x += column + 0.5;
        *y += row + 0.5;
      }
      if (blue && p[2] > p[0] + 60 && p[2] > p[1] + 60) ++*blue;
    }
  if (count) *x /= (double)count, *y /= (double)count;
  return count;
}

static double studio_focal(const Studio *studio) {
  return studio->settings.height / (2 * tan(studio->camera.fov_deg * 3.14159265358979 / 360));
}

static void sphere_covers_its_pixels(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  /* On and off the axis, small, and so large that a quad takes the place of the point. */
  const struct {
    double x, z, distance, radius;
  } cases[] = {{0, 0, 10, 1}, {2, 1, 10, 0.5}, {-3, -1.5, 10, 0.4}, {0, 0, 4, 1.25}, {0, 0, 10, 0.1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Heap *heap = heap_new();
    studio.camera.eye.y = -cases[k].distance;
    heap_add(heap, vec3(cases[k].x, 0, cases[k].z), cases[k].radius, 0);
    studio_draw(&studio, &heap->frame);
    double x, y, focal = studio_focal(&studio);
    double count = (double)count_red(&studio.image, &x, &y, NULL);
    /* The cone that touches the sphere meets the picture in an ellipse. */
    double d = cases[k].distance, off = hypot(cases[k].x, cases[k].z), t = off / d;
    double s2 = cases[k].radius * cases[k].radius / (d * d + off * off - cases[k].radius * cases[k].radius);
    double shrink = 1 - t * t * s2, major = sqrt(s2) * (1 + t * t) / shrink, middle = t * (1 + s2) / shrink;
    double minor = sqrt(s2 * (1 + t * t) / shrink);
    double area = 3.14159265358979 * major * minor * focal * focal;
    double outline = 2 * 3.14159265358979 * major * focal;
    assert_near(count, area, 0.5 * outline + 2);
    double way = off > 0 ? middle * focal / off : 0;
    assert_near(x, studio.settings.width / 2.0 + cases[k].x * way, 0.6);
    assert_near(y, studio.settings.height / 2.0 - cases[k].z * way, 0.6);
    free(heap);
  }
  studio_close(&studio);
}

static void hidden_grains_stay_hidden(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  Heap *heap = heap_new();
  heap_add(heap, vec3(0, 2, 0), 0.5, 1); /* blue, behind */
  heap_add(heap, vec3(0, 0, 0), 1, 0);   /* red, in front */
  double x, y;
  int64_t blue;
  studio_draw(&studio, &heap->frame);
  assert_true(count_red(&studio.image, &x, &y, &blue) > 1000);
  assert_int_equal(blue, 0);
  heap->y[0] = -2; /* now in front */
  studio_draw(&studio, &heap->frame);
  count_red(&studio.image, &x, &y, &blue);
  assert_true(blue > 300);
  /* Two that cut each other: seen from the plane between them each shows its half. */
  heap->x[0] = -0.3f, heap->x[1] = 0.3f;
  heap->y[0] = heap->y[1] = 0;
  heap->radius[0] = 1;
  studio_draw(&studio, &heap->frame);
  int64_t red = count_red(&studio.image, &x, &y, &blue);
  assert_near((double)red / (double)(red + blue), 0.5, 0.1);
  assert_true(x > studio.settings.width / 2.0 + 5);
  free(heap);
  studio_close(&studio);
}

static int64_t differing(const Image *a, const Image *b, int tolerance) {
  int64_t count = 0;
  assert_int_equal(a->width, b->width);
  for (int64_t k = 0; k < (int64_t)a->width * a->height; k++) {
    bool differs = false;
    for (int c = 0; c < 3; c++) differs |= abs(a->pixels[4 * k + c] - b->pixels[4 * k + c]) > tolerance;
    count += differs;
  }
  return count;
}

static void studio_look_down(Studio *studio) {
  studio->camera = (Camera){{1.6, -2.2, 1.4}, {0, 0, 0.2}, 40};
  studio->settings.shadows = studio->settings.occlusion = true;
}

static void culling_changes_no_pixel(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 2);
  studio_look_down(&studio);
  Heap *heap = heap_new();
  heap_pile(heap, 50000);
  for (int near = 0; near < 2; near++) {
    if (near) studio.camera = (Camera){{0.9, -0.9, 0.5}, {0, 0, 0.3}, 60};
    /* The size of the shadow map also depends on the kind of driver: without shadows the pictures must agree. */
    studio.settings.shadows = false;
    studio.renderer->gl.software = true;
    studio_draw(&studio, &heap->frame);
    int64_t drawn = renderer_statistics(studio.renderer).drawn;
    assert_true(drawn > 0 && drawn < 30000);
    Image culled = studio.image;
    studio.image = (Image){0};
    studio.renderer->gl.software = false;
    studio_draw(&studio, &heap->frame);
    assert_int_equal(renderer_statistics(studio.renderer).drawn, 50000);
    assert_int_equal(differing(&culled, &studio.image, 0), 0);
    image_destroy(&culled);
  }
  free(heap);
  studio_close(&studio);
}

static void drawing_changes_nothing_and_repeats(void **state) {
  (void)state;
  Heap *heap = heap_new();
  heap_pile(heap, 20000);
  uint64_t before = hash_bytes(heap, sizeof *heap, 0);
  Image first = {0};
  for (int threads = 1; threads <= 3; threads += 2) {
    Studio studio = studio_open(RENDER_GL, threads);
    studio_look_down(&studio);
    studio_draw(&studio, &heap->frame);
    if (threads == 1) first = studio.image, studio.image = (Image){0};
    else assert_int_equal(differing(&first, &studio.image, 0), 0);
    studio_close(&studio);
  }
  image_destroy(&first);
  assert_true(hash_bytes(heap, sizeof *heap, 0) == before);
  free(heap);
}

static void both_dialects_agree(void **state) {
  (void)state;
  Heap *heap = heap_new();
  heap_pile(heap, 20000);
  Image first = {0};
  for (int api = 0; api < 2; api++) {
    Studio studio = studio_open(api ? RENDER_GLES : RENDER_GL, 1);
    studio_look_down(&studio);
    studio_draw(&studio, &heap->frame);
    if (!api) first = studio.image, studio.image = (Image){0};
    else assert_true(differing(&first, &studio.image, 8) < first.width * first.height / 200);
    studio_close(&studio);
  }
  image_destroy(&first);
  free(heap);
}

static void unchanged_frames_are_not_uploaded_again(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  studio_look_down(&studio);
  studio.renderer->gl.software = false;
  Heap *heap = heap_new();
  heap_pile(heap, 5000);
  heap->frame.version = 1;
  static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t triangle[] = {0, 1, 2};
  RenderSolid solids[2] = {{.mesh = {3, 1, corners, triangle}, .pose.rotation = {1, 0, 0, 0}, .mesh_key = 7},
                           {.mesh = {3, 1, corners, triangle}, .pose.rotation = {1, 0, 0, 0}, .look = RENDER_GRANULAR}};
  heap->frame.solids = solids, heap->frame.solid_count = 2;
  studio_draw(&studio, &heap->frame);
  assert_int_equal(renderer_statistics(studio.renderer).uploads, 1); /* shadows draw from the same buffer */
  assert_int_equal(renderer_statistics(studio.renderer).mesh_uploads, 2);
  studio.camera = camera_orbit(studio.camera, 30);
  studio_draw(&studio, &heap->frame);
  assert_int_equal(renderer_statistics(studio.renderer).uploads, 1);
  assert_int_equal(renderer_statistics(studio.renderer).mesh_uploads, 2);
  heap->frame.version = 2;
  studio_draw(&studio, &heap->frame);
  assert_int_equal(renderer_statistics(studio.renderer).uploads, 2);
  assert_int_equal(renderer_statistics(studio.renderer).mesh_uploads, 3); /* terrain is another one each time */
  studio.settings.color = RENDER_COLOR_SPEED;
  studio_draw(&studio, &heap->frame);
  assert_int_equal(renderer_statistics(studio.renderer).uploads, 3);
  free(heap);
  studio_close(&studio);
}

static void legend_tells_the_numbers(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  studio.settings.legend = true;
  Heap *heap = heap_new();
  for (int k = 0; k < 3; k++) heap_add(heap, vec3(k - 1.0, 0, 0.5 * k), 0.3, 0);
  heap->v[1] = 1, heap->v[2] = 2; /* along all three axes */
  studio.settings.color = RENDER_COLOR_SPEED;
  studio_draw(&studio, &heap->frame);
  RenderLegend legend = renderer_legend(studio.renderer);
  assert_string_equal(legend.name, "speed");
  assert_string_equal(legend.unit, "m/s");
  assert_near(legend.low, 0, 0);
  assert_near(legend.high, 5, 1e-12); /* 2 sqrt(3) = 3.46, rounded up */
  heap->v[2] = 0.1f;                  /* the scale does not shrink in the middle of a film */
  studio_draw(&studio, &heap->frame);
  assert_near(renderer_legend(studio.renderer).high, 5, 1e-12);
  studio.settings.low = 0.5, studio.settings.high = 2.5;
  studio_draw(&studio, &heap->frame);
  assert_near(renderer_legend(studio.renderer).low, 0.5, 0);
  assert_near(renderer_legend(studio.renderer).high, 2.5, 0);
  /* The bar is painted with the colours of the scale: find its ends in the lower right corner. */
  uint8_t low[3], high[3];
  scale_map(0, low);
  scale_map(1, high);
  bool found[2] = {false, false};
  for (int64_t k = 0; k < (int64_t)studio.image.width * studio.image.height; k++) {
    found[0] |= memcmp(&studio.image.pixels[4 * k], low, 3) == 0;
    found[1] |= memcmp(&studio.image.pixels[4 * k], high, 3) == 0;
  }
  assert_true(found[0] && found[1]);
  studio.settings.color = RENDER_COLOR_HEIGHT;
  studio.settings.low = studio.settings.high = NAN;
  studio_draw(&studio, &heap->frame);
  legend = renderer_legend(studio.renderer);
  assert_true(legend.low <= 0 && legend.high >= 1 && legend.high - legend.low < 1.5);
  studio.settings.color = RENDER_COLOR_MATERIAL;
  studio_draw(&studio, &heap->frame);
  assert_null(renderer_legend(studio.renderer).name);
  free(heap);
  studio_close(&studio);
}

/* A column of grains of known weight: the pressure at its foot is weight over area. */
static void pressure_is_the_weight_above(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  studio.settings.color = RENDER_COLOR_PRESSURE;
  Heap *heap = heap_new();
  for (int z = 0; z < 20; z++)
    for (int y = 0; y < 20; y++)
      for (int x = 0; x < 20; x++) heap_add(heap, vec3(0.1 * x, 0.1 * y, 0.1 * z), 0.05, 0);
  studio_draw(&studio, &heap->frame);
  double grain = 2600 * 4.18879020478639 * 0.05 * 0.05 * 0.05, expected = 20 * grain * 9.81 / 0.01;
  double foot = studio.renderer->values[10 * 20 + 10], top = studio.renderer->values[19 * 400 + 10 * 20 + 10];
  assert_near(foot, expected, 0.1 * expected);
  assert_true(top >= 0 && top < 0.1 * expected);
  studio.settings.color = RENDER_COLOR_DEPTH;
  studio_draw(&studio, &heap->frame);
  assert_near(studio.renderer->values[210], 1.95, 1e-3);
  free(heap);
  studio_close(&studio);
}

/* What the frame brings is what is shown: legend, and the colour that each grain is packed with. */
static void pressure_of_the_frame_is_shown(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  studio.settings.color = RENDER_COLOR_PRESSURE;
  Heap *heap = heap_new();
  const float pressure[4] = {0, 250, 730, NAN};
  for (int k = 0; k < 4; k++) heap_add(heap, vec3(k - 1.5, 0, 0), 0.3, 0);
  heap->frame.pressure = pressure;
  studio_draw(&studio, &heap->frame);
  RenderLegend legend = renderer_legend(studio.renderer);
  assert_string_equal(legend.name, "pressure");
  assert_string_equal(legend.unit, "Pa");
  assert_near(legend.low, 0, 0);
  assert_near(legend.high, 1000, 1e-9);
  for (int k = 0; k < 3; k++) {
    uint8_t expected[3];
    scale_map((double)pressure[k] / 1000, expected);
    for (int c = 0; c < 3; c++) assert_near(studio.renderer->packed[k].color[c], expected[c], 1);
  }
  free(heap);
  studio_close(&studio);
}

static void pictures_are_not_blank_whatever_comes(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 2);
  studio_look_down(&studio);
  Heap *heap = heap_new();
  studio_draw(&studio, &heap->frame); /* no grains at all */
  heap_pile(heap, 20000);
  heap->x[3] = NAN, heap->y[4] = INFINITY, heap->radius[5] = -1, heap->radius[6] = NAN, heap->v[7] = NAN;
  heap->material[8] = 200;
  for (int color = 0; color < RENDER_COLOR_COUNT; color++) {
    studio.settings.color = (RenderColor)color;
    studio_draw(&studio, &heap->frame);
    uint8_t low = 255, high = 0;
    for (int64_t k = 0; k < (int64_t)studio.image.width * studio.image.height; k++) {
      uint8_t v = studio.image.pixels[4 * k + 1];
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    assert_true(high > low + 60);
  }
  ScreeError error;
  studio.settings.width = 0;
  assert_int_equal(renderer_draw(studio.renderer, &heap->frame, &studio.camera, &studio.settings, &error),
                   SCREE_BAD_ARGUMENT);
  studio.settings.width = 64;
  studio.camera.eye = studio.camera.target;
  assert_int_equal(renderer_draw(studio.renderer, &heap->frame, &studio.camera, &studio.settings, &error),
                   SCREE_BAD_ARGUMENT);
  RenderColor mode;
  assert_true(render_color_find("pressure", &mode) && mode == RENDER_COLOR_PRESSURE);
  assert_false(render_color_find("colour", &mode));
  free(heap);
  studio_close(&studio);
}

/* A box of glass lets the sand be seen; a solid one of the same shape does not. */
static void glass_does_not_hide(void **state) {
  (void)state;
  Studio studio = studio_open(RENDER_GL, 1);
  float corners[24];
  static const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  for (int k = 0; k < 8; k++)
    for (int axis = 0; axis < 3; axis++) corners[3 * k + axis] = k >> axis & 1 ? 1.5f : -1.5f;
  RenderSolid box = {.mesh = {8, 12, corners, triangles},
                     .mesh_key = 1,
                     .pose = {{0, 0, 0}, {1, 0, 0, 0}},
                     .color = {0.5f, 0.6f, 0.7f},
                     .look = RENDER_GLASS};
  Heap *heap = heap_new();
  heap_add(heap, vec3(0, 0, 0), 1, 0);
  double x, y;
  studio_draw(&studio, &heap->frame);
  int64_t bare = count_red(&studio.image, &x, &y, NULL);
  heap->frame.solids = &box;
  heap->frame.solid_count = 1;
  studio_draw(&studio, &heap->frame);
  assert_true(count_red(&studio.image, &x, &y, NULL) > bare * 9 / 10);
  box.look = RENDER_SOLID;
  studio_draw(&studio, &heap->frame);
  assert_int_equal(count_red(&studio.image, &x, &y, NULL), 0);
  static const uint32_t bad[3] = {0, 1, 99}; /* a triangle that points nowhere is left out, not read */
  box.mesh.triangles = bad, box.mesh.triangle_count = 1, box.mesh_key = 2;
  studio_draw(&studio, &heap->frame);
  assert_true(count_red(&studio.image, &x, &y, NULL) > bare * 9 / 10);
  free(heap);
  studio_close(&studio);
}

static void text_has_every_letter(void **state) {
  (void)state;
  Image image = {0};
  ScreeError error;
  must(image_create(&image, 40, 40, &error), &error);
  uint64_t seen[95];
  for (int c = 32; c < 127; c++) {
    char letter[2] = {(char)c, 0};
    image_fill(&image, (ImageColor){0, 0, 0, 255});
    text_draw(&image, 8, 28, 20, letter, (ImageColor){255, 255, 255, 255});
    seen[c - 32] = hash_bytes(image.pixels, 40 * 40 * 4, 0);
    for (int k = 0; k < c - 32; k++)
      if (c != '0' && c != 'O') assert_true(seen[k] != seen[c - 32]);
    assert_true(text_width(20, letter) >= 0);
  }
  image_destroy(&image);
}

static void films_have_all_their_frames(void **state) {
  (void)state;
  char folder[] = "/tmp/scree_film_XXXXXX", path[64], command[256];
  assert_non_null(mkdtemp(folder));
  ScreeError error;
  const char *const endings[] = {"mp4", "webm"};
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/film.%s", folder, endings[k]);
    Film *film;
    must(film_open(path, 64, 48, 30, &film, &error), &error);
    Image image = {0};
    must(image_create(&image, 64, 48, &error), &error);
    for (int frame = 0; frame < 7; frame++) {
      image_fill(&image, (ImageColor){(uint8_t)(30 * frame), 100, 50, 255});
      must(film_add(film, &image, &error), &error);
    }
    must(film_close(film, &error), &error);
    snprintf(command, sizeof command,
             "test $(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 %s) = 7", path);
    assert_int_equal(system(command), 0);
    remove(path);
    image_destroy(&image);
  }
  Film *film;
  assert_int_equal(film_open("x.avi", 64, 48, 30, &film, &error), SCREE_BAD_ARGUMENT);
  assert_int_equal(film_open("/nowhere/at/all.mp4", 64, 48, 30, &film, &error), SCREE_CANNOT_WRITE);
  assert_int_equal(rmdir(folder), 0); /* nothing was left behind */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_covers_its_pixels),
      cmocka_unit_test(hidden_grains_stay_hidden),
      cmocka_unit_test(culling_changes_no_pixel),
      cmocka_unit_test(drawing_changes_nothing_and_repeats),
      cmocka_unit_test(both_dialects_agree),
      cmocka_unit_test(unchanged_frames_are_not_uploaded_again),
      cmocka_unit_test(legend_tells_the_numbers),
      cmocka_unit_test(pressure_is_the_weight_above),
      cmocka_unit_test(pressure_of_the_frame_is_shown),
      cmocka_unit_test(pictures_are_not_blank_whatever_comes),
      cmocka_unit_test(glass_does_not_hide),
      cmocka_unit_test(text_has_every_letter),
      cmocka_unit_test(films_have_all_their_frames),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
