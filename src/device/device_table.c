/* SPDX-License-Identifier: MIT */
/*
 * The devices. Figures are what vendors publish for dense products, in the unit in which they do:
 * TFLOP/s, TOP/s of int8. Figures that sources dispute are left out, or their row says so and has a
 * 'C'.
 */
#include "device/device_table.h"

#include "base/attributes.h"

#define PEAK(precision, tera) .peak_flops[TSCOPE_PRECISION_##precision] = (tera)*1e12

#define FP64(tflops) PEAK(FP64, tflops) /* on tensor or matrix cores where they can */
#define FP32(tflops) PEAK(FP32, tflops)
#define TF32(tflops) PEAK(TF32, tflops)
#define FP16(tflops) PEAK(FP16, tflops)
#define BF16(tflops) PEAK(BF16, tflops)
#define HALF(tflops) FP16(tflops), BF16(tflops)
#define FP8(tflops) PEAK(FP8, tflops)
#define INT8(tops) PEAK(INT8, tops)
#define FP4(tflops) PEAK(FP4, tflops)
#define SPARSE(tflops) .sparse_flops = (tflops)*1e12
#define UNITS(count) .sm_count = (count)
#define GIB(size) .memory_gib = (size)
#define TBPS(rate) .bytes_per_second = (rate)*1e12
#define PLAIN_CORES .has_plain_cores_only = true
#define SOURCE(letter, text) .confidence = (letter), .source = (text)

/* Cards and modules that differ in memory or links only. */
#define A100_PEAKS FP64(19.5), FP32(19.5), TF32(156), HALF(312), INT8(624), SPARSE(624), UNITS(108)
#define HOPPER_PEAKS TF32(494.7), HALF(989.4), FP8(1979), INT8(1979), SPARSE(1979), UNITS(132)
#define H100_PEAKS HOPPER_PEAKS, FP64(67), FP32(67)
#define HOPPER_PCIE_PEAKS                                                                          \
	FP32(51), TF32(378), HALF(756), FP8(1513), INT8(1513), SPARSE(1513), UNITS(114)
#define HOPPER_NVL_PEAKS                                                                           \
	FP64(60), FP32(60), TF32(417.5), HALF(835.5), FP8(1670.5), INT8(1670.5), SPARSE(1671),     \
		UNITS(132)
#define MI300_PEAKS                                                                                \
	FP64(163.4), FP32(163.4), TF32(653.7), HALF(1307.4), FP8(2614.9), INT8(2614.9),            \
		SPARSE(2614.9), UNITS(304)

/*
 * GeForce by its rate in single precision: products of halves add up in single precision, as
 * PyTorch has it, at half the speed of the professional cards.
 */
#define TURING_RTX(tflops) FP32(tflops), FP16(4 * (tflops)), INT8(16 * (tflops))
#define AMPERE_RTX(tflops)                                                                         \
	FP32(tflops), TF32(tflops), HALF(2 * (tflops)), INT8(8 * (tflops)), SPARSE(4 * (tflops))
#define ADA_RTX(tflops) AMPERE_RTX(tflops), FP8(4 * (tflops))
#define BLACKWELL_RTX(tflops) ADA_RTX(tflops), FP4(16 * (tflops))
/* The professional ones, by their rate in half precision. */
#define QUADRO_TURING(tflops) FP16(tflops), INT8(2 * (tflops))
#define QUADRO_AMPERE(tflops)                                                                      \
	TF32((tflops) / 2), HALF(tflops), INT8(2 * (tflops)), SPARSE(2 * (tflops))
#define QUADRO_ADA(tflops) QUADRO_AMPERE(tflops), FP8(2 * (tflops))

