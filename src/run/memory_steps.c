/* SPDX-License-Identifier: MIT */
/* Statistics of memory beside the steps of a rank. */
#include "run/memory_steps.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/ckd.h"
#include "run/scalars.h"

static const char training_step[] = "training_step";

/* Where the names of a file are, as they are looked up in each moment. */
enum { KEY_RSS = STEP_MEMORY_COUNT, KEY_COUNT };

static const char *const key_names[KEY_COUNT] = {
	[STEP_MEMORY_ALLOC] = "allocated_bytes.all.current",
	[STEP_MEMORY_RESERVED] = "reserved_bytes.all.current",
	[STEP_MEMORY_PEAK_ALLOC] = "allocated_bytes.all.peak",
	[STEP_MEMORY_PEAK_RESERVED] = "reserved_bytes.all.peak",
	[KEY_RSS] = "rss",
};

static int64_t read_bytes(const struct plain *plain, struct plain_value dict,
			  struct plain_value key)
{
	int64_t bytes;

	if (!tsi_plain_to_int64(plain, tsi_plain_get(plain, dict, key), &bytes) || bytes < 0)
		return NO_BYTES;
	return bytes;
}

/* false: it is none of a training step's end. */
static bool read_moment(struct memory_step *step, const struct plain *plain,
			const struct memory_moment *moment, const struct plain_value *keys)
{
	if (!moment->is_end || !tsi_str_equal(moment->function, tsi_str_of(training_step)) ||
	    tsi_ckd_sub(&step->number, moment->iteration, 1))
		return false;
	step->rank = moment->rank;
	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		step->bytes[i] = read_bytes(plain, moment->values, keys[i]);
	step->rss_bytes = read_bytes(plain, moment->values, keys[KEY_RSS]);
	return true;
}

enum tscope_status tsi_memory_steps_init(struct memory_steps *memory,
					 const struct memory_stats *stats, struct tscope_error *err)
{
	struct plain_value keys[KEY_COUNT];

	*memory = (struct memory_steps){ 0 };
	if (tsi_array_new(&memory->items, stats->count, sizeof(*memory->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < KEY_COUNT; i++)
		keys[i] = tsi_plain_name(stats->plain, tsi_str_of(key_names[i]));
	for (size_t i = 0; i < stats->count; i++)
		memory->count += read_moment(&memory->items[memory->count], stats->plain,
					     &stats->moments[i], keys);
	return TSCOPE_OK;
}

void tsi_memory_steps_deinit(struct memory_steps *memory)
{
	free(memory->items);
	*memory = (struct memory_steps){ 0 };
}

/* ---- joining ---- */

/* Puts what the record lacks; true if there is anything. */
static bool fill_record(struct step_record *record, const struct memory_step *step)
{
	bool is_filled = false;

	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++) {
		if (record->memory_bytes[i] != NO_BYTES || step->bytes[i] == NO_BYTES)
			continue;
		record->memory_bytes[i] = step->bytes[i];
		is_filled = true;
	}
	return is_filled;
}

static enum tscope_status add_rss(struct metric_log *log, const struct memory_step *step,
				  struct tscope_error *err)
{
	const struct metric_point point = {
		.step = step->number,
		.time_ns = NO_METRIC_TIME,
		.value = (double)step->rss_bytes,
	};

	if (step->rss_bytes == NO_BYTES)
		return TSCOPE_OK;
	return tsi_metric_log_add(log, TSI_STR("rss"), point, err);
}

/* Is it of the rank whose steps there are? One that nobody knows is that of a file of one rank. */
static bool is_of_rank(const struct step_series *steps, const struct memory_steps *memory,
		       const struct memory_step *step)
{
	if (steps->rank >= 0)
		return step->rank == steps->rank;
	return memory->items[0].rank == memory->items[memory->count - 1].rank;
}

static enum tscope_status fill_records(struct step_series *steps, const struct memory_steps *memory,
				       struct metric_log *log, size_t *step_count)
{
	struct sort_pair *by_number = NULL;
	size_t count;
	enum tscope_status status = tsi_steps_by_number(&by_number, &count, steps, false, NULL);

	for (size_t i = 0; status == TSCOPE_OK && i < memory->count; i++) {
		const struct memory_step *step = &memory->items[i];
		uint32_t index = tsi_step_of_number(by_number, count, step->number);

		if (index == NO_ROW || !is_of_rank(steps, memory, step))
			continue;
		*step_count += fill_record(&steps->records[index], step);
		status = add_rss(log, step, NULL);
	}
	free(by_number);
	return status;
}

size_t tsi_memory_steps_join(struct step_series *steps, const struct memory_steps *memory)
{
	struct metric_log log;
	const struct scalar_part part = { &log, "memory_stats" };
	size_t step_count = 0;

	if (tsi_metric_log_init(&log, NULL) != TSCOPE_OK ||
	    fill_records(steps, memory, &log, &step_count) != TSCOPE_OK)
		steps->has_failed = true;
	if (log.count > 0)
		tsi_scalars_join(steps, &part, 1);
	tsi_metric_log_deinit(&log);
	return step_count;
}
