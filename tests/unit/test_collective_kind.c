/* SPDX-License-Identifier: MIT */
/* Sizes and bus factors of collectives, and what their kernels' names say. */
#include "comm/collective_kind.h"

#include <math.h>

#include "check.h"
#include "trace_builder.h"

/* n ranks, 2 bytes an element; in and out elements as one rank records them. */
TEST(sizes_and_factors)
{
	static const struct {
		enum collective_kind kind;
		int64_t n, in, out;
		int64_t bytes;
		double factor;
	} cases[] = {
		{ COLLECTIVE_ALL_REDUCE, 4, 100, 100, 200, 1.5 },
		{ COLLECTIVE_ALL_GATHER, 4, 100, 400, 800, 0.75 },
		{ COLLECTIVE_REDUCE_SCATTER, 4, 400, 100, 800, 0.75 },
		{ COLLECTIVE_ALL_TO_ALL, 4, 400, 400, 800, 0.75 },
		{ COLLECTIVE_ALL_TO_ALL, 4, 300, 500, 1000, 1 }, /* unequal parts */
		{ COLLECTIVE_BROADCAST, 4, 100, 100, 200, 1 },
		{ COLLECTIVE_REDUCE, 4, 100, 100, 200, 1 },
		{ COLLECTIVE_GATHER, 4, 100, 0, 800, 0.75 },
		{ COLLECTIVE_SCATTER, 4, 0, 100, 800, 0.75 },
		{ COLLECTIVE_SEND_RECV, 2, 100, 100, 200, 1 },
		{ COLLECTIVE_ALL_REDUCE, 1, 100, 100, 200, 0 },
		{ COLLECTIVE_BARRIER, 4, 0, 0, 0, NAN },
		{ COLLECTIVE_UNKNOWN, 4, 100, 100, 200, NAN },
		{ COLLECTIVE_ALL_REDUCE, NO_NUMBER, 100, 100, 200, NAN },
		{ COLLECTIVE_ALL_REDUCE, 4, NO_NUMBER, 100, NO_NUMBER, 1.5 },
		{ COLLECTIVE_GATHER, NO_NUMBER, 100, 100, NO_NUMBER, NAN },
		{ COLLECTIVE_ALL_REDUCE, 4, INT64_MAX, 100, NO_NUMBER, 1.5 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct collective collective = {
			.kind = (uint8_t)cases[i].kind,
			.group_size = cases[i].n,
			.in_elements = cases[i].in,
			.out_elements = cases[i].out,
			.element_bytes = 2,
		};
		double factor = tsi_collective_bus_factor(&collective);
		assert_int_equal(tsi_collective_bytes(&collective), cases[i].bytes);
		assert_true(isnan(cases[i].factor) ? isnan(factor) : factor == cases[i].factor);
	}
}

TEST(unknown_type_has_no_size)
{
	struct collective collective = { .kind = COLLECTIVE_ALL_REDUCE, .in_elements = 5 };

	assert_int_equal(tsi_collective_bytes(&collective), NO_NUMBER);
}

TEST(names_of_kernels)
{
	static const struct {
		const char *name, *algorithm, *protocol;
	} cases[] = {
		{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(Args)", "ring", "ll" },
		{ "ncclKernel_AllReduce_TREE_LL128_Sum_float(Args)", "tree", "ll128" },
		{ "ncclDevKernel_AllGather_NVLS_SIMPLE(Args)", "nvls", "simple" },
		{ "ncclDevKernel_Generic(Args)", "", "" },
	};
	struct test_trace *t = test_trace_new();

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		test_kernel(t, cases[i].name, 0, 7, (int64_t)i * 10, 5, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	struct comm_name names[64] = { 0 };
	assert_true(trace->names.count <= TSI_COUNT_OF(names));
	for (int round = 0; round < 2; round++) { /* the second time from what was kept */
		for (uint32_t i = 0; i < TSI_COUNT_OF(cases); i++) {
			const struct comm_name *name =
				tsi_comm_name(names, trace, tsi_name_id(&trace->spans, i));
			assert_string_equal(name->algorithm, cases[i].algorithm);
			assert_string_equal(name->protocol, cases[i].protocol);
		}
	}
}
