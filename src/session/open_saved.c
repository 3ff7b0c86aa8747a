/* SPDX-License-Identifier: MIT */
/* A report that was saved becomes a run again, as far as it says what the run was. */
#include "session/open_saved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/lookup.h"
#include "base/array.h"
#include "base/error.h"
#include "decode/foreign.h"
#include "decode/plain/plain_reader.h"
#include "session/open_trace.h"
#include "session/run.h"

enum tscope_status tsi_saved_open(struct saved_report *ret, const char *path,
				  const struct tscope_trace_options *options, bool *is_saved,
				  struct tscope_error *err)
{
	struct input_options input_options = tsi_input_options_of(options);
	struct tscope_error ignored;
	struct input *in;
	const char *data;
	size_t available;

	*is_saved = false;
	if (tsi_input_open_file(&in, path, &input_options, &ignored) != TSCOPE_OK)
		return TSCOPE_OK;
	enum tscope_status status = tsi_input_peek(in, TASTED_PLAIN_BYTES, &data, &available, NULL);
	struct str head = { data, available < TASTED_PLAIN_BYTES ? available : TASTED_PLAIN_BYTES };

	*is_saved = (status == TSCOPE_OK || status == TSCOPE_END) && tsi_is_saved_report(head);
	status = TSCOPE_OK;
	if (*is_saved)
		status = tsi_saved_report_read(ret, in, err);
	if (*is_saved && status == TSCOPE_OK) {
		ret->source_bytes = tsi_input_source_bytes(in);
		ret->bytes = tsi_input_offset(in);
		snprintf(ret->compression, sizeof(ret->compression), "%s", tsi_input_filters(in));
	}
	if (status != TSCOPE_OK)
		tsi_fail_within(err, "%s", path);
	tsi_input_close(in);
	return status;
}

/* ---- the run ---- */

/* Numbers and facts of the ranks; the report holds no more of them. */
static void fill_ranks(struct run_ranks *ranks, const struct saved_report *report,
		       struct arena *arena)
{
	int64_t missing = tsi_lookup_int(report->analysis, "distributed.missing_rank_count");
	int64_t world_size = missing > 0 ? (int64_t)report->rank_count + missing : -1;

	ranks->series = tsi_arena_new(arena, report->rank_count, sizeof(*ranks->series));
	ranks->ranks = tsi_arena_new(arena, report->rank_count, sizeof(*ranks->ranks));
	for (size_t i = 0; ranks->series && ranks->ranks && i < report->rank_count; i++) {
		tsi_steps_init(&ranks->series[i]);
		ranks->series[i].rank = report->ranks[i].number;
		ranks->series[i].world_size = world_size;
		ranks->ranks[i].analysis = report->ranks[i].analysis;
		ranks->count++;
	}
}

/* Which ranks were left out is not in the report, so neither is which are missing besides. */
static const char *missing_ranks(const struct saved_report *report, const struct run_ranks *ranks,
				 struct arena *arena)
{
	int64_t missing = tsi_lookup_int(report->analysis, "distributed.missing_rank_count");
	size_t read_count = report->rank_count + report->left_out_ranks;

	if (report->left_out_ranks == 0)
		return tsi_missing_ranks(ranks, arena);
	return missing > 0 ? tsi_arena_print(arena, "%zu of %" PRId64 " ranks were read",
					     read_count, (int64_t)read_count + missing)
			   : NULL;
}

const char *tsi_saved_missing_ranks(const struct saved_report *report, struct arena *arena)
{
	struct run_ranks ranks = { 0 };

	fill_ranks(&ranks, report, arena);
	const char *missing = missing_ranks(report, &ranks, arena);
	for (size_t i = 0; i < ranks.count; i++)
		tsi_steps_deinit(&ranks.series[i]);
	return missing;
}

const char *tsi_unsaved_ranks(const struct saved_report *report, struct arena *arena)
{
	return report->left_out_ranks > 0
		       ? tsi_arena_print(arena,
					 "of %zu of its ranks it holds nothing (saved without "
					 "--ranks all)",
					 report->left_out_ranks)
		       : NULL;
}

static void note(struct tscope_run *run, const struct saved_report *report)
{
	tsi_run_note(&run->notes,
		     "a report saved by %s: its figures and what this tscope makes of them; files, "
		     "single steps and what ranks did are not in it%s",
		     report->saved_by,
		     report->is_cut ? ", and of kernels, operators and other rankings the first "
				      "rows only (saved without --full)"
				    : "");
	if (run->unsaved_ranks)
		tsi_run_note(&run->notes, "%s", run->unsaved_ranks);
}

/* Problems of the job's files are problems of the report on them. */
static void fill_input(struct run_saved *saved, const char *path)
{
	const struct saved_report *report = &saved->report;

	saved->input = (struct tscope_run_input){
		.kind = TSCOPE_INPUT_REPORT,
		.path = path,
		.format = "saved_report",
		.compression = report->compression,
		.source_bytes = report->source_bytes,
		.bytes = report->bytes,
		.rank = report->rank_count == 1 ? report->ranks[0].number : -1,
		.dropped_count = report->dropped_count,
		.note = "",
	};
	if (*report->damage == '\0')
		return;
	tsi_fail(&saved->damage, TSCOPE_E_DAMAGED, "saved of what could be read: %.400s",
		 report->damage);
	saved->input.damage = &saved->damage;
}

static enum tscope_status fill_run(struct tscope_run *run, const char *path,
				   struct tscope_error *err)
{
	struct run_saved *saved = run->saved;

	run->analysis = saved->report.analysis;
	fill_ranks(&run->ranks, &saved->report, &run->arena);
	fill_input(saved, path);
	run->unsaved_ranks = tsi_unsaved_ranks(&saved->report, &run->arena);
	note(run, &saved->report);
	run->is_named = saved->report.is_named;
	if (*saved->report.alone)
		run->alone = saved->report.alone;
	run->missing_ranks = missing_ranks(&saved->report, &run->ranks, &run->arena);
	if (saved->input.damage || saved->input.dropped_count > 0)
		run->incomplete = "what the report was saved of was damaged";
	return tsi_arena_status(&run->arena, err);
}

enum tscope_status tsi_saved_run(struct tscope_run **ret, const char *path,
				 const struct tscope_trace_options *options,
				 struct tscope_error *err)
{
	struct tscope_run *run = NULL;
	bool is_saved;
	enum tscope_status status = tsi_array_new(&run, 1, sizeof(*run), err);

	if (status != TSCOPE_OK)
		return status;
	run->notes.arena = &run->arena;
	status = tsi_array_new(&run->saved, 1, sizeof(*run->saved), err);
	if (status == TSCOPE_OK)
		status = tsi_saved_open(&run->saved->report, path, options, &is_saved, err);
	if (status == TSCOPE_OK && !is_saved)
		status = tsi_fail(err, TSCOPE_E_IO, "%s: cannot be read a second time", path);
	if (status == TSCOPE_OK)
		status = fill_run(run, path, err);
	if (status == TSCOPE_OK)
		*ret = run;
	else
		tscope_run_free(run);
	return status;
}

/* All facts are the report's; those of a rank may be those of the run. */
void tsi_saved_run_free(struct tscope_run *run)
{
	for (size_t i = 0; i < run->ranks.count; i++)
		run->ranks.ranks[i].analysis = NULL;
	run->analysis = NULL;
	tsi_saved_report_deinit(&run->saved->report);
	free(run->saved);
	run->saved = NULL;
}
