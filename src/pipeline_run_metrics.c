/* SPDX-License-Identifier: MIT */
/*
 * The metrics of a run: all files of a rank are joined to its steps together, so that of two that
 * say the same the later one holds, and then each role (loss, learning rate …) gets its metric.
 */
#include "pipeline_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "run/scalars.h"
#include "run/settings.h"

/* What files of metrics are joined by: a job that was resumed leaves one of each start. */
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
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
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

static enum tscope_status join_parts(struct tscope_run *run, struct step_series *steps,
				     const struct turn *turns, size_t count,
				     struct tscope_error *err)
{
	struct scalar_part *parts = NULL;
	enum tscope_status status = tsi_array_new(&parts, count, sizeof(*parts), err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		const struct loaded *loaded = &run->loaded[turns[i].file];

		parts[i] = (struct scalar_part){ &loaded->metrics, loaded->input.format };
	}
	status = tsi_scalars_join(steps, parts, count, err);
	free(parts);
	return status;
}

enum tscope_status tsi_run_join_metrics(struct tscope_run *run, size_t first, size_t end,
					struct tscope_error *err)
{
	struct step_series *steps = &run->series[run->rank_count - 1];
	struct turn *turns = NULL;
	enum tscope_status status;

	if (first == end)
		return TSCOPE_OK;
	status = tsi_array_new(&turns, end - first, sizeof(*turns), err);
	for (size_t i = first; status == TSCOPE_OK && i < end; i++) {
		size_t file = run->items[i].file;

		turns[i - first] = (struct turn){ first_time(&run->loaded[file].metrics), file };
		status = tsi_settings_take(steps, &run->loaded[file].steps, err);
	}
	if (status == TSCOPE_OK) {
		qsort(turns, end - first, sizeof(*turns), compare_turns);
		status = join_parts(run, steps, turns, end - first, err);
	}
	free(turns);
	return status;
}

/* ---- before they are joined ---- */

static bool is_of_metrics(const struct loaded *loaded)
{
	return loaded->input.path && loaded->input.kind == TSCOPE_INPUT_METRICS;
}

static enum tscope_status finish_names(struct tscope_run *run, struct tscope_error *err)
{
	struct metric_place *places = NULL;
	enum tscope_status status = tsi_array_new(&places, run->files.count, sizeof(*places), err);
	size_t count = 0;

	for (size_t i = 0; status == TSCOPE_OK && i < run->files.count; i++)
		if (is_of_metrics(&run->loaded[i]))
			places[count++] = (struct metric_place){ &run->loaded[i].metrics,
								 run->loaded[i].input.path };
	if (status == TSCOPE_OK && count > 0)
		status = tsi_metrics_name_by_folders(places, count, err);
	free(places);
	return status;
}

/* Values that a sampler of its own made, whose steps are not those of the job. */
static enum tscope_status mark_samples(struct tscope_run *run, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	uint64_t all = 0, count;

	for (size_t i = 0; status == TSCOPE_OK && i < run->files.count; i++) {
		if (!is_of_metrics(&run->loaded[i]))
			continue;
		status = tsi_scalars_mark_samples(&run->loaded[i].metrics, &count, err);
		all += count;
	}
	if (status == TSCOPE_OK && all > 0)
		status = tsi_run_add_note(run, err,
					  "%" PRIu64 " values of metrics that count samples "
					  "instead of steps are in no figure",
					  all);
	return status;
}

enum tscope_status tsi_run_prepare_metrics(struct tscope_run *run, struct tscope_error *err)
{
	enum tscope_status status = finish_names(run, err);

	return status == TSCOPE_OK ? mark_samples(run, err) : status;
}

/* ---- --scalar ---- */

static bool has_role(const struct tscope_run *run, enum scalar_role role)
{
	for (size_t i = 0; i < run->rank_count; i++)
		if (tsi_scalar_of_role(&run->series[i], role))
			return true;
	return false;
}

/* Of metrics alone the first steps that were asked to be are warm-up; of others these are. */
static void mark_warmup(struct tscope_run *run, const struct tscope_timeline_options *options)
{
	bool is_alone = run->step_item_count > 0;

	for (size_t i = 0; i < run->step_item_count; i++)
		is_alone &= run->items[i].kind == RUN_ITEM_METRICS;
	for (size_t i = 0; is_alone && i < run->rank_count; i++)
		tsi_steps_select(&run->series[i], options);
}

enum tscope_status tsi_run_settle_metrics(struct tscope_run *run,
					  const struct tscope_run_options *options,
					  struct tscope_error *err)
{
	const struct tscope_scalar_names *names = &options->analysis.scalars;
	enum tscope_status status = TSCOPE_OK;

	mark_warmup(run, &options->timeline);
	for (size_t i = 0; status == TSCOPE_OK && i < run->rank_count; i++)
		status = tsi_scalars_settle(&run->series[i], names, err);
	for (size_t role = 0; status == TSCOPE_OK && role < TSCOPE_SCALAR_ROLE_COUNT; role++)
		if (names->names[role] && !has_role(run, (enum scalar_role)role))
			status = tsi_run_add_note(
				run, err, "no metric is called \"%.200s\", so that there is no %s",
				names->names[role], tsi_scalar_role_name((enum scalar_role)role));
	return status;
}
