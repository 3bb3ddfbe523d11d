/* scree, the program: finds the command and hands over. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "scene/suggest.h"
#include "scree/scree.h"

typedef struct Command {
  const char *name, *arguments, *summary;
  int (*function)(int argc, char **argv); /* NULL: this build does not have it */
} Command;

static const Command commands[] = {
    {"run", "SCENE", "simulate; writes the output folder", command_run},
    {"view", "SCENE", "interactive window", command_view},
    {"render", "DIR|SCENE", "pictures and films of a run", command_render},
    {"compare", "SCENE", "the same scene with every method, side by side", command_compare},
    {"sample", "MESH", "fill or cover a mesh with points", command_sample},
    {"bench", "SUITE", "measure speed", command_bench},
    {"validate", "[LAW...]", "published laws: measured, law, band, verdict", command_validate},
    {"calibrate", "METHOD", "contacts of a method for sand of an angle", command_calibrate},
    {"check", "SCENE", "parse and validate only", command_check},
    {"export", "DIR", "frames of a run in another format", command_export},
    {"serve", "", "the web page on localhost", command_serve},
    {"list", "WHAT", "methods, scenes, parameters, probes or devices", command_list},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const Command *find_command(const char *name) {
  for (int k = 0; k < COMMAND_COUNT; k++)
    if (strcmp(commands[k].name, name) == 0) return &commands[k];
  return NULL;
}

static int print_help(void) {
  printf("scree %s: simulates granular material\n\nusage: scree COMMAND ... (scree COMMAND --help tells more)\n\n",
         scree_version());
  for (int k = 0; k < COMMAND_COUNT; k++) {
    const Command *command = &commands[k];
    char left[32];
    snprintf(left, sizeof left, "%s %s", command->name, command->arguments);
    printf("  %-20s %s%s\n", left, command->summary, command->function ? "" : " (not in this build)");
  }
  printf("\nexample:\n  scree run sommer2022/hourglass -o out/hourglass\n");
  return 0;
}

static int run_command(const char *name, int argc, char **argv) {
  const Command *command = find_command(name);
  if (!command) {
    char text[SUGGEST_TEXT];
    Suggestion suggestion = suggest_begin(name);
    for (int k = 0; k < COMMAND_COUNT; k++) suggest_offer(&suggestion, commands[k].name);
    return usage_error("unknown command '%s'%s; scree --help lists them", name, suggest_text(&suggestion, text));
  }
  if (!command->function) return usage_error("this build of scree does not have 'scree %s' yet", name);
  return command->function(argc, argv);
}

static int dispatch(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (argc < 2) return usage_error("no command; scree --help lists them");
  if (strcmp(word, "--version") == 0) return printf("scree %s\n", scree_version()) < 0;
  bool help = strcmp(word, "help") == 0;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (help && argc == 2)) return print_help();
  if (help) return run_command(argv[2], 2, (char *[]){argv[2], "--help", NULL});
  if (word[0] == '-') return usage_error("unknown option '%s'; scree --help lists the commands", word);
  return run_command(word, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow (ulimit -f) is an error like a full disk, not a crash */
  int code = dispatch(argc, argv);
  /* What was printed may still fail to arrive: `scree list parameters > /dev/full`. */
  if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE && code == 0) {
    fprintf(stderr, "error: standard output cannot be written: %s\n", strerror(errno));
    return scree_exit_code(SCREE_CANNOT_WRITE);
  }
  return code;
}
