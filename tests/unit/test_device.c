/* SPDX-License-Identifier: MIT */
/* The table of devices, and which row of it a trace's device is. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

#define GIB_BYTES(gib) ((int64_t)((gib)*1073741824.0))

struct device_case {
	const char *name;
	int64_t sm_count, total_bytes; /* 0: not said */
	const char *row;               /* NULL: not known */
};

static struct device_match find(const struct device_case *device)
{
	return tsi_device_find(
		&(struct device_traits){ device->name, device->sm_count, device->total_bytes });
}

static void check_match(const struct device_case *expected, double part)
{
	struct device_match match = find(expected);
	const char *row = match.device ? match.device->name : "unknown";

	if (strcmp(row, expected->row ? expected->row : "unknown") != 0)
		fail_msg("'%s' (%d units, %.1f GiB): %s, expected %s", expected->name,
			 (int)expected->sm_count, (double)expected->total_bytes / 1073741824.0, row,
			 expected->row ? expected->row : "unknown");
	assert_true(match.part == part);
	if (match.device)
		assert_string_equal(match.near, "");
}

/* Every device that occurs in the real traces; tests/real/check_devices.py reads this list. */
static const struct device_case real_devices[] = {
	{ "", 304, 206141652992, "MI300X" },
	{ "AMD Instinct MI210", 104, 68702699520, "MI210/MI250" },
	{ "AMD Instinct MI300X", 304, 206141652992, "MI300X" },
	{ "AMD Instinct MI300X VF", 304, 205571227648, "MI300X" },
	{ "AMD Radeon Graphics", 104, 68702699520, "MI210/MI250" },
	{ "ARTEMIS", 0, 0, NULL }, /* Meta's MTIA */
	{ "NVIDIA A100 80GB PCIe", 108, 84987740160, "A100 PCIe 80GB" },
	{ "NVIDIA A100 80GB PCIe", 108, 84990623744, "A100 PCIe 80GB" },
	{ "NVIDIA A100-PCIE-40GB", 108, 42346610688, "A100 40GB" },
	{ "NVIDIA A100-PG509-200", 108, 42297524224, "A100 40GB" },
	{ "NVIDIA A100-PG509-200", 108, 42505273344, "A100 40GB" },
	{ "NVIDIA A100-SXM4-40GB", 108, 42314694656, "A100 40GB" },
	/* 96 GB of it: not the 3.35 TB/s that 80 have. */
	{ "NVIDIA H100", 132, 102085492736, "H100 SXM5" },
	{ "NVIDIA H100 80GB HBM3", 132, 85018279936, "H100 SXM5 80GB" },
	{ "Tesla V100-DGXS-32GB", 80, 34084028416, "V100 SXM2" },
	{ "Tesla V100-DGXS-32GB", 80, 34087305216, "V100 SXM2" },
	{ "Tesla V100-SXM2-32GB", 80, 34079637504, "V100 SXM2" },
	{ "Tesla V100-SXM2-32GB", 80, 34079899648, "V100 SXM2" },
	{ "Tesla V100-SXM2-32GB", 80, 34089730048, "V100 SXM2" },
	/* Of files that were damaged on purpose. */
	{ "�(�NVIDIA H100", 132, 102085492736, "H100 SXM5" },
	{ "C:\\Users\torch\nn\\NVIDIA H100", 132, 102085492736, NULL },
};

