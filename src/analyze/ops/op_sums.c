/* SPDX-License-Identifier: MIT */
/*
 * Sums of operators by kind. There are few kinds: what is asked by name or by the text of the
 * inputs is added up from them at the end.
 */
#include "analyze/ops/op_sums.h"

#include "base/sum.h"

void tsi_op_sums_init(struct op_sums *sums, const struct tscope_timeline *timeline)
{
	*sums = (struct op_sums){
		.kinds = { .arena = &sums->memory, .item_bytes = sizeof(struct op_kind) },
	};
	tsi_step_work_init(&sums->steps, timeline, &sums->memory);
}

uint32_t tsi_op_sums_find(struct op_sums *sums, uint32_t name, uint32_t inputs)
{
	size_t known = sums->kinds.count;
	uint32_t number = tsi_pair_set_add(&sums->kinds, name, inputs);

	if (number == known)
		tsi_op_kind(sums, number)->step = NO_ROW;
	return number;
}

static bool note_first_end(struct op_sums *sums, struct op_kind *kind)
{
	uint32_t *ended = tsi_arena_push(&sums->memory, &sums->ended, &sums->ended_count,
					 &sums->ended_capacity, sizeof(*ended));
	if (!ended)
		return false;
	*ended = tsi_op_kind_number(sums, kind);
	kind->has_ended = true;
	return true;
}

/* The pair of the step before gets what came since. */
static void settle_step(struct op_sums *sums, struct op_kind *kind)
{
	struct step_pair now = { kind->counted.self_ns, kind->counted.self_device_ns };

	if (kind->step != NO_ROW) {
		struct step_pair *pair = tsi_step_pair(&sums->steps, kind->pair);
		tsi_sum(&pair->ns, now.ns - kind->before.ns);
		tsi_sum(&pair->device_ns, now.device_ns - kind->before.device_ns);
	}
	kind->before = now;
}

struct op_times *tsi_op_sums_change(struct op_sums *sums, struct op_kind *kind, uint32_t step)
{
	if (!kind->has_ended && !note_first_end(sums, kind))
		return NULL;
	if (step == NO_ROW)
		return &kind->others;
	if (kind->step == step)
		return &kind->counted;
	uint32_t name = sums->kinds.pairs[tsi_op_kind_number(sums, kind)].first;
	settle_step(sums, kind);
	uint32_t pair = tsi_pair_set_add(&sums->steps.pairs, name, step);
	if (pair == UINT32_MAX)
		return NULL;
	kind->pair = pair;
	kind->step = step;
	return &kind->counted;
}

void tsi_op_sums_settle(struct op_sums *sums)
{
	struct op_kind *kinds = sums->kinds.items;

	for (size_t i = 0; i < sums->kinds.count; i++) {
		settle_step(sums, &kinds[i]);
		struct name_work *name = &sums->steps.names[sums->kinds.pairs[i].first];

		name->count += kinds[i].counted.count;
		tsi_sum(&name->ns, kinds[i].counted.self_ns);
		tsi_sum(&name->device_ns, kinds[i].counted.self_device_ns);
	}
	tsi_step_work_settle(&sums->steps);
}
