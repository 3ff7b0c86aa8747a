/* SPDX-License-Identifier: MIT */
/* What names tell: the rank that wrote a file, and the process. */
#include "run/find.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"

struct rank_case {
	const char *path;
	int64_t rank;
};

static const struct rank_case rank_cases[] = {
	/* the word, with and without a separator */
	{ "rank0.json", 0 },
	{ "rank12.json.gz", 12 },
	{ "rank-0.json.gz", 0 },
	{ "rank_0.json", 0 },
	{ "rank=3.json", 3 },
	{ "rank007.json", 7 },
	{ "Rank3.json", 3 },
	{ "RANK_4.json.zst", 4 },
	{ "rank5", 5 },
	{ "rank9999999.json", 9999999 },

	/* holistic trace analysis */
	{ "rank-0.Mar_25_20_48_12.2861.pt.trace.json.gz", 0 },
	{ "rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34 },
	{ "mtia_inference_rank_0.json.gz", 0 },
	{ "bs_32_rank0.json.gz", 0 },
	{ "sampled_rank-1.json.gz", 1 },

	/* Composer */
	{ "rank0.17.pt.trace.json", 0 },
	{ "torch_traces/rank3.1700.pt.trace.json.gz", 3 },
	{ "ep1-ba42-rank0.pt.trace.json", 0 },
	{ "ep0-ba1-rank15.json", 15 },

	/* files about memory */
	{ "torch_traces/rank3.17.memory_snapshot.pickle", 3 },
	{ "rank2_oom_snapshot.pickle", 2 },
	{ "memory_snapshot/iteration_10/rank1_memory_snapshot.pickle", 1 },
	{ "cuda_alloc_rank_0.training_step.2.end.pickle", 0 },
	{ "cuda_alloc_rank_12.validation_step.0.start.pickle.gz", 12 },
	{ "rank_5_memory_stats.yaml", 5 },
	{ "fsdp_mem_rank_6_training_step_1.log", 6 },
	{ "memory_snapshot_2.pickle", -1 },

	/* inference servers */
	{ "graph_capture_rank_0.1771234567890123456.pt.trace.json.gz", 0 },
	{ "rank_2.1771234567890123456.pt.trace.json.gz", 2 },
	{ "dp0_pp0_tp1_dcp0_ep1_rank1.1771234567890.pt.trace.json.gz", 1 },
	{ "1723456789.5-TP-3-DECODE.trace.json.gz", -1 }, /* a part of the model, no rank */

	/* the number first, or behind another word */
	{ "rank3_trace.json", 3 },
	{ "0_trace.json", 0 },
	{ "11_trace.json.gz", 11 },
	{ "999_trace.json", 999 },
	{ "1000_trace.json", -1 },
	{ "0_traces.json", -1 },
	{ "10_steps_trace.json", -1 },
	{ "worker0_step_12.1694128201545.pt.trace.json", 0 },
	{ "worker0.1623143089861.pt.trace.json.gz", 0 },
	{ "worker7.pt.trace.json", 7 },
	{ "worker3_4242.1700000000000.pt.trace.json", -1 }, /* host and process */
	{ "job-worker-0_1.1700000000000.pt.trace.json", -1 },
	{ "worker.1700000000000.pt.trace.json", -1 },

	/* Lightning */
	{ "fit-fts_extended_pytorch_profiler-0[Strategy]ModelParallelStrategy.training_step."
	  "1733769504651191315.pt.trace.json",
	  0 },
	{ "fit-name-2-[Strategy]DDPStrategy.training_step.1733769504651191315.pt.trace.json", 2 },
	{ "fit-name-1-_Strategy_DDPStrategy.training_step.17337695046.pt.trace.json", 1 },
	{ "fit-resnet-50-3[Strategy]DDPStrategy.backward.17337695046.pt.trace.json", 3 },
	{ "fit-name-[Strategy]DDPStrategy.training_step.17337695046.pt.trace.json", -1 },
	{ "fit-resnet-50.json", -1 },

	/* folders; the file's name comes first, then the nearest folder */
	{ "run/rank3/steps.jsonl", 3 },
	{ "run_rank3/steps.jsonl", 3 },
	{ "rank-4/trace.json", 4 },
	{ "tl_out/rank_5/raw.jsonl", 5 },
	{ "rank6/deep/er/trace.json", 6 },
	{ "rank6/rank7/trace.json", 7 },
	{ "rank6/rank7.json", 7 },
	{ "/rank8/trace.json", 8 },
	{ "100/rank1.json.gz", 1 }, /* fkat: the folder is the batch */
	{ "0_trace.d/trace.json", -1 },
	{ "worker1.d/trace.json", -1 },

	/* tensorboard's default: host and process */
	{ "host_4242.1700000000000.pt.trace.json", -1 },
	{ "rank-node7_123.1700000000000.pt.trace.json", -1 },
	{ "node3_77.1700000000000.pt.trace.json", -1 },

	/* no ranks */
	{ "frank2.json", -1 },
	{ "rankings.json", -1 },
	{ "rankings3.json", -1 },
	{ "pagerank0_results.json", -1 },
	{ "rank", -1 },
	{ "rank-", -1 },
	{ "rank.json", -1 },
	{ "rank_.json", -1 },
	{ "rank--3.json", -1 },
	{ "rank.3.json", -1 },
	{ "rank3of8.json", -1 },
	{ "ranks3.json", -1 },
	{ "rank_not_found.json.gz", -1 },
	{ "rank10000000.json", -1 },
	{ "rank1700000000000.json", -1 }, /* a time stamp */
	{ "rank99999999999999999999", -1 },
	{ "rank99999999999999999999/rank99999999999999999999.json", -1 },
	{ "tp_rank3.json", -1 },
	{ "node_rank_1.json", -1 },
	{ "node_rank_1_rank_9.json", 9 },
	{ "tp_rank1/trace.json", -1 },
	{ "local_rank_2.json", 2 },
	{ "trace.json", -1 },
	{ "-", -1 },
	{ "/", -1 },
	{ "", -1 },
};

TEST(test_rank)
{
	for (size_t i = 0; i < TSI_COUNT_OF(rank_cases); i++)
		if (tsi_rank_of_path(rank_cases[i].path) != rank_cases[i].rank)
			fail_msg("%s: rank %lld, expected %lld", rank_cases[i].path,
				 (long long)tsi_rank_of_path(rank_cases[i].path),
				 (long long)rank_cases[i].rank);
}

TEST(test_rank_folder)
{
	static const char *const cases[][2] = {
		{ "a/node1/rank0/x/y.csv", "a/node1/rank0" },
		{ "rank0/rank5/y.csv", "rank0/rank5" },
		{ "rank0/y.csv", "rank0" },
		{ "/run_rank3//y.csv", "/run_rank3" },
		{ "rank0/rank0.json", "" }, /* the file's own name tells it */
		{ "tp_rank1/y.csv", "" },
		{ "y.csv", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		if (!tsi_str_equal(tsi_rank_folder_of_path(cases[i][0]), tsi_str_of(cases[i][1])))
			fail_msg("%s", cases[i][0]);
}

static const char *const writer_cases[][2] = {
	{ "host_4242.1700000000000.pt.trace.json", "host_4242" },
	{ "logs/host_4242.1733769504651191315.pt.trace.json.gz", "host_4242" },
	{ "node7.cluster.local_42.1700000000000.pt.trace.json", "node7.cluster.local_42" },
	{ "10.0.0.7_42.1700000000000.pt.trace.json", "10.0.0.7_42" },
	{ "host_4242.pt.trace.json", "host_4242" },
	{ "trace.json", "trace" },
	{ "trace.json.zst", "trace" },
	{ "libkineto_activities_77.json", "libkineto_activities_77" },
	{ "fit-x-0[Strategy]DDP.training_step.1733769504651191315.pt.trace.json",
	  "fit-x-0[Strategy]DDP.training_step" },
	{ "1723456789.5-TP-3-DECODE.trace.json.gz", "TP-3-DECODE" },
	{ "1723456789-TP-3-DECODE.trace.json.gz", "TP-3-DECODE" },
	{ "2024-11-05.json", "2024-11-05" },
	{ "1700000000000.json", "1700000000000" },
	{ "steps.12345678.json", "steps.12345678" }, /* too short for a stamp */
	{ ".json", ".json" },
	{ "folder/", "" },
	{ "", "" },
};

TEST(test_writer)
{
	for (size_t i = 0; i < TSI_COUNT_OF(writer_cases); i++) {
		const char *path = writer_cases[i][0], *expected = writer_cases[i][1];
		struct str writer = tsi_writer_of_path(path);

		if (writer.length != strlen(expected) ||
		    memcmp(writer.data, expected, writer.length) != 0)
			fail_msg("%s: writer \"%.*s\", expected \"%s\"", path, TSI_QUOTE(writer),
				 expected);
	}
}

TEST(families_of_names)
{
	static const struct {
		const char *path, *family, *by_replica;
	} cases[] = {
		{ "p/1723456789.25-TP-0-DP-12-DECODE.trace.json.gz", "1723456789.25-TP-*-DP-*-*",
		  "1723456789.25-TP-*-DP-12-*" },
		{ "dp3_pp0_tp1_dcp0_ep1_rank1.1771234567890.pt.trace.json.gz",
		  "dp*_pp*_tp*_dcp*_ep*_rank*", "dp3_pp*_tp*_dcp*_ep*_rank*" },
		{ "a1b2-rank-0.1771234567890123456.pt.trace.json.gz", "a1b2-rank-*",
		  "a1b2-rank-*" },
		{ "a/rank0.json", "rank*", "rank*" },
		{ "DP1.json", "DP*", "" },
		/* Of each process a name of its own, or no places. */
		{ "host_4242.1771234567890.pt.trace.json", "", "" },
		{ "ddp1_rank0x.json", "", "" },
		{ "rank.json", "", "" },
		{ "", "", "" },
	};
	struct arena arena = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_string_equal(tsi_family_of_path(&arena, cases[i].path, false),
				    cases[i].family);
		assert_string_equal(tsi_family_of_path(&arena, cases[i].path, true),
				    cases[i].by_replica);
	}
	tsi_arena_deinit(&arena);
}
