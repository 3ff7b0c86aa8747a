/* SPDX-License-Identifier: MIT */
/* Copies and fills of torch's Cuspy exporter have the names, and so the figures, of Kineto's. */
#include "analysis_check.h"

#include "check.h"

static void check_copies(struct test_trace *t)
{
	struct analyzed *a = analyze(t);

	check_facts(a, "copies: count total_ns bytes pageable_count pageable_ns pageable_bytes",
		    "4 110 4396 1 40 4096");
	check_table(a, "copies.by_direction: direction pageable count total_ns bytes",
		    "h2d yes 1 40 4096\nd2d no 1 30 100\nd2h no 1 30 200\nfill no 1 10 -\n");
	check_table(a, "copies.by_name: name count total_ns",
		    "Memcpy HtoD (Pageable -> Device) 1 40\n"
		    "Memcpy DtoD (Device -> Device) 1 30\n"
		    "Memcpy DtoH (Device -> Pinned) 1 30\n"
		    "Memset (Device) 1 10\n");
}

TEST(copies_of_kineto)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 0, 40, 1,
			 "\"bytes\": 4096");
	test_device_args(t, "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 7, 50, 30, 2,
			 "\"bytes\": 200");
	test_device_args(t, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 90, 30, 3,
			 "\"bytes\": 100");
	test_device_args(t, "gpu_memset", "Memset (Device)", 0, 7, 150, 10, 4, "\"flags\": 0");
	check_copies(t);
}

#define KINDS(bytes, copy, src, dst)                                                               \
	"\"bytes\": " bytes ", \"copy kind\": \"" copy "\", \"src kind\": \"" src                  \
	"\", \"dst kind\": \"" dst "\", \"flags\": 0"

TEST(copies_of_cuspy)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "gpu_memcpy", "Memcpy", 0, 7, 0, 40, 1,
			 KINDS("4096", "HtoD", "pageable", "device"));
	test_device_args(t, "gpu_memcpy", "Memcpy", 0, 7, 50, 30, 2,
			 KINDS("200", "DtoH", "device", "pinned"));
	test_device_args(t, "gpu_memcpy", "Memcpy", 0, 7, 90, 30, 3,
			 KINDS("100", "DtoD", "device", "device"));
	test_device_args(t, "gpu_memset", "Memset", 0, 7, 150, 10, 4,
			 "\"value\": 0, \"memory kind\": 3, \"flags\": 0");
	check_copies(t);
}

/* What is not known stays as it is: a number of a newer CUPTI, a text that is no kind. */
TEST(odd_copies)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "gpu_memcpy", "Memcpy", 0, 7, 0, 40, 1, "\"copy kind\": 77");
	test_device_args(t, "gpu_memcpy", "Memcpy", 0, 7, 50, 30, 2,
			 KINDS("1", "HtoD", "moon", "managed_static"));
	test_device_args(t, "gpu_memset", "Memset", 0, 7, 90, 20, 3, "\"memory kind\": 99");
	struct analyzed *a = analyze(t);
	check_table(a, "copies.by_name: name total_ns",
		    "Memcpy 40\nMemcpy HtoD (Unknown -> Managed Static) 30\nMemset (Unknown) 20\n");
}
