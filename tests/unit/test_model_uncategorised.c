/* SPDX-License-Identifier: MIT */
/* Spans without a category: what Ascend's trace_view.json says of its device. */
#include "analysis_check.h"

#include "check.h"

/* Processes have large numbers: which device it is they do not say. */
static void ascend(struct test_trace *t, const char *pid, const char *tid, const char *name,
		   int64_t start_ns, int64_t dur_ns, const char *args)
{
	struct raw_event event = test_whole_event(pid, tid, name, start_ns, dur_ns, args);

	test_event(t, &event);
}

#define HARDWARE "682820896"
#define COMMUNICATION "682820992"
#define OVERLAP "682821024"
#define TASK(type) "{\"Model Id\": 4294967295, \"Task Type\": \"" type "\", \"Stream Id\": 2}"

/*
 * Stream 2: matmul [0, 100), waits for an event [100, 300), copies [300, 320), adds [350, 400).
 * Lane 0 of the collectives: [80, 300), of which [100, 300) is exposed.
 */
TEST(work_of_ascend_hardware)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "cpu_op", "ProfilerStep#5", 1, 0, 500);
	test_span(t, "cpu_op", "aten::mm", 1, 10, 20);
	ascend(t, HARDWARE, "2", "aclnnMatmul_MatMulV2_MatMulV2", 0, 100, TASK("AI_CORE"));
	ascend(t, HARDWARE, "2", "EVENT_WAIT", 100, 200, TASK("EVENT_WAIT"));
	ascend(t, HARDWARE, "2", "MEMCPY_ASYNC", 300, 20, TASK("MEMCPY_ASYNC"));
	ascend(t, HARDWARE, "2", "aclnnAdd_Add_Add", 350, 50, TASK("AI_VECTOR_CORE"));
	ascend(t, COMMUNICATION, "0", "hcom_allReduce__360_0_1", 80, 220, "{\"connection_id\": 7}");
	ascend(t, COMMUNICATION, "3", "Notify_Wait", 80, 220, "{\"task type\": \"Notify Wait\"}");
	ascend(t, OVERLAP, "1", "Computing", 0, 100, "{}");
	ascend(t, OVERLAP, "2", "Communication(Not Overlapped)", 100, 200, "{}");
	struct analyzed *a = analyze(t);

	check_facts(a, "steps: boundary count", "profiler_step 1");
	check_facts(a, "integrity: verdict device_event_count", "sound 4");
	check_facts(a, "device_busy: busy_ns idle_ns span_ns", "370 30 400");
	check_facts(a, "overlap: comm_ns exposed_ns overlapped_ns", "220 200 20");
	check_facts(a, "copies: count total_ns", "1 20");
	check_table(a, "collectives.by_kind: kind count total_ns on_host", "all_reduce 1 220 no\n");
}

/* A stream of the device and a lane of its collectives have the same number and are two. */
TEST(lanes_are_no_streams)
{
	struct test_trace *t = test_trace_new();

	ascend(t, HARDWARE, "2", "aclnnMatmul_MatMulV2_MatMulV2", 0, 100, TASK("KERNEL_AICORE"));
	ascend(t, COMMUNICATION, "2", "hcom_send__360_0_1", 50, 100, "{}");
	struct analyzed *a = analyze(t);

	check_table(a, "integrity.diagnostics: id", "unlinked_device_event\n");
	check_table(a, "collectives.by_kind: kind count", "send_recv 1\n");
}