#define DEVICE(device_name, name_words, name_forms, ...)                                           \
	{                                                                                          \
		.words = name_words, .forms = name_forms, .device = {                              \
			.name = device_name,                                                       \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* ROCm leaves out the names of devices that the driver's list does not have yet. */
#define AMD_DEVICE(device_name, name_words, name_forms, ...)                                       \
	{                                                                                          \
		.words = name_words, .forms = name_forms, .is_nameless = true, .device = {         \
			.name = device_name,                                                       \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* Name, words and forms, peaks, units, memory, source. */
const struct device_row tsi_device_rows[] = {
	DEVICE("P100 PCIe 16GB", "p100 pcie", NULL, FP64(4.7), FP32(9.3), FP16(18.7), UNITS(56),
	       GIB(16), TBPS(0.732), PLAIN_CORES, SOURCE('A', "NVIDIA P100 data sheet")),
	DEVICE("P100 PCIe 12GB", "p100 pcie", NULL, FP64(4.7), FP32(9.3), FP16(18.7), UNITS(56),
	       GIB(12), TBPS(0.549), PLAIN_CORES, SOURCE('A', "NVIDIA P100 data sheet")),
	DEVICE("P100 SXM2", "p100 sxm2", NULL, FP64(5.3), FP32(10.6), FP16(21.2), UNITS(56),
	       GIB(16), TBPS(0.732), PLAIN_CORES, SOURCE('A', "NVIDIA P100 data sheet")),
	DEVICE("Quadro GP100", "quadro gp100", NULL, FP64(5.2), FP32(10.3), FP16(20.7), UNITS(56),
	       GIB(16), TBPS(0.717), PLAIN_CORES, SOURCE('B', "NVIDIA Quadro GP100 data sheet")),
	DEVICE("P40", "p40", NULL, FP32(12), INT8(47), UNITS(30), GIB(24), TBPS(0.346), PLAIN_CORES,
	       SOURCE('B', "NVIDIA P40 data sheet")),
	DEVICE("P4", "p4", NULL, FP32(5.5), INT8(22), UNITS(20), GIB(8), TBPS(0.192), PLAIN_CORES,
	       SOURCE('B', "NVIDIA P4 data sheet")),
	DEVICE("GTX 1080 Ti", "gtx 1080 ti", NULL, FP32(11.3), UNITS(28), GIB(11), TBPS(0.484),
	       PLAIN_CORES, SOURCE('B', "NVIDIA Turing white paper")),
	DEVICE("GTX 1080", "gtx 1080", NULL, FP32(8.9), UNITS(20), GIB(8), TBPS(0.32), PLAIN_CORES,
	       SOURCE('B', "NVIDIA Turing white paper")),

	DEVICE("V100 SXM2", "v100 sxm2|v100 dgxs", NULL, FP64(7.8), FP32(15.7), FP16(125),
	       UNITS(80), TBPS(0.9), SOURCE('A', "NVIDIA V100 data sheet")),
	DEVICE("V100 PCIe", "v100 pcie", NULL, FP64(7), FP32(14), FP16(112), UNITS(80), TBPS(0.9),
	       SOURCE('A', "NVIDIA V100 data sheet")),
	DEVICE("V100S", "v100s", "pcie", FP64(8.2), FP32(16.4), FP16(130), UNITS(80), GIB(32),
	       TBPS(1.13), SOURCE('A', "NVIDIA V100 data sheet")),
	DEVICE("T4", "t4", NULL, FP32(8.1), FP16(65), INT8(130), UNITS(40), GIB(16), TBPS(0.32),
	       SOURCE('A', "NVIDIA T4 data sheet")),

	DEVICE("TITAN V", "titan v", NULL, FP64(7.4), FP32(14.9), FP16(110), UNITS(80), GIB(12),
	       TBPS(0.653), SOURCE('B', "NVIDIA TITAN V specifications")),
	DEVICE("TITAN RTX", "titan rtx", NULL, FP32(16.3), QUADRO_TURING(130.5), UNITS(72), GIB(24),
	       TBPS(0.672), SOURCE('B', "NVIDIA TITAN RTX specifications")),
	DEVICE("Quadro RTX 8000", "quadro rtx 8000", NULL, FP32(16.3), QUADRO_TURING(130.5),
	       UNITS(72), GIB(48), TBPS(0.672), SOURCE('B', "NVIDIA Quadro RTX 8000 data sheet")),
	DEVICE("Quadro RTX 6000", "quadro rtx 6000", NULL, FP32(16.3), QUADRO_TURING(130.5),
	       UNITS(72), GIB(24), TBPS(0.672), SOURCE('A', "NVIDIA Turing white paper")),
	DEVICE("Quadro RTX 5000", "quadro rtx 5000", NULL, FP32(11.2), QUADRO_TURING(89.2),
	       UNITS(48), GIB(16), TBPS(0.448), SOURCE('B', "NVIDIA Quadro RTX 5000 data sheet")),
	DEVICE("RTX 2080 Ti", "rtx 2080 ti", NULL, TURING_RTX(13.45), UNITS(68), GIB(11),
	       TBPS(0.616), SOURCE('B', "NVIDIA Turing white paper")),
	DEVICE("RTX 2080 SUPER", "rtx 2080 super", NULL, TURING_RTX(11.15), UNITS(48), GIB(8),
	       TBPS(0.496), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 2080", "rtx 2080", NULL, TURING_RTX(10.07), UNITS(46), GIB(8), TBPS(0.448),
	       SOURCE('B', "NVIDIA Turing white paper")),
	DEVICE("RTX 2070 SUPER", "rtx 2070 super", NULL, TURING_RTX(9.06), UNITS(40), GIB(8),
	       TBPS(0.448), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 2070", "rtx 2070", NULL, TURING_RTX(7.465), UNITS(36), GIB(8), TBPS(0.448),
	       SOURCE('B', "NVIDIA Turing white paper")),
	DEVICE("RTX 2060 SUPER", "rtx 2060 super", NULL, TURING_RTX(7.18), UNITS(34), GIB(8),
	       TBPS(0.448), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 2060", "rtx 2060", NULL, TURING_RTX(6.45), UNITS(30), GIB(6), TBPS(0.336),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),

	DEVICE("A100 40GB", "a100", "sxm4 sxm pcie pg509 200", A100_PEAKS, GIB(40), TBPS(1.555),
	       SOURCE('A', "NVIDIA A100 data sheet")),
	DEVICE("A100 SXM4 80GB", "a100", "sxm4 sxm", A100_PEAKS, GIB(80), TBPS(2.039),
	       SOURCE('A', "NVIDIA A100 data sheet")),
	DEVICE("A100 PCIe 80GB", "a100", "pcie", A100_PEAKS, GIB(80), TBPS(1.935),
	       SOURCE('A', "NVIDIA A100 data sheet")),
	DEVICE("A100", "a100", NULL, A100_PEAKS, SOURCE('A', "NVIDIA A100 data sheet")),
	DEVICE("A800 40GB", "a800", "pcie", A100_PEAKS, GIB(40), TBPS(1.555),
	       SOURCE('B', "as A100, with slower links")),
	DEVICE("A800 SXM4 80GB", "a800", "sxm4 sxm", A100_PEAKS, GIB(80), TBPS(2.039),
	       SOURCE('B', "as A100, with slower links")),
	DEVICE("A800 PCIe 80GB", "a800", "pcie", A100_PEAKS, GIB(80), TBPS(1.935),
	       SOURCE('B', "as A100, with slower links")),
	DEVICE("A30", "a30", NULL, FP64(10.3), FP32(10.3), TF32(82), HALF(165), INT8(330),
	       SPARSE(330), UNITS(56), GIB(24), TBPS(0.93), SOURCE('A', "NVIDIA A30 data sheet")),
	DEVICE("A10", "a10", NULL, FP32(31.2), TF32(62.5), HALF(125), INT8(250), SPARSE(250),
	       UNITS(72), GIB(24), TBPS(0.6), SOURCE('A', "NVIDIA A10 data sheet")),
	DEVICE("A10G", "a10g", NULL, FP32(35), TF32(35), HALF(70), INT8(140), SPARSE(140),
	       UNITS(80), GIB(24), TBPS(0.6), SOURCE('C', "secondary; others say 35 or 125")),
	DEVICE("A40", "a40", NULL, FP32(37.4), TF32(74.8), HALF(149.7), INT8(299.3), SPARSE(299.3),
	       UNITS(84), GIB(48), TBPS(0.7), SOURCE('A', "NVIDIA A40 data sheet")),
	DEVICE("RTX A6000", "rtx a6000", NULL, FP32(38.7), TF32(77.4), HALF(154.8), INT8(309.7),
	       SPARSE(309.7), UNITS(84), GIB(48), TBPS(0.77),
	       SOURCE('A', "NVIDIA GA102 white paper")),
	DEVICE("RTX 3090", "rtx 3090", NULL, FP32(35.6), TF32(35.6), HALF(71), INT8(284),
	       SPARSE(142), UNITS(82), GIB(24), TBPS(0.94),
	       SOURCE('A', "NVIDIA GA102 white paper")),
	DEVICE("A16", "a16", NULL, FP32(4.5), QUADRO_AMPERE(17.9), UNITS(10), GIB(16), TBPS(0.2),
	       SOURCE('A', "NVIDIA A16 data sheet, one of four")),
	DEVICE("A2", "a2", NULL, FP32(4.5), QUADRO_AMPERE(18), UNITS(10), GIB(16), TBPS(0.2),
	       SOURCE('A', "NVIDIA A2 data sheet")),
	DEVICE("RTX A5500", "rtx a5500", NULL, FP32(34.1), QUADRO_AMPERE(136.4), UNITS(80), GIB(24),
	       TBPS(0.768), SOURCE('B', "NVIDIA RTX A5500 data sheet")),
	DEVICE("RTX A5000", "rtx a5000", NULL, FP32(27.8), QUADRO_AMPERE(111.1), UNITS(64), GIB(24),
	       TBPS(0.768), SOURCE('A', "NVIDIA RTX A5000 data sheet")),
	DEVICE("RTX A4500", "rtx a4500", NULL, FP32(23.7), QUADRO_AMPERE(94.6), UNITS(56), GIB(20),
	       TBPS(0.64), SOURCE('B', "NVIDIA RTX A4500 data sheet")),
	DEVICE("RTX A4000", "rtx a4000", NULL, FP32(19.2), QUADRO_AMPERE(76.7), UNITS(48), GIB(16),
	       TBPS(0.448), SOURCE('A', "NVIDIA RTX A4000 data sheet")),
	DEVICE("RTX 3090 Ti", "rtx 3090 ti", NULL, AMPERE_RTX(40), UNITS(84), GIB(24), TBPS(1.008),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3080 Ti", "rtx 3080 ti", NULL, AMPERE_RTX(34.1), UNITS(80), GIB(12),
	       TBPS(0.912), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3080 12GB", "rtx 3080", NULL, AMPERE_RTX(30.6), UNITS(70), GIB(12), TBPS(0.912),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3080 10GB", "rtx 3080", NULL, AMPERE_RTX(29.77), UNITS(68), GIB(10), TBPS(0.76),
	       SOURCE('A', "NVIDIA GA102 white paper")),
	DEVICE("RTX 3070 Ti", "rtx 3070 ti", NULL, AMPERE_RTX(21.7), UNITS(48), GIB(8), TBPS(0.608),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3070", "rtx 3070", NULL, AMPERE_RTX(20.3), UNITS(46), GIB(8), TBPS(0.448),
	       SOURCE('B', "NVIDIA GA102 white paper")),
	/* Two kinds of memory under one name. */
	DEVICE("RTX 3060 Ti", "rtx 3060 ti", NULL, AMPERE_RTX(16.2), UNITS(38), GIB(8),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3060 12GB", "rtx 3060", NULL, AMPERE_RTX(12.74), UNITS(28), GIB(12), TBPS(0.36),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 3060 8GB", "rtx 3060", NULL, AMPERE_RTX(12.74), UNITS(28), GIB(8), TBPS(0.24),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),

	DEVICE("L4", "l4", NULL, FP32(30.3), TF32(60), HALF(121), FP8(242.5), INT8(242.5),
	       SPARSE(242), UNITS(58), GIB(24), TBPS(0.3), SOURCE('A', "NVIDIA L4 data sheet")),
	DEVICE("L40", "l40", NULL, FP32(90.5), TF32(90.5), HALF(181), FP8(362), INT8(362),
	       SPARSE(362), UNITS(142), GIB(48), TBPS(0.86), SOURCE('A', "NVIDIA L40 data sheet")),
	DEVICE("L40S", "l40s", NULL, FP32(91.6), TF32(183), HALF(362), FP8(733), INT8(733),
	       SPARSE(733), UNITS(142), GIB(48), TBPS(0.86), SOURCE('A', "NVIDIA L40S data sheet")),
	DEVICE("RTX 6000 Ada", "rtx 6000 ada", NULL, FP32(91.1), TF32(182.1), HALF(364.2),
	       FP8(728.5), INT8(728.5), SPARSE(728.5), UNITS(142), GIB(48), TBPS(0.96),
	       SOURCE('B', "NVIDIA RTX 6000 Ada data sheet")),
	DEVICE("RTX 4090", "rtx 4090", NULL, FP32(82.6), TF32(82.6), HALF(165.2), FP8(330.3),
	       INT8(660.6), SPARSE(330.3), UNITS(128), GIB(24), TBPS(1.01),
	       SOURCE('A', "NVIDIA Ada white paper")),
	DEVICE("L20", "l20", NULL, FP32(59.75), QUADRO_ADA(119.5), UNITS(92), GIB(48), TBPS(0.864),
	       SOURCE('C', "secondary")),
	DEVICE("RTX 5000 Ada", "rtx 5000 ada", NULL, FP32(65.3), QUADRO_ADA(261.1), UNITS(100),
	       GIB(32), TBPS(0.576), SOURCE('B', "NVIDIA RTX 5000 Ada data sheet")),
	DEVICE("RTX 4500 Ada", "rtx 4500 ada", NULL, FP32(39.6), QUADRO_ADA(158.5), UNITS(60),
	       GIB(24), TBPS(0.432), SOURCE('B', "NVIDIA RTX 4500 Ada data sheet")),
	DEVICE("RTX 4000 Ada", "rtx 4000 ada", NULL, FP32(26.7), QUADRO_ADA(106.9), UNITS(48),
	       GIB(20), TBPS(0.36), SOURCE('B', "NVIDIA RTX 4000 Ada data sheet")),
	DEVICE("RTX 4090 D", "rtx 4090 d", NULL, ADA_RTX(73.5), UNITS(114), GIB(24), TBPS(1.008),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4080 SUPER", "rtx 4080 super", NULL, ADA_RTX(52.2), UNITS(80), GIB(16),
	       TBPS(0.736), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4080", "rtx 4080", NULL, ADA_RTX(48.7), UNITS(76), GIB(16), TBPS(0.717),
	       SOURCE('B', "NVIDIA Ada white paper")),
	DEVICE("RTX 4070 Ti SUPER", "rtx 4070 ti super", NULL, ADA_RTX(44.1), UNITS(66), GIB(16),
	       TBPS(0.672), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4070 Ti", "rtx 4070 ti", NULL, ADA_RTX(40.1), UNITS(60), GIB(12), TBPS(0.504),
	       SOURCE('B', "NVIDIA Ada white paper")),
	DEVICE("RTX 4070 SUPER", "rtx 4070 super", NULL, ADA_RTX(35.5), UNITS(56), GIB(12),
	       TBPS(0.504), SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4070", "rtx 4070", NULL, ADA_RTX(29.1), UNITS(46), GIB(12), TBPS(0.504),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4060 Ti", "rtx 4060 ti", NULL, ADA_RTX(22.06), UNITS(34), TBPS(0.288),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 4060", "rtx 4060", NULL, ADA_RTX(15.1), UNITS(24), GIB(8), TBPS(0.272),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),

	DEVICE("H100 SXM5 80GB", "h100", "sxm5 sxm hbm3", H100_PEAKS, GIB(80), TBPS(3.35),
	       SOURCE('A', "NVIDIA H100 data sheet")),
	DEVICE("H100 SXM5", "h100", "sxm5 sxm hbm3", H100_PEAKS,
	       SOURCE('A', "NVIDIA H100 data sheet")),
	DEVICE("H100 PCIe", "h100", "pcie hbm2e", HOPPER_PCIE_PEAKS, FP64(51), GIB(80), TBPS(2),
	       SOURCE('A', "NVIDIA H100 data sheet")),
	DEVICE("H100 NVL", "h100 nvl", NULL, HOPPER_NVL_PEAKS, GIB(94), TBPS(3.9),
	       SOURCE('A', "NVIDIA H100 data sheet")),
	DEVICE("H800 SXM5", "h800", "sxm5 sxm hbm3", HOPPER_PEAKS, FP32(67), GIB(80), TBPS(3.35),
	       SOURCE('B', "as H100, but for fp64 and links")),
	DEVICE("H800 PCIe", "h800", "pcie hbm2e", HOPPER_PCIE_PEAKS, GIB(80), TBPS(2),
	       SOURCE('B', "as H100, but for fp64 and links")),
	DEVICE("H20", "h20", NULL, FP64(1), FP32(44), TF32(74), HALF(148), FP8(296), INT8(296),
	       SPARSE(296), UNITS(78), GIB(96), TBPS(4), SOURCE('C', "secondary")),
	DEVICE("GH200 96GB", "gh200", "480gb 120gb", H100_PEAKS, GIB(96), TBPS(4),
	       SOURCE('A', "NVIDIA GH200 data sheet")),
	DEVICE("GH200 144GB", "gh200", "144g hbm3e", H100_PEAKS, GIB(144), TBPS(4.8),
	       SOURCE('A', "NVIDIA GH200 data sheet")),
	DEVICE("H200 SXM", "h200", "sxm5 sxm", H100_PEAKS, GIB(141), TBPS(4.8),
	       SOURCE('A', "NVIDIA H200 data sheet")),
	DEVICE("H200 NVL", "h200 nvl", NULL, HOPPER_NVL_PEAKS, GIB(141), TBPS(4.8),
	       SOURCE('B', "NVIDIA H200 data sheet")),

	DEVICE("B200", "b200", NULL, FP64(37), FP32(75), TF32(1125), HALF(2250), FP8(4500),
	       INT8(4500), FP4(9000), SPARSE(4500), UNITS(148), GIB(180), TBPS(8),
	       SOURCE('A', "NVIDIA HGX B200 data sheet")),
	DEVICE("B300", "b300", "sxm6 ac", FP32(75), TF32(1125), HALF(2250), FP8(4500), FP4(13500),
	       SPARSE(4500), GIB(288), TBPS(8), SOURCE('B', "NVIDIA HGX B300 data sheet")),
	DEVICE("GB200", "gb200", NULL, FP64(40), FP32(80), TF32(1250), HALF(2500), FP8(5000),
	       INT8(5000), FP4(10000), SPARSE(5000), TBPS(8),
	       SOURCE('B', "NVIDIA GB200 NVL72 data sheet")),
	DEVICE("GB300", "gb300", NULL, FP32(80), TF32(1250), HALF(2500), FP8(5000), FP4(15000),
	       SPARSE(5000), GIB(288), TBPS(8), SOURCE('B', "NVIDIA GB300 NVL72 data sheet")),
	DEVICE("RTX 5090", "rtx 5090", NULL, FP32(104.8), TF32(104.8), HALF(209.5), FP8(419),
	       INT8(838), FP4(1676), SPARSE(419), UNITS(170), GIB(32), TBPS(1.79),
	       SOURCE('A', "NVIDIA RTX Blackwell white paper")),
	DEVICE("RTX 5080", "rtx 5080", NULL, BLACKWELL_RTX(56.28), UNITS(84), GIB(16), TBPS(0.96),
	       SOURCE('A', "NVIDIA RTX Blackwell white paper")),
	DEVICE("RTX 5070 Ti", "rtx 5070 ti", NULL, BLACKWELL_RTX(43.94), UNITS(70), GIB(16),
	       TBPS(0.896), SOURCE('A', "NVIDIA RTX Blackwell white paper")),
	DEVICE("RTX 5070", "rtx 5070", NULL, BLACKWELL_RTX(30.87), UNITS(48), GIB(12), TBPS(0.672),
	       SOURCE('A', "NVIDIA RTX Blackwell white paper")),
	DEVICE("RTX 5060 Ti", "rtx 5060 ti", NULL, BLACKWELL_RTX(23.7), UNITS(36), TBPS(0.448),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX 5060", "rtx 5060", NULL, BLACKWELL_RTX(19.18), UNITS(30), GIB(8), TBPS(0.448),
	       SOURCE('B', "NVIDIA specifications: units x boost clock")),
	DEVICE("RTX PRO 6000", "rtx pro 6000", "blackwell workstation edition", FP32(125),
	       TF32(252), HALF(503.8), FP8(1007), INT8(1007), FP4(2015), SPARSE(1007), UNITS(188),
	       GIB(96), TBPS(1.79), SOURCE('B', "NVIDIA RTX PRO Blackwell data sheet")),

	AMD_DEVICE("MI100", "mi100", NULL, FP64(11.5), FP32(46.1), FP16(184.6), BF16(92.3),
		   INT8(184.6), UNITS(120), GIB(32), TBPS(1.2),
		   SOURCE('B', "AMD Instinct MI100 data sheet")),
	AMD_DEVICE("MI210/MI250", "mi210|mi250", "mi210 mi250 mi250x gcd oam", FP64(45.3),
		   FP32(45.3), HALF(181), INT8(181), UNITS(104), GIB(64), TBPS(1.6),
		   SOURCE('A', "AMD Instinct MI210 data sheet")),
	AMD_DEVICE("MI250X GCD", "mi250x", "mi250 gcd oam", FP64(47.9), FP32(47.9), HALF(191.5),
		   INT8(191.5), UNITS(110), GIB(64), TBPS(1.64),
		   SOURCE('A', "AMD Instinct MI250X data sheet, half")),
	AMD_DEVICE("MI300A", "mi300a", NULL, FP64(122.6), FP32(122.6), TF32(490.3), HALF(980.6),
		   FP8(1961.2), INT8(1961.2), SPARSE(1961.2), UNITS(228), GIB(128), TBPS(5.3),
		   SOURCE('B', "AMD Instinct MI300A data sheet")),
	AMD_DEVICE("MI300X", "mi300x", "vf oam", MI300_PEAKS, GIB(192), TBPS(5.3),
		   SOURCE('A', "AMD Instinct MI300X data sheet")),
	AMD_DEVICE("MI325X", "mi325x", "vf oam", MI300_PEAKS, GIB(256), TBPS(6),
		   SOURCE('A', "AMD Instinct MI325X data sheet")),
	AMD_DEVICE("MI350X", "mi350x", "vf oam", FP64(72.1), FP32(144.2), HALF(2306.9), FP8(4613.8),
		   INT8(4613.8), FP4(9227), SPARSE(4613.8), UNITS(256), GIB(288), TBPS(8),
		   SOURCE('B', "AMD Instinct MI350X data sheet")),
	AMD_DEVICE("MI355X", "mi355x", "vf oam", FP64(78.6), FP32(157.3), HALF(2516.6), FP8(5033),
		   INT8(5033), FP4(10066), SPARSE(5033), UNITS(256), GIB(288), TBPS(8),
		   SOURCE('A', "AMD Instinct MI355X data sheet")),

	DEVICE("Gaudi2", "gaudi2", NULL, BF16(432), FP8(865), GIB(96), TBPS(2.46),
	       SOURCE('A', "Intel Gaudi 2 white paper")),
	DEVICE("Gaudi3", "gaudi3", NULL, FP32(229), TF32(459), FP16(459), BF16(1677), FP8(1677),
	       GIB(128), TBPS(3.7), SOURCE('A', "Intel Gaudi 3, as shipped")),
	DEVICE("Intel Max 1550", "max 1550", "data center", BF16(340.8), UNITS(512),
	       SOURCE('B', "Intel oneAPI guide: units x 512 x 1.3 GHz")),

	DEVICE("TPU v2 core", "tpu v2", "core", BF16(22.5),
	       SOURCE('B', "Cloud TPU documentation: half a chip")),
	DEVICE("TPU v3 core", "tpu v3", "core", BF16(61.5),
	       SOURCE('B', "Cloud TPU documentation: half a chip")),
	DEVICE("TPU v4", "tpu v4", NULL, BF16(275), INT8(275), TBPS(1.2),
	       SOURCE('A', "Cloud TPU documentation")),
	DEVICE("TPU v5e", "tpu v5e|tpu v5 lite", NULL, BF16(197), INT8(394), TBPS(0.82),
	       SOURCE('A', "Cloud TPU documentation")),
	DEVICE("TPU v5p", "tpu v5p", NULL, BF16(459), INT8(918), TBPS(2.76),
	       SOURCE('A', "Cloud TPU documentation")),
	DEVICE("TPU v6e", "tpu v6e|tpu v6 lite", NULL, BF16(918), FP8(918), INT8(1836),
	       SOURCE('B', "Cloud TPU documentation")),
	DEVICE("TPU v7", "tpu v7|tpu7x", NULL, BF16(2307), FP8(4614),
	       SOURCE('B', "Cloud TPU documentation")),
	DEVICE("Trainium core", "trainium|trn1", "core", BF16(90),
	       SOURCE('B', "AWS Neuron documentation")),
	DEVICE("Trainium2 chip", "trainium2|trn2", "chip", FP32(181), BF16(667), FP8(1299),
	       TBPS(2.9), SOURCE('B', "AWS Neuron documentation")),
	DEVICE("Ascend910A", "ascend910a", NULL, FP16(256), INT8(512),
	       SOURCE('B', "Huawei Ascend 910 announcement")),
};

size_t tscope_device_count(void)
{
	return TSI_COUNT_OF(tsi_device_rows);
}

const struct tscope_device *tscope_device(size_t index)
{
	return index < TSI_COUNT_OF(tsi_device_rows) ? &tsi_device_rows[index].device : NULL;
}
