/* SPDX-License-Identifier: MIT */
/*
 * decode/events/format_viztracer_page.c: where the document of a page begins, what counts as garbage, and
 * pages that end early. Everything is read in blocks of several sizes with the same result.
 */
#include "decode/events/format.h"
#include "decode_log.h"
#include "fail_alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

#define HEAD                                                                                       \
	"<!DOCTYPE html>\n<head>\n<script>\nfunction onTraceViewerImportFail() {\n}\n</script>\n"
#define TAIL "\n\n  function load() { return [1, {\"ph\": \"X\"}]; }\n</script>\n</head>\n</html>\n"
#define EVENT "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}"
#define LINE "X|a|||||1000|2000|\n"
#define DOCUMENT "{\"traceEvents\": [" EVENT "], \"k\": {\"v\": [1]}}"
#define LINES LINE "M: k={\"v\": [1]}\n"

static const struct reading {
	const char *text, *lines;
	enum tscope_status status;
	const char *message;
} readings[] = {
	{ HEAD "json_data = " DOCUMENT TAIL, LINES, TSCOPE_OK, NULL },
	{ HEAD "  var json_data = " DOCUMENT TAIL, LINES, TSCOPE_OK, NULL },
	{ HEAD "var json_data;\njson_data=" DOCUMENT, LINES, TSCOPE_OK, NULL },
	{ HEAD "json_data\n=\t \n" DOCUMENT TAIL, LINES, TSCOPE_OK, NULL },
	/* what stands for it elsewhere */
	{ HEAD
	  "json_data[\"file_info\"]; json_data == x; json_data = y; json_json_data = " DOCUMENT,
	  LINES, TSCOPE_OK, NULL },
	{ HEAD "\"base64\": \"gARLBy4A\", {\"traceEvents\": [7]}; json_data = " DOCUMENT TAIL,
	  LINES, TSCOPE_OK, NULL },
	/* a list of events, as the first versions wrote; it need not be closed */
	{ HEAD "json_data = [" EVENT ", " EVENT "]" TAIL, LINE LINE, TSCOPE_OK, NULL },
	/* the end of the script, within a text */
	{ HEAD "json_data = {\"traceEvents\":[" EVENT "],\"f\":\"<\\/script>\"}" TAIL,
	  LINE "M: f=\"<\\/script>\"\n", TSCOPE_OK, NULL },
	{ "\xef\xbb\xbf\n<HTML>" HEAD "json_data = " DOCUMENT, LINES, TSCOPE_OK, NULL },

	{ HEAD "json_data", "", TSCOPE_E_DAMAGED,
	  "an HTML page of a trace viewer that ends before its trace" },
	{ HEAD "json_data =", "", TSCOPE_E_DAMAGED,
	  "an HTML page of a trace viewer that ends before its trace" },
	{ HEAD "load('big.json')" TAIL, "", TSCOPE_E_DAMAGED,
	  "an HTML page of a trace viewer that ends before its trace" },
	{ HEAD "json_data = {\"traceEvents\": [" EVENT "," EVENT, LINE LINE, TSCOPE_E_DAMAGED,
	  "trace in an HTML page: input ends inside the trace, after 2 events" },
	{ HEAD "json_data = {\"nodes\": []}" TAIL, "M: nodes=[]\n", TSCOPE_E_FORMAT,
	  "trace in an HTML page: JSON without traceEvents: neither a Chrome trace nor a PyTorch "
	  "trace" },
};

static void check_reading(const struct reading *c)
{
	struct event_log log;
	struct tscope_error err = { 0 };
	enum tscope_status status =
		decode_log((struct str){ c->text, strlen(c->text) }, &log, &err);

	if (status != c->status || (c->message && strcmp(err.message, c->message) != 0))
		fail_msg("%s: status %d (%s)", c->text, status, err.message);
	if (strcmp(log.text, c->lines) != 0)
		fail_msg("%s: read as %s", c->text, log.text);
	for (int i = 0; i < TSCOPE_DIAGNOSTIC_COUNT && status == TSCOPE_OK; i++)
		if (log.sink.diagnostics[i] != 0)
			fail_msg("%s: counter %d", c->text, i);
	event_log_deinit(&log);
}

