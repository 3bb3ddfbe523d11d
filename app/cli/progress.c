#include "app/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two plain lines, and between two changes of the line on a terminal. */
#define SECONDS_PLAIN 2.0
#define SECONDS_TERMINAL 0.1

Progress progress_begin(bool quiet, int64_t target) {
  return (Progress){.quiet = quiet,
                    .terminal = isatty(STDOUT_FILENO),
                    .target = target,
                    .shown_at = -1e9,
                    .prepared_at = seconds_now()};
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 42 s, 3:20, 2:05:09 */
static const char *duration_text(double seconds, char text[32]) {
  long long whole = (long long)(seconds + 0.5);
  if (whole < 100) snprintf(text, 32, "%lld s", whole);
  else if (whole < 3600) snprintf(text, 32, "%lld:%02lld", whole / 60, whole % 60);
  else snprintf(text, 32, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

static void describe(char *text, size_t size, const Progress *progress, const ScreeWorld *world,
                     const OutputProgress *so_far) {
  ScreeStatistics now = {0};
  scree_world_statistics(world, &now);
  int64_t frame = scree_world_frame_index(world);
  char grains[64], left[32];
  if (now.grains > 0) snprintf(grains, sizeof grains, "%lld + %lld", (long long)now.coarse, (long long)now.grains);
  else snprintf(grains, sizeof grains, "%lld", (long long)now.coarse);
  duration_text((double)(progress->target - frame) * so_far->seconds_per_frame, left);
  snprintf(text, size, "frame %lld/%lld, t = %.3f s, %lld steps, %.1f ms per frame, %s grains, %s left",
           (long long)frame, (long long)progress->target, scree_world_time(world), (long long)now.steps,
           1e3 * so_far->seconds_per_frame, grains, left);
}

static int terminal_width(void) {
  struct winsize window;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 20) return 80;
  return window.ws_col < 250 ? window.ws_col : 250;
}

static void draw_bar(Progress *progress, int64_t frame, const char *text) {
  enum { LONGEST = 40, SHORTEST = 8 };
  int room = terminal_width() - (int)strlen(text) - 4;
  int length = room > LONGEST ? LONGEST : room;
  char bar[LONGEST + 4] = "";
  if (length >= SHORTEST) {
    int filled = progress->target > 0 ? (int)(length * frame / progress->target) : length;
    bar[0] = '[';
    for (int k = 0; k < length; k++) bar[k + 1] = k < filled ? '#' : '.';
    strcpy(bar + length + 1, "] ");
  }
  printf("\r\033[K%s%.*s", bar, terminal_width() - (int)strlen(bar) - 1, text);
  progress->bar_shown = true;
}

/* On a terminal whatever is begun is shown at once: nobody is told before how long it takes. */
void progress_prepare(void *context, const char *what, double done) {
  Progress *progress = context;
  double now = seconds_now(), passed = now - progress->prepared_at;
  bool due = progress->terminal ? what != progress->prepared_what || passed > SECONDS_TERMINAL : passed > SECONDS_PLAIN;
  if (progress->quiet || !due) return;
  progress->prepared_at = now;
  progress->prepared_what = what;
  printf(progress->terminal ? "\r\033[K%s: %.0f %%" : "%s: %.0f %%\n", what, 100 * done);
  progress->bar_shown = progress->terminal;
  fflush(stdout);
}

void progress_frame(Progress *progress, const ScreeWorld *world, const Output *output) {
  const double seconds_between = progress->terminal ? SECONDS_TERMINAL : SECONDS_PLAIN;
  if (progress->quiet) return;
  OutputProgress so_far;
  output_progress(output, &so_far);
  int64_t frame = scree_world_frame_index(world);
  if (so_far.wall_seconds - progress->shown_at < seconds_between && frame < progress->target) return;
  progress->shown_at = so_far.wall_seconds;
  char text[256];
  describe(text, sizeof text, progress, world, &so_far);
  if (progress->terminal) draw_bar(progress, frame, text);
  else printf("%s\n", text);
  fflush(stdout);
}

void progress_clear(Progress *progress) {
  if (!progress->bar_shown) return;
  printf("\r\033[K");
  fflush(stdout);
  progress->bar_shown = false;
}
