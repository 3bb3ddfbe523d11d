/* scree serve: the web page on this machine, for this machine. Files of one folder, nothing else. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "scree/scree.h"

enum { REQUEST_MAX = 16384, CONNECTIONS_MAX = 64, PATIENCE_S = 10, DRAIN_MAX = 1 << 20 };

typedef struct Server {
  char root[PATH_MAX]; /* without links */
  bool shared;         /* send the headers that threads need */
  _Atomic int connections;
} Server;

typedef struct Connection {
  Server *server;
  int socket;
} Connection;

static const char *type_of(const char *path) {
  static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                         {".js", "text/javascript; charset=utf-8"},
                                         {".css", "text/css; charset=utf-8"},
                                         {".wasm", "application/wasm"},
                                         {".json", "application/json"},
                                         {".svg", "image/svg+xml"},
                                         {".jpg", "image/jpeg"},
                                         {".png", "image/png"},
                                         {".yaml", "text/plain; charset=utf-8"}};
  const char *dot = strrchr(path, '.');
  for (size_t k = 0; dot && k < sizeof types / sizeof *types; k++)
    if (strcasecmp(dot, types[k][0]) == 0) return types[k][1];
  return "application/octet-stream";
}

static bool send_all(int socket, const char *data, size_t size) {
  while (size > 0) {
    ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= (size_t)sent;
  }
  return true;
}

static void answer(const Connection *c, const char *status, const char *type, long long size) {
  char head[768];
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: close\r\n"
                        "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n%s\r\n",
                        status, type, size,
                        c->server->shared ? "Cross-Origin-Opener-Policy: same-origin\r\n"
                                            "Cross-Origin-Embedder-Policy: require-corp\r\n"
                                            "Cross-Origin-Resource-Policy: same-origin\r\n"
                                          : "");
  send_all(c->socket, head, (size_t)length);
}

static void refuse(const Connection *c, const char *status) {
  char text[128];
  int length = snprintf(text, sizeof text, "%s\n", status);
  answer(c, status, "text/plain; charset=utf-8", length);
  send_all(c->socket, text, (size_t)length);
}

static int hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* The path of an address, without its question and with its %xx resolved; false when it is none. */
static bool decode(const char *target, char *path, size_t size) {
  size_t length = 0;
  if (target[0] != '/') return false;
  for (const char *at = target; *at && *at != '?' && *at != '#'; at++) {
    int c = (unsigned char)*at;
    if (c == '%') {
      int high = hex(at[1]), low = high < 0 ? -1 : hex(at[2]);
      if (low < 0) return false;
      c = 16 * high + low;
      at += 2;
    }
    if (c < ' ' || length + 1 >= size) return false;
    path[length++] = (char)c;
  }
  path[length] = 0;
  return true;
}

/* Opens what the path means: a regular file below the root, links followed only as far as they stay there. */
static int open_below(const Server *server, const char *path, struct stat *about) {
  char named[2 * PATH_MAX], real[PATH_MAX];
  size_t root = strlen(server->root);
  bool folder = path[strlen(path) - 1] == '/';
  if (snprintf(named, sizeof named, "%s%s%s", server->root, path, folder ? "index.html" : "") >= (int)sizeof named)
    return -1;
  if (!realpath(named, real) || strncmp(real, server->root, root) != 0 || real[root] != '/') return -1;
  int file = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return -1;
  if (fstat(file, about) == 0 && S_ISREG(about->st_mode)) return file;
  close(file);
  return -1;
}

