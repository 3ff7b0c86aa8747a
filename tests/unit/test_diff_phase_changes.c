/* SPDX-License-Identifier: MIT */
/* Iterations of serving engines: phases with phases, and sizes that both sides have. */
#include "diff_check.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"

/* So many iterations of a phase with these requests, of latency_ns and up to 4 ns more. */
struct kind {
	const char *phase;
	int requests, count, latency_ns;
};

static char *put_kinds(char *text, size_t room, const struct kind *kinds, size_t count)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		for (int n = 0; n < kinds[i].count; n++)
			used += (size_t)snprintf(
				text + used, room - used,
				"iterations.list phase=%s requests=%d latency_ns=%d mark=''\n",
				kinds[i].phase, kinds[i].requests, kinds[i].latency_ns + n * 7 % 5);
	return text;
}

/* More prompts, and decodes of 4 that take 50 ns longer; those of 8 do not. */
TEST(phases_and_sizes)
{
	static const struct kind a[] = { { "prefill", 1, 2, 900 },
					 { "decode", 4, 20, 100 },
					 { "decode", 8, 20, 100 },
					 { "decode", 2, 1, 100 } };
	static const struct kind b[] = { { "prefill", 1, 9, 900 },
					 { "decode", 4, 20, 150 },
					 { "decode", 8, 20, 100 },
					 { "idle", 0, 3, 10 },
					 { "mixed", 4, 3, 10 } };
	static char of_a[8192], of_b[8192];

	put_kinds(of_a, sizeof(of_a), a, TSI_COUNT_OF(a));
	put_kinds(of_b, sizeof(of_b), b, TSI_COUNT_OF(b));
	struct compared *c = compare(of_a, of_b);

	check_table(&c->result,
		    "phase_changes.list: phase requests verdict a_count b_count a_p50_ns b_p50_ns "
		    "change_ns",
		    "prefill - undecided 2 9 901 902 1\n"
		    "prefill 1 undecided 2 9 901 902 1\n"
		    "decode - no_change 41 40 102 127 25\n" /* long runs of a size: few samples */
		    "decode 4 changed 20 20 102 152 50\n"
		    "decode 8 same 20 20 102 102 0\n");
	check_facts(&c->result, "phase_changes: changed_count size_changed_count", "0 1");
}

TEST(what_does_not_count)
{
	struct compared *c =
		compare("iterations.list phase=decode requests=4 latency_ns=100 mark=warmup\n",
			"iterations.list phase=decode requests=4 latency_ns=100 mark=''\n");

	check_table(&c->result, "phase_changes.list: phase", "");
	check_facts(&c->result, "phase_changes: changed_count", "-");
}