/* As drivers print them, with units and memory as PyTorch reports them. */
static const struct device_case whole_devices[] = {
	{ "Tesla V100-SXM2-16GB", 80, GIB_BYTES(15.77), "V100 SXM2" },
	{ "Tesla V100-PCIE-16GB", 80, GIB_BYTES(15.77), "V100 PCIe" },
	{ "Tesla V100-PCIE-32GB", 80, GIB_BYTES(31.74), "V100 PCIe" },
	{ "Tesla V100S-PCIE-32GB", 80, GIB_BYTES(31.74), "V100S" },
	{ "Tesla T4", 40, GIB_BYTES(14.56), "T4" },
	{ "Tesla T4", 0, 0, "T4" },
	{ "NVIDIA A100-SXM4-80GB", 108, GIB_BYTES(79.15), "A100 SXM4 80GB" },
	{ "NVIDIA A100-SXM4-80GB", 0, 0, "A100 SXM4 80GB" },
	{ "A100-PCIE-40GB", 108, GIB_BYTES(39.39), "A100 40GB" },
	{ "NVIDIA A100", 108, GIB_BYTES(39.39), "A100 40GB" },
	/* Their peaks are the same whatever the form, their memory is not. */
	{ "NVIDIA A100", 108, GIB_BYTES(79.15), "A100" },
	{ "NVIDIA A100", 0, 0, "A100" },
	{ "NVIDIA A800-SXM4-80GB", 108, GIB_BYTES(79.15), "A800 SXM4 80GB" },
	{ "NVIDIA A800 80GB PCIe", 108, GIB_BYTES(79.15), "A800 PCIe 80GB" },
	{ "NVIDIA A800-PCIE-40GB", 108, GIB_BYTES(39.39), "A800 40GB" },
	{ "NVIDIA A30", 56, GIB_BYTES(23.5), "A30" },
	{ "NVIDIA A10", 72, GIB_BYTES(22.1), "A10" },
	{ "NVIDIA A10G", 80, GIB_BYTES(22.07), "A10G" },
	{ "NVIDIA A40", 84, GIB_BYTES(44.4), "A40" },
	{ "NVIDIA RTX A6000", 84, GIB_BYTES(47.5), "RTX A6000" },
	{ "NVIDIA GeForce RTX 3090", 82, GIB_BYTES(23.7), "RTX 3090" },
	{ "Tesla P100-PCIE-16GB", 56, GIB_BYTES(15.9), "P100 PCIe 16GB" },
	{ "Tesla P100-SXM2-16GB", 56, GIB_BYTES(15.9), "P100 SXM2" },
	{ "Quadro GP100", 56, GIB_BYTES(15.9), "Quadro GP100" },
	{ "Tesla P40", 30, GIB_BYTES(22.4), "P40" },
	{ "Tesla P4", 20, GIB_BYTES(7.6), "P4" },
	{ "NVIDIA GeForce GTX 1080 Ti", 28, GIB_BYTES(10.9), "GTX 1080 Ti" },
	{ "NVIDIA TITAN V", 80, GIB_BYTES(11.8), "TITAN V" },
	{ "NVIDIA TITAN RTX", 72, GIB_BYTES(23.6), "TITAN RTX" },
	{ "Quadro RTX 6000", 72, GIB_BYTES(23.6), "Quadro RTX 6000" },
	{ "Quadro RTX 8000", 72, GIB_BYTES(47.5), "Quadro RTX 8000" },
	{ "NVIDIA GeForce RTX 2080 Ti", 68, GIB_BYTES(10.75), "RTX 2080 Ti" },
	{ "GeForce RTX 2080", 46, GIB_BYTES(7.8), "RTX 2080" },
	{ "NVIDIA GeForce RTX 2060 SUPER", 34, GIB_BYTES(7.8), "RTX 2060 SUPER" },
	{ "NVIDIA A16", 10, GIB_BYTES(14.5), "A16" },
	{ "NVIDIA A2", 10, GIB_BYTES(14.5), "A2" },
	{ "NVIDIA RTX A5000", 64, GIB_BYTES(23.7), "RTX A5000" },
	{ "NVIDIA GeForce RTX 3090 Ti", 84, GIB_BYTES(23.7), "RTX 3090 Ti" },
	/* One name, two products: their units tell. */
	{ "NVIDIA GeForce RTX 3080", 68, GIB_BYTES(9.77), "RTX 3080 10GB" },
	{ "NVIDIA GeForce RTX 3080", 70, GIB_BYTES(11.76), "RTX 3080 12GB" },
	{ "NVIDIA GeForce RTX 3060", 28, GIB_BYTES(11.76), "RTX 3060 12GB" },
	{ "NVIDIA GeForce RTX 3060", 28, GIB_BYTES(7.8), "RTX 3060 8GB" },
	{ "NVIDIA GeForce RTX 3060 Ti", 38, GIB_BYTES(7.8), "RTX 3060 Ti" },
	{ "NVIDIA L20", 92, GIB_BYTES(44.5), "L20" },
	{ "NVIDIA RTX 5000 Ada Generation", 100, GIB_BYTES(31.6), "RTX 5000 Ada" },
	{ "NVIDIA GeForce RTX 4090 D", 114, GIB_BYTES(23.5), "RTX 4090 D" },
	{ "NVIDIA GeForce RTX 4080 SUPER", 80, GIB_BYTES(15.7), "RTX 4080 SUPER" },
	{ "NVIDIA GeForce RTX 4070 Ti SUPER", 66, GIB_BYTES(15.7), "RTX 4070 Ti SUPER" },
	{ "NVIDIA GeForce RTX 4070", 46, GIB_BYTES(11.7), "RTX 4070" },
	{ "NVIDIA GeForce RTX 4060 Ti", 34, GIB_BYTES(15.6), "RTX 4060 Ti" },
	{ "NVIDIA GeForce RTX 4060 Ti", 34, GIB_BYTES(7.6), "RTX 4060 Ti" },
	{ "NVIDIA GeForce RTX 5080", 84, GIB_BYTES(15.5), "RTX 5080" },
	{ "NVIDIA GeForce RTX 5070 Ti", 70, GIB_BYTES(15.5), "RTX 5070 Ti" },
	{ "Tesla P100-PCIE-12GB", 56, GIB_BYTES(11.9), "P100 PCIe 12GB" },
	{ "NVIDIA GeForce GTX 1080", 20, GIB_BYTES(7.9), "GTX 1080" },
	{ "Quadro RTX 5000", 48, GIB_BYTES(15.7), "Quadro RTX 5000" },
	{ "NVIDIA GeForce RTX 2080 SUPER", 48, GIB_BYTES(7.8), "RTX 2080 SUPER" },
	{ "NVIDIA GeForce RTX 2070 SUPER", 40, GIB_BYTES(7.8), "RTX 2070 SUPER" },
	{ "NVIDIA GeForce RTX 2070", 36, GIB_BYTES(7.8), "RTX 2070" },
	{ "NVIDIA GeForce RTX 2060", 30, GIB_BYTES(5.8), "RTX 2060" },
	{ "NVIDIA RTX A5500", 80, GIB_BYTES(23.7), "RTX A5500" },
	{ "NVIDIA RTX A4500", 56, GIB_BYTES(19.7), "RTX A4500" },
	{ "NVIDIA RTX A4000", 48, GIB_BYTES(15.7), "RTX A4000" },
	{ "NVIDIA GeForce RTX 3080 Ti", 80, GIB_BYTES(11.8), "RTX 3080 Ti" },
	{ "NVIDIA GeForce RTX 3070 Ti", 48, GIB_BYTES(7.8), "RTX 3070 Ti" },
	{ "NVIDIA GeForce RTX 3070", 46, GIB_BYTES(7.8), "RTX 3070" },
	{ "NVIDIA RTX 4500 Ada Generation", 60, GIB_BYTES(23.5), "RTX 4500 Ada" },
	{ "NVIDIA RTX 4000 Ada Generation", 48, GIB_BYTES(19.5), "RTX 4000 Ada" },
	{ "NVIDIA GeForce RTX 4080", 76, GIB_BYTES(15.7), "RTX 4080" },
	{ "NVIDIA GeForce RTX 4070 Ti", 60, GIB_BYTES(11.7), "RTX 4070 Ti" },
	{ "NVIDIA GeForce RTX 4070 SUPER", 56, GIB_BYTES(11.7), "RTX 4070 SUPER" },
	{ "NVIDIA GeForce RTX 4060", 24, GIB_BYTES(7.6), "RTX 4060" },
	{ "NVIDIA GeForce RTX 5070", 48, GIB_BYTES(11.5), "RTX 5070" },
	{ "NVIDIA GeForce RTX 5060 Ti", 36, GIB_BYTES(15.5), "RTX 5060 Ti" },
	{ "NVIDIA GeForce RTX 5060", 30, GIB_BYTES(7.5), "RTX 5060" },
	{ "NVIDIA L4", 58, GIB_BYTES(22.05), "L4" },
	{ "NVIDIA L40", 142, GIB_BYTES(44.4), "L40" },
	{ "NVIDIA L40S", 142, GIB_BYTES(44.4), "L40S" },
	{ "NVIDIA RTX 6000 Ada Generation", 142, GIB_BYTES(47.5), "RTX 6000 Ada" },
	{ "NVIDIA GeForce RTX 4090", 128, GIB_BYTES(23.5), "RTX 4090" },
	{ "NVIDIA GeForce RTX 5090", 170, GIB_BYTES(31.4), "RTX 5090" },
	{ "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 188, GIB_BYTES(94.97),
	  "RTX PRO 6000" },
	/* Neither SXM nor PCIe in it: units, else the kind of memory decide. */
	{ "NVIDIA H100 80GB HBM3", 0, 0, "H100 SXM5 80GB" },
	{ "NVIDIA H100 80GB HBM2e", 0, 0, "H100 PCIe" },
	{ "NVIDIA H100", 132, GIB_BYTES(79.1), "H100 SXM5 80GB" },
	{ "NVIDIA H100", 132, 0, "H100 SXM5" },
	{ "NVIDIA H100", 114, GIB_BYTES(79.1), "H100 PCIe" },
	{ "NVIDIA H100 PCIe", 114, GIB_BYTES(79.1), "H100 PCIe" },
	{ "NVIDIA H100 NVL", 132, GIB_BYTES(93.1), "H100 NVL" },
	{ "NVIDIA H800", 132, GIB_BYTES(79.1), "H800 SXM5" },
	{ "NVIDIA H800 PCIe", 114, GIB_BYTES(79.1), "H800 PCIe" },
	{ "NVIDIA H20", 78, GIB_BYTES(95.1), "H20" },
	{ "NVIDIA GH200 480GB", 132, GIB_BYTES(94.5), "GH200 96GB" },
	{ "NVIDIA GH200 120GB", 132, GIB_BYTES(94.5), "GH200 96GB" },
	{ "NVIDIA GH200 144G HBM3e", 132, GIB_BYTES(140.1), "GH200 144GB" },
	{ "NVIDIA H200", 132, GIB_BYTES(139.8), "H200 SXM" },
	{ "NVIDIA H200 NVL", 132, GIB_BYTES(139.8), "H200 NVL" },
	{ "NVIDIA B200", 148, GIB_BYTES(178.4), "B200" },
	{ "NVIDIA B300 SXM6 AC", 148, GIB_BYTES(267.7), "B300" },
	{ "NVIDIA GB200", 152, GIB_BYTES(184.0), "GB200" },
	{ "NVIDIA GB300", 152, GIB_BYTES(276.4), "GB300" },
	{ "AMD Instinct MI100", 120, GIB_BYTES(31.98), "MI100" },
	{ "AMD Instinct MI250", 104, GIB_BYTES(63.98), "MI210/MI250" },
	{ "AMD Instinct MI250X", 110, GIB_BYTES(63.98), "MI250X GCD" },
	/* The driver's word for either; their units differ. */
	{ "AMD Instinct MI250X/MI250", 104, GIB_BYTES(63.98), "MI210/MI250" },
	{ "AMD Instinct MI250X/MI250", 110, GIB_BYTES(63.98), "MI250X GCD" },
	{ "AMD Instinct MI300A", 228, GIB_BYTES(127.5), "MI300A" },
	{ "AMD Instinct\u2122 MI300X OAM", 304, GIB_BYTES(191.98), "MI300X" },
	{ "AMD Instinct MI325X", 304, GIB_BYTES(255.98), "MI325X" },
	{ "AMD Instinct MI350X", 256, GIB_BYTES(287.98), "MI350X" },
	{ "AMD Instinct MI355X", 256, GIB_BYTES(287.98), "MI355X" },
	{ "AMD Radeon Graphics", 110, GIB_BYTES(63.98), "MI250X GCD" },
	{ "AMD Instinct", 304, GIB_BYTES(255.98), "MI325X" },
	{ "GAUDI2", 0, 0, "Gaudi2" },
	{ "GAUDI3", 0, 0, "Gaudi3" },
	{ "Intel(R) Data Center GPU Max 1550", 512, GIB_BYTES(64), "Intel Max 1550" },
	{ "TPU v2", 0, 0, "TPU v2 core" },
	{ "TPU v3", 0, 0, "TPU v3 core" },
	{ "TPU v4", 0, 0, "TPU v4" },
	{ "TPU v5 lite", 0, 0, "TPU v5e" },
	{ "TPU v5p", 0, 0, "TPU v5p" },
	{ "TPU v6 lite", 0, 0, "TPU v6e" },
	{ "TPU7x", 0, 0, "TPU v7" },
	{ "trn1", 0, 0, "Trainium core" },
	{ "trn2", 0, 0, "Trainium2 chip" },
	{ "Ascend910A", 0, 0, "Ascend910A" },
};

