/* SPDX-License-Identifier: MIT */
/* Which node each rank is on, by host names and by devices. */
#include "fail_alloc.h"
#include "world_text.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

struct node_case {
	const char *ranks;
	const char *nodes; /* of each rank; "-": nothing tells */
	size_t node_count;
};

static const struct node_case cases[] = {
	/* Numbered in the order of their lowest ranks. */
	{ "rank 0 node=b\nrank 1 node=a\nrank 2 node=b\nrank 5 node=a", "0 1 0 1", 2 },
	{ "rank 0 node=a\nrank 1 node=a", "0 0", 1 },
	/* One that does not say is nowhere, even if devices would tell. */
	{ "rank 0 node=a ordinal=0 visible=2\nrank 1 ordinal=1 visible=2\nrank 2 node=b ordinal=0 "
	  "visible=2",
	  "0 - 1", 2 },
	/* Host names go before devices: two nodes with two of four devices each. */
	{ "rank 0 node=a ordinal=0 visible=4\nrank 1 node=a ordinal=1 visible=4\n"
	  "rank 2 node=b ordinal=2 visible=4\nrank 3 node=b ordinal=3 visible=4",
	  "0 0 1 1", 2 },
	{ "rank 0 ordinal=0 visible=2\nrank 1 ordinal=1 visible=2\nrank 2 ordinal=0 visible=2\n"
	  "rank 3 ordinal=1 visible=2",
	  "0 0 1 1", 2 },
	/* Ranks that were not read: 1 and 5 of nodes of four; the one between has none. */
	{ "rank 1 ordinal=1 visible=4\nrank 9 ordinal=1 visible=4\nrank 11 ordinal=3 visible=4",
	  "0 1 1", 2 },
	/* Another device than that of the place. */
	{ "rank 0 ordinal=1 visible=2\nrank 1 ordinal=0 visible=2", "- -", 0 },
	{ "rank 0 ordinal=0 visible=2\nrank 1 ordinal=1 visible=2\nrank 2 ordinal=1 visible=2",
	  "- - -", 0 },
	/* Each process sees its own device only. */
	{ "rank 0 ordinal=0 visible=1\nrank 1 ordinal=0 visible=1", "- -", 0 },
	/* They do not agree. */
	{ "rank 0 ordinal=0 visible=2\nrank 1 ordinal=1 visible=4", "- -", 0 },
	{ "rank 0\nrank 1", "- -", 0 },
	{ "rank 0 host\nrank 1 host", "- -", 0 },
};

TEST(ranks_on_nodes)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_world *w = test_world_of_logs(cases[i].ranks);
		char text[64] = "";

		assert_int_equal(test_stage(tsi_world_find_nodes, w->world, NULL), TSCOPE_OK);
		for (size_t rank = 0; rank < w->rank_count; rank++) {
			size_t length = strlen(text);
			uint32_t node = w->world->nodes[rank];
			if (node == NO_ROW)
				snprintf(text + length, sizeof(text) - length, " -");
			else
				snprintf(text + length, sizeof(text) - length, " %u", node);
		}
		assert_string_equal(text + 1, cases[i].nodes);
		assert_int_equal(w->world->node_count, cases[i].node_count);
	}
}

TEST(out_of_memory)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct test_world *w = test_world_of_logs("rank 0 node=a\nrank 1 node=b");

		alloc_sweep_try(&sweep, test_stage(tsi_world_find_nodes, w->world, &sweep.err));
	}
}
