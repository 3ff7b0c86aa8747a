/* SPDX-License-Identifier: MIT */
/* Copies and fills: sizes, bandwidth, directions, and what no kernel hides. */
#include "analysis_check.h"

#include "check.h"

TEST(sizes_and_bandwidth)
{
	struct test_trace *t = test_trace_new();

	test_memcpy(t, "Memcpy HtoD (Pageable -> Device)", 0, 7, 0, 100, 0, 400);
	test_memcpy(t, "Memcpy HtoD (Pageable -> Device)", 0, 7, 200, 300, 0, 1200);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 600, 50, 0, 1000);
	test_memset(t, 0, 7, 700, 10, 0, 80);
	test_kernel(t, "k", 0, 20, 250, 100, 0);
	struct analyzed *a = analyze(t);

	/* exposed: 100 + 300 + 50 + 10 less the 100 under the kernel. */
	check_facts(a, "copies: count total_ns bytes exposed_ns", "4 460 2680 360");
	check_facts(a, "copies: pageable_count pageable_ns pageable_bytes", "2 400 1600");
	check_table(a, "copies.by_name: name count total_ns mean_ns bytes bytes_per_second",
		    "Memcpy HtoD (Pageable -> Device) 2 400 200 1600 4e+09\n"
		    "Memcpy HtoD (Pinned -> Device) 1 50 50 1000 2e+10\n"
		    "Memset (Device) 1 10 10 80 8e+09\n");
	check_table(a,
		    "copies.by_direction: direction pageable count total_ns bytes bytes_per_second",
		    "h2d yes 2 400 1600 4e+09\nh2d no 1 50 1000 2e+10\nfill no 1 10 80 8e+09\n");
	check_table(a, "copies.by_direction: max_start_ns max_ns exposed_ns",
		    "200 300 300\n600 50 50\n700 10 10\n");
}

/* ROCm writes no size on the copy, but on its call; a copy without either has none. */
TEST(size_from_the_call)
{
	struct test_trace *t = test_trace_new();

	test_span_args(t, "cuda_runtime", "hipMemcpyAsync", 1, 0, 10,
		       "{\"correlation\": 1, \"bytes\": \"640\"}");
	test_device_args(t, "gpu_memcpy", "Memcpy DtoH (Device -> Host)", 0, 0, 20, 64, 1,
			 "\"kind\": \"DtoH\"");
	test_device_args(t, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 0, 100, 32, 2,
			 "\"kind\": \"DtoD\"");
	struct analyzed *a = analyze(t);
	check_facts(a, "copies: count total_ns bytes", "2 96 640");
	check_table(a, "copies.by_direction: direction total_ns bytes bytes_per_second",
		    "d2h 64 640 1e+10\nd2d 32 - -\n");
}

/* ROCm says "Host", pinned or not: nobody knows that nothing is pageable. */
TEST(memory_that_is_not_said)
{
	static const char doubt[] = "the names of copies do not say whether the host's memory is "
				    "pageable";
	static const struct {
		const char *name, *facts, *directions, *doubt;
	} cases[] = {
		{ "Memcpy HtoD (Host -> Device)", "- - -", "h2d -\n", doubt },
		{ "CopyDeviceToHost", "- - -", "d2h -\n", doubt },
		{ "Memcpy HtoD (Pinned -> Device)", "0 0 -", "h2d no\n", NULL },
		{ "Memcpy HtoD (Pageable -> Device)", "1 100 400", "h2d yes\n", NULL },
		{ "Memcpy DtoD (Device -> Device)", "0 0 -", "d2d no\n", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();
		test_memcpy(t, cases[i].name, 0, 7, 0, 100, 0, 400);
		struct analyzed *a = analyze(t);
		check_facts(a, "copies: pageable_count pageable_ns pageable_bytes", cases[i].facts);
		check_table(a, "copies.by_direction: direction pageable", cases[i].directions);
		check_doubt(a, "copies.pageable_ns", cases[i].doubt);
	}
}

TEST(without_copies)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k", 0, 7, 0, 100, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "copies: count total_ns bytes exposed_ns pageable_count", "0 0 - 0 0");
	check_table(a, "copies.by_name: name", "");
	check_table(a, "copies.by_direction: direction", "");
}
