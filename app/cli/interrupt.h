/* Ctrl-C and SIGTERM: the first asks for an orderly end, the second quits at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupt_asked(void);

#endif
