/* SPDX-License-Identifier: MIT */
/* Verdicts over dumps of two and three ranks, each of which a test spells out. */
#include "analysis_check.h"
#include "fail_alloc.h"
#include "test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <tscope/hang.h>
#include <tscope/run.h>

#include "check.h"

#define DUMP(entries) DUMP_OF("", entries)
#define DUMP_OF(host, entries)                                                                     \
	"{" host "\"version\":\"2.9\",\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"tp\","       \
	"\"ranks\":\"[0, 1, 2]\"}},\"entries\":[" entries "]}"
/* In ns after 1 s; 600 s may pass. */
#define CALL(record, seq, name, sizes, at, state)                                                  \
	"{\"record_id\":" record ",\"pg_id\":0,\"process_group\":[\"0\",\"tp\"],"                  \
	"\"collective_seq_id\":" seq ",\"p2p_seq_id\":0,\"profiling_name\":\"nccl:" name "\","     \
	"\"time_created_ns\":" at ",\"input_sizes\":[[" sizes "]],\"output_sizes\":[[" sizes "]]," \
	"\"input_dtypes\":[\"Float\"],\"output_dtypes\":[\"Float\"],\"state\":\"" state "\","      \
	"\"timeout_ms\":600000,\"is_p2p\":false,\"frames\":[{\"name\":\"f\",\"filename\":"         \
	"\"/torch/x.py\",\"line\":1},{\"name\":\"step\",\"filename\":\"a/train.py\",\"line\":7}]}"
#define DONE CALL("0", "1", "all_reduce", "4,2", "1000000001", "completed")

static const char *const names[] = { "rank_0", "rank_1", "rank_2" };

/* Dumps of ranks 0 to 2; NULL: none. */
static struct analyzed *judge(const char *const dumps[3])
{
	static const char *const folder[] = { "." };
	struct tscope_hang *hang;
	struct tscope_analysis *analysis;
	struct tscope_error err = { 0 };

