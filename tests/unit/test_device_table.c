/* SPDX-License-Identifier: MIT */
/* The rows of the table of devices: figures that fit together, and follow from units and clocks. */
#include <tscope/device.h>

#include <string.h>

#include "base/attributes.h"
#include "check.h"

static double peak(const struct tscope_device *device, enum tscope_precision precision)
{
	return device->peak_flops[precision];
}

static double half_peak(const struct tscope_device *device)
{
	double fp16 = peak(device, TSCOPE_PRECISION_FP16);
	double bf16 = peak(device, TSCOPE_PRECISION_BF16);

	return fp16 > bf16 ? fp16 : bf16;
}

/* Data sheets round. */
static void check_near(const struct tscope_device *device, double expected, double found)
{
	if (found < expected * 0.987 || found > expected * 1.013)
		fail_msg("%s: %g, expected about %g", device->name, found, expected);
}

/* Without tensor cores halves may be slow: then the table does not have them. */
static bool has_halves(const struct tscope_device *device)
{
	return !device->has_plain_cores_only || half_peak(device) > 0;
}

TEST(rows_are_whole)
{
	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct tscope_device *device = tscope_device(i);

		assert_true(strlen(device->name) <= 20); /* three of them are in near[] */
		assert_non_null(strchr("ABC", device->confidence));
		assert_true(device->confidence != '\0' && strlen(device->source) > 5);
		assert_true(has_halves(device) || peak(device, TSCOPE_PRECISION_FP32) >= 5e12);
		if (has_halves(device))
			assert_true(half_peak(device) >= 1e13 && half_peak(device) < 1e16);
		assert_true(peak(device, TSCOPE_PRECISION_UNKNOWN) == 0);
		assert_true(device->bytes_per_second == 0 ||
			    (device->bytes_per_second >= 1e11 && device->bytes_per_second <= 1e13));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(device->name, tscope_device(j)->name);
	}
	assert_true(tscope_device_count() > 50);
	assert_null(tscope_device(tscope_device_count()));
}

TEST(peaks_of_precisions)
{
	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct tscope_device *device = tscope_device(i);
		double fp64 = peak(device, TSCOPE_PRECISION_FP64);
		double fp32 = peak(device, TSCOPE_PRECISION_FP32);
		double tf32 = peak(device, TSCOPE_PRECISION_TF32);
		double fp8 = peak(device, TSCOPE_PRECISION_FP8);
		double fp4 = peak(device, TSCOPE_PRECISION_FP4);

		/* Fewer bits are never slower. */
		assert_true(fp32 == 0 || fp64 <= fp32);
		assert_true(tf32 == 0 || fp32 <= tf32);
		if (has_halves(device))
			assert_true(tf32 <= half_peak(device) && fp32 <= half_peak(device));
		assert_true(fp8 == 0 || fp8 >= half_peak(device));
		assert_true(fp4 == 0 || fp4 >= 1.99 * fp8);
		if (device->sparse_flops > 0)
			check_near(device, 2 * half_peak(device), device->sparse_flops);
		if (device->sparse_flops > 0 && tf32 > 0)
			check_near(device, half_peak(device) / 2, tf32);
		if (device->sparse_flops > 0 && fp8 > 0)
			check_near(device, 2 * half_peak(device), fp8);
	}
}

/* Turing, which has no bf16. */
static bool is_of_turing(const struct tscope_device *device)
{
	const char *name = device->name;

	return strncmp(name, "RTX 20", 6) == 0 || strncmp(name, "Quadro", 6) == 0 ||
	       strncmp(name, "TITAN", 5) == 0;
}

/* Where there is one of the two, or both differ; elsewhere they are the same. */
TEST(peaks_of_16_bits)
{
	static const struct {
		const char *row;
		double fp16, bf16;
	} cases[] = {
		{ "V100 SXM2", 125, 0 },      { "V100 PCIe", 112, 0 },
		{ "V100S", 130, 0 },          { "T4", 65, 0 },
		{ "MI100", 184.6, 92.3 },     { "Gaudi2", 0, 432 },
		{ "Gaudi3", 459, 1677 },      { "Intel Max 1550", 0, 340.8 },
		{ "TPU v2 core", 0, 22.5 },   { "TPU v3 core", 0, 61.5 },
		{ "TPU v4", 0, 275 },         { "TPU v5e", 0, 197 },
		{ "TPU v5p", 0, 459 },        { "TPU v6e", 0, 918 },
		{ "TPU v7", 0, 2307 },        { "Trainium core", 0, 90 },
		{ "Trainium2 chip", 0, 667 }, { "Ascend910A", 256, 0 },
	};

	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct tscope_device *device = tscope_device(i);
		double fp16 = half_peak(device), bf16 = half_peak(device);

		if (is_of_turing(device) || device->has_plain_cores_only)
			bf16 = 0;

		for (size_t j = 0; j < TSI_COUNT_OF(cases); j++)
			if (strcmp(cases[j].row, device->name) == 0) {
				fp16 = cases[j].fp16 * 1e12;
				bf16 = cases[j].bf16 * 1e12;
			}
		assert_true(peak(device, TSCOPE_PRECISION_FP16) == fp16);
		assert_true(peak(device, TSCOPE_PRECISION_BF16) == bf16);
	}
}

