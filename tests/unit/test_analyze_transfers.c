/* SPDX-License-Identifier: MIT */
/* Transfers without waiting, their bandwidth and their links, by hand. */
#include "memory_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "check.h"

#define ALL                                                                                        \
	"transfers: count bytes wait_ns transfer_ns wait_ratio mean_exposed_wait_ns "              \
	"mean_exposed_transfer_ns node_count"
#define BY_KIND                                                                                    \
	"transfers.by_kind: kind group group_size span count bytes wait_ns transfer_ns "           \
	"algorithm_bytes_per_second bus_bytes_per_second"
#define BY_SIZE                                                                                    \
	"transfers.by_size: kind group_size span message_bytes count mean_wait_ns transfer_ns "    \
	"min_transfer_ns bus_bytes_per_second slack_ns required_bytes_per_second"
#define LINKS "transfers.links: ranks kind message_bytes count transfer_ns slowdown_ratio"

enum { TEXT_BYTES = 1 << 20 };

struct text {
	char *bytes;
	size_t length;
};

static struct text new_text(void)
{
	struct text text = { .bytes = calloc(TEXT_BYTES, 1) };

	assert_non_null(text.bytes);
	return text;
}

TSI_PRINTF(2, 3) static void put(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->length += (size_t)vsnprintf(text->bytes + text->length, TEXT_BYTES - text->length,
					  format, args);
	va_end(args);
	assert_true(text->length < TEXT_BYTES);
}

/* A world of a text in which times are in ms: "400m" is 400000000. */
static struct test_world *world_in_ms(const char *in)
{
	struct text text = new_text();
	struct test_world *w;

	for (; *in; in++) {
		bool is_unit = *in == 'm' && text.length > 0 &&
			       strchr("0123456789", text.bytes[text.length - 1]);
		if (is_unit)
			put(&text, "000000");
		else
			put(&text, "%c", *in);
	}
	w = test_world(text.bytes);
	free(text.bytes);
	return w;
}

/*
 * The first all-reduce runs 200 ms on rank 0 and 100 on rank 1: transfer 100. The second 100 and
 * 60. On rank 0 compute goes on for 100 ms of the first until it is waited for, on rank 1 for 50.
 */
static const char two_ranks[] =
	"rank 0 node=a\n"
	"step 1 0 1000m\n"
	"compute 0 400m\n"
	"all_reduce 300m 500m group=dp ranks=0,1 seq=0 bytes=1000000 bus=1500000\n"
	"exposed_comm 400m 500m\n"
	"compute 500m 1000m\n"
	"all_reduce 600m 700m group=dp ranks=0,1 seq=1 bytes=1000000 bus=1500000\n"
	"rank 1 node=a\n"
	"step 1 0 1000m\n"
	"compute 0 450m\n"
	"all_reduce 400m 500m group=dp ranks=0,1 seq=0 bytes=1000000 bus=1500000\n"
	"exposed_comm 450m 500m\n"
	"compute 500m 1000m\n"
	"all_reduce 640m 700m group=dp ranks=0,1 seq=1 bytes=1000000 bus=1500000\n";

TEST(figures_by_hand)
{
	struct test_world *w = world_in_ms(two_ranks);
	struct analyzed *a = analyze_world(w, NULL);

	/*
	 * Waits 100 and 40; transfers (100 + 60) × 2 ranks; 140 ÷ 460. Nothing exposed is waiting:
	 * 100 and 50 of transfer, mean 75.
	 */
	check_facts(a, ALL, "2 2000000 140000000 320000000 0.304348 0 75000000 1");
	/* 140 ÷ 4 × 2; 2 MB in 160 ms, 3 MB of the bus. */
	check_table(a, BY_KIND,
		    "all_reduce dp 2 intra_node 2 2000000 70000000 160000000 1.25e+07 "
		    "1.875e+07\n");
	/* Of 60 and 100. Slack 100 and 50 of those waited for: 75; 1 MB ÷ 75 ms. */
	check_table(a, BY_SIZE,
		    "all_reduce 2 intra_node 1000000 2 35000000 80000000 60000000 1.875e+07 "
		    "75000000 1.33333e+07\n");
	check_table(a, LINKS, "0-1 all_reduce 1000000 2 80000000 -\n");
	check_table(a, "transfers.slow_links: ranks", "");
	check_doubt(a, "transfers.transfer_ns", NULL);
}

