/* SPDX-License-Identifier: MIT */
/*
 * The metrics of a run: all files of a rank are joined to its steps together, so that of two that
 * say the same the later one holds, and then each role (loss, learning rate …) gets its metric.
 */
#include "session/run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "run/scalars.h"
#include "run/settings.h"

/* The order in which files of metrics are joined: a resumed job leaves one for each start. */
struct turn {
	int64_t time_ns; /* its first; NO_METRIC_TIME stands last: texts lose less than floats */
	size_t file;
};

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	bool a_is_timed = a->time_ns != NO_METRIC_TIME, b_is_timed = b->time_ns != NO_METRIC_TIME;

	if (a_is_timed != b_is_timed)
		return a_is_timed ? -1 : 1;
	TSI_ASCENDING(a->time_ns, b->time_ns);
	return (a->file > b->file) - (a->file < b->file);
}

static int64_t first_time(const struct metric_log *log)
{
	int64_t first_ns = NO_METRIC_TIME;

	for (size_t i = 0; i < log->count; i++) {
		int64_t time_ns = log->points[i].time_ns;

		if (time_ns != NO_METRIC_TIME && (first_ns == NO_METRIC_TIME || time_ns < first_ns))
			first_ns = time_ns;
	}
	return first_ns;
}

void tsi_join_metrics(struct step_series *steps, const struct run_members *members, size_t first,
		      size_t end)
{
	struct arena scratch = { 0 };
	size_t count = end - first;
	struct turn *turns = tsi_arena_new(&scratch, count, sizeof(*turns));
	struct scalar_part *parts = tsi_arena_new(&scratch, count, sizeof(*parts));

	for (size_t i = 0; parts && i < count; i++) {
		const struct loaded *loaded = tsi_member(members, first + i);

		turns[i] = (struct turn){ first_time(&loaded->metrics),
					  members->items[first + i].file };
		tsi_settings_take(steps, &loaded->steps);
	}
	if (parts && count > 0) {
		qsort(turns, count, sizeof(*turns), compare_turns);
		for (size_t i = 0; i < count; i++) {
			const struct loaded *loaded = members->loaded[turns[i].file];

			parts[i] = (struct scalar_part){ &loaded->metrics, loaded->input.format };
		}
		tsi_scalars_join(steps, parts, count);
	}
	steps->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
}

/* ---- before they are joined ---- */

void tsi_prepare_metrics(const struct run_members *members, struct run_notes *notes)
{
	struct arena *arena = notes->arena;
	struct metric_place *places = tsi_arena_new(arena, members->read_count, sizeof(*places));
	uint64_t sample_count = 0;
	size_t count = 0;

	for (size_t i = 0; places && i < members->read_count; i++) {
		struct loaded *loaded = members->loaded[i];

		if (loaded->input.kind == TSCOPE_INPUT_METRICS)
			places[count++] =
				(struct metric_place){ &loaded->metrics, loaded->input.path };
	}
	if (count > 0)
		tsi_metrics_name_by_folders(places, count, arena);
	/* Values that a sampler of its own made, whose steps are not those of the job. */
	for (size_t i = 0; i < count; i++)
		sample_count += tsi_scalars_mark_samples(places[i].log, arena);
	if (sample_count > 0)
		tsi_run_note(notes,
			     "%" PRIu64 " values of metrics that count samples "
			     "instead of steps are in no figure",
			     sample_count);
}

/* ---- --scalar ---- */

static bool has_role(const struct run_ranks *ranks, enum scalar_role role)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (tsi_scalar_of_role(&ranks->series[i], role))
			return true;
	return false;
}

/* The first steps are warm-up if that was asked for; where others say the steps, these are. */
static void mark_warmup(const struct run_ranks *ranks, const struct run_members *members,
			const struct tscope_timeline_options *options)
{
	bool is_alone = members->step_item_count > 0;

	for (size_t i = 0; i < members->step_item_count; i++)
		is_alone &= members->items[i].kind == RUN_ITEM_METRICS;
	for (size_t i = 0; is_alone && i < ranks->count; i++)
		tsi_steps_select(&ranks->series[i], options);
}

enum tscope_status tsi_settle_metrics(const struct run_ranks *ranks,
				      const struct run_members *members,
				      const struct tscope_run_options *options,
				      struct run_notes *notes, struct tscope_error *err)
{
	const struct tscope_scalar_names *names = &options->analysis.scalars;
	enum tscope_status status = TSCOPE_OK;

	mark_warmup(ranks, members, &options->timeline);
	for (size_t i = 0; status == TSCOPE_OK && i < ranks->count; i++) {
		tsi_scalars_settle(&ranks->series[i], names);
		status = tsi_steps_status(&ranks->series[i], err);
	}
	for (size_t role = 0; status == TSCOPE_OK && role < TSCOPE_SCALAR_ROLE_COUNT; role++)
		if (names->names[role] && !has_role(ranks, (enum scalar_role)role))
			tsi_run_note(
				notes, "no metric is called \"%.200s\", so that there is no %s",
				names->names[role], tsi_scalar_role_name((enum scalar_role)role));
	return status;
}
