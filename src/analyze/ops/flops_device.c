/* SPDX-License-Identifier: MIT */
/*
 * Which device the peak is of: that with the most time in matrix kernels, or in
 * compute kernels where there are none. Where devices of other kinds do a part of
 * the work that matters, no row of the table is right.
 */
#include "analyze/ops/flops_count.h"

#include <string.h>

#include "base/attributes.h"
#include "base/sum.h"

/* Another device with a smaller share of the work is ignored. */
#define OTHER_SHARE 0.01

struct found_device {
	struct device_traits traits;
	int64_t compute_major; /* NVIDIA's compute capability, below 1: not said */
	struct device_match match;
};

static struct found_device find_device(const struct tscope_trace *trace, uint32_t device)
{
	uint32_t index = trace->devices[device].properties;
	struct found_device found = { .traits.name = "", .match.part = 1 };

	if (index == NO_ROW)
		return found;
	const struct device_properties *properties = &trace->device_properties[index];
	if (properties->name)
		found.traits.name = tsi_intern_text(&trace->names, properties->name).data;
	found.traits.sm_count = properties->sm_count;
	found.traits.total_bytes = properties->total_bytes;
	found.compute_major = properties->compute_major;
	found.match = tsi_device_find(&found.traits);
	return found;
}

static bool is_same_kind(const struct found_device *a, const struct found_device *b)
{
	if (a->match.device || b->match.device)
		return a->match.device == b->match.device && a->match.part == b->match.part;
	return strcmp(a->traits.name, b->traits.name) == 0;
}

/* NVIDIA devices that the table does not have: from Volta on, but for GeForce GTX 16. */
static int find_tensor_cores(const struct flops_count *c, const struct found_device *found)
{
	enum { VOLTA = 7 };

	if (found->match.device)
		return found->match.device->has_plain_cores_only ? TENSOR_CORES_MISSING
								 : TENSOR_CORES_THERE;
	if (tsi_str_find(tsi_str_of(found->traits.name), TSI_STR("GTX")) >= 0)
		return TENSOR_CORES_MISSING;
	if (c->trace->hip_runtime_version || found->compute_major <= 0)
		return TENSOR_CORES_UNSTATED;
	return found->compute_major >= VOLTA ? TENSOR_CORES_THERE : TENSOR_CORES_MISSING;
}

/* Ampere has brought TF32 and bfloat16; Volta and Turing have float16 alone. */
static unsigned find_tensor_precisions(const struct found_device *found)
{
	static const enum tscope_precision precisions[] = {
		TSCOPE_PRECISION_TF32,
		TSCOPE_PRECISION_FP16,
		TSCOPE_PRECISION_BF16,
	};
	enum { AMPERE = 8 };
	unsigned set = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(precisions); i++) {
		bool is_there = found->match.device
					? found->match.device->peak_flops[precisions[i]] > 0
					: found->compute_major >= AMPERE ||
						  precisions[i] == TSCOPE_PRECISION_FP16;
		set |= (unsigned)is_there << precisions[i];
	}
	return set;
}

/* Device time that decides which device the peak is of. */
static int64_t weight_of(const struct flops_count *c, uint32_t device, bool has_matrix)
{
	return has_matrix ? c->device_times[device].matrix_ns : c->device_times[device].compute_ns;
}

static bool has_matrix_kernels(const struct flops_count *c)
{
	for (uint32_t i = 0; i < c->trace->device_count; i++)
		if (c->device_times[i].matrix_ns > 0)
			return true;
	return false;
}

/* The first device of another kind that matters, or NO_ROW. */
static uint32_t find_other_kind(const struct flops_count *c, const struct found_device *found,
				bool has_matrix, int64_t all_ns)
{
	for (uint32_t i = 0; i < c->trace->device_count; i++) {
		int64_t ns = weight_of(c, i, has_matrix);
		if (ns == 0 || (double)ns < OTHER_SHARE * (double)all_ns)
			continue;
		struct found_device other = find_device(c->trace, i);
		if (!is_same_kind(found, &other))
			return i;
	}
	return NO_ROW;
}

void tsi_flops_find_device(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;
	bool has_matrix = has_matrix_kernels(c);
	int64_t all_ns = 0;
	uint32_t most = 0;

	if (trace->device_count == 0)
		return;
	for (uint32_t i = 0; i < trace->device_count; i++) {
		tsi_sum(&all_ns, weight_of(c, i, has_matrix));
		if (weight_of(c, i, has_matrix) > weight_of(c, most, has_matrix))
			most = i;
	}
	struct found_device found = find_device(trace, most);
	uint32_t other = find_other_kind(c, &found, has_matrix, all_ns);
	c->out->has_device = true;
	c->out->device_name = found.traits.name;
	c->out->device_units = found.traits.sm_count;
	c->out->device_bytes = found.traits.total_bytes;
	if (other != NO_ROW) {
		c->out->other_device_name = find_device(trace, other).traits.name;
		return;
	}
	c->out->device = found.match;
	c->out->tensor_cores = find_tensor_cores(c, &found);
	if (c->out->tensor_cores == TENSOR_CORES_THERE)
		c->out->tensor_precisions = find_tensor_precisions(&found);
}