/* The shorter of a send and its receive; who waited is not known. */
TEST(sends)
{
	struct test_world *w = world_in_ms("rank 0 node=a\n"
					   "step 1 0 100m\n"
					   "send_recv 10m 12m send peer=1 bytes=4000 bus=4000\n"
					   "rank 1 node=b\n"
					   "step 1 0 100m\n"
					   "send_recv 2m 12m peer=0 bytes=4000 bus=4000\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "0 - 0 0 - 0 0 2");
	check_table(a,
		    "transfers.by_kind: kind group_size span count bytes wait_ns transfer_ns "
		    "bus_bytes_per_second",
		    "send_recv 2 inter_node 1 4000 - 2000000 2e+06\n");
	check_table(a, "transfers.by_size: kind message_bytes mean_wait_ns transfer_ns slack_ns",
		    "send_recv 4000 - 2000000 -\n");
	check_table(a, LINKS, "0-1 send_recv 4000 1 2000000 -\n");
}

/* A broadcast may leave its root early, and a barrier has no size. */
TEST(what_has_no_bandwidth)
{
	struct test_world *w =
		world_in_ms("rank 0\n"
			    "step 1 0 100m\n"
			    "barrier 10m 30m group=dp ranks=0,1 seq=0\n"
			    "broadcast 40m 50m group=dp ranks=0,1 seq=1 bytes=4000 bus=4000\n"
			    "rank 1\n"
			    "step 1 0 100m\n"
			    "barrier 25m 30m group=dp ranks=0,1 seq=0\n"
			    "broadcast 41m 50m group=dp ranks=0,1 seq=1 bytes=4000 bus=4000\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "1 - 15000000 10000000 0.6 0 0 -");
	/* 15 ÷ 2 ranks. */
	check_table(a, BY_KIND, "barrier dp 2 - 1 - 7500000 5000000 - -\n");
	check_table(a, BY_SIZE, "barrier 2 - - 1 7500000 5000000 5000000 - - -\n");
	check_table(a, LINKS, "");
}

/* Rank 2 was not read: it may be the one that the others wait for. */
TEST(a_member_that_was_not_read)
{
	struct test_world *w =
		world_in_ms("rank 0 node=a\nstep 1 0 100m\n"
			    "all_reduce 10m 30m group=dp ranks=0,1,2 seq=0 bytes=1000 bus=1000\n"
			    "rank 1 node=a\nstep 1 0 100m\n"
			    "all_reduce 20m 30m group=dp ranks=0,1,2 seq=0 bytes=1000 bus=1000\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "1 1000 10000000 20000000 0.333333 0 0 1");
	check_table(a, "transfers.by_size: group_size span", "3 -\n");
	check_table(a, "transfers.links: ranks", "0-2\n");
	check_doubt(a, "transfers.transfer_ns",
		    "groups may have ranks that were not read: waiting for these counts as "
		    "transfer");
	check_doubt(a, "transfers.count", NULL);
}

/* The host says no bus bytes: 3 ÷ 2 of what each of 4 ranks has, in 20 ms. */
TEST(a_bus_that_nobody_says)
{
#define HOST_RANK(number)                                                                          \
	"rank " number " host\nstep 1 0 100m\n"                                                    \
	"all_reduce 10m 30m group=dp ranks=0,1,2,3 seq=0 bytes=1000\n"
	struct test_world *w =
		world_in_ms(HOST_RANK("0") HOST_RANK("1") HOST_RANK("2") HOST_RANK("3"));
	struct analyzed *a = analyze_world(w, NULL);

	check_table(a, "transfers.by_size: algorithm_bytes_per_second bus_bytes_per_second",
		    "50000 75000\n");
}

TEST(without_transfers)
{
	struct test_world *w = world_in_ms("rank 0 node=a\nstep 1 0 100m\n"
					   "rank 1 node=b\nstep 1 0 100m\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "- - - - - - - 2");
	check_table(a, "transfers.by_kind: kind", "");
}

/* Groups of one name share a row, whoever is in them; sizes of one dtype do. */
TEST(what_shares_a_row)
{
#define REDUCE(at, group, ranks, dtype)                                                            \
	"all_reduce " at " group=" group " ranks=" ranks " dtype=" dtype " bytes=1000 bus=1000\n"
#define RANK(number, pair)                                                                         \
	"rank " number " host\nstep 1 0 1000m first\nstep 2 1000m 2000m\n"                         \
	"exposed_comm 1100m 1150m\n" REDUCE("100m 120m", "tp", pair, "Float")                      \
		REDUCE("200m 235m", "tp", pair, "Half") REDUCE("1100m 1150m", "dp", pair, "Half")
	struct test_world *w =
		world_in_ms(RANK("0", "0,1") RANK("1", "0,1") RANK("2", "2,3") RANK("3", "2,3"));
	struct analyzed *a = analyze_world(w, NULL);

	/* Twice (20 + 35) ms, and twice 50. */
	check_table(a, "transfers.by_kind: group group_size count transfer_ns",
		    "tp 2 4 110000000\ndp 2 2 100000000\n");
	/* Four of Half: 35, 35, 50, 50. */
	check_table(a, "transfers.by_size: dtype on_host count transfer_ns",
		    "Half yes 4 42500000\nFloat yes 2 20000000\n");
	/* The first step does not count. */
	check_facts(a, "transfers: mean_exposed_wait_ns mean_exposed_transfer_ns", "0 50000000");
}

TEST(a_host_beside_a_device)
{
	struct test_world *w = world_in_ms(
		"rank 0 host\nstep 1 0 100m\n"
		"all_reduce 10m 30m group=dp ranks=0,1 bytes=1000 bus=1000\n"
		"rank 1\nstep 1 0 100m\nall_reduce 10m 30m group=dp ranks=0,1 bytes=1000 bus=1000\n"
		"rank 2 host\nstep 1 0 100m\n"
		"all_reduce 10m 30m group=dp ranks=2,3 bytes=1000 bus=1000\n"
		"rank 3 host\nstep 1 0 100m\n"
		"all_reduce 10m 30m group=dp ranks=2,3 bytes=1000 bus=1000\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_table(a, "transfers.by_size: on_host count", "no 1\nyes 1\n");
}

/* ---- links ---- */

enum { GROUPS = 4, STEPS = 12 };

/* How long a rank computes in a step, and how long a group transfers; in ms. */
struct pace {
	int compute[2 * GROUPS], transfer[GROUPS];
};

/* Groups of ranks i and i + 4 on two nodes: both reduce when the later one has computed. */
static struct test_world *paced_world(const struct pace *pace)
{
	struct text text = new_text();
	struct test_world *w;

	for (int rank = 0; rank < 2 * GROUPS; rank++) {
		int group = rank % GROUPS, one = pace->compute[group];
		int other = pace->compute[group + GROUPS];
		int last = one > other ? one : other, own = pace->compute[rank];

		put(&text, "rank %d node=%d\n", rank, rank / GROUPS);
		for (int step = 0; step < STEPS; step++) {
			int start = 100 * step, end = start + last + pace->transfer[group];

			put(&text, "step %d %dm %dm\n", step, start, start + 100);
			put(&text, "compute %dm %dm\n", start, start + own);
			put(&text, "exposed_comm %dm %dm\n", start + own, end);
			put(&text,
			    "all_reduce %dm %dm group=dp ranks=%d,%d seq=%d bytes=8000000 "
			    "bus=8000000\n",
			    start + own, end, group, group + GROUPS, step);
		}
	}
	w = world_in_ms(text.bytes);
	free(text.bytes);
	return w;
}

TEST(a_slow_link)
{
	static const struct pace pace = {
		.compute = { 40, 40, 40, 40, 40, 40, 40, 40 },
		.transfer = { 10, 15, 10, 10 },
	};
	struct test_world *w = paced_world(&pace);
	struct analyzed *a = analyze_world(w, NULL);

	/* The slow one takes most time. 5 ms more, once a step; 4 × 4^-12. */
	check_table(a, LINKS " span",
		    "1, 5 all_reduce 8000000 12 15000000 0.5 inter_node\n"
		    "0, 4 all_reduce 8000000 12 10000000 0 inter_node\n"
		    "2, 6 all_reduce 8000000 12 10000000 0 inter_node\n"
		    "3, 7 all_reduce 8000000 12 10000000 0 inter_node\n");
	check_table(a,
		    "transfers.slow_links: group ranks kind span message_bytes slowdown_ratio "
		    "p_value excess_ns_per_step bus_bytes_per_second",
		    "dp 1, 5 all_reduce inter_node 8000000 0.5 6.0343e-09 5000000 5.33333e+08\n");
	/* Every step: (3 × 2 × 10 + 2 × 15) ÷ 8. */
	check_facts(a, "transfers: mean_exposed_wait_ns mean_exposed_transfer_ns", "0 11250000");
}

/* Rank 5 comes late: rank 1 waits for it, and the transfer is like the others'. */
TEST(a_slow_rank_is_no_slow_link)
{
	static const struct pace pace = {
		.compute = { 40, 40, 40, 40, 40, 60, 40, 40 },
		.transfer = { 10, 10, 10, 10 },
	};
	struct test_world *w = paced_world(&pace);
	struct analyzed *a = analyze_world(w, NULL);

	check_table(a, "transfers.slow_links: ranks", "");
	check_table(a, "transfers.links: ranks slowdown_ratio", "0, 4 0\n1, 5 0\n2, 6 0\n3, 7 0\n");
	/* 20 ms of one of 8 ranks. */
	check_facts(a, "transfers: mean_exposed_wait_ns mean_exposed_transfer_ns",
		    "2500000 10000000");
}

/* ---- texts and limits ---- */

TEST(many_ranks_have_a_short_text)
{
	struct text text = new_text();

	/* Every second one of 800. */
	for (int rank = 0; rank < 800; rank += 2) {
		put(&text,
		    "rank %d\nstep 1 0 100m\nall_reduce 10m 30m group=dp bytes=8 ranks=", rank);
		for (int member = 0; member < 800; member += 2)
			put(&text, "%d%s", member, member < 798 ? "," : "\n");
	}
	struct test_world *w = world_in_ms(text.bytes);
	struct analyzed *a = analyze_world(w, NULL);
	struct table_view links = tsi_lookup_table(a->analysis, "transfers.links");
	const char *ranks = tsi_table_cell(&links, 0, tsi_table_column(&links, "ranks")).text;

	assert_int_equal(links.row_count, 1);
	assert_string_equal(ranks, "0, 2, ..., 798");
	free(text.bytes);
}

TEST(memory_ends)
{
	static const struct pace pace = {
		.compute = { 40, 40, 40, 40, 40, 40, 40, 40 },
		.transfer = { 10, 15, 10, 10 },
	};
	struct test_world *w = paced_world(&pace);

	sweep_world("transfers", w, 16);
}
