/* The commands of the program. Each is given what follows its name (argv[0] is the name) and returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_list(int argc, char **argv);
int command_export(int argc, char **argv);
int command_sample(int argc, char **argv);
int command_render(int argc, char **argv);
int command_view(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_calibrate(int argc, char **argv);

/* The conventional exit code of bad usage. */
enum { EXIT_USAGE = 2 };

#endif
