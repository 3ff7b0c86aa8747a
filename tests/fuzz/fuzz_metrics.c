/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for metrics: any bytes as a table, as JSON, as a file of an MLflow store, as an event file,
 * and as events of one, whose checksums no chance would find. Traps where what was read depends
 * on how many bytes are read at a time.
 */
#include "fuzz.h"

#include "base/attributes.h"
#include "decode/records/record_file.h"
#include "run/metrics.h"

#include <stdlib.h>

enum { MAX_LENGTH = 64 << 10, EVENT_SEPARATOR = 0xfe, FRAME_BYTES = 16 };

extern const struct metric_source tsi_metrics_csv, tsi_metrics_json, tsi_metrics_mlflow,
	tsi_metrics_tensorboard;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static enum tscope_status read_log(struct metric_log *log, const struct metric_source *source,
				   struct str text, size_t block_bytes)
{
	const struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct input *in;
	enum tscope_status status = tsi_metric_log_init(log, NULL);

	if (status == TSCOPE_OK)
		status = tsi_input_open_memory(&in, text.data, text.length, &options, NULL);
	if (status != TSCOPE_OK)
		return status;
	status = source->read(in, TSI_STR("name"), log, NULL);
	tsi_input_close(in);
	return status;
}

static void check_log(const struct metric_log *log)
{
	require(log->bad_record_count <= log->record_count);
	require(log->record_count > 0 || log->count == 0);
	for (size_t i = 0; i < log->count; i++) {
		uint32_t name = log->points[i].name;

		require(name > 0 && name < log->names.count);
		require(tsi_intern_text(&log->names, name).length <= METRIC_MAX_NAME_BYTES);
	}
}

static void require_same(const struct metric_log *a, const struct metric_log *b)
{
	require(a->count == b->count && a->record_count == b->record_count);
	require(a->bad_record_count == b->bad_record_count && a->is_cut == b->is_cut);
	for (size_t i = 0; i < a->count; i++) {
		require(a->points[i].step == b->points[i].step);
		require(a->points[i].name == b->points[i].name);
	}
}

static void check_source(const struct metric_source *source, struct str text)
{
	static const size_t block_sizes[] = { 1, 3, 64 };
	size_t block_bytes = block_sizes[text.length % TSI_COUNT_OF(block_sizes)];
	struct metric_log whole = { 0 }, blocks = { 0 };
	enum tscope_status status = read_log(&whole, source, text, 0);

	check_log(&whole);
	enum tscope_status again = read_log(&blocks, source, text, block_bytes);
	/* How much a broken compression still gives depends on the blocks. */
	if (status == TSCOPE_OK && again != TSCOPE_E_NOMEM) {
		require(again == TSCOPE_OK);
		require_same(&whole, &blocks);
	}
	tsi_metric_log_deinit(&whole);
	tsi_metric_log_deinit(&blocks);
}

static char *put_little_endian(char *to, uint64_t value, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		*to++ = (char)(value >> (8 * i));
	return to;
}

static char *put_record(char *to, struct str event)
{
	char *start = to;

	to = put_little_endian(to, event.length, 8);
	to = put_little_endian(to, tsi_masked_crc(start, 8), 4);
	if (event.length)
		memcpy(to, event.data, event.length);
	to += event.length;
	return put_little_endian(to, tsi_masked_crc(event.data, event.length), 4);
}

/* The text's parts as records with checksums that fit. */
static void check_events(struct str text)
{
	char *file = malloc((text.length + 1) * (FRAME_BYTES + 1)), *to = file;

	if (!file)
		return;
	for (bool is_last = false; !is_last;) {
		const char *end =
			text.length ? memchr(text.data, EVENT_SEPARATOR, text.length) : NULL;
		size_t length = end ? (size_t)(end - text.data) : text.length;

		to = put_record(to, (struct str){ text.data, length });
		is_last = !end;
		text.data += length + !is_last;
		text.length -= length + !is_last;
	}
	check_source(&tsi_metrics_tensorboard, (struct str){ file, (size_t)(to - file) });
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char *const paths[] = { "a.csv", "a.jsonl", "metrics/a", "a" };
	struct str text = { length ? (const char *)data : "", length };

	if (length > MAX_LENGTH)
		return 0;
	for (size_t i = 0; i < TSI_COUNT_OF(paths); i++)
		(void)tsi_metric_source_find(paths[i], text, 1);
	check_source(&tsi_metrics_csv, text);
	check_source(&tsi_metrics_json, text);
	check_source(&tsi_metrics_mlflow, text);
	check_source(&tsi_metrics_tensorboard, text);
	check_events(text);
	return 0;
}
