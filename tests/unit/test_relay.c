/* SPDX-License-Identifier: MIT */
/*
 * decode/relay.c: what goes through the other thread comes out as it went in,
 * in the same order, whatever its size; failures come back; nothing is lost
 * when memory ends. Run under TSan as well.
 */
#include "decode/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "event_log.h"
#include "fail_alloc.h"

enum { EVENTS = 5000, LONGEST = 300000 };

/* Event i as a decoder has it: its texts in one buffer that is overwritten by the next. */
static enum tscope_status put_event(struct event_sink *sink, char *buffer, int i,
				    struct tscope_error *err)
{
	size_t filler = i % 1000 == 999 ? LONGEST : (size_t)(i % 300);
	int args = sprintf(buffer, "name %d#cat#", i);
	char *start = buffer + args;
	memset(start, 'x', filler);
	start[0] = '{';
	struct raw_event event = {
		.phase = "XiM"[i % 3],
		.has_ts = true,
		.ts_ns = i,
		.dur_ns = 2 * i,
		.name = { buffer, (size_t)args - 5 },
		.cat = { buffer + args - 4, 3 },
		.args = { start, filler },
		.tid = i % 7 ? (struct str){ buffer, 4 } : (struct str){ 0 },
	};
	enum tscope_status status = sink->event(sink, &event, err);
	memset(buffer, '!', (size_t)args + filler);
	return status;
}

static enum tscope_status put_all(struct event_sink *sink, char *buffer, int count,
				  struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	for (int i = 0; i < count && status == TSCOPE_OK; i++) {
		status = put_event(sink, buffer, i, err);
		sink->element_count++;
		sink->diagnostics[i % TSCOPE_DIAGNOSTIC_COUNT]++;
		if (status == TSCOPE_OK && i % 100 == 0)
			status = sink->metadata(sink, TSI_STR("key"), TSI_STR("[1]"), err);
	}
	return status;
}

static void test_same_as_direct(void **state)
{
	(void)state;
	static const int counts[] = { 0, 1, 255, 256, 257, EVENTS };
	char *buffer = malloc(LONGEST + 100);
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		struct event_log direct, relayed;
		struct relay *relay;
		event_log_init(&direct);
		event_log_init(&relayed);
		relayed.sink.diagnostics[0] = direct.sink.diagnostics[0] = 7; /* are added to */
		assert_int_equal(put_all(&direct.sink, buffer, counts[c], NULL), TSCOPE_OK);
		assert_int_equal(tsi_relay_new(&relay, &relayed.sink, NULL), TSCOPE_OK);
		assert_int_equal(put_all(tsi_relay_sink(relay), buffer, counts[c], NULL),
				 TSCOPE_OK);
		assert_int_equal(tsi_relay_finish(relay, NULL), TSCOPE_OK);
		tsi_relay_free(relay);
		assert_true(event_log_equal(&direct, &relayed));
		event_log_deinit(&direct);
		event_log_deinit(&relayed);
	}
	free(buffer);
}

static int events_until_failure;

static enum tscope_status fail_late(struct event_sink *sink, const struct raw_event *event,
				    struct tscope_error *err)
{
	(void)sink;
	(void)event;
	return events_until_failure--
		       ? TSCOPE_OK
		       : tsi_fail(err, TSCOPE_E_LIMIT, "more than 10 different names");
}

static void test_failure_comes_back(void **state)
{
	(void)state;
	char *buffer = malloc(LONGEST + 100);
	static const int counts[] = { 20, EVENTS };
	for (size_t c = 0; c < 2; c++) {
		struct event_log log;
		struct relay *relay;
		struct tscope_error err = { 0 };
		event_log_init(&log);
		log.sink.event = fail_late;
		events_until_failure = 10;
		assert_int_equal(tsi_relay_new(&relay, &log.sink, &err), TSCOPE_OK);
		enum tscope_status status = put_all(tsi_relay_sink(relay), buffer, counts[c], &err);
		assert_int_equal(status, c ? TSCOPE_E_LIMIT : TSCOPE_OK); /* 20 fit into a batch */
		assert_int_equal(tsi_relay_finish(relay, &err), TSCOPE_E_LIMIT);
		assert_string_equal(err.message, "more than 10 different names");
		tsi_relay_free(relay);
		event_log_deinit(&log);
	}
	free(buffer);
}

static void test_free_without_finish(void **state)
{
	(void)state;
	char *buffer = malloc(LONGEST + 100);
	struct event_log log;
	struct relay *relay;
	event_log_init(&log);
	assert_int_equal(tsi_relay_new(&relay, &log.sink, NULL), TSCOPE_OK);
	assert_int_equal(put_all(tsi_relay_sink(relay), buffer, EVENTS, NULL), TSCOPE_OK);
	tsi_relay_free(relay);
	tsi_relay_free(NULL);
	event_log_deinit(&log);
	free(buffer);
}

static enum tscope_status take_nothing(struct event_sink *sink, const struct raw_event *event,
				       struct tscope_error *err)
{
	(void)sink;
	(void)event;
	(void)err;
	return TSCOPE_OK;
}

static enum tscope_status take_no_metadata(struct event_sink *sink, struct str key,
					   struct str value, struct tscope_error *err)
{
	(void)sink;
	(void)key;
	(void)value;
	(void)err;
	return TSCOPE_OK;
}

static void test_memory_ends(void **state)
{
	(void)state;
	char *buffer = malloc(LONGEST + 100);
	for (size_t n = 1;; n++) {
		struct event_sink sink = { .event = take_nothing, .metadata = take_no_metadata };
		struct relay *relay = NULL;
		struct tscope_error err = { 0 };
		fail_alloc_at(n);
		enum tscope_status status = tsi_relay_new(&relay, &sink, &err);
		if (status == TSCOPE_OK)
			status = put_all(tsi_relay_sink(relay), buffer, 1100, &err);
		bool failed = fail_alloc_stop();
		assert_int_equal(status, failed ? TSCOPE_E_NOMEM : TSCOPE_OK);
		tsi_relay_free(relay);
		if (!failed)
			break;
	}
	free(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_direct),
		cmocka_unit_test(test_failure_comes_back),
		cmocka_unit_test(test_free_without_finish),
		cmocka_unit_test(test_memory_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
