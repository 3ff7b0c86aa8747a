/* SPDX-License-Identifier: MIT */
/*
 * Spans without a category. Ascend's trace_view.json gives categories to PyTorch's events only:
 * what the device did shows by "Task Type" in args, collectives by their names. The lanes of
 * "Overlap Analysis", which paint the same work again, have neither; tasks that wait are no work.
 */
#include "decode/json.h"
#include "model/trace/build.h"

static const struct {
	const char *type;
	uint8_t span_class;
} tasks[] = {
	{ "AI_CORE", TSCOPE_SPAN_KERNEL },        { "AI_VECTOR_CORE", TSCOPE_SPAN_KERNEL },
	{ "AI_CPU", TSCOPE_SPAN_KERNEL },         { "MIX_AIC", TSCOPE_SPAN_KERNEL },
	{ "MIX_AIV", TSCOPE_SPAN_KERNEL },        { "AIC_SQE", TSCOPE_SPAN_KERNEL },
	{ "AIV_SQE", TSCOPE_SPAN_KERNEL },        { "DSA_SQE", TSCOPE_SPAN_KERNEL },
	{ "KERNEL_AICORE", TSCOPE_SPAN_KERNEL },  { "KERNEL_AIVEC", TSCOPE_SPAN_KERNEL },
	{ "KERNEL_AICPU", TSCOPE_SPAN_KERNEL },   { "KERNEL_MIX_AIC", TSCOPE_SPAN_KERNEL },
	{ "KERNEL_MIX_AIV", TSCOPE_SPAN_KERNEL }, { "MEMCPY_ASYNC", TSCOPE_SPAN_MEMCPY },
	{ "SDMA_SQE", TSCOPE_SPAN_MEMCPY },       { "PCIE_DMA_SQE", TSCOPE_SPAN_MEMCPY },
};

static uint8_t class_of_ascend(const struct raw_event *event)
{
	if (tsi_str_find(event->args, TSI_STR("\"Task Type\"")) >= 0) {
		struct str type =
			tsi_json_unquote(tsi_json_object_get(event->args, TSI_STR("Task Type")));
		for (size_t i = 0; i < TSI_COUNT_OF(tasks); i++)
			if (tsi_str_equal(type, tsi_str_of(tasks[i].type)))
				return tasks[i].span_class;
	} else if (tsi_str_starts(event->name, "hcom_")) {
		return TSCOPE_SPAN_COMM;
	}
	return TSCOPE_SPAN_OTHER;
}

/* torch.autograd's own exporter has only two processes with these names. */
uint8_t tsi_class_without_category(const struct raw_event *event)
{
	if (tsi_str_is(event->pid, "CPU functions"))
		return TSCOPE_SPAN_CPU_OP;
	if (tsi_str_is(event->pid, "CUDA functions"))
		return TSCOPE_SPAN_KERNEL;
	return class_of_ascend(event);
}

/* Ascend's collectives have lanes of their own, which are numbered from 0 on like the streams. */
void tsi_place_uncategorised(const struct raw_event *event, struct device_place *place)
{
	enum { FIRST_COMM_STREAM = 1 << 20 };
	int64_t lane;

	if (event->cat.length == 0 && place->stream == NO_NUMBER &&
	    tsi_str_starts(event->name, "hcom_") && tsi_str_to_int64(event->tid, &lane) &&
	    lane >= 0 && lane < FIRST_COMM_STREAM)
		place->stream = FIRST_COMM_STREAM + lane;
}