TEST(real_and_whole_devices)
{
	for (size_t i = 0; i < TSI_COUNT_OF(real_devices); i++)
		check_match(&real_devices[i], 1);
	for (size_t i = 0; i < TSI_COUNT_OF(whole_devices); i++)
		check_match(&whole_devices[i], 1);
}

TEST(other_products)
{
	static const struct device_case cases[] = {
		{ "NVIDIA T400", 6, GIB_BYTES(2), NULL },
		{ "NVIDIA T4G", 40, GIB_BYTES(14.6), NULL },
		{ "NVIDIA A10M", 64, GIB_BYTES(20), NULL },
		{ "NVIDIA A100X", 108, GIB_BYTES(79.1), NULL },
		{ "NVIDIA RTX A1000", 18, GIB_BYTES(8), NULL },
		{ "NVIDIA A100-SXM-64GB", 124, GIB_BYTES(63.4), NULL },
		{ "NVIDIA A800 40GB Active", 108, GIB_BYTES(39.4), NULL },
		{ "NVIDIA L40G", 142, GIB_BYTES(23.6), NULL },
		{ "NVIDIA H20-3e", 78, GIB_BYTES(139.8), NULL },
		{ "NVIDIA H100L 94GB", 132, GIB_BYTES(93.1), NULL },
		{ "NVIDIA GH100", 132, GIB_BYTES(79.1), NULL },
		{ "NVIDIA GB10", 48, GIB_BYTES(119.7), NULL },
		{ "NVIDIA GeForce RTX 3070 Laptop GPU", 40, GIB_BYTES(7.8), NULL },
		{ "NVIDIA GeForce RTX 3080", 60, GIB_BYTES(9.77), NULL }, /* two products */
		{ "NVIDIA GeForce GTX 1660 Ti", 24, GIB_BYTES(5.8), NULL },
		{ "NVIDIA GeForce RTX 4090 Laptop GPU", 76, GIB_BYTES(15.7), NULL },
		{ "NVIDIA GeForce RTX 5090 Laptop GPU", 82, GIB_BYTES(23.9), NULL },
		{ "NVIDIA RTX 6000", 142, GIB_BYTES(47.5), NULL },
		{ "Quadro GV100", 80, GIB_BYTES(31.7), NULL },
		/* Slower memory, lower clocks. */
		{ "NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, GIB_BYTES(95), NULL },
		{ "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 188, GIB_BYTES(95),
		  NULL },
		{ "Tesla V100-FHHL-16GB", 80, GIB_BYTES(15.8), NULL },
		{ "Tesla V100", 80, GIB_BYTES(15.8), NULL }, /* SXM2 or PCIe */
		{ "AMD Instinct MI300X HF", 304, GIB_BYTES(192), NULL },
		{ "AMD Instinct MI308X", 80, GIB_BYTES(192), NULL },
		{ "AMD Instinct MI250X", 220, GIB_BYTES(127.9), NULL }, /* no such device */
		{ "AMD Radeon RX 7900 XTX", 96, GIB_BYTES(24), NULL },
		{ "AMD Radeon Graphics", 6, GIB_BYTES(16), NULL },
		{ "AMD Radeon Graphics", 104, GIB_BYTES(31.9), NULL },
		{ "AMD Radeon Graphics", 0, 0, NULL },
		{ "", 256, GIB_BYTES(287.98), NULL }, /* MI350X or MI355X */
		{ "", 108, GIB_BYTES(79.15), NULL },  /* CUDA has a name for it */
		{ "", 40, GIB_BYTES(14.56), NULL },
		{ "", 0, 0, NULL },
		{ "NVIDIA", 132, GIB_BYTES(79.1), NULL },
		{ "NVIDIA Graphics Device", 132, GIB_BYTES(79.1), NULL },
		{ "TPU v4 lite", 0, 0, NULL },
		{ "Ascend910B3", 20, GIB_BYTES(61), NULL },
		/* A virtual one is a share in time, which units do not tell. */
		{ "GRID A100-10C", 108, GIB_BYTES(10), NULL },
		{ "NVIDIA A10-24Q", 72, GIB_BYTES(24), NULL },
		/* Names and traits that contradict each other. */
		{ "NVIDIA A100-SXM4-40GB", 108, GIB_BYTES(79.15), NULL },
		{ "NVIDIA A100-SXM4-80GB", 109, GIB_BYTES(79.15), NULL },
		{ "NVIDIA H100 PCIe", 132, GIB_BYTES(79.1), NULL },
		{ "NVIDIA H100 NVL", 132, GIB_BYTES(79.1), NULL },
		{ "NVIDIA A100 H100", 108, GIB_BYTES(79.1), NULL },
		/* 132 units or 114: their peaks differ. */
		{ "NVIDIA H100", 0, 0, NULL },
		{ "NVIDIA H100", 0, GIB_BYTES(79.1), NULL },
		{ "NVIDIA H100", 66, GIB_BYTES(39), NULL },
		{ "NVIDIA H100 MIG 1g.10gb", 16, GIB_BYTES(9.5), NULL },
		{ "CPU", 0, 0, NULL },
		{ "Intel(R) Data Center GPU Max 1100", 448, GIB_BYTES(48), NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_match(&cases[i], 1);
}

TEST(partitions)
{
	static const struct {
		struct device_case device;
		double part;
	} cases[] = {
		{ { "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, GIB_BYTES(9.5), "H100 SXM5 80GB" },
		  16.0 / 132 },
		{ { "NVIDIA H100 80GB HBM3 MIG 7g.80gb", 132, GIB_BYTES(79.1), "H100 SXM5 80GB" },
		  1 },
		{ { "NVIDIA H100 PCIe MIG 3g.40gb", 46, GIB_BYTES(39.5), "H100 PCIe" },
		  46.0 / 114 },
		{ { "NVIDIA A100-SXM4-40GB MIG 1g.5gb", 14, GIB_BYTES(4.75), "A100 40GB" },
		  14.0 / 108 },
		/* All seven slices are less than the whole. */
		{ { "NVIDIA A100-SXM4-80GB MIG 7g.80gb", 98, GIB_BYTES(79.1), "A100 SXM4 80GB" },
		  98.0 / 108 },
		{ { "NVIDIA A100-SXM4-80GB", 98, GIB_BYTES(79.1), "A100 SXM4 80GB" }, 98.0 / 108 },
		{ { "NVIDIA A30 MIG 2g.12gb", 28, GIB_BYTES(11.8), "A30" }, 28.0 / 56 },
		/* CPX, DPX */
		{ { "AMD Instinct MI300X", 38, GIB_BYTES(24), "MI300X" }, 38.0 / 304 },
		{ { "AMD Instinct MI300X", 152, GIB_BYTES(192), "MI300X" }, 152.0 / 304 },
		{ { "Intel(R) Data Center GPU Max 1550", 448, GIB_BYTES(64), "Intel Max 1550" },
		  448.0 / 512 },
		/* How large the part is, units must tell. */
		{ { "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 0, GIB_BYTES(9.5), NULL }, 1 },
		{ { "NVIDIA GB200 MIG 1g.23gb", 20, GIB_BYTES(23), NULL }, 1 },
		/* A part is never told by units and memory alone. */
		{ { "", 38, GIB_BYTES(24), NULL }, 1 },
		{ { "MIG 1g.10gb", 304, GIB_BYTES(192), NULL }, 1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_match(&cases[i].device, cases[i].part);
}

TEST(told_by_traits)
{
	assert_true(find(&(struct device_case){ "", 304, 206141652992, NULL }).is_by_traits);
	assert_true(find(&(struct device_case){ "AMD Radeon Graphics", 104, 68702699520, NULL })
			    .is_by_traits);
	assert_false(find(&(struct device_case){ "AMD Instinct MI300X", 304, 206141652992, NULL })
			     .is_by_traits);
	assert_false(find(&(struct device_case){ "", 7, 1, NULL }).is_by_traits);
}

TEST(near_names)
{
	static const struct {
		const char *name, *near;
	} cases[] = {
		{ "NVIDIA H100", "H100 SXM5 80GB, H100 SXM5, H100 PCIe" },
		/* First those of the same number, then what differs in one letter. */
		{ "NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090, RTX 4090 D, RTX 3090" },
		{ "Quadro RTX 4000", "RTX 4000 Ada, Quadro RTX 8000, Quadro RTX 6000" },
		{ "AMD Instinct MI308X", "MI300X" },
		{ "NVIDIA A12", "A10, A16, A2" },
		{ "NVIDIA Graphics Device", "" },
		{ "ARTEMIS", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct device_match match =
			tsi_device_find(&(struct device_traits){ cases[i].name, 0, 0 });

		assert_null(match.device);
		assert_string_equal(match.near, cases[i].near);
	}
}

/* The table has the name, whether or not it is one of those. */
TEST(listed_names)
{
	static const struct {
		struct device_case device;
		bool is_listed;
	} cases[] = {
		{ { "NVIDIA H100 80GB HBM3", 133, 85520809984, NULL }, true },
		{ { "NVIDIA H100 80GB HBM3 MIG 3g.40gb", 0, 0, NULL }, true },
		{ { "NVIDIA H100", 0, 0, NULL }, true },
		{ { "NVIDIA H100 Laptop", 132, 85520809984, NULL }, false },
		{ { "Zebra 9", 132, 85520809984, NULL }, false },
		{ { "AMD Radeon Graphics", 7, 1, NULL }, false },
		{ { "", 0, 0, NULL }, false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct device_match match = find(&cases[i].device);
		assert_null(match.device);
		assert_int_equal(match.is_listed, cases[i].is_listed);
	}
}

/* What cannot be a device is not known, and nothing breaks. */
TEST(hostile_traits)
{
	static const int64_t numbers[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	static const char *const names[] = { "NVIDIA H100 PCIe", "", "MIG", "|", " || ",
					     "gb 0gb -1gb" };
	char text[400];

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++)
		for (size_t j = 0; j < TSI_COUNT_OF(numbers); j++)
			for (size_t k = 0; k < TSI_COUNT_OF(numbers); k++) {
				struct device_traits traits = { names[i], numbers[j], numbers[k] };
				double part = tsi_device_find(&traits).part;

				assert_true(part > 0 && part <= 1);
			}
	assert_null(tsi_device_find(&(struct device_traits){ NULL, 132, 0 }).device);
	/* A name is not cut: its end may make it another product. */
	snprintf(text, sizeof(text), "Tesla T4%*s", 119, "");
	assert_string_equal(tsi_device_find(&(struct device_traits){ text, 0, 0 }).device->name,
			    "T4");
	for (int blanks = 120; blanks < 390; blanks++) {
		snprintf(text, sizeof(text), "Tesla T4%*s", blanks, "");
		assert_null(tsi_device_find(&(struct device_traits){ text, 0, 0 }).device);
	}
	for (size_t words = 24; words <= 25; words++) {
		snprintf(text, sizeof(text), "T4");
		for (size_t i = 1; i < words; i++)
			strcat(text, " gpu");
		assert_int_equal(!!tsi_device_find(&(struct device_traits){ text, 0, 0 }).device,
				 words == 24);
	}
}

TEST(rows_are_found)
{
	for (size_t i = 0; i < tscope_device_count(); i++) {
		const struct tscope_device *device = tscope_device(i);
		const struct device_case own = { device->name, device->sm_count,
						 GIB_BYTES(device->memory_gib), device->name };

		check_match(&own, 1);
	}
}

/* A driver's name for each row stands in the cases above. */
TEST(rows_have_cases)
{
	for (size_t i = 0; i < tscope_device_count(); i++) {
		bool is_found = false;

		for (size_t j = 0; j < TSI_COUNT_OF(whole_devices); j++)
			is_found |= strcmp(whole_devices[j].row, tscope_device(i)->name) == 0;
		for (size_t j = 0; j < TSI_COUNT_OF(real_devices); j++)
			is_found |= real_devices[j].row &&
				    strcmp(real_devices[j].row, tscope_device(i)->name) == 0;
		if (!is_found)
			fail_msg("no name of a driver for %s", tscope_device(i)->name);
	}
}

TEST(precision_names)
{
	static const char *const names[] = { "unknown", "fp64", "fp32", "tf32", "fp16",
					     "bf16",    "fp8",  "int8", "fp4" };

	assert_int_equal(TSI_COUNT_OF(names), TSCOPE_PRECISION_COUNT);
	for (int i = 0; i < TSCOPE_PRECISION_COUNT; i++)
		assert_string_equal(tscope_precision_name((enum tscope_precision)i), names[i]);
	assert_string_equal(tscope_precision_name(TSCOPE_PRECISION_COUNT), "unknown");
}
