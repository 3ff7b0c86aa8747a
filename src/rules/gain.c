/* SPDX-License-Identifier: MIT */
#include "rules/gain.h"

#include <math.h>

#include "analyze/lookup.h"
#include "base/sum.h"
#include "rules/rule.h"

enum { WHOLE_STEP = TSCOPE_BUDGET_LINE_COUNT };

#define GAIN_PART_LINE(id, line) TSCOPE_BUDGET_##line,
static const uint8_t line_of_part[] = { GAIN_PARTS(GAIN_PART_LINE) };

static const char *const line_facts[TSCOPE_BUDGET_LINE_COUNT] = {
	[TSCOPE_BUDGET_COMPUTE] = "budget.compute_total_ns",
	[TSCOPE_BUDGET_EXPOSED_COMM] = "budget.exposed_comm_total_ns",
	[TSCOPE_BUDGET_EXPOSED_COPY] = "budget.exposed_copy_total_ns",
	[TSCOPE_BUDGET_DATA_STALL] = "budget.data_stall_total_ns",
	[TSCOPE_BUDGET_SYNC_STALL] = "budget.sync_stall_total_ns",
	[TSCOPE_BUDGET_LAUNCH_STALL] = "budget.launch_stall_total_ns",
	[TSCOPE_BUDGET_DEVICE_GAP] = "budget.device_gap_total_ns",
	[TSCOPE_BUDGET_UNATTRIBUTED] = "budget.unattributed_total_ns",
};

static int64_t integer(const struct tscope_analysis *analysis, const char *fact)
{
	struct tscope_value value = tsi_lookup(analysis, fact);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : -1;
}

/* Lines are sums over steps, devices and ranks: of the mean step a line has its share. */
struct gain_ledger tsi_gain_ledger(const struct tscope_analysis *analysis)
{
	double step_ns = tsi_value_real(tsi_lookup(analysis, "step_time.mean_ns"));
	int64_t wall_ns = integer(analysis, "budget.wall_total_ns");
	struct gain_ledger ledger = { .step_ns = step_ns > 0 ? llround(step_ns) : 0 };

	ledger.step_left_ns = ledger.step_ns > 0 ? ledger.step_ns : INT64_MAX;
	for (size_t i = 0; i < GAIN_LINE_COUNT; i++) {
		int64_t ns = i < WHOLE_STEP ? integer(analysis, line_facts[i]) : -1;
		bool is_known = ns >= 0 && wall_ns > 0 && ledger.step_ns > 0;

		ledger.line_left_ns[i] = is_known ? llround((double)ns / (double)wall_ns * step_ns)
						  : ledger.step_left_ns;
	}
	return ledger;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Grants for the part and the parts that it holds. */
static int64_t granted_of(const struct gain_ledger *ledger, enum gain_part part)
{
	switch (part) {
	case GAIN_SLOW_STEPS:
		return ledger->all_granted_ns;
	case GAIN_BELOW_PEAK:
		return ledger->line_granted_ns[TSCOPE_BUDGET_COMPUTE];
	default:
		return ledger->granted_ns[part];
	}
}

int64_t tsi_gain_grant(struct gain_ledger *ledger, const struct gain_claim *claims, size_t count)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t line = line_of_part[claims[i].part];
		int64_t ns = claims[i].ns - granted_of(ledger, claims[i].part);

		ns = least(ns > 0 ? ns : 0,
			   least(ledger->line_left_ns[line], ledger->step_left_ns));
		ledger->granted_ns[claims[i].part] += ns;
		tsi_sum(&ledger->line_granted_ns[line], ns);
		tsi_sum(&ledger->all_granted_ns, ns);
		ledger->line_left_ns[line] -= ns;
		ledger->step_left_ns -= ns;
		sum_ns += ns;
	}
	return sum_ns;
}
