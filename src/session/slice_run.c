/* SPDX-License-Identifier: MIT */
/*
 * The traces of a run's ranks in one file: the run was read for its clocks and its matches; each
 * trace is read again, as a slice of one is.
 */
#include "session/run.h"
#include "session/slice.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/print_text.h"
#include "base/sum.h"
#include "report/json_parts.h"

/* Chosen part of a rank's time, on the clock of the file. */
struct window {
	int64_t first_ns, end_ns;
};

/* The member of a match that came last, for which the others wait. */
struct last_member {
	size_t rank;
	int64_t start_ns;
};

struct run_slice {
	const struct tscope_run *run;
	const struct tscope_slice_options *options;
	struct slicer slicer;
	struct slice_rank *ranks;
	struct window *windows;
	struct last_member *last; /* by match */
	size_t match_count;
};

static void init_rank(struct run_slice *slice, size_t index)
{
	slice->ranks[index] = (struct slice_rank){
		.number = tscope_run_rank_number(slice->run, index),
		.world = slice->run->world.world,
		.index = (uint32_t)index,
	};
	slice->windows[index] = (struct window){ INT64_MAX, INT64_MIN };
}

static int64_t file_time(const struct slice_rank *rank, int64_t own_ns)
{
	return own_ns == INT64_MIN || own_ns == INT64_MAX ? own_ns : tsi_slice_time(rank, own_ns);
}

/* Adds one trace of a rank: several windows widen what was chosen. */
static enum tscope_status add_window(struct run_slice *slice, size_t index,
				     const struct loaded *loaded, struct tscope_error *err)
{
	struct slice_rank *rank = &slice->ranks[index];
	struct window *window = &slice->windows[index];
	struct slice_choice choice;
	enum tscope_status status;

	slice->slicer.rank = rank;
	status = tsi_slice_add(&slice->slicer, &choice, loaded->input.path, err);
	if (status == TSCOPE_OK) {
		int64_t first_ns = file_time(rank, choice.first_ns);
		int64_t end_ns = file_time(rank, choice.end_ns);

		window->first_ns = first_ns < window->first_ns ? first_ns : window->first_ns;
		window->end_ns = end_ns > window->end_ns ? end_ns : window->end_ns;
	}
	free(choice.times_ns);
	return status;
}

/* The traces that the run's steps are made of, rank by rank, with their metadata from the first. */
static enum tscope_status add_traces(struct run_slice *slice, struct tscope_error *err)
{
	const struct run_members *members = &slice->run->members;
	enum tscope_status status = TSCOPE_OK;
	size_t rank = 0;

	/* Behind the events of one rank stand those of the next. */
	slice->slicer.leaves_metadata = true;
	for (size_t i = 0; i < members->step_item_count && status == TSCOPE_OK; i++) {
		const struct loaded *loaded = tsi_member(members, i);

		if (members->items[i].kind != RUN_ITEM_TRACE)
			continue;
		while (rank + 1 < slice->run->ranks.count &&
		       slice->run->ranks.series[rank].rank != members->items[i].rank)
			rank++;
		status = add_window(slice, rank, loaded, err);
		if (status == TSCOPE_E_EMPTY) /* this window has none of the steps */
			status = TSCOPE_OK;
	}
	if (status == TSCOPE_OK && !slice->slicer.has_events)
		return tsi_fail(err, TSCOPE_E_EMPTY, "no rank has a trace with such a step");
	return status;
}

/* ---- who waits for whom ---- */

static struct tscope_run_span collective(const struct run_slice *slice, size_t rank, size_t index)
{
	struct tscope_run_span span =
		tscope_run_span(slice->run, rank, TSCOPE_RUN_COLLECTIVE, index);

	span.start_ns = tsi_narrow((tsi_wide)span.start_ns - slice->slicer.shared_base_ns);
	return span;
}

static bool is_shown(const struct run_slice *slice, size_t rank, const struct tscope_run_span *span)
{
	const struct window *window = &slice->windows[rank];

	return span->start_ns < window->end_ns &&
	       tsi_narrow((tsi_wide)span->start_ns + span->dur_ns) > window->first_ns;
}

static void find_last(struct run_slice *slice)
{
	for (size_t rank = 0; rank < slice->run->ranks.count; rank++) {
		size_t count = tscope_run_span_count(slice->run, rank, TSCOPE_RUN_COLLECTIVE);

		for (size_t i = 0; i < count; i++) {
			struct tscope_run_span span = collective(slice, rank, i);
			struct last_member *last;

			if (span.number < 0 || !is_shown(slice, rank, &span))
				continue;
			last = &slice->last[span.number];
			if (last->rank == SIZE_MAX || span.start_ns > last->start_ns)
				*last = (struct last_member){ rank, span.start_ns };
		}
	}
}

/* One end of an arrow from the rank that comes last to one that waits for it. */
static void put_arrow_end(struct tracks *t, const struct run_slice *slice, size_t rank,
			  int64_t at_ns, bool is_end, const char *id)
{
	const struct slice_form form = { .rank = &slice->ranks[rank] };

	t->form = &form;
	tsi_tracks_begin(t, is_end ? "f" : "s", "waits for", TRACK_COLLECTIVES);
	tsi_tracks_put_us(t, "ts", at_ns);
	tsi_json_text(&t->w, "id", id);
	if (is_end)
		tsi_json_text(&t->w, "bp", "e");
	tsi_jw_end_object(&t->w);
}

