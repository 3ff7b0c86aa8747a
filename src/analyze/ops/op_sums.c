/* SPDX-License-Identifier: MIT */
/*
 * Sums of operators by kind. There are few kinds: what is asked by name or by the text of the
 * inputs is added up from them at the end.
 */
#include "analyze/ops/op_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"

enum tscope_status tsi_op_sums_init(struct op_sums *sums, const struct tscope_timeline *timeline,
				    struct tscope_error *err)
{
	*sums = (struct op_sums){ .kinds.arena = &sums->memory };
	return tsi_step_work_init(&sums->steps, timeline, &sums->memory, err);
}

void tsi_op_sums_deinit(struct op_sums *sums)
{
	tsi_arena_deinit(&sums->memory);
	tsi_step_work_deinit(&sums->steps);
	free(sums->items);
	free(sums->ended);
	*sums = (struct op_sums){ 0 };
}

enum tscope_status tsi_op_sums_find(struct op_sums *sums, uint32_t name, uint32_t inputs,
				    uint32_t *number, struct tscope_error *err)
{
	size_t known = sums->kinds.count;

	if (tsi_array_reserve(&sums->items, &sums->capacity, known + 1, sizeof(*sums->items),
			      err) != TSCOPE_OK ||
	    tsi_pair_set_find(&sums->kinds, name, inputs, number, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (*number == known)
		sums->items[known] = (struct op_kind){ .step = NO_ROW };
	return TSCOPE_OK;
}

enum tscope_status tsi_op_sums_first_end(struct op_sums *sums, uint32_t kind,
					 struct tscope_error *err)
{
	if (tsi_array_reserve(&sums->ended, &sums->ended_capacity, sums->ended_count + 1,
			      sizeof(*sums->ended), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	sums->ended[sums->ended_count++] = kind;
	sums->items[kind].has_ended = true;
	return TSCOPE_OK;
}

enum tscope_status tsi_op_sums_change_step(struct op_sums *sums, uint32_t kind, uint32_t step,
					   struct tscope_error *err)
{
	sums->items[kind].step = step;
	return tsi_step_pair(&sums->steps, sums->kinds.pairs[kind].first, step,
			     &sums->items[kind].pair, err);
}

void tsi_op_sums_settle(struct op_sums *sums)
{
	for (size_t i = 0; i < sums->kinds.count; i++) {
		struct name_work *name = &sums->steps.names[sums->kinds.pairs[i].first];

		name->count += sums->items[i].counted.count;
		tsi_sum(&name->ns, sums->items[i].counted.self_ns);
	}
	tsi_step_work_settle(&sums->steps);
}
