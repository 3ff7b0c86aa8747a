/* SPDX-License-Identifier: MIT */
/*
 * steps.jsonl, pytscope's step records: one JSON object a line, appended while
 * the job runs. So the last line may be cut, and where a job was started again
 * in the same folder its records follow those of the run before, from a lower
 * number on. Lines go one by one to record.c.
 */
#include "run/record.h"

#include "decode/json.h"
#include "decode/records/text_rows.h"

enum {
	LINE_MAX_DEPTH = 64,
	TASTED_LINES = 16,
	TASTE_BITS = 64, /* a step number and a block's name, at the least */
};

/* ---- tasting ---- */

static bool is_object(struct str value)
{
	return value.length > 0 && value.data[0] == '{';
}

static bool is_of_trace(struct str line)
{
	return tsi_json_object_get(line, TSI_STR("ph")).length > 0 ||
	       tsi_json_object_get(line, TSI_STR("traceEvents")).length > 0;
}

/*
 * Many logs have a step on each line. Ours have it beside phases or scalars; a
 * record without either holds nothing that is not ours.
 */
static bool is_record(struct str line)
{
	struct record_text record;

	return tsi_record_split(&record, line) &&
	       (is_object(record.members[RECORD_PHASES]) ||
		is_object(record.members[RECORD_SCALARS]) || !record.has_others);
}

/* The first record decides: what precedes it is skipped here as when it is read. */
static unsigned taste(struct str head)
{
	for (unsigned i = 0; i < TASTED_LINES && head.length > 0; i++) {
		struct str line = tsi_str_trim(tsi_str_take(&head, '\n'));

		if (is_object(line) && is_of_trace(line))
			return 0;
		if (is_object(line) && is_record(line))
			return TASTE_BITS;
	}
	return 0;
}

/* ---- records ---- */

/*
 * A job's own numbers ascend, so a lower one is the job's next start. Steps of traces
 * may be of several windows, each with numbers of its own; nobody appends to those.
 */
static bool is_first_of_run(const struct step_series *steps, const struct record_text *record)
{
	return steps->count == 0 || (record->number <= steps->records[steps->count - 1].number &&
				     !tsi_record_has_budget(record));
}

/* The records so far were those of an earlier run. */
static void begin_run(struct step_series *steps, struct store_log *log, uint64_t line_number)
{
	log->earlier_count += steps->count;
	log->run_count++;
	log->last_run_line = line_number;
	steps->count = 0;
	steps->budget_count = 0;
	steps->phases.count = 0;
	steps->scalars.count = 0;
	steps->device_count = 0;
}

static void read_line(struct step_series *steps, const struct text_row *line, uint64_t line_number,
		      struct store_log *log)
{
	struct str text = tsi_str_trim(line->text);
	struct record_text record;

	if (text.length == 0 && !line->is_too_long)
		return;
	log->line_count++;
	if (line->is_too_long || tsi_json_check(text, LINE_MAX_DEPTH, NULL) != TSCOPE_OK) {
		log->is_cut = !line->has_end && !line->is_too_long;
		log->bad_line_count += !log->is_cut;
		return;
	}
	if (!tsi_record_split(&record, text)) {
		log->bad_line_count++;
		return;
	}
	if (is_first_of_run(steps, &record))
		begin_run(steps, log, line_number);
	tsi_record_add(steps, &record, log);
}

static enum tscope_status read_steps(struct input *in, struct step_series *steps,
				     struct store_log *log, struct tscope_error *err)
{
	struct text_rows lines = { .in = in };
	struct text_row line;
	uint64_t line_number = 0;
	enum tscope_status status = TSCOPE_OK;

	while (!steps->has_failed && (status = tsi_text_rows_next(&lines, &line, err)) == TSCOPE_OK)
		read_line(steps, &line, ++line_number, log);
	if (steps->has_failed)
		return tsi_steps_status(steps, err);
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

const struct store tsi_store_steps_jsonl = {
	.id = "steps_jsonl",
	.taste = taste,
	.read = read_steps,
};