static void put_wait(struct tracks *t, const struct run_slice *slice, size_t rank,
		     const struct tscope_run_span *span)
{
	const struct last_member *last = &slice->last[span->number];
	char id[64], name[40];

	if (last->rank == rank || last->rank == SIZE_MAX)
		return;
	snprintf(name, sizeof(name), "waits for rank %" PRId64, slice->ranks[last->rank].number);
	tsi_tracks_begin_slice(t, name, TRACK_COLLECTIVES, span->start_ns, span->wait_ns);
	tsi_tracks_end(t);
	snprintf(id, sizeof(id), "tscope %" PRId64 " %zu", span->number, rank);
	put_arrow_end(t, slice, last->rank, last->start_ns, false, id);
	put_arrow_end(t, slice, rank, tsi_narrow((tsi_wide)span->start_ns + span->wait_ns - 1),
		      true, id);
}

static void put_collectives(struct tracks *t, const struct run_slice *slice, size_t rank)
{
	size_t count = tscope_run_span_count(slice->run, rank, TSCOPE_RUN_COLLECTIVE);
	const struct slice_form form = { .rank = &slice->ranks[rank] };

	for (size_t i = 0; i < count; i++) {
		struct tscope_run_span span = collective(slice, rank, i);

		t->form = &form;
		if (!is_shown(slice, rank, &span))
			continue;
		tsi_tracks_begin_slice(t, span.name, TRACK_COLLECTIVES, span.start_ns, span.dur_ns);
		if (span.number >= 0)
			tsi_tracks_put_us(t, "wait_us", span.wait_ns);
		tsi_tracks_end(t);
		if (span.number >= 0 && span.wait_ns > 0)
			put_wait(t, slice, rank, &span);
	}
}

/* "clock +12.345 us, within 1.200 us; ends agree to 0.300 us" */
static void describe_clock(char *text, size_t size, const struct rank_clock *clock)
{
	tsi_print_text(text, size, "clock %+.3f us, within %.3f us", (double)clock->offset_ns / 1e3,
		       (double)clock->error_ns / 1e3);
	if (clock->match_count > 0)
		tsi_append_text(text, size, "; ends agree to %.3f us",
				(double)clock->residual_ns / 1e3);
}

static void put_rank_names(struct tracks *t, const struct run_slice *slice, size_t rank)
{
	const struct world *world = slice->run->world.world;
	const struct slice_form form = { .rank = &slice->ranks[rank] };
	char name[120];

	t->form = &form;
	if (world && world->clocks[rank].is_known)
		describe_clock(name, sizeof(name), &world->clocks[rank]);
	else
		snprintf(name, sizeof(name), "clock: nothing ties it to the others");
	tsi_tracks_name(t, TRACK_COLLECTIVES, "collectives, and who is waited for");
	tsi_tracks_begin(t, "M", "process_labels", TRACK_STEPS);
	tsi_json_object(&t->w, "args");
	tsi_json_text(&t->w, "labels", name);
	tsi_tracks_end(t);
}

static enum tscope_status put_tracks(struct run_slice *slice, struct tscope_error *err)
{
	struct tracks tracks = { 0 };
	enum tscope_status status;

	tsi_tracks_open(&tracks);
	for (size_t rank = 0; tracks.out && rank < slice->run->ranks.count; rank++) {
		put_rank_names(&tracks, slice, rank);
		put_collectives(&tracks, slice, rank);
	}
	status = tsi_tracks_close(&tracks, err);
	if (status == TSCOPE_OK)
		tsi_slice_put(&slice->slicer, (struct str){ tracks.text, tracks.length });
	free(tracks.text);
	return status;
}

/* ---- the file ---- */

/* "tscope_ranks": who reads the file as a trace of one rank should know better. */
static void put_ranks(struct run_slice *slice)
{
	for (size_t i = 0; i < slice->run->ranks.count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%" PRId64, i ? ", " : "\"tscope_ranks\": [",
			 slice->ranks[i].number);
		tsi_gzip_put(slice->slicer.out, tsi_str_of(text));
	}
	tsi_gzip_put(slice->slicer.out, TSI_STR("],\n"));
}

static enum tscope_status write_run(FILE *out, struct run_slice *slice, struct tscope_error *err)
{
	enum tscope_status status = tsi_slicer_open(&slice->slicer, out, slice->options, err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < slice->run->ranks.count; i++)
		init_rank(slice, i);
	for (size_t i = 0; i < slice->match_count; i++)
		slice->last[i].rank = SIZE_MAX;
	put_ranks(slice);
	status = add_traces(slice, err);
	if (status == TSCOPE_OK) {
		find_last(slice);
		status = put_tracks(slice, err);
	}
	return tsi_slicer_close(&slice->slicer, status, err);
}

enum tscope_status tscope_slice_write_run(FILE *out, const struct tscope_run *run,
					  const struct tscope_slice_options *options,
					  struct tscope_error *err)
{
	struct run_slice slice = { .run = run, .options = options };
	size_t count = run->ranks.count;
	enum tscope_status status;

	slice.match_count = run->world.world ? run->world.world->match_count : 0;
	status = tsi_array_new(&slice.ranks, count, sizeof(*slice.ranks), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&slice.windows, count, sizeof(*slice.windows), err);
	if (status == TSCOPE_OK)
		status =
			tsi_array_new(&slice.last, slice.match_count + 1, sizeof(*slice.last), err);
	if (status == TSCOPE_OK)
		status = write_run(out, &slice, err);
	free(slice.ranks);
	free(slice.windows);
	free(slice.last);
	return status;
}
