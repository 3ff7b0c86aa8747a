/* SPDX-License-Identifier: MIT */
/*
 * Metrics as JSON objects of numbers, each with its step: one a line (metrics.jsonl of many
 * loggers, the history of Weights & Biases, LLaMA-Factory's trainer_log.jsonl), or in "log_history"
 * of the trainer_state.json that Hugging Face's Trainer leaves in each of its checkpoints.
 */
#include "run/metrics.h"

#include "base/error.h"
#include "decode/json.h"
#include "decode/records/text_rows.h"
#include "run/file_name.h"

/* A document is read as a whole: a million records of the Trainer are not as long. */
enum { DOCUMENT_MAX_BYTES = 256 << 20, HEAD_BYTES = 64 << 10, RECORD_MAX_DEPTH = 32 };

static const char history[] = "log_history";

/* ---- records ---- */

/* Step and time of a record; the best key for a step counts. */
static bool read_point(struct str record, struct metric_point *point)
{
	unsigned best = METRIC_NO_STEP;
	struct json_cursor members;
	struct str key, value;
	double seconds;
	int64_t step;

	*point = (struct metric_point){ .time_ns = NO_METRIC_TIME };
	tsi_json_object_open(&members, record);
	while (tsi_json_object_next(&members, &key, &value)) {
		unsigned rank = tsi_metric_step_rank(key);

		if (rank < best && tsi_metric_to_step(value, &step)) {
			best = rank;
			point->step = step;
		}
		if (tsi_metric_is_time(key) && tsi_metric_to_double(value, &seconds))
			point->time_ns = tsi_metric_time(seconds);
	}
	return best != METRIC_NO_STEP;
}

static bool is_metric(struct str key)
{
	return tsi_metric_step_rank(key) == METRIC_NO_STEP && !tsi_metric_is_time(key);
}

static enum tscope_status add_record(struct metric_log *log, struct str record,
				     struct tscope_error *err)
{
	struct metric_point point;
	bool has_step = read_point(record, &point);
	enum tscope_status status = TSCOPE_OK;
	struct json_cursor members;
	struct str key, value;

	tsi_json_object_open(&members, record);
	while (status == TSCOPE_OK && tsi_json_object_next(&members, &key, &value)) {
		if (!is_metric(key) || tsi_str_is(value, "null"))
			continue;
		if (!tsi_metric_to_double(value, &point.value))
			log->other_count++;
		else if (!has_step)
			log->without_step_count++;
		else
			status = tsi_metric_log_add(log, key, point, err);
	}
	return status;
}

static bool is_object(struct str text)
{
	return text.length > 0 && text.data[0] == '{' &&
	       tsi_json_check(text, RECORD_MAX_DEPTH, NULL) == TSCOPE_OK;
}

/* is_last: what is no object is one that was cut. */
static enum tscope_status take_record(struct metric_log *log, struct str text, bool is_last,
				      struct tscope_error *err)
{
	log->record_count++;
	if (is_object(text))
		return add_record(log, text, err);
	if (is_last)
		log->is_cut = true;
	else
		log->bad_record_count++;
	return TSCOPE_OK;
}

/* ---- the Trainer's document ---- */

static enum tscope_status add_history(struct metric_log *log, struct str text,
				      struct tscope_error *err)
{
	struct str records = tsi_json_object_get(text, tsi_str_of(history)), record;
	const char *end = text.data + text.length;
	enum tscope_status status = TSCOPE_OK;
	struct json_cursor items;

	tsi_json_array_open(&items, records);
	while (status == TSCOPE_OK && tsi_json_array_next(&items, &record))
		status = take_record(log, record, record.data + record.length == end, err);
	/* Behind the list there is more, at least the brace that closes the document. */
	log->is_cut |= records.length == 0 || records.data + records.length == end;
	return status;
}

static enum tscope_status read_document(struct input *in, struct metric_log *log,
					struct tscope_error *err)
{
	struct str text;
	enum tscope_status read =
		tsi_input_peek(in, DOCUMENT_MAX_BYTES, &text.data, &text.length, err);

	if (read == TSCOPE_OK)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"a log of more than %d MiB in one document (limit: document)",
				DOCUMENT_MAX_BYTES >> 20);
	if (read == TSCOPE_E_NOMEM)
		return read;
	enum tscope_status status = add_history(log, tsi_str_trim(text), err);
	tsi_input_consume(in, text.length);
	return status == TSCOPE_OK && read != TSCOPE_END ? read : status;
}

/* ---- lines ---- */

static enum tscope_status read_lines(struct input *in, struct metric_log *log,
				     struct tscope_error *err)
{
	struct text_rows rows = { .in = in };
	struct text_row row;
	enum tscope_status status;

	while ((status = tsi_text_rows_next(&rows, &row, err)) == TSCOPE_OK) {
		struct str text = tsi_str_trim(row.text);

		if (text.length > 0 || row.is_too_long)
			status = take_record(log, row.is_too_long ? TSI_STR("") : text,
					     !row.has_end, err);
		if (status != TSCOPE_OK)
			return status;
	}
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

/* ---- the two forms ---- */

/* Its keys are sorted: those before the list are short. */
static bool is_document(struct str head)
{
	return tsi_str_starts(head, "{") && tsi_str_find(head, tsi_str_of(history)) >= 0 &&
	       tsi_json_object_get(head, tsi_str_of(history)).length > 0 &&
	       tsi_json_object_get(head, TSI_STR("global_step")).length > 0;
}

static enum tscope_status read_metrics(struct input *in, struct str name, struct metric_log *log,
				       struct tscope_error *err)
{
	struct str head;
	enum tscope_status status = tsi_input_peek(in, HEAD_BYTES, &head.data, &head.length, err);

	(void)name;
	if (status == TSCOPE_E_NOMEM)
		return status;
	return is_document(tsi_str_trim(head)) ? read_document(in, log, err)
					       : read_lines(in, log, err);
}

/* ---- tasting ---- */

enum {
	TASTE_BITS_STEP = 16,   /* objects with steps */
	TASTE_BITS_VALUES = 48, /* and with numbers only, as far as one looks */
	TASTE_BITS_NAME = 64,
};

/* Is all in a record numbers, or nothing? Moves of an agent have steps, too, and texts. */
static bool has_numbers(struct str record)
{
	struct json_cursor members;
	struct str key, value;
	double number;

	tsi_json_object_open(&members, record);
	while (tsi_json_object_next(&members, &key, &value))
		if (!tsi_str_is(value, "null") && !tsi_metric_to_double(value, &number))
			return false;
	return true;
}

static unsigned taste(const char *path, struct str head)
{
	struct str name = tsi_unpacked_name(tsi_base_name(path)), text = tsi_str_trim(head);
	struct metric_point point;

	if (is_document(text))
		return TASTE_BITS_NAME;
	if (!tsi_name_ends(name, TSI_STR(".jsonl")))
		return 0;
	struct str line = tsi_str_trim(tsi_str_take(&text, '\n'));
	if (!is_object(line) || !read_point(line, &point))
		return 0;
	if (tsi_str_starts(name, "metrics") || tsi_str_starts(name, "trainer_log"))
		return TASTE_BITS_NAME;
	return has_numbers(line) ? TASTE_BITS_VALUES : TASTE_BITS_STEP;
}

const struct metric_source tsi_metrics_json = {
	.id = "json",
	.taste = taste,
	.read = read_metrics,
};
