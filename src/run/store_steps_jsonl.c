/* SPDX-License-Identifier: MIT */
/*
 * steps.jsonl, pytscope's step records: one JSON object a line, appended while
 * the job runs. So the last line may be cut, and where a job was started again
 * in the same folder its records follow those of the run before, from a lower
 * number on. Lines go one by one to record.c; memory is bounded by one line.
 */
#include "run/record.h"

#include "decode/json.h"

enum {
	LINE_MAX_BYTES = 4 << 20, /* as much as we write; a longer line is skipped, however long */
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
		const char *end = memchr(head.data, '\n', head.length);
		size_t length = end ? (size_t)(end - head.data) : head.length;
		struct str line = tsi_str_trim((struct str){ head.data, length });

		if (is_object(line) && is_of_trace(line))
			return 0;
		if (is_object(line) && is_record(line))
			return TASTE_BITS;
		length += end != NULL;
		head.data += length;
		head.length -= length;
	}
	return 0;
}

/* ---- lines ---- */

struct line {
	struct str text;    /* without white space around it; valid until the next one */
	uint64_t number;    /* from 1 */
	size_t shown_bytes; /* of the input, to be consumed */
	bool is_too_long;   /* text is only its end */
	bool has_end;       /* a line feed follows */
};

/* TSCOPE_END: there are no more. */
static enum tscope_status next_line(struct line *line, struct input *in, struct tscope_error *err)
{
	const char *data, *end = NULL;
	size_t length, searched = 0;
	enum tscope_status status;

	tsi_input_consume(in, line->shown_bytes);
	*line = (struct line){ .number = line->number + 1 };
	while ((status = tsi_input_peek(in, searched + 1, &data, &length, err)) == TSCOPE_OK) {
		end = memchr(data + searched, '\n', length - searched);
		if (end)
			break;
		searched = length;
		if (length > LINE_MAX_BYTES) {
			tsi_input_consume(in, length);
			line->is_too_long = true;
			searched = 0;
		}
	}
	if (status != TSCOPE_OK && status != TSCOPE_END)
		return status;
	line->has_end = end != NULL;
	line->text.data = data;
	line->text.length = end ? (size_t)(end - data) : length;
	line->shown_bytes = line->text.length + line->has_end;
	line->is_too_long |= line->text.length > LINE_MAX_BYTES;
	line->text = tsi_str_trim(line->text);
	return line->shown_bytes > 0 || line->is_too_long ? TSCOPE_OK : TSCOPE_END;
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

static enum tscope_status read_line(struct step_series *steps, const struct line *line,
				    struct store_log *log, struct tscope_error *err)
{
	struct record_text record;

	if (line->text.length == 0 && !line->is_too_long)
		return TSCOPE_OK;
	log->line_count++;
	if (line->is_too_long || tsi_json_check(line->text, LINE_MAX_DEPTH, NULL) != TSCOPE_OK) {
		log->is_cut = !line->has_end && !line->is_too_long;
		log->bad_line_count += !log->is_cut;
		return TSCOPE_OK;
	}
	if (!tsi_record_split(&record, line->text)) {
		log->bad_line_count++;
		return TSCOPE_OK;
	}
	if (is_first_of_run(steps, &record))
		begin_run(steps, log, line->number);
	return tsi_record_add(steps, &record, log, err);
}

static enum tscope_status read_steps(struct input *in, struct step_series *steps,
				     struct store_log *log, struct tscope_error *err)
{
	struct line line = { 0 };
	enum tscope_status status;

	while ((status = next_line(&line, in, err)) == TSCOPE_OK) {
		status = read_line(steps, &line, log, err);
		if (status != TSCOPE_OK)
			return status;
	}
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

const struct store tsi_store_steps_jsonl = {
	.id = "steps_jsonl",
	.taste = taste,
	.read = read_steps,
};
