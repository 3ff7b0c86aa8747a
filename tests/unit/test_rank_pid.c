/* SPDX-License-Identifier: MIT */
/* model/trace/rank_pid.h: ranks as mergers of traces write them into pids and names. */
#include "model/trace/rank_pid.h"

#include "base/attributes.h"
#include "check.h"

struct reading {
	const char *text;
	int64_t rank;
};

static void check_readings(int64_t (*read)(struct str text), const struct reading *readings,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (read(tsi_str_of(readings[i].text)) != readings[i].rank)
			fail_msg("%s: %lld", readings[i].text,
				 (long long)read(tsi_str_of(readings[i].text)));
}

TEST(places_of_sglang)
{
	static const struct reading readings[] = {
		{ "[TP00] 4242", 0 },
		{ "[TP13] Spans", 13 },
		{ "[TP01-PP02] 7", 2 << 20 | 1 },
		{ "[TP01-DP03-PP02-EP01] 7", INT64_C(3) << 40 | 2 << 20 | 1 },
		{ "[TP00] ", 0 },
		/* Others, or cut off. */
		{ "[DP00] 4242", -1 },
		{ "[TP] 4242", -1 },
		{ "[TP01", -1 },
		{ "[TP01]", -1 },
		{ "[TP01-", -1 },
		{ "[TP01-XX02] 7", -1 },
		{ "[TP99999999999999999999] 7", -1 },
		{ "[TP1048576] 7", -1 },
		{ "[Unknown] 7", -1 },
		{ "[", -1 },
		{ "TP01 7", -1 },
		{ "4242", -1 },
		{ "", -1 },
	};

	check_readings(tsi_sglang_place, readings, TSI_COUNT_OF(readings));
}

TEST(a_place_is_a_rank_of_torchs_group)
{
	int64_t place = tsi_sglang_place(TSI_STR("[TP01-DP05-PP02] 7"));

	assert_int_equal(tsi_sglang_tensor_place(place), 1);
	assert_int_equal(tsi_sglang_rank(place, 4), 9);
}

TEST(ranks_before_pids_and_in_names)
{
	static const struct reading readings[] = {
		{ "rank3_4242", 3 }, { "Rank 12", 12 },   { "Rank 3 - GPU Stream", 3 },
		{ "rank:3", 3 },     { "RANK-3", 3 },     { "rank3", 3 },
		{ "rank", -1 },      { "rank ", -1 },     { "rank_a", -1 },
		{ "rank3rd", -1 },   { "ranking 3", -1 }, { "python3", -1 },
		{ "", -1 },
	};

	check_readings(tsi_rank_at_begin, readings, TSI_COUNT_OF(readings));
}

TEST(ranks_behind_pids)
{
	static const struct reading readings[] = {
		{ "4242_3", 3 },  { "0_12", 12 },     { "Spans_3", 3 },  { "Traces_0", 0 },
		{ "_1", 1 },      { "worker_3", -1 }, { "4242_", -1 },   { "4242", -1 },
		{ "4242-3", -1 }, { "_", -1 },        { "4242_x3", -1 }, { "", -1 },
	};

	check_readings(tsi_rank_behind_pid, readings, TSI_COUNT_OF(readings));
}

TEST(ranks_before_names_of_events)
{
	static const struct {
		const char *name, *rest;
		int64_t rank;
	} cases[] = {
		{ "[R3] aten::mm", "aten::mm", 3 },
		{ "[R0] ", "", 0 },
		{ "[R3]aten::mm", "[R3]aten::mm", -1 },
		{ "[R] x", "[R] x", -1 },
		{ "[TP00] x", "[TP00] x", -1 },
		{ "[R3", "[R3", -1 },
		{ "", "", -1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str rest;

		assert_int_equal(tsi_rank_before_name(tsi_str_of(cases[i].name), &rest),
				 cases[i].rank);
		assert_true(tsi_str_equal(rest, tsi_str_of(cases[i].rest)));
	}
}
