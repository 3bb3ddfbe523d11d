#include "render/film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files.h"

extern char **environ;

struct Film {
  int width, height;
  int feed; /* our end of ffmpeg's standard input */
  pid_t pid;
  FILE *said; /* what ffmpeg complains about */
  char path[4096], part[4096];
};

static ScreeStatus film_fail(ScreeError *error, ScreeStatus status, const char *path, const char *what,
                             const char *why) {
  if (error) {
    *error = (ScreeError){.status = status};
    snprintf(error->file, sizeof error->file, "%.*s", SCREE_FILE_MAX - 1, path);
    snprintf(error->message, sizeof error->message, "%s%s%s", what, *why ? ": " : "", why);
  }
  return status;
}

static const char *film_ending(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && !strchr(dot, '/') ? dot : "";
}

bool film_name_known(const char *path) {
  return strcmp(film_ending(path), ".mp4") == 0 || strcmp(film_ending(path), ".webm") == 0;
}

/* Starts ffmpeg with `feed` as its input. Its input is a socket, not a pipe: a write to a dead reader can then be told
 * not to raise SIGPIPE, without touching the signals of the program that we are part of. */
static int film_spawn(Film *film, int feed, double rate) {
  char size[32], speed[32];
  snprintf(size, sizeof size, "%dx%d", film->width, film->height);
  snprintf(speed, sizeof speed, "%.6g", rate);
  bool webm = strcmp(film_ending(film->path), ".webm") == 0;
  const char *arguments[40];
  int count = 0;
  const char *const input[] = {"ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format",
                               "rgba", "-video_size", size, "-framerate", speed, "-i", "pipe:0", "-an",
                               /* both codecs want even sizes */
                               "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p"};
  const char *const h264[] = {"-c:v", "libx264",   "-preset",    "veryfast", "-crf",
                              "19",   "-movflags", "+faststart", "-f",       "mp4"};
  const char *const vp9[] = {"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "6",  "-row-mt",
                             "1",    "-crf",       "30",        "-b:v",     "0",         "-f", "webm"};
  for (size_t k = 0; k < sizeof input / sizeof *input; k++) arguments[count++] = input[k];
  size_t options = webm ? sizeof vp9 / sizeof *vp9 : sizeof h264 / sizeof *h264;
  for (size_t k = 0; k < options; k++) arguments[count++] = (webm ? vp9 : h264)[k];
  arguments[count++] = film->part;
  arguments[count] = NULL;
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  posix_spawn_file_actions_adddup2(&actions, feed, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(film->said), 2);
  /* A Ctrl-C at the terminal is ours to handle: ffmpeg must live to finish the film. */
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int problem = posix_spawnp(&film->pid, "ffmpeg", &actions, &attributes, (char *const *)arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

ScreeStatus film_open(const char *path, int width, int height, double rate, Film **result, ScreeError *error) {
  *result = NULL;
  if (!film_name_known(path))
    return film_fail(error, SCREE_BAD_ARGUMENT, path, "a film's name ends in .mp4 or .webm", "");
  if (width < 2 || height < 2 || !(rate > 0))
    return film_fail(error, SCREE_BAD_ARGUMENT, path, "a film needs at least 2 x 2 pixels and a positive rate", "");
  Film *film = calloc(1, sizeof *film);
  if (!film) return film_fail(error, SCREE_NO_MEMORY, path, "no memory for the film", "");
  film->width = width;
  film->height = height;
  film->feed = -1;
  int ends[2];
  if (snprintf(film->path, sizeof film->path, "%s", path) >= (int)sizeof film->path - 8) {
    film_abandon(film);
    return film_fail(error, SCREE_CANNOT_WRITE, "", "the name of the film is too long", "");
  }
  snprintf(film->part, sizeof film->part, "%.4080s.part", path);
  film->said = tmpfile();
  FILE *probe = fopen(film->part, "wb"); /* an impossible path is told apart from a broken ffmpeg */
  if (!film->said || !probe || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const char *why = strerror(errno);
    if (probe) fclose(probe);
    film_abandon(film);
    return film_fail(error, SCREE_CANNOT_WRITE, path, "cannot write the film", why);
  }
  fclose(probe);
  int problem = film_spawn(film, ends[1], rate);
  close(ends[1]);
  film->feed = ends[0];
  if (problem) {
    film->pid = 0;
    film_abandon(film);
    return film_fail(error, SCREE_BAD_INPUT, path, "films need the program ffmpeg, which cannot be started",
                     strerror(problem));
  }
  *result = film;
  return SCREE_OK;
}

/* The last line that ffmpeg said. */
static void film_complaint(Film *film, char *line, size_t size) {
  char next[256];
  snprintf(line, size, "no reason given");
  rewind(film->said);
  while (fgets(next, sizeof next, film->said)) {
    next[strcspn(next, "\r\n")] = 0;
    if (*next) snprintf(line, size, "%s", next);
  }
}

ScreeStatus film_add(Film *film, const Image *image, ScreeError *error) {
  if (image->width != film->width || image->height != film->height)
    return film_fail(error, SCREE_BAD_ARGUMENT, film->path, "pictures of a film are all of one size", "");
  size_t left = 4 * (size_t)image->width * (size_t)image->height;
  const uint8_t *at = image->pixels;
  while (left > 0) {
    ssize_t sent = send(film->feed, at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) {
      char line[256];
      close(film->feed);
      film->feed = -1;
      if (film->pid) waitpid(film->pid, NULL, 0);
      film->pid = 0;
      film_complaint(film, line, sizeof line);
      return film_fail(error, SCREE_CANNOT_WRITE, film->path, "ffmpeg stopped", line);
    }
    at += sent;
    left -= (size_t)sent;
  }
  return SCREE_OK;
}

ScreeStatus film_close(Film *film, ScreeError *error) {
  int state = -1;
  if (film->feed >= 0) close(film->feed);
  film->feed = -1;
  while (film->pid && waitpid(film->pid, &state, 0) < 0 && errno == EINTR) continue;
  film->pid = 0;
  ScreeStatus status = SCREE_OK;
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    char line[256];
    film_complaint(film, line, sizeof line);
    status = film_fail(error, SCREE_CANNOT_WRITE, film->path, "ffmpeg failed", line);
  } else {
    int why = files_rename(film->part, film->path);
    if (why != 0) status = film_fail(error, SCREE_CANNOT_WRITE, film->path, "cannot write the film", strerror(why));
  }
  film_abandon(film);
  return status;
}

void film_abandon(Film *film) {
  if (!film) return;
  if (film->feed >= 0) close(film->feed);
  if (film->pid) {
    kill(film->pid, SIGKILL);
    waitpid(film->pid, NULL, 0);
  }
  if (*film->part) remove(film->part);
  if (film->said) fclose(film->said);
  free(film);
}
