/* SPDX-License-Identifier: MIT */
/* What is recorded of waits: kinds, streams, and the calls that the records are about. */
#include "model/trace/trace.h"

#include "check.h"
#include "fail_alloc.h"
#include "trace_builder.h"

TEST(kinds_and_streams)
{
	static const struct {
		const char *name, *args;
		int64_t stream, event_stream;
		uint64_t event_correlation;
		uint8_t kind;
	} cases[] = {
		{ "Stream Sync", "", 7, -1, 0, SYNC_STREAM },
		{ "Context Sync", "", 7, -1, 0, SYNC_CONTEXT },
		{ "Stream Wait Event",
		  "\"wait_on_stream\": 20, \"wait_on_cuda_event_record_corr_id\": 5", 7, 20, 5,
		  SYNC_STREAM_WAIT },
		/* The later of two members of one name counts: so a stream of none can be written. */
		{ "Event Sync",
		  "\"stream\": -1, \"wait_on_stream\": -1, "
		  "\"wait_on_cuda_event_record_corr_id\": -1",
		  -1, -1, 0, SYNC_EVENT },
		{ "Event Sync",
		  "\"stream\": 4294967295, \"wait_on_stream\": 4294967295, "
		  "\"wait_on_cuda_event_record_corr_id\": 18446744073709551615",
		  -1, -1, UINT64_MAX, SYNC_EVENT },
		{ "Event Sync", "\"stream\": \"x\", \"wait_on_stream\": null", -1, -1, 0,
		  SYNC_EVENT },
	};
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		test_device_args(t, "cuda_sync", cases[i].name, 3, 7, 10, 5, 40 + i, cases[i].args);
	test_device_args(t, "cuda_sync", "Another Sync", 3, 7, 10, 5, 60, "");
	struct tscope_trace *trace = test_trace_finish(t);

	assert_int_equal(trace->spans.count, 1);
	assert_int_equal(trace->sync_record_count, TSI_COUNT_OF(cases));
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct sync_record *record = &trace->sync_records[i];
		assert_int_equal(record->kind, cases[i].kind);
		assert_int_equal(record->stream, cases[i].stream);
		assert_int_equal(record->event_stream, cases[i].event_stream);
		assert_int_equal(record->event_correlation, cases[i].event_correlation);
		assert_int_equal(record->correlation, 40 + i);
		assert_int_equal(record->device, 3);
		assert_int_equal(record->start_ns, 10);
		assert_int_equal(record->call, NO_ROW);
	}
}

/* Rows are in the order of start; records name their calls by correlation, whatever the order. */
TEST(calls_of_records)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "cuda_sync", "Stream Wait Event", 0, 7, 31, 2, 9,
			 "\"wait_on_cuda_event_record_corr_id\": 8");
	test_device_args(t, "cuda_sync", "Stream Sync", 0, 7, 51, 2, 99, "");
	test_call(t, "cudaStreamWaitEvent", 1, 30, 5, 9);
	test_call(t, "cudaEventRecord", 1, 20, 5, 8);
	test_call(t, "cudaStreamSynchronize", 1, 50, 5, 0);
	struct tscope_trace *trace = test_trace_finish(t);

	assert_int_equal(trace->sync_record_count, 2);
	assert_int_equal(trace->sync_records[0].call, test_row(trace, "cudaStreamWaitEvent"));
	assert_int_equal(trace->sync_records[0].event_call, test_row(trace, "cudaEventRecord"));
	assert_int_equal(trace->sync_records[1].call, NO_ROW);
	assert_int_equal(trace->sync_records[1].event_call, NO_ROW);
}

/* Neither without a time nor as a pair of marks is it a record, and no way is it a row. */
TEST(no_records)
{
	struct test_trace *t = test_trace_new();
	struct raw_event event = {
		.phase = 'X',
		.cat = TSI_STR("cuda_sync"),
		.name = TSI_STR("Stream Sync"),
		.pid = TSI_STR("0"),
		.tid = TSI_STR("7"),
	};

	test_op(t, "aten::mm", 1, 0, 100);
	test_event(t, &event);
	event.phase = 'B';
	event.has_ts = true;
	test_event(t, &event);
	event.phase = 'E';
	test_event(t, &event);
	struct tscope_trace *trace = test_trace_finish(t);

	assert_int_equal(trace->sync_record_count, 0);
	assert_int_equal(trace->spans.count, 1);
	assert_int_equal(trace->diagnostics[TSCOPE_DIAGNOSTIC_missing_timestamp], 0);
}

TEST(no_memory)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;
		alloc_sweep_start(&sweep);
		struct test_trace *t = test_trace_new();
		test_device_args(t, "cuda_sync", "Stream Sync", 0, 7, 10, 5, 1, "");
		test_call(t, "cudaStreamSynchronize", 1, 10, 5, 1);
		alloc_sweep_check(&sweep, test_trace_try_finish(t, &trace, &sweep.err));
		tscope_trace_free(trace);
	}
}