TEST(test_readings)
{
	for (size_t i = 0; i < TSI_COUNT_OF(readings); i++)
		check_reading(&readings[i]);
}

/*
 * A page with so many bytes of code between its head and its trace; what stands for the trace's
 * name is all over it. The text is the caller's to free.
 */
static char *make_long_page(size_t code_bytes, size_t *length)
{
	static const char code[] = "json_dat json_data. ", rest[] = "json_data = " DOCUMENT TAIL;
	char *text, *to;

	*length = sizeof(HEAD) - 1 + code_bytes + sizeof(rest) - 1;
	to = text = malloc(*length);
	assert_non_null(text);
	memcpy(to, HEAD, sizeof(HEAD) - 1);
	to += sizeof(HEAD) - 1;
	for (size_t i = 0; i < code_bytes; i++)
		*to++ = code[i % (sizeof(code) - 1)];
	to[-1] = ' ';
	memcpy(to, rest, sizeof(rest) - 1);
	return text;
}

static void check_long_page(size_t code_bytes, size_t block_bytes)
{
	size_t length;
	char *page = make_long_page(code_bytes, &length);
	struct tscope_error err = { 0 };
	struct event_log log;

	event_log_init(&log);
	if (decode_blocks((struct str){ page, length }, block_bytes, NULL, &log, &err) != TSCOPE_OK)
		fail_msg("%zu bytes of code: %s", code_bytes, err.message);
	assert_string_equal(log.text, LINES);
	event_log_deinit(&log);
	free(page);
}

/* The viewer's code is longer than any window, and a window ends anywhere in the trace's name. */
TEST(test_long_pages)
{
	enum { BLOCK_BYTES = 64 };

	check_long_page(1 << 20, 4096);
	for (size_t more = 0; more < 2 * BLOCK_BYTES; more++)
		check_long_page(6000 + more, BLOCK_BYTES);
}

/*
 * What is left of a page is told from the rest, and what came before the cut is read: never more
 * than before a later cut.
 */
TEST(test_cuts)
{
	static const char page[] = HEAD "json_data = " DOCUMENT TAIL;
	size_t mark =
		sizeof("<!DOCTYPE html>\n<head>\n<script>\nfunction onTraceViewerImportFail") - 1;
	size_t begin = sizeof(HEAD "json_data = ") - 1, end = begin + sizeof(DOCUMENT) - 1;
	size_t read_before = 0;

	for (size_t length = 1; length < sizeof(page); length++) {
		struct tscope_error err = { 0 };
		struct event_log log;
		enum tscope_status status = decode_log((struct str){ page, length }, &log, &err);
		enum tscope_status expected = length < mark  ? TSCOPE_E_UNSUPPORTED
					      : length < end ? TSCOPE_E_DAMAGED
							     : TSCOPE_OK;
		if (length < sizeof("<!DOCTYPE html") - 1)
			expected = TSCOPE_E_FORMAT; /* not even known to be a page */
		if (status != expected || log.length < read_before ||
		    strncmp(log.text, LINES, log.length) != 0)
			fail_msg("cut at %zu: status %d (%s), read %s", length, status, err.message,
				 log.text);
		read_before = log.length;
		event_log_deinit(&log);
	}
	assert_int_equal(read_before, sizeof(LINES) - 1);
}

TEST(test_allocations)
{
	static const char page[] = HEAD "json_data = " DOCUMENT TAIL;
	enum { LOG_BYTES = 1 << 16 };

	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct event_log log;

		event_log_init(&log);
		free(log.text); /* not ours to fail */
		log.text = calloc(1, LOG_BYTES);
		log.capacity = LOG_BYTES;
		alloc_sweep_try(&sweep, decode_blocks((struct str){ page, sizeof(page) - 1 }, 64,
						      NULL, &log, &sweep.err));
		event_log_deinit(&log);
	}
}
