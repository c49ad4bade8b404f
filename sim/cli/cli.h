/* The commands of ocsim, one file each. A command gets argv from its own name on and answers the exit code. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* ocsim import FILE [-o MODEL.json]: a profile becomes a model file. */
int cli_import(int argc, char **argv);

#endif