	for (size_t i = 0; i < 3; i++) {
		if (dumps[i])
			put_file(names[i], dumps[i]);
		else
			(void)remove(names[i]);
	}
	if (tscope_hang_open(&hang, folder, 1, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	assert_int_equal(tscope_hang_analyze(&analysis, hang, NULL, &err), TSCOPE_OK);
	tscope_hang_free(hang);
	return keep_analysis(analysis);
}

static void check(const char *const dumps[3], const char *names_of, const char *expected)
{
	struct analyzed *a = judge(dumps);

	check_facts(a, names_of, expected);
}

#define VERDICT "hang: kind culprit_ranks sequence waiting_ranks"

static const char waits[] =
	DUMP(DONE "," CALL("1", "2", "all_reduce", "8", "2000000000", "scheduled"));

TEST_IN_FOLDER(who_never_called_is_named)
{
	struct analyzed *a = judge((const char *const[]){ waits, DUMP(DONE), waits });

	check_facts(a, VERDICT, "missing_call 1 2 0, 2");
	check_facts(a, "hang: call culprit_call culprit_site waiter_rank behind_count since_ns",
		    "all_reduce #2 of group 0 (tp, ranks 0-2) all_reduce #1 train.py:7 step 0 1 "
		    "2000000000");
	check_table(a, "hang.ranks: rank role state",
		    "1 culprit completed\n0 waiting scheduled\n2 waiting scheduled\n");
	check_table(a, "hang.stacks: rank function place",
		    "1 f /torch/x.py:1\n1 step a/train.py:7\n0 f /torch/x.py:1\n0 step "
		    "a/train.py:7\n");
}

TEST_IN_FOLDER(what_differs_is_named)
{
	static const char other[] =
		DUMP(DONE "," CALL("1", "2", "broadcast", "8", "2000000000", "scheduled"));
	static const char larger[] =
		DUMP(DONE "," CALL("1", "2", "all_reduce", "9", "2000000000", "scheduled"));
	static const char reshaped[] =
		DUMP(DONE "," CALL("1", "2", "all_reduce", "2,4", "2000000000", "scheduled"));

	check((const char *const[]){ waits, waits, other }, VERDICT, "other_collective 2 2 0-1");
	check((const char *const[]){ waits, larger, waits }, VERDICT, "size 1 2 0, 2");
	/* The library moves elements, not shapes. */
	check((const char *const[]){ waits, reshaped, waits }, VERDICT, "unfinished - 2 0-2");
}

#define MESSAGE(name, sequence, time, state)                                                       \
	"{\"record_id\":1,\"process_group\":[\"1\",\"pp\"],\"p2p_seq_id\":" sequence               \
	",\"is_p2p\":true,\"profiling_name\":\"nccl:" name                                         \
	"\",\"input_sizes\":[[8]],\"output_sizes\":[[8]],\"state\":\"" state                       \
	"\",\"time_created_ns\":" time "}"
#define EXCHANGE(own, peer, sequence, time, state)                                                 \
	MESSAGE("send " own "->" peer, sequence, time, "scheduled")                                \
	"," MESSAGE("recv " own "<-" peer, sequence, time,                                         \
		    "scheduled") "," MESSAGE("coalesced", sequence, time, state)
#define STEPS(own, peer)                                                                           \
	EXCHANGE(own, peer, "1", "1000000001", "completed")                                        \
	"," CALL("1", "1", "all_reduce", "8", "1000000002", "completed") "," EXCHANGE(             \
		own, peer, "2", "1000000003", "completed") "," CALL("1", "2", "all_reduce", "8",   \
								    "1000000004", "completed")

/* Each of two waits for the other; a send and a receive are one rank that is waited for. */
TEST_IN_FOLDER(who_leaves_its_program_is_named)
{
	static const char skips[] = DUMP(
		STEPS("0", "1") "," CALL("1", "3", "all_reduce", "8", "2000000000", "scheduled"));
	static const char exchanges[] =
		DUMP(STEPS("1", "0") "," EXCHANGE("1", "0", "3", "2000000000", "scheduled"));
	static const char third[] =
		DUMP(CALL("1", "1", "all_reduce", "8", "1000000002",
			  "completed") "," CALL("1", "2", "all_reduce", "8", "1000000004",
						"completed") "," CALL("1", "3", "all_reduce", "8",
								      "2000000000", "scheduled"));

	check((const char *const[]){ skips, exchanges, third }, "hang: kind culprit_ranks is_tie",
	      "order 0 no");
}

TEST_IN_FOLDER(nobody_is_blamed_for_what_is_not_known)
{
	/* Its buffer begins after the others began to wait. */
	static const char lost[] =
		DUMP("{\"record_id\":900,\"process_group\":[\"9\",\"\"],\"collective_seq_id\":7,"
		     "\"profiling_name\":\"nccl:barrier\",\"state\":\"completed\","
		     "\"time_created_ns\":3000000000}");

	check((const char *const[]){ waits, NULL, waits }, VERDICT, "no_dump 1 2 0, 2");
	check((const char *const[]){ waits, lost, waits }, VERDICT, "undecided - 2 0, 2");
	check((const char *const[]){ DUMP(DONE), DUMP(DONE), DUMP(DONE) },
	      "hang: kind is_hang culprit_count pending_count", "none no - 0");
	/* A dump was written, and is cut: that says nothing of its rank. */
	check((const char *const[]){ waits, "{\"pg_config\":{},\"entries\":[", waits },
	      "hang: kind unreadable_count missing_ranks", "undecided 1 1");
}

TEST_IN_FOLDER(who_came_too_late_is_named)
{
	static const char late[] =
		DUMP(DONE "," CALL("1", "2", "all_reduce", "8", "612000000000", "scheduled"));
	static const char begun[] =
		DUMP(DONE "," CALL("1", "2", "all_reduce", "8", "2000000000", "started"));

	check((const char *const[]){ waits, late, waits }, VERDICT, "late 1 2 0, 2");
	check((const char *const[]){ begun, begun, waits }, VERDICT, "not_started 2 2 0-1");
	check((const char *const[]){ begun, begun, begun }, VERDICT, "unfinished - 2 0-2");
}

TEST_IN_FOLDER(a_common_host_is_named)
{
#define BEGUN(host, state)                                                                         \
	DUMP_OF("\"host_name\":\"" host "\",",                                                     \
		DONE "," CALL("1", "2", "all_reduce", "8", "2000000000", state))
#define SEND(host, name, state)                                                                    \
	DUMP_OF("\"host_name\":\"" host "\",",                                                     \
		DONE "," CALL("1", "2", name, "8", "2000000000", state))
	static const char facts[] = "hang: kind host_count host shared_hosts";

	check((const char *const[]){ BEGUN("a", "started"), BEGUN("a", "started"),
				     BEGUN("b", "scheduled") },
	      facts, "not_started 2 b a and b");
	check((const char *const[]){ BEGUN("a", "completed"), BEGUN("b", "started"),
				     BEGUN("b", "started") },
	      facts, "unfinished 2 b a and b");
	check((const char *const[]){ BEGUN("a", "started"), BEGUN("b", "started"),
				     BEGUN("b", "started") },
	      facts, "unfinished 2 - a and b");
	/* One that says no host may be anywhere. */
	check((const char *const[]){ BEGUN("a", "started"), BEGUN("", "started"),
				     BEGUN("a", "started") },
	      facts, "unfinished - - -");
	/* A message goes between the hosts of its ends. */
	check((const char *const[]){ SEND("a", "send 0->1", "started"),
				     SEND("b", "recv 1<-0", "started"),
				     DUMP_OF("\"host_name\":\"c\",", DONE) },
	      facts, "unfinished 2 - a and b");
#undef SEND
#undef BEGUN
}

/* A trace from 1 s on, in which rank 1 is in torch's item() from 1.5 s to its end. */
#define OPEN(cat, name, ts, dur)                                                                   \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" #ts  \
	",\"dur\":" dur ",\"args\":{}}"
#define TRACE(opened)                                                                              \
	"{\"baseTimeNanoseconds\":1000000000,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":"  \
	"1,\"world_size\":3},\"traceEvents\":[" OPEN("cpu_op", "aten::mm", 2, "10") opened "]}"
#define SHOWN                                                                                      \
	"," OPEN("python_function", "train.py(7): step", 0, "5000000") "," OPEN(                   \
		"python_function", "nn.Module: Loss_0", 0,                                         \
		"5000000") "," OPEN("cpu_op", "aten::item", 500000, "4500000")

static void check_trace(const char *trace, const char *expected)
{
	static const char *const folder[] = { "." };
	struct tscope_run *run = NULL;
	struct tscope_error err = { 0 };
	struct tscope_value place, after_ns;
	enum tscope_unit unit;
	char found[200];

	put_file("nccl_trace_rank_0", waits);
	put_file("nccl_trace_rank_1", DUMP(DONE));
	put_file("nccl_trace_rank_2", waits);
	put_file("trace.json", trace);
	if (tscope_run_open(&run, folder, 1, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	const struct tscope_analysis *analysis = tscope_run_analysis(run);
	assert_true(tscope_analysis_find(analysis, "hang.trace_place", &place, &unit));
	assert_true(tscope_analysis_find(analysis, "hang.trace_after_ns", &after_ns, &unit));
	snprintf(found, sizeof(found), "%s %lld",
		 place.kind == TSCOPE_VALUE_TEXT ? place.text : "-",
		 after_ns.kind == TSCOPE_VALUE_INT ? (long long)after_ns.integer : 0);
	assert_string_equal(found, expected);
	tscope_run_free(run);
}

TEST_IN_FOLDER(what_the_culprit_does_is_in_its_trace)
{
	/* The others wait from 2 s on: one trace lasts to 6 s, the other ends before. */
	check_trace(TRACE(SHOWN), "aten::item in module Loss_0, train.py(7): step 4000000000");
	check_trace(TRACE(""), "- 0");
}

/*
 * As gloo of PyTorch 2.14 writes them: no state but "scheduled", entries retire when they are done;
 * groups without ranks; a status that counts messages, of which there are no entries.
 */
TEST_IN_FOLDER(calls_of_gloo_are_done_when_they_retire)
{
#define GLOO(record, seq, retired)                                                                 \
	"{\"record_id\":" record ",\"pg_id\":0,\"process_group\":[\"0\",\"default_pg\"],"          \
	"\"collective_seq_id\":" seq ",\"profiling_name\":\"gloo:all_reduce\","                    \
	"\"time_created_ns\":2000000000,\"input_sizes\":[[8]],\"output_sizes\":[[8]],"             \
	"\"input_dtypes\":[\"Float\"],\"output_dtypes\":[\"Float\"],\"state\":\"scheduled\","      \
	"\"retired\":" retired ",\"timeout_ms\":60000,\"is_p2p\":false}"
#define GLOO_DUMP(entries)                                                                         \
	"{\"version\":\"2.10\",\"pg_config\":{\"\":{\"name\":\"\",\"desc\":\"\",\"ranks\":"        \
	"\"[0, 1]\"}},\"pg_status\":{\"0\":{\"last_enqueued_collective\":9,"                       \
	"\"last_completed_collective\":9}},\"entries\":[" entries "]}"
	static const char done[] = GLOO_DUMP(GLOO("0", "1", "true"));
	static const char in_second[] =
		GLOO_DUMP(GLOO("0", "1", "true") "," GLOO("1", "2", "false"));

	check((const char *const[]){ done, done, done }, "hang: kind pending_count", "none 0");
	check((const char *const[]){ in_second, done, in_second }, VERDICT,
	      "missing_call 1 2 0, 2");
#undef GLOO_DUMP
#undef GLOO
}

/* Cut anywhere it is an error or unknown, and nobody is blamed for it. */
TEST(a_dump_may_be_cut_anywhere)
{
	static const char whole[] = DUMP(DONE);

	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		const struct tscope_hang_dump dumps[] = { { "rank_0", waits, sizeof(waits) - 1 },
							  { "rank_1", whole, n },
							  { "rank_2", waits, sizeof(waits) - 1 } };
		struct tscope_hang *hang;
		struct tscope_error err = { 0 };

		assert_int_equal(tscope_hang_open_memory(&hang, dumps, 3, NULL, &err), TSCOPE_OK);
		assert_non_null(tscope_hang_input(hang, 1).failure);
		tscope_hang_free(hang);
	}
}

TEST_IN_FOLDER(memory_may_run_out)
{
	static const char *const folder[] = { "." };

	put_file(names[0], waits);
	put_file(names[1], DUMP(DONE));
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_hang *hang = NULL;
		struct tscope_analysis *analysis = NULL;

		alloc_sweep_start(&sweep);
		enum tscope_status status = tscope_hang_open(
			&hang, folder, 1, &(struct tscope_trace_options){ .thread_count = 1 },
			&sweep.err);
		if (status == TSCOPE_OK)
			status = tscope_hang_analyze(&analysis, hang, NULL, &sweep.err);
		alloc_sweep_check(&sweep, status);
		tscope_analysis_free(analysis);
		tscope_hang_free(hang);
	}
}
