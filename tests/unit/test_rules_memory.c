/* SPDX-License-Identifier: MIT */
/* MEMORY.*: idle and growing memory of the device. */
#include "rule_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define IDLE(ratio, peak_bytes)                                                                    \
	"memory.fragmentation " ratio "\n"                                                         \
	"memory.peak_alloc_bytes " peak_bytes "\n"
#define GROWTH(bytes_per_step, steps, peak_bytes)                                                  \
	"memory.growth_bytes_per_step " bytes_per_step "\n"                                        \
	"memory.step_count " steps "\n"                                                            \
	"memory.peak_alloc_bytes " peak_bytes "\n"

static const struct rule_case cases[] = {
	{ "MEMORY.FRAGMENTATION", FIRES,
	  IDLE("0.5", "1073741824") "memory.peak_reserved_bytes 2147483648\n", NULL,
	  "med: 50.0 % of the reserved device memory lies idle (at most 1024.0 MiB allocated; at "
	  "most 2048.0 MiB reserved)" },
	{ "MEMORY.FRAGMENTATION", QUIET, IDLE("0.1", "1073741824"), NULL, "" },
	{ "MEMORY.FRAGMENTATION", AT, IDLE("0.2", "67108864"), NULL,
	  "low: 20.0 % of the reserved device memory lies idle (at most 64.0 MiB allocated)" },
	{ "MEMORY.FRAGMENTATION", AT, IDLE("0.1999", "67108864"), NULL, "" },
	{ "MEMORY.FRAGMENTATION", AT, IDLE("0.4", "67108864"), NULL, "med: 40.0 %" },
	{ "MEMORY.FRAGMENTATION", AT, IDLE("0.3999", "67108864"), NULL, "low: 40.0 %" },
	/* One byte less than 64 MiB at the peak. */
	{ "MEMORY.FRAGMENTATION", AT, IDLE("0.5", "67108863"), NULL, "" },
	{ "MEMORY.FRAGMENTATION", CHANGED, IDLE("0.2", "67108864"),
	  "MEMORY.FRAGMENTATION.threshold=0.3", "" },
	{ "MEMORY.FRAGMENTATION", CHANGED, IDLE("0.2", "67108864"), "MEMORY.FRAGMENTATION.med=0.2",
	  "med: 20.0 %" },
	{ "MEMORY.FRAGMENTATION", CHANGED, IDLE("0.5", "1000"), "MEMORY.FRAGMENTATION.bytes=1000",
	  "med: 50.0 %" },
	/* 5 MiB a step. */
	{ "MEMORY.GROWTH", FIRES, GROWTH("5242880.0", "40", "314572800"), NULL,
	  "high: allocated memory grows by 5.00 MiB a step (200.0 MiB over 40 steps, the peak is "
	  "300.0 MiB)" },
	{ "MEMORY.GROWTH", QUIET, GROWTH("1000.0", "1000", "104857600"), NULL, "" },
	/* It shrinks. */
	{ "MEMORY.GROWTH", QUIET, GROWTH("-5242880.0", "40", "314572800"), NULL, "" },
	/* 1 MiB a step: 20 MiB of 100. */
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "104857600"), NULL,
	  "high: allocated memory grows by 1.00 MiB a step" },
	{ "MEMORY.GROWTH", AT, GROWTH("1048575.0", "20", "104857600"), NULL, "" },
	/* 20 MiB is 1 % of 2000 MiB. */
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "2097152000"), NULL, "high: allocated" },
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "2097152100"), NULL, "" },
	{ "MEMORY.GROWTH", SKIPPED, GROWTH("5242880.0", "19", "104857600"), NULL,
	  "skipped: 19 steps with memory: it needs 20" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("1048576.0", "20", "104857600"),
	  "MEMORY.GROWTH.threshold=2e6", "" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("1048576.0", "20", "104857600"),
	  "MEMORY.GROWTH.share=0.21", "" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("5242880.0", "19", "104857600"),
	  "MEMORY.GROWTH.steps=19", "high: allocated" },
};

static void rules_say_what_they_should(void **state)
{
	(void)state;
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_say_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
