/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for step records: any bytes as steps.jsonl and as run.json. Traps
 * where what was read and written again is not read again as the same. The
 * number of bytes chooses how many are read at a time.
 */
#include "fuzz.h"

#include "base/attributes.h"
#include "run/store.h"
#include "run/write_steps.h"

#include <stdlib.h>

enum { MAX_LENGTH = 64 << 10, MAX_DOUBT_BYTES = 512 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* False: out of memory. */
static bool read_steps(struct step_series *steps, struct store_log *log, struct str text)
{
	static const size_t block_sizes[] = { 0, 1, 3, 64 };
	struct input_options options = {
		.block_bytes = block_sizes[text.length % TSI_COUNT_OF(block_sizes)],
		.single_thread = true,
	};
	const struct store *store = tsi_store_find(TSI_STR("{\"step\":0}"));
	struct input *in;

	*log = (struct store_log){ 0 };
	tsi_steps_init(steps);
	if (steps->has_failed ||
	    tsi_input_open_memory(&in, text.data, text.length, &options, NULL) != TSCOPE_OK)
		return false;
	enum tscope_status status = store->read(in, steps, log, NULL);

	tsi_input_close(in);
	require(log->bad_line_count + log->is_cut <= log->line_count);
	require(steps->count + log->earlier_count <= log->line_count);
	return status == TSCOPE_OK;
}

/* What a writer writes; NULL: out of memory. */
static char *written(void (*write)(FILE *out, const struct step_series *steps),
		     const struct step_series *steps)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	write(out, steps);
	require(fclose(out) == 0);
	return text;
}

static void check_steps(struct str text)
{
	struct step_series steps = { 0 }, again = { 0 };
	struct store_log log;
	char *first = NULL, *second = NULL;

	if (read_steps(&steps, &log, text))
		first = written(tsi_write_steps, &steps);
	if (first && read_steps(&again, &log, (struct str){ first, strlen(first) })) {
		require(log.bad_line_count == 0 && log.bad_value_count == 0);
		require(log.earlier_count == 0 && !log.is_cut);
		second = written(tsi_write_steps, &again);
	}
	if (second)
		require(strcmp(first, second) == 0);
	free(first);
	free(second);
	tsi_steps_deinit(&steps);
	tsi_steps_deinit(&again);
}

static void check_run_json(struct str text)
{
	struct step_series steps = { 0 }, again = { 0 };
	char *first = NULL, *second = NULL;

	tsi_steps_init(&steps);
	if (!steps.has_failed && tsi_run_json_read(text, &steps, NULL) == TSCOPE_OK &&
	    (!steps.doubt || strlen(steps.doubt) < MAX_DOUBT_BYTES))
		first = written(tsi_write_run_json, &steps);
	if (first) {
		tsi_steps_init(&again);
		require(tsi_run_json_read((struct str){ first, strlen(first) }, &again, NULL) ==
			TSCOPE_OK);
		second = written(tsi_write_run_json, &again);
	}
	if (second)
		require(strcmp(first, second) == 0);
	free(first);
	free(second);
	tsi_steps_deinit(&steps);
	tsi_steps_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct str text = { (const char *)data, length };

	if (length > MAX_LENGTH)
		return 0;
	(void)tsi_store_find(text);
	check_steps(text);
	check_run_json(text);
	return 0;
}
