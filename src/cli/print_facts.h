/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PRINT_FACTS_H
#define TSCOPE_CLI_PRINT_FACTS_H

/* Every fact and column of a table, its unit and meaning, as the analyzers define them. */
void print_facts(void);

#endif