/* Reads to the end of the head; false when it does not come, is too long, or is no text. */
static bool read_request(int socket, char *request) {
  size_t have = 0;
  while (have < REQUEST_MAX - 1) {
    ssize_t got = recv(socket, request + have, REQUEST_MAX - 1 - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += (size_t)got;
    request[have] = 0;
    if (strlen(request) != have) return false;
    if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n")) return true;
  }
  return false;
}

static void handle(const Connection *c) {
  char request[REQUEST_MAX], method[16], target[4096], path[PATH_MAX];
  if (!read_request(c->socket, request) || sscanf(request, "%15[A-Z] %4095[^ \r\n] HTTP/", method, target) != 2 ||
      !decode(target, path, sizeof path)) {
    refuse(c, "400 Bad Request");
    return;
  }
  bool head = strcmp(method, "HEAD") == 0;
  if (!head && strcmp(method, "GET") != 0) {
    refuse(c, "405 Method Not Allowed");
    return;
  }
  struct stat about;
  int file = open_below(c->server, path, &about);
  if (file < 0) {
    refuse(c, "404 Not Found");
    return;
  }
  answer(c, "200 OK", type_of(path[strlen(path) - 1] == '/' ? "index.html" : path), (long long)about.st_size);
  off_t at = 0;
  while (!head && at < about.st_size) {
    ssize_t sent = sendfile(c->socket, file, &at, (size_t)(about.st_size - at));
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;
  }
  close(file);
}

/* A socket closed with unread bytes resets the connection, and the other side may lose the answer: what was still sent
 * is read away first, as far as patience goes. */
static void close_gently(int socket) {
  char rest[4096];
  size_t drained = 0;
  ssize_t got = 1;
  shutdown(socket, SHUT_WR);
  while (got != 0 && drained < DRAIN_MAX) {
    got = recv(socket, rest, sizeof rest, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    drained += (size_t)got;
  }
  close(socket);
}

static void *serve_one(void *context) {
  Connection *c = context;
  struct timeval patience = {.tv_sec = PATIENCE_S};
  setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  handle(c);
  close_gently(c->socket);
  atomic_fetch_sub(&c->server->connections, 1);
  free(c);
  return NULL;
}

/* A browser opens several connections, and some only for the case: each has a thread of its own. */
static void take(Server *server, int listener) {
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0) return;
  Connection *c = malloc(sizeof *c);
  pthread_t thread;
  if (c && atomic_fetch_add(&server->connections, 1) < CONNECTIONS_MAX) {
    *c = (Connection){server, socket};
    if (pthread_create(&thread, NULL, serve_one, c) == 0) {
      pthread_detach(thread);
      return;
    }
  }
  if (c) atomic_fetch_sub(&server->connections, 1);
  free(c);
  close(socket);
}

/* The folder of the page: as given, or web/ here, or beside the program. */
static bool find_root(const char *given, char *root) {
  char program[PATH_MAX] = "", place[PATH_MAX + 32];
  struct stat about;
  if (given) return realpath(given, root) && stat(root, &about) == 0 && S_ISDIR(about.st_mode);
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  char *slash = strrchr(program, '/');
  if (slash) *slash = 0;
  const char *const places[] = {"web", "../web", "../share/scree/web"};
  for (int k = 0; k < 3; k++) {
    snprintf(place, sizeof place, "%s%s%s", k ? program : "", k ? "/" : "", places[k]);
    size_t end = strlen(place);
    snprintf(place + end, sizeof place - end, "/index.html");
    bool there = stat(place, &about) == 0;
    place[end] = 0;
    if (there && realpath(place, root)) return true;
  }
  return false;
}

static int listen_at(int64_t port, int *listener, int *chosen) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int yes = 1;
  *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (*listener < 0) return usage_error("no socket: %s", strerror(errno));
  setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(*listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(*listener, 64) != 0)
    return usage_error("port %lld cannot be used: %s; --port N chooses another", (long long)port, strerror(errno));
  getsockname(*listener, (struct sockaddr *)&address, &size);
  *chosen = ntohs(address.sin_port);
  return 0;
}

int command_serve(int argc, char **argv) {
  int64_t port = 8000;
  const char *folder = NULL;
  bool alone = false;
  const Option options[] = {
      {'p', "--port", OPTION_INTEGER, &port, "N", "port (default 8000; 0: any that is free)", 0, 65535},
      {0, "--folder", OPTION_TEXT, &folder, "DIR", "what to serve (default: the page that `make web` built)", 0, 0},
      {0, "--one-thread", OPTION_FLAG, &alone, NULL, "leave out the headers that pages need for threads", 0, 0}};
  const Usage usage = {.command = "serve",
                       .arguments = "",
                       .summary = "the web page, on this machine only",
                       .details = "Serves the page on localhost until it is interrupted. `make web` builds the page.",
                       .example = "scree serve --port 8080",
                       USAGE_TABLE(options, 0, 0)};
  Arguments arguments;
  int code, listener = -1, chosen = 0;
  if (!options_parse(&usage, argc, argv, &arguments, &code)) return code;
  static Server server; /* threads may outlive this function for a moment */
  server.shared = !alone;
  if (!find_root(folder, server.root))
    return folder ? usage_error("there is no folder '%s'", folder)
                  : usage_error("the page is not there: `make web` builds it, --folder DIR says where it is");
  code = listen_at(port, &listener, &chosen);
  if (code == 0) {
    interrupt_watch();
    printf("serving %s at http://localhost:%d/ (Ctrl-C ends)\n", server.root, chosen);
    fflush(stdout);
    struct pollfd wait = {.fd = listener, .events = POLLIN};
    while (!interrupt_asked())
      if (poll(&wait, 1, 200) > 0) take(&server, listener);
  }
  if (listener >= 0) close(listener);
  return code;
}
