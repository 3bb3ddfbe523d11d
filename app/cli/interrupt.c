#include "app/cli/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTERRUPTED = 130 };

static volatile sig_atomic_t asked;
static volatile sig_atomic_t terminal;

static void on_signal(int number) {
  (void)number;
  static const char hint[] = "\nfinishing the frame; once more quits at once\n";
  if (asked) _exit(EXIT_INTERRUPTED);
  asked = 1;
  if (terminal && write(STDERR_FILENO, hint, sizeof hint - 1) < 0) return;
}

void interrupt_watch(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  terminal = isatty(STDERR_FILENO);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* A terminal that is closed; with nohup the run goes on. */
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
  /* A reader of the progress lines that goes away must not end the simulation. */
  signal(SIGPIPE, SIG_IGN);
}

bool interrupt_asked(void) { return asked != 0; }
