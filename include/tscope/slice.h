/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SLICE_H
#define TSCOPE_SLICE_H

#include <stdio.h>
#include <tscope/rules.h>
#include <tscope/run.h>

/*
 * A smaller trace for a viewer: the events of some steps, or of some time, as the file has them,
 * and tracks of our own: steps, their budgets, why devices idled, findings.
 */
struct tscope_slice_options {
	struct tscope_trace_options trace;
	struct tscope_timeline_options timeline; /* its range: the steps to keep */
	bool has_time;
	int64_t first_ns, last_ns; /* with has_time: as "ts" of the file times 1000 */
	bool device_only;          /* no events of the host */
	bool compress;             /* gzip */
	/*
	 * Not NULL: names that are not PyTorch's or its libraries' become hashes that this
	 * passphrase makes, as do texts of args; shapes of tensors go, too, unless keeps_shapes.
	 */
	const char *redact;
	bool keeps_shapes;
};

/*
 * Writes what the options select of a trace. Reading it again gives the same figures for those
 * steps: besides them it holds the step before and the one after, what was launched in any of
 * these, and the launches of what ran in them; "tscope_slice" says which steps were meant, and
 * tscope reports on these only. TSCOPE_E_EMPTY: no such step; TSCOPE_E_UNSUPPORTED: a pipe, which
 * cannot be read twice, or gzip without zlib; TSCOPE_E_WRITE; else as tscope_trace_open().
 */
enum tscope_status tscope_slice_write(FILE *out, const char *path,
				      const struct tscope_slice_options *options,
				      struct tscope_error *err);

/*
 * Writes the slice of all ranks of a run, in one file and on one clock, that of the lowest rank:
 * processes are called by their ranks, collectives and who waits for whom are tracks of their own,
 * and "tscope_ranks" says how far each clock was off. It is for viewers: tscope reads the traces
 * that it was made of.
 */
enum tscope_status tscope_slice_write_run(FILE *out, const struct tscope_run *run,
					  const struct tscope_slice_options *options,
					  struct tscope_error *err);

#endif
