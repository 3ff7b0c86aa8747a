/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_LOAD_RUN_H
#define TSCOPE_CLI_LOAD_RUN_H

#include "exit_code.h"
#include "options.h"

/*
 * Opens the run that the operands name, and says on standard error what of it
 * is damaged or could not be read. Returns the exit code that this calls for;
 * *run is NULL where there is nothing to go on with, else the caller frees it.
 */
enum exit_code load_run(struct tscope_run **run, const struct options *options);

/* As above, for folders that may hold several runs; on_demand: tscope_analysis_options. */
enum exit_code load_runs(struct tscope_runs **runs, const struct options *options, bool on_demand);

/* The options for reading a run. */
struct tscope_run_options load_run_options(const struct options *options);

/* Says what of a run is damaged or could not be read, and returns the exit code for it. */
enum exit_code judge_run(const struct tscope_run *run, const struct options *options);

/*
 * Why gates on a run that hold are undecided, or NULL: it is not whole, or its steps are not those
 * that were asked for.
 */
const char *run_lack(const struct tscope_run *run, const struct options *options);
/*
 * Likewise on a run of a single rank of several: other gates than those on a single rank's file say
 * nothing of the others.
 */
const char *run_lone_rank(const struct tscope_run *run);
void say_lone_rank(const struct tscope_run *run, const struct options *options);

/* Says what kept facts of ranks from being made, of which a report holds no others. */
enum exit_code load_judge_ranks(const struct tscope_run *run);

#endif
