/* SPDX-License-Identifier: MIT */
/* Which kind of file about memory it is, what is said of it, and what other files are called. */
#include "model/memory/memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

static enum tscope_status build(struct tscope_memory **ret, const char *text,
				struct tscope_error *err)
{
	struct tscope_memory *memory = calloc(1, sizeof(*memory));

	assert_non_null(memory);
	memory->plain = plain_of(text);
	*ret = memory;
	return tsi_memory_build(memory, err);
}

TEST(kinds_are_told_by_content)
{
	static const struct {
		const char *text;
		enum tscope_memory_kind kind;
		uint64_t record_count, dropped_count;
		int64_t rank;
		const char *note;
		bool keeps_plain;
	} cases[] = {
		/* A block and two entries. */
		{ "{segments: [{address: 4096, total_size: 2097152, stream: 0, device: 0,"
		  "   blocks: [{size: 2097152, state: inactive}]}],"
		  " device_traces: [[{action: alloc, addr: 4096, size: 20, stream: 0},"
		  "   {action: free_completed, addr: 4096, size: 20, stream: 0}]]}",
		  TSCOPE_MEMORY_SNAPSHOT, 3, 0, -1, "", true },
		/* Points, those that are none included; rows. */
		{ "[[1, 2], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1]]]", TSCOPE_MEMORY_TIMELINE, 2, 1,
		  -1, "", false },
		{ "[[1, 2, 3], [[0, 1, 0, 0, 0, 0, 0, 0, 0]]]", TSCOPE_MEMORY_TIMELINE, 3, 2, -1,
		  "its lists of times and of sizes differ in length: what the longer one has more "
		  "is "
		  "dropped",
		  false },
		{ "[[5, 2, 50, 4], [5, 4, -50, 4], 7]", TSCOPE_MEMORY_TIMELINE, 3, 1, -1, "",
		  false },
		/* Values; the rank that all moments have. */
		{ "{'3.f.0.end': {a: 1, b: none}, '3.g.0.end': {a: x}}", TSCOPE_MEMORY_STATS, 3, 1,
		  3, "", true },
		{ "{'3.f.0.end': {a: 1}, '4.f.0.end': {}}", TSCOPE_MEMORY_STATS, 1, 0, -1, "",
		  true },
		{ "{tracker: fsdp, peak: [{device: d, bytes: {a: 1, b: 2}}, 7]}",
		  TSCOPE_MEMORY_TRACKER, 3, 1, -1, "", true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_memory *memory;
		struct tscope_error err = { 0 };

		if (build(&memory, cases[i].text, &err) != TSCOPE_OK)
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_int_equal(memory->info.kind, cases[i].kind);
		assert_int_equal(memory->info.record_count, cases[i].record_count);
		assert_int_equal(memory->info.dropped_count, cases[i].dropped_count);
		assert_int_equal(memory->info.rank, cases[i].rank);
		assert_string_equal(memory->info.note, cases[i].note);
		assert_int_equal(memory->plain != NULL, cases[i].keeps_plain);
		tscope_memory_free(memory);
	}
}

#define NONE                                                                                       \
	": neither a snapshot of the allocator, a memory timeline, finetuning-scheduler's "        \
	"or memray's statistics nor a memory tracker's log"
#define DUMP ": take a snapshot with torch.cuda.memory._dump_snapshot()"

TEST(other_files_are_named)
{
	static const struct {
		const char *text;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "{traceEvents: []}", TSCOPE_E_FORMAT, "a trace: use `tscope trace`" },
		{ "[{ph: X, ts: 1, name: a}]", TSCOPE_E_FORMAT,
		  "trace events: use `tscope trace`" },
		{ "{schema: '1.1', nodes: []}", TSCOPE_E_FORMAT,
		  "an execution trace (ExecutionTraceObserver), which says nothing of "
		  "memory" DUMP },
		{ "{nodes: [], samples: [], timeDeltas: []}", TSCOPE_E_FORMAT,
		  "a V8 CPU profile, which says nothing of device memory" DUMP },
		{ "{epoch: 3, state_dict: {}}", TSCOPE_E_FORMAT,
		  "a checkpoint, which says nothing of the memory in use" DUMP },
		{ "{state: {}, param_groups: []}", TSCOPE_E_FORMAT,
		  "an optimizer's state dict, which says nothing of the memory in use" DUMP },
		{ "{'layers.0.weight': [1.5], 'layers.0.bias': [2.5]}", TSCOPE_E_FORMAT,
		  "a state dict, which says nothing of the memory in use" DUMP },
		{ "{'allocated_bytes.all.current': 1, 'num_ooms': 0}", TSCOPE_E_FORMAT,
		  "what torch.cuda.memory_stats() said once, which has no history" DUMP },
		{ "{step: 1, phases: {}}", TSCOPE_E_FORMAT,
		  "a pytscope step log (steps.jsonl): use `tscope report`" },
		{ "{a: 1}", TSCOPE_E_FORMAT, "a dict with the key a" NONE },
		{ "{a: 1, b: 2, 7: 3, c: 4, d: 5}", TSCOPE_E_FORMAT,
		  "a dict with the keys a, b, an integer, c …" NONE },
		{ "[7]", TSCOPE_E_FORMAT, "a list of 1 item, the first of them an integer" NONE },
		{ "[{a: 1, b: 2}, 2]", TSCOPE_E_FORMAT,
		  "a list of 2 items, the first of them a dict with the keys a, b" NONE },
		{ "[{}]", TSCOPE_E_FORMAT, "a list of 1 item, the first of them a dict" NONE },
		{ "7", TSCOPE_E_FORMAT, "an integer" NONE },
		{ "none", TSCOPE_E_FORMAT, "None" NONE },
		{ "@list=[@list]", TSCOPE_E_FORMAT,
		  "a list of 1 item, the first of them a list" NONE },
		{ "{}", TSCOPE_E_EMPTY,
		  "an empty dict: memory statistics without a moment at which they were taken" },
		{ "[]", TSCOPE_E_EMPTY,
		  "an empty list: a memory timeline or snapshot that holds nothing" },
		{ "[[], []]", TSCOPE_E_EMPTY,
		  "a memory timeline without a row that can be read: nothing was allocated, or the "
		  "file is damaged" },
		{ "{tracker: fsdp, peak: []}", TSCOPE_E_EMPTY,
		  "a memory tracker's log without a device: no memory was tracked" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_memory *memory;
		struct tscope_error err = { 0 };

		assert_int_equal(build(&memory, cases[i].text, &err), cases[i].status);
		assert_string_equal(err.message, cases[i].message);
		tscope_memory_free(memory);
	}
}

/* A key is cut where it is too long, and never within a character. */
TEST(long_names_are_cut)
{
	struct tscope_memory *memory;
	struct tscope_error err = { 0 };

	/* 38 bytes and an umlaut of two, of which the first would be the 39th. */
	assert_int_equal(
		build(&memory, "{'01234567890123456789012345678901234567\xc3\xbc': 1}", &err),
		TSCOPE_E_FORMAT);
	assert_string_equal(err.message,
			    "a dict with the key 01234567890123456789012345678901234567" NONE);
	tscope_memory_free(memory);
}

/* From plain data to facts. */
static void analyze_without_memory(struct alloc_sweep *sweep, const char *text)
{
	struct tscope_memory *memory = calloc(1, sizeof(*memory));
	struct tscope_analysis *analysis = NULL;

	assert_non_null(memory);
	memory->plain = plain_of(text);
	memory->info.path = "test";
	alloc_sweep_start(sweep);
	enum tscope_status status = tsi_memory_build(memory, &sweep->err);
	if (status == TSCOPE_OK)
		status = tscope_memory_analyze(&analysis, memory, NULL, NULL, &sweep->err);
	alloc_sweep_check(sweep, status);
	tscope_analysis_free(analysis);
	tscope_memory_free(memory);
}

TEST(every_allocation_may_fail)
{
	static const char *const texts[] = {
		"[[1, 2, 3, 4], [7, 2, 3, 4]]",
		("{'0.f.0.start': {a: 1}, '0.f.0.end': {a: 1, 'allocated_bytes.all.current': 1},"
		 " '0.f.1.end': {'allocated_bytes.all.current': 1},"
		 " '0.f.2.end': {'allocated_bytes.all.current': 1}}"),
		("{tracker: x, function: f, peak: [{device: d, bytes: {a: 1}}],"
		 " modules: [{module: m, state: s, call: 1, device: d, bytes: {a: 1}}]}"),
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct alloc_sweep sweep = { .at_least = 10 };

		while (alloc_sweep_next(&sweep))
			analyze_without_memory(&sweep, texts[i]);
	}
}