/* 16-bit peak = units x FLOP per unit and clock x clock. */
TEST(peaks_are_reproduced)
{
	static const struct {
		const char *row;
		double flops_per_clock, ghz;
	} cases[] = {
		{ "V100 SXM2", 1024, 1.53 },
		{ "V100 PCIe", 1024, 1.38 },
		{ "V100S", 1024, 1.597 },
		{ "P100 PCIe 16GB", 256, 1.303 },
		{ "P100 PCIe 12GB", 256, 1.303 },
		{ "P100 SXM2", 256, 1.48 },
		{ "Quadro GP100", 256, 1.442 },
		{ "TITAN V", 1024, 1.343 },
		{ "TITAN RTX", 1024, 1.77 },
		{ "Quadro RTX 8000", 1024, 1.77 },
		{ "Quadro RTX 6000", 1024, 1.77 },
		{ "Quadro RTX 5000", 1024, 1.815 },
		{ "RTX 2080 Ti", 512, 1.545 },
		{ "RTX 2080 SUPER", 512, 1.815 },
		{ "RTX 2080", 512, 1.71 },
		{ "RTX 2070 SUPER", 512, 1.77 },
		{ "RTX 2070", 512, 1.62 },
		{ "RTX 2060 SUPER", 512, 1.65 },
		{ "RTX 2060", 512, 1.68 },
		{ "A16", 1024, 1.755 },
		{ "A2", 1024, 1.77 },
		{ "RTX A5500", 1024, 1.665 },
		{ "RTX A5000", 1024, 1.695 },
		{ "RTX A4500", 1024, 1.65 },
		{ "RTX A4000", 1024, 1.56 },
		{ "RTX 3090 Ti", 512, 1.86 },
		{ "RTX 3080 Ti", 512, 1.665 },
		{ "RTX 3080 12GB", 512, 1.71 },
		{ "RTX 3080 10GB", 512, 1.71 },
		{ "RTX 3070 Ti", 512, 1.77 },
		{ "RTX 3070", 512, 1.725 },
		{ "RTX 3060 Ti", 512, 1.665 },
		{ "RTX 3060 12GB", 512, 1.777 },
		{ "RTX 3060 8GB", 512, 1.777 },
		{ "L20", 512, 2.52 },
		{ "RTX 5000 Ada", 1024, 2.55 },
		{ "RTX 4500 Ada", 1024, 2.58 },
		{ "RTX 4000 Ada", 1024, 2.175 },
		{ "RTX 4090 D", 512, 2.52 },
		{ "RTX 4080 SUPER", 512, 2.55 },
		{ "RTX 4080", 512, 2.505 },
		{ "RTX 4070 Ti SUPER", 512, 2.61 },
		{ "RTX 4070 Ti", 512, 2.61 },
		{ "RTX 4070 SUPER", 512, 2.475 },
		{ "RTX 4070", 512, 2.475 },
		{ "RTX 4060 Ti", 512, 2.535 },
		{ "RTX 4060", 512, 2.46 },
		{ "RTX 5080", 512, 2.617 },
		{ "RTX 5070 Ti", 512, 2.452 },
		{ "RTX 5070", 512, 2.512 },
		{ "RTX 5060 Ti", 512, 2.572 },
		{ "RTX 5060", 512, 2.497 },
		{ "T4", 1024, 1.59 },
		{ "A100 40GB", 2048, 1.41 },
		{ "A100 SXM4 80GB", 2048, 1.41 },
		{ "A100 PCIe 80GB", 2048, 1.41 },
		{ "A100", 2048, 1.41 },
		{ "A800 40GB", 2048, 1.41 },
		{ "A800 SXM4 80GB", 2048, 1.41 },
		{ "A800 PCIe 80GB", 2048, 1.41 },
		{ "A30", 2048, 1.44 },
		{ "A10", 1024, 1.695 },
		{ "A10G", 512, 1.71 },
		{ "A40", 1024, 1.74 },
		{ "RTX A6000", 1024, 1.8 },
		{ "RTX 3090", 512, 1.695 },
		{ "L4", 1024, 2.04 },
		{ "L40", 512, 2.49 },
		{ "L40S", 1024, 2.52 },
		{ "RTX 6000 Ada", 1024, 2.505 },
		{ "RTX 4090", 512, 2.52 },
		{ "RTX 5090", 512, 2.407 },
		{ "RTX PRO 6000", 1024, 2.617 },
		{ "H100 SXM5 80GB", 4096, 1.83 },
		{ "H100 SXM5", 4096, 1.83 },
		{ "H100 PCIe", 4096, 1.62 },
		{ "H100 NVL", 4096, 1.545 },
		{ "H800 SXM5", 4096, 1.83 },
		{ "H800 PCIe", 4096, 1.62 },
		{ "GH200 96GB", 4096, 1.83 },
		{ "GH200 144GB", 4096, 1.83 },
		{ "H200 SXM", 4096, 1.83 },
		{ "H200 NVL", 4096, 1.545 },
		{ "B200", 8192, 1.856 },
		{ "MI100", 1024, 1.502 },
		{ "MI210/MI250", 1024, 1.7 },
		{ "MI250X GCD", 1024, 1.7 },
		{ "MI300A", 2048, 2.1 },
		{ "MI300X", 2048, 2.1 },
		{ "MI325X", 2048, 2.1 },
		{ "MI350X", 4096, 2.2 },
		{ "MI355X", 4096, 2.4 },
		{ "Intel Max 1550", 512, 1.3 },
	};
	size_t reproduced = 0, with_units = 0;

	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct tscope_device *device = tscope_device(i);

		with_units += device->sm_count > 0 && half_peak(device) > 0;
		for (size_t j = 0; j < TSI_COUNT_OF(cases); j++) {
			if (strcmp(cases[j].row, device->name) != 0)
				continue;
			check_near(device,
				   device->sm_count * cases[j].flops_per_clock * cases[j].ghz * 1e9,
				   half_peak(device));
			reproduced++;
		}
	}
	assert_int_equal(reproduced, TSI_COUNT_OF(cases));
	assert_int_equal(with_units, TSI_COUNT_OF(cases) + 1); /* an H20 is held below its clock */
}
