/* SPDX-License-Identifier: MIT */
/* Rules on what the device does: idle time, copies, kernels. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

/* Two steps of 100 ms on one device: a line of n ms in all is n ÷ 200 of the step. */
#define STEPS "step_time.mean_ns 100000000\nbudget.wall_total_ns 200000000\n"

/* The idle time of a step in ms, and what it is made of. */
#define IDLE(total, causes) STEPS "idle.total_ns " #total "000000\n" causes
#define DATA(ms) "idle.data_ns " #ms "000000\n"
#define GAP(ms) "idle.device_gap_ns " #ms "000000\n"

/* Of 100 ms `ms` go to kernels k of this kind, on so many blocks ÷ multiprocessors. */
#define SMALL_OF(us, ms, kind, blocks)                                                             \
	"budget.wall_total_ns 100000000\nkernels.small_grid_ns 1\n"                                \
	"kernels.by_name name=big kind=gemm counted_ns=50000000 mean_ns=50000 blocks_per_sm=4\n"   \
	"kernels.by_name name=unknown kind=other counted_ns=50000000 mean_ns=50000\n"              \
	"kernels.by_name name=k kind=" kind " counted_ns=" #ms "000000 mean_ns=" #us               \
	"000 blocks_per_sm=" blocks "\n"
#define SMALL(ms, kind, blocks) SMALL_OF(20, ms, kind, blocks)
#define FEW "kernels with fewer blocks than the device has multiprocessors take "

/* Of 100 ms so many go to products and to what is not known. */
#define MATRIX(gemm, other)                                                                        \
	"step_time.mean_ns 100000000\ndevice_busy.span_ns 100000000\n"                             \
	"kernels.by_kind kind=norm total_ns=20000000\n"                                            \
	"kernels.by_kind kind=gemm total_ns=" #gemm "000000\n"                                     \
	"kernels.by_kind kind=other total_ns=" #other "000000\n"

/* Of these on tensor cores, and those whose names do not say it, in ns. */
#define TENSOR(used, unknown)                                                                      \
	"kernels.tensor_core_ns " #used "\nkernels.tensor_core_unknown_ns " #unknown "\n"

/* No product by name, and of all time in these operators. */
#define SHAPES MATRIX(0, 0) TENSOR(0, 0) "flops.coverage_ratio 1\n"

/* So many ns of 100 ms, with what `rest` says of its roofline. */
#define OPERATOR(precision, use, alignment, ns, rest)                                              \
	"flops.by_operator name=aten::mm shape='8192x4096, 4096x1024' count=4 count_per_step=4 "   \
	"precision=" precision " tensor_cores=" use " alignment=" #alignment                       \
	" flops=1e12 device_ns=" #ns " " rest "\n"
#define COMPUTE "bound=compute "
/* At the float32 peak, at that of TF32 an eighth of it, in ms. */
#define FP32(use, ns, roofline, tensor)                                                            \
	OPERATOR("fp32", use, 16, ns,                                                              \
		 COMPUTE "roofline_ns=" #roofline " tensor_roofline_ns=" #tensor)
/* At this share of the roofline this much is lost. */
#define BELOW(ratio, lost) COMPUTE "roofline_ratio=" ratio " lost_ns=" #lost
/* Of an operator's time so many ns are its products, which could take that many. */
#define PRODUCT(precision, alignment, kernel, ns, roofline)                                        \
	"flops.by_operator name=aten::mm kind=gemm shape='82x83, 83x84' count=4 "                  \
	"count_per_step=4 precision=" precision " tensor_cores=yes alignment=" #alignment          \
	" kernel=" kernel " flops=1e12 device_ns=90000000 product_ns=" #ns                         \
	" roofline_ns=" #roofline " "
#define UNKNOWN(ns)                                                                                \
	"flops.by_operator name=aten::mm kind=gemm count=4 count_per_step=4 precision=tf32 "       \
	"alignment=2 kernel=cutlass_nn_align1 flops=1 device_ns=" #ns "\n"
#define PRODUCTS "flops.matrix_ns 80000000\nflops.has_bf16 yes\n" MATRIX(0, 0)
#define LONGEST "kernels.by_name name=g max_start_ns=700 max_ns=9\n"
#define UNALIGNED                                                                                  \
	" of device time goes to matrix products whose sizes are not multiples of "                \
	"16 bytes"
#define SLOW "matrix products that tensor cores could speed up take "

#define DRIFT(steps, kernels, compared, factor, agree)                                             \
	"step_time.mean_ns 100000000\n"                                                            \
	"drift.step_count " #steps "\ndrift.kernel_count " #kernels                                \
	"\ndrift.compared_ratio " compared "\ndrift.factor " factor "\ndrift.agree_ratio " agree   \
	"\ndrift.lost_ns 10000000\ndrift.kernels name=sgemm early_ns=100000 late_ns=105000 "       \
	"max_start_ns=7 max_ns=106000\n"

static const struct rule_case cases[] = {
	/* The largest cause gives the finding's. */
	{ "GPU.IDLE", FIRES, IDLE(21, DATA(15) GAP(5)), NULL,
	  "med: the device is idle for 21.0 % of the step, mostly due to data loading (15.0 % data "
	  "loading; 5.0 % gaps between queued kernels) [15000000 ns]" },
	{ "GPU.IDLE", FIRES, IDLE(21, GAP(20)), NULL,
	  "high: the device is idle for 21.0 % of the step, mostly due to gaps between queued "
	  "kernels (20.0 % gaps between queued kernels) [20000000 ns]" },
	{ "GPU.IDLE", QUIET, IDLE(5, DATA(5)), NULL, "" },
	{ "GPU.IDLE", AT, IDLE(15, DATA(6) GAP(9)), NULL, "med: the device is idle for 15.0 %" },
	{ "GPU.IDLE", AT, STEPS "idle.total_ns 14999999\n", NULL, "" },
	{ "GPU.IDLE", CHANGED, IDLE(21, GAP(20)), "GPU.IDLE.threshold=0.22", "" },
	{ "GPU.IDLE", SKIPPED, IDLE(20, "! idle clocks differ\n"), NULL,
	  "skipped: idle.total_ns is not reliable: clocks differ" },

	/* 4 of 100 ms; 12 MB in 4 ms are 3 GB/s and 11.4 MiB. Exposed are 6 of 200 ms: 0.03. */
	{ "COPY.PAGEABLE", FIRES,
	  STEPS "budget.exposed_copy_total_ns 6000000\n"
		"device_busy.span_ns 100000000\n"
		"copies.pageable_ns 4000000\ncopies.pageable_bytes 12000000\n"
		"copies.by_direction direction=d2d pageable=no total_ns=5000000\n"
		"copies.by_direction direction=h2d pageable=yes total_ns=4000000\n",
	  NULL,
	  "low: copies of pageable (unpinned) host memory take 4.0 % of device time (11.4 MiB at "
	  "3.0 GB/s; mostly from the host to the device) [3000000 ns]" },
	/* Without a size; of all that is exposed only its own 4 % can be won. */
	{ "COPY.PAGEABLE", FIRES,
	  STEPS "budget.exposed_copy_total_ns 100000000\n"
		"device_busy.span_ns 100000000\ncopies.pageable_ns 4000000\n"
		"copies.by_direction direction=d2h pageable=yes total_ns=4000000\n",
	  NULL,
	  "low: copies of pageable (unpinned) host memory take 4.0 % of device time (mostly from "
	  "the device to the host) [4000000 ns]" },
	{ "COPY.PAGEABLE", QUIET, "device_busy.span_ns 100000000\ncopies.pageable_ns 3000\n", NULL,
	  "" },
	{ "COPY.PAGEABLE", AT, "device_busy.span_ns 100000000\ncopies.pageable_ns 1000000\n", NULL,
	  "med: copies of pageable (unpinned) host memory take 1.0 % of device time" },
	{ "COPY.PAGEABLE", AT, "device_busy.span_ns 100000000\ncopies.pageable_ns 999999\n", NULL,
	  "" },
	{ "COPY.PAGEABLE", AT, "device_busy.span_ns 100000000\ncopies.pageable_ns 10000000\n", NULL,
	  "high" },
	{ "COPY.PAGEABLE", AT, "device_busy.span_ns 100000000\ncopies.pageable_ns 9999999\n", NULL,
	  "med" },
	{ "COPY.PAGEABLE", QUIET, "device_busy.span_ns 0\ncopies.pageable_ns 0\n", NULL, "" },

	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"copies.by_direction direction=h2d pageable=no exposed_ns=25000000 "
		"bytes_per_second=12500000000.0\n",
	  NULL,
	  "med: exposed memory copies take 10.0 % of the step (mostly h2d: 25.00 ms in the trace, "
	  "12.5 GB/s) [10000000 ns]" },
	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"copies.by_direction direction=fill pageable=no exposed_ns=25000000\n",
	  NULL,
	  "med: exposed memory copies take 10.0 % of the step (mostly fill: 25.00 ms in the trace) "
	  "[10000000 ns]" },
	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"copies.by_direction direction=p2p pageable=no exposed_ns=25000000 "
		"bytes_per_second=20000000000.0\n",
	  NULL,
	  "med: exposed memory copies, mostly between devices, take 10.0 % of the step (mostly "
	  "p2p: 25.00 ms in the trace, 20.0 GB/s) [10000000 ns]" },
	/* What kernels hide does not count. */
	{ "COPY.EXPOSED", FIRES,
	  STEPS
	  "budget.exposed_copy_total_ns 20000000\n"
	  "copies.by_direction direction=d2h pageable=no total_ns=50000000 exposed_ns=5000000\n"
	  "copies.by_direction direction=h2d pageable=no total_ns=15000000 exposed_ns=15000000\n",
	  NULL,
	  "med: exposed memory copies take 10.0 % of the step (mostly h2d: 15.00 ms in the trace) "
	  "[10000000 ns]" },
	/* Whose they are, where half of what is exposed is one line's. */
	{ "COPY.EXPOSED", FIRES,
	  STEPS
	  "budget.exposed_copy_total_ns 20000000\n"
	  "sources.callers kind=memcpy name=cudaMemcpyAsync source='a.py(3): h' exposed_ns=9\n"
	  "sources.callers kind=copy name='Memcpy HtoD' source='a.py(1): f' ns=9 exposed_ns=3\n"
	  "sources.callers kind=copy name='Memset' source='b.py(2): g' ns=5 exposed_ns=3\n",
	  NULL,
	  "med: exposed memory copies take 10.0 % of the step (most of them in a.py(1): f) "
	  "[10000000 ns]" },
	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"sources.callers kind=copy name='Memcpy HtoD' source='a.py(1): f' exposed_ns=3\n"
		"sources.callers kind=copy name='Memcpy DtoH' source='b.py(2): g' exposed_ns=2\n"
		"sources.callers kind=copy name='Memset' exposed_ns=2\n",
	  NULL, "med: exposed memory copies take 10.0 % of the step [10000000 ns]" },
	/* Lines with less than a tenth each have no row. */
	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"sources.callers kind=copy name=HtoD source='a.py(1): f' ns=40 share_ratio=0.4 "
		"exposed_ns=40\n"
		"sources.callers kind=copy name=HtoD source='b.py(2): g' ns=10 share_ratio=0.1 "
		"exposed_ns=10\n",
	  NULL, "med: exposed memory copies take 10.0 % of the step [10000000 ns]" },
	{ "COPY.EXPOSED", FIRES,
	  STEPS "budget.exposed_copy_total_ns 20000000\n"
		"sources.callers kind=copy name=HtoD source='a.py(1): f' ns=50 share_ratio=0.5 "
		"exposed_ns=50\n",
	  NULL,
	  "med: exposed memory copies take 10.0 % of the step (most of them in a.py(1): f) "
	  "[10000000 ns]" },
	{ "COPY.EXPOSED", QUIET, STEPS "budget.exposed_copy_total_ns 2000000\n", NULL, "" },
	{ "COPY.EXPOSED", AT, STEPS "budget.exposed_copy_total_ns 10000000\n", NULL,
	  "med: exposed memory copies take 5.0 % of the step [5000000 ns]" },
	{ "COPY.EXPOSED", AT, STEPS "budget.exposed_copy_total_ns 9999999\n", NULL, "" },
	{ "COPY.EXPOSED", AT, STEPS "budget.exposed_copy_total_ns 40000000\n", NULL, "high" },
	{ "COPY.EXPOSED", AT, STEPS "budget.exposed_copy_total_ns 39999999\n", NULL, "med" },
	/* Copies of 90 ms hide 10 ms of other work, and no more. */
	{ "COPY.EXPOSED", FIRES, STEPS "budget.exposed_copy_total_ns 180000000\n", NULL,
	  "med: exposed memory copies take 90.0 % of the step [10000000 ns]" },

	{ "KERNEL.LOW_OCCUPANCY", FIRES, "step_time.mean_ns 100000000\n" SMALL(30, "norm", "0.3"),
	  NULL,
	  "med: " FEW "30.0 % of the step (on average 70 % of the multiprocessors have no block "
	  "meanwhile; mostly k (30.00 ms in the trace)) [21000000 ns]" },
	{ "KERNEL.LOW_OCCUPANCY", QUIET, SMALL(10, "norm", "0.3"), NULL, "" },
	/* A block for each multiprocessor fills it. */
	{ "KERNEL.LOW_OCCUPANCY", QUIET, SMALL(60, "norm", "1"), NULL, "" },
	/* Or nearly: 126 of 132 that stay on the device and take their work in turns. */
	{ "KERNEL.LOW_OCCUPANCY", QUIET, SMALL(60, "gemm", "0.9545"), NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(60, "gemm", "0.9"), NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(60, "gemm", "0.8999"), NULL, "high" },
	{ "KERNEL.LOW_OCCUPANCY", CHANGED, SMALL(60, "gemm", "0.8999"),
	  "KERNEL.LOW_OCCUPANCY.filled=0.8", "" },
	/* Communication needs few blocks, and a launch costs more than a short kernel. */
	{ "KERNEL.LOW_OCCUPANCY", QUIET, SMALL(60, "comm", "0.1"), NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL_OF(10, 60, "norm", "0.1"), NULL, "high" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL_OF(9, 60, "norm", "0.1"), NULL, "" },
	/* Kernels on other streams fill the rest. */
	{ "KERNEL.LOW_OCCUPANCY", AT, "kernels.sm_efficiency_ratio 0.95\n" SMALL(60, "norm", "0.5"),
	  NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT, "kernels.sm_efficiency_ratio 0.94\n" SMALL(60, "norm", "0.5"),
	  NULL, "high" },
	/* Few blocks that move as much as the memory can. */
	{ "KERNEL.LOW_OCCUPANCY", AT,
	  SMALL(60, "norm", "0.5") "flops.by_operator name=aten::copy_ kernel=k bound=memory "
				   "roofline_ratio=0.6\n",
	  NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT,
	  SMALL(60, "norm", "0.5") "flops.by_operator name=aten::copy_ kernel=k bound=memory "
				   "roofline_ratio=0.5\n",
	  NULL, "high" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(25, "norm", "0.5"), NULL, "med" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(24, "norm", "0.5"), NULL, "" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(50, "norm", "0.5"), NULL, "high" },
	{ "KERNEL.LOW_OCCUPANCY", AT, SMALL(49, "norm", "0.5"), NULL, "med" },
	/* The kernel with most time is named, but both count: 5 and 4 ms are not used. */
	{ "KERNEL.LOW_OCCUPANCY", FIRES,
	  SMALL(10, "norm", "0.5") "kernels.by_name name=j kind=softmax counted_ns=20000000 "
				   "mean_ns=20000 blocks_per_sm=0.8\n",
	  NULL,
	  "med: " FEW "30.0 % of the step (on average 30 % of the multiprocessors have no block "
	  "meanwhile; mostly j (20.00 ms in the trace))" },
	/* And the operator that loses most in it. */
	{ "KERNEL.LOW_OCCUPANCY", FIRES,
	  SMALL(30, "gemm", "0.3") "flops.by_operator name=aten::mm kernel=big\n"
				   "flops.by_operator name=aten::bmm kernel=k precision=fp16 "
				   "shape='8x4x2, 8x2x4'\n"
				   "flops.by_operator name=aten::mm kernel=k\n",
	  NULL,
	  "med: " FEW
	  "30.0 % of the step (on average 70 % of the multiprocessors have no block meanwhile; "
	  "mostly k (30.00 ms in the trace); it runs for aten::bmm 8x4x2, 8x2x4 fp16)" },

	/* Half of 50 ms can be won. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES, MATRIX(50, 30) TENSOR(0, 30000000), NULL,
	  "med: matrix products without tensor cores take 50.0 % of device time (kernels with "
	  "tensor cores take 0.0 %, kernels that may use them 30.0 %) [25000000 ns]" },
	{ "KERNEL.NO_TENSOR_CORES", QUIET, MATRIX(80, 0) TENSOR(75000000, 0), NULL, "" },
	/* Products whose names do not say it, beside other kernels that are none. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET, MATRIX(60, 20) TENSOR(0, 80000000), NULL, "" },
	/* What uses no tensor cores are no products. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET, MATRIX(0, 0) TENSOR(0, 0), NULL, "" },
	/* 60 ms of products: 38 on tensor cores, 2 not known beside the 20 of other, so 20. */
	{ "KERNEL.NO_TENSOR_CORES", AT, MATRIX(60, 20) TENSOR(38000000, 22000000), NULL,
	  "med: matrix products without tensor cores take 20.0 % of device time" },
	{ "KERNEL.NO_TENSOR_CORES", AT, MATRIX(60, 20) TENSOR(38000001, 22000000), NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", AT, MATRIX(50, 30) TENSOR(1, 30000000), NULL, "med" },
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  MATRIX(50, 30) TENSOR(0, 30000000) "device_busy.span_ns 0\n", NULL, "" },
	/* From 0.9 on what is known of shapes decides, and nothing is slow. */
	{ "KERNEL.NO_TENSOR_CORES", AT,
	  MATRIX(50, 30) TENSOR(0, 30000000) "flops.coverage_ratio 0.9\n", NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", AT,
	  MATRIX(50, 30) TENSOR(0, 30000000) "flops.coverage_ratio 0.8999\n", NULL,
	  "med: matrix products without tensor cores take 50.0 %" },
	/* Below it the larger share tells; what is known of shapes names some: half of 50 to win. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  MATRIX(50, 30) TENSOR(0, 30000000) OPERATOR("fp16", "no", 8, 40000000, ""), NULL,
	  "med: matrix products without tensor cores take 50.0 % of device time (kernels with "
	  "tensor cores take 0.0 %, kernels that may use them 30.0 %; aten::mm 8192x4096, "
	  "4096x1024 fp16 could be 20.00 ms per step shorter) [25000000 ns]" },
	/* 35 ms are won by shapes alone. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  MATRIX(50, 30) TENSOR(0, 30000000) FP32("no", 40000000, 40000000, 5000000), NULL,
	  "high: matrix products without tensor cores take 50.0 % of device time (kernels with "
	  "tensor cores take 0.0 %, kernels that may use them 30.0 %; aten::mm 8192x4096, "
	  "4096x1024 fp32 could be 35.00 ms per step shorter) [35000000 ns]" },
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  MATRIX(50, 30) TENSOR(0, 30000000) OPERATOR("fp16", "no", 8, 60000000, ""), NULL,
	  "high: " SLOW "60.0 %" },
	/* 48 ms at the float32 peak are 6 on tensor cores: 42 to win. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES, SHAPES FP32("no", 60000000, 48000000, 6000000), NULL,
	  "high: " SLOW
	  "60.0 % of device time (60.0 % float32 without TF32; aten::mm 8192x4096, 4096x1024 "
	  "fp32 could be 42.00 ms per step shorter) [42000000 ns]" },
	/* Far from the peak: of 60 ms 7/8 would be won at the same share, half of it is said. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES, SHAPES FP32("no", 60000000, 16000000, 2000000), NULL,
	  "high: " SLOW
	  "60.0 % of device time (60.0 % float32 without TF32; aten::mm 8192x4096, 4096x1024 "
	  "fp32 could be 26.25 ms per step shorter) [26250000 ns]" },
	/* Faster than its roofline, so that is wrong: 7/8 of 60 ms, not of 480. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES, SHAPES FP32("no", 60000000, 480000000, 60000000), NULL,
	  "high: " SLOW
	  "60.0 % of device time (60.0 % float32 without TF32; aten::mm 8192x4096, 4096x1024 "
	  "fp32 could be 52.50 ms per step shorter) [52500000 ns]" },
	/* Matrix cores in float32 are slower than with rounded operands. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES, SHAPES FP32("yes", 60000000, 48000000, 12000000), NULL,
	  "high: " SLOW
	  "60.0 % of device time (60.0 % float32 without TF32; aten::mm 8192x4096, 4096x1024 "
	  "fp32 could be 36.00 ms per step shorter) [36000000 ns]" },
	/* The name does not say that it is not TF32. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET, SHAPES FP32("unknown", 60000000, 48000000, 6000000),
	  NULL, "" },
	/* On two streams at once: 120 of 150 ms of kernels, in 100 ms. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  SHAPES "kernels.total_ns 150000000\n" OPERATOR("fp16", "no", 8, 120000000, ""), NULL,
	  "high: " SLOW
	  "80.0 % of device time (80.0 % on the plain cores; aten::mm 8192x4096, 4096x1024 fp16 "
	  "could be 60.00 ms per step shorter) [40000000 ns]" },
	/* A device that has none. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  "flops.has_tensor_cores no\n" MATRIX(50, 30) TENSOR(0, 30000000), NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  "flops.has_tensor_cores yes\n" MATRIX(50, 30) TENSOR(0, 30000000), NULL,
	  "med: matrix products without tensor cores take 50.0 %" },
	/* What memory limits with and without them. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  SHAPES OPERATOR("fp32", "no", 16, 60000000,
			  "bound=memory roofline_ns=48000000 tensor_roofline_ns=48000000"),
	  NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  SHAPES OPERATOR("bf16", "no", 1, 60000000, "bound=memory roofline_ratio=0.1"), NULL, "" },
	/* On purpose, and what is no product. */
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  SHAPES OPERATOR("fp64", "no", 1, 60000000, BELOW("0.1", 54000000)), NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", QUIET,
	  SHAPES "flops.by_operator name=aten::relu precision=fp32 tensor_cores=no flops=0 "
		 "device_ns=60000000\n",
	  NULL, "" },
	/* Half of 60 ms, but no more than is lost; half where the device is not known. */
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  SHAPES OPERATOR("fp16", "no", 8, 60000000, BELOW("0.05", 57000000)), NULL,
	  "high: " SLOW
	  "60.0 % of device time (60.0 % on the plain cores; aten::mm 8192x4096, 4096x1024 "
	  "fp16 could be 30.00 ms per step shorter) [30000000 ns]" },
	{ "KERNEL.NO_TENSOR_CORES", FIRES,
	  SHAPES OPERATOR("int8", "no", 16, 60000000, BELOW("0.8", 12000000)), NULL,
	  "med: " SLOW
	  "60.0 % of device time (60.0 % on the plain cores; aten::mm 8192x4096, 4096x1024 "
	  "int8 could be 12.00 ms per step shorter) [12000000 ns]" },
	{ "KERNEL.NO_TENSOR_CORES", FIRES, SHAPES OPERATOR("fp32", "no", 16, 40000000, ""), NULL,
	  "med: " SLOW
	  "40.0 % of device time (40.0 % on the plain cores; aten::mm 8192x4096, 4096x1024 "
	  "fp32 could be 20.00 ms per step shorter) [20000000 ns]" },
	/* Together they reach a threshold; the two with most to win are named, 10 and 7 ms. */
	{ "KERNEL.NO_TENSOR_CORES", AT,
	  SHAPES OPERATOR("fp16", "no", 8, 6000000, BELOW("0.1", 5400000))
		  OPERATOR("fp16", "no", 8, 20000000, BELOW("0.1", 18000000))
			  FP32("no", 8000000, 8000000, 1000000)
				  OPERATOR("bf16", "yes", 1, 16000000, BELOW("0.8", 0)),
	  "KERNEL.NO_TENSOR_CORES.threshold=0.34",
	  "med: " SLOW
	  "34.0 % of device time (8.0 % float32 without TF32; 26.0 % on the plain cores; "
	  "aten::mm 8192x4096, 4096x1024 fp16 could be 10.00 ms per step shorter; aten::mm "
	  "8192x4096, 4096x1024 fp32 could be 7.000 ms per step shorter) [20000000 ns]" },
	{ "KERNEL.NO_TENSOR_CORES", AT, SHAPES OPERATOR("fp16", "no", 8, 20000000, ""), NULL,
	  "med" },
	{ "KERNEL.NO_TENSOR_CORES", AT, SHAPES OPERATOR("fp16", "no", 8, 19999999, ""), NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", AT, SHAPES FP32("no", 50000000, 40000000, 5000000), NULL,
	  "high" },
	{ "KERNEL.NO_TENSOR_CORES", AT, SHAPES FP32("no", 49999999, 40000000, 5000000), NULL,
	  "med" },
	/* Half of 60 ms, and no more than is lost. */
	{ "KERNEL.PADDING", FIRES, PRODUCTS PRODUCT("bf16", 1, "g", 60000000, 6000000) "\n" LONGEST,
	  NULL,
	  "med: 60.0 %" UNALIGNED " (75 % of the time of matrix kernels; aten::mm 82x83, 83x84 "
	  "bf16 could be 30.00 ms per step shorter) [30000000 ns]" },
	{ "KERNEL.PADDING", FIRES,
	  PRODUCTS PRODUCT("bf16", 4, "cutlass_nn_align4", 20000000, 12000000) "\n", NULL,
	  "med: 20.0 %" UNALIGNED " (25 % of the time of matrix kernels; aten::mm 82x83, 83x84 "
	  "bf16 could be 8.000 ms per step shorter) [8000000 ns]" },
	/* A device that is not known: the kernel's name says it, and no gain. */
	{ "KERNEL.PADDING", FIRES, PRODUCTS UNKNOWN(4000000), NULL,
	  "low: 4.0 %" UNALIGNED
	  " (5 % of the time of matrix kernels; aten::mm tf32 takes 4.000 ms per step)" },
	{ "KERNEL.PADDING", QUIET, PRODUCTS PRODUCT("bf16", 8, "g", 60000000, 6000000) "\n", NULL,
	  "" },
	{ "KERNEL.PADDING", QUIET, PRODUCTS PRODUCT("fp32", 1, "g", 60000000, 6000000) "\n", NULL,
	  "" },
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("fp8", 8, "g", 60000000, 29999999) "\n", NULL,
	  "med" },
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("fp8", 8, "g", 60000000, 30000000) "\n", NULL,
	  "" },
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("tf32", 2, "g", 1000000, 100000) "\n", NULL,
	  "low" },
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("tf32", 2, "g", 999999, 100000) "\n", NULL, "" },
	{ "KERNEL.PADDING", AT, PRODUCTS UNKNOWN(10000000), NULL, "med" },
	{ "KERNEL.PADDING", AT, PRODUCTS UNKNOWN(9999999), NULL, "low" },
	/* 4 calls of 20 µs, and one ns less. */
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("tf32", 2, "g", 80000, 1) "\n",
	  "KERNEL.PADDING.threshold=0.0001", "low" },
	{ "KERNEL.PADDING", AT, PRODUCTS PRODUCT("tf32", 2, "g", 79999, 1) "\n",
	  "KERNEL.PADDING.threshold=0.0001", "" },

	/* 20 ms at the roofline are 10 in bfloat16; far from it a quarter of the time is said. */
	{ "KERNEL.LOW_PRECISION", FIRES,
	  PRODUCTS PRODUCT("tf32", 16, "g", 40000000, 20000000) "half_roofline_ns=10000000\n", NULL,
	  "med: float32 matrix products take 40.0 % of device time; tensor cores multiply bfloat16 "
	  "faster (aten::mm 82x83, 83x84 tf32 could be 10.00 ms per step shorter) [10000000 ns]" },
	{ "KERNEL.LOW_PRECISION", FIRES,
	  PRODUCTS PRODUCT("tf32", 16, "g", 60000000, 10000000) "half_roofline_ns=5000000\n", NULL,
	  "med: float32 matrix products take 60.0 % of device time; tensor cores multiply bfloat16 "
	  "faster (aten::mm 82x83, 83x84 tf32 could be 15.00 ms per step shorter) [15000000 ns]" },
	/* Halves already, or a device that is not known. */
	{ "KERNEL.LOW_PRECISION", QUIET, PRODUCTS PRODUCT("bf16", 16, "g", 60000000, 10000000) "\n",
	  NULL, "" },
	{ "KERNEL.LOW_PRECISION", AT,
	  PRODUCTS PRODUCT("tf32", 16, "g", 10000000, 8000000) "half_roofline_ns=4000000\n", NULL,
	  "low" },
	{ "KERNEL.LOW_PRECISION", AT,
	  PRODUCTS PRODUCT("tf32", 16, "g", 9999999, 8000000) "half_roofline_ns=4000000\n", NULL,
	  "" },
	{ "KERNEL.LOW_PRECISION", AT,
	  PRODUCTS PRODUCT("tf32", 16, "g", 60000000, 58000000) "half_roofline_ns=29000000\n", NULL,
	  "high" },

	/* 7 of 70 ms at the roofline: at 0.7 of it 10 ms. */
	{ "KERNEL.CLOCK_THROTTLING", FIRES, DRIFT(5, 5, "0.5", "1.05", "0.8"), NULL,
	  "med: the same GEMM and convolution kernels take 5.0 % longer in the last third of the "
	  "steps than in the first (sgemm: 100.0 \xc2\xb5s, then 105.0 \xc2\xb5s) [10000000 ns]" },
	{ "KERNEL.CLOCK_THROTTLING", QUIET, DRIFT(9, 40, "1", "1.006", "0.9"), NULL, "" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 5, "1", "1.03", "1"), NULL, "low" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 5, "1", "1.0299", "1"), NULL, "" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 5, "1", "1.0499", "1"), NULL, "low" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 5, "1", "1.05", "0.79"), NULL, "" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 5, "0.49", "1.05", "1"), NULL, "" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(5, 4, "1", "1.05", "1"), NULL,
	  "skipped: 4 GEMM or convolution kernels are launched alike in each step: it needs 5" },
	{ "KERNEL.CLOCK_THROTTLING", AT, DRIFT(4, 5, "1", "1.05", "1"), NULL,
	  "skipped: 4 counted steps: it needs 5" },

	{ "KERNEL.INEFFICIENT", FIRES, PRODUCTS PRODUCT("bf16", 16, "g", 70000000, 7000000) "\n",
	  NULL,
	  "high: matrix kernels far below their roofline take 70.0 % of device time (they reach 10 "
	  "% of their roofline on average; aten::mm 82x83, 83x84 bf16 could be 60.00 ms per step "
	  "shorter) [60000000 ns]" },
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 70000000, 21000000) "\n",
	  NULL, "" },
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 70000000, 20999999) "\n",
	  NULL, "high" },
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 5000000, 50000) "\n", NULL,
	  "low" },
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 4999999, 50000) "\n", NULL,
	  "" },
	/* 4 calls of 100 µs: what is shorter is the launch's. */
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 400000, 1) "\n",
	  "KERNEL.INEFFICIENT.threshold=0.001", "low" },
	{ "KERNEL.INEFFICIENT", AT, PRODUCTS PRODUCT("bf16", 16, "g", 399999, 1) "\n",
	  "KERNEL.INEFFICIENT.threshold=0.001", "" },
	{ "KERNEL.INEFFICIENT", QUIET, PRODUCTS PRODUCT("bf16", 4, "g", 70000000, 7000000) "\n",
	  NULL, "" },

	{ "KERNEL.KV_BOUND", FIRES,
	  PRODUCTS "steps.boundary iteration\n" PRODUCT("bf16", 16, "g", 80000000,
							64000000) "bound=memory\n",
	  NULL,
	  "low: 80.0 % of device time is bound by memory bandwidth: reading weights and KV cache "
	  "(products and attention that reach 60 % of the bandwidth or more)" },
	{ "KERNEL.KV_BOUND", FIRES,
	  PRODUCTS "steps.boundary iteration\ninference.kv_tokens 64000\n"
		   "inference.decode.requests 32\n"
		   "inference.kinds phase=prefill kind=attention ratio=0.5\n"
		   "inference.kinds phase=decode kind=attention ratio=0.3\n" PRODUCT(
			   "bf16", 16, "g", 80000000, 64000000) "bound=memory\n",
	  NULL,
	  "low: 80.0 % of device time is bound by memory bandwidth: reading weights and KV cache "
	  "(products and attention that reach 60 % of the bandwidth or more; attention, which "
	  "grows with the contexts, takes 30.0 % of decoding; 2000 keys per request)" },
	/* FLOPs are no measure of them. */
	{ "EFFICIENCY.LOW_MFU", SKIPPED,
	  PRODUCTS "steps.boundary iteration\nefficiency.mfu 0.03\n"
		   "efficiency.top_recoverable_ratio 0.7\n" PRODUCT("bf16", 16, "g", 50000000,
								    30000000) "bound=memory\n",
	  NULL,
	  "skipped: memory bandwidth bounds the engine's iterations: the MFU does not measure "
	  "them" },
	{ "KERNEL.KV_BOUND", AT,
	  PRODUCTS "steps.boundary iteration\n" PRODUCT("bf16", 16, "g", 50000000,
							30000000) "bound=memory\n",
	  NULL, "low" },
	{ "KERNEL.KV_BOUND", AT,
	  PRODUCTS "steps.boundary iteration\n" PRODUCT("bf16", 16, "g", 50000000,
							29999999) "bound=memory\n",
	  NULL, "" },
	{ "KERNEL.KV_BOUND", AT,
	  PRODUCTS "steps.boundary iteration\n" PRODUCT("bf16", 16, "g", 49999999,
							40000000) "bound=memory\n",
	  NULL, "" },
	{ "KERNEL.KV_BOUND", QUIET,
	  PRODUCTS "steps.boundary profiler_step\n" PRODUCT("bf16", 16, "g", 80000000,
							    64000000) "bound=memory\n",
	  NULL, "" },
	{ "KERNEL.NO_TENSOR_CORES", SKIPPED, SHAPES "! kernels clocks differ\n", NULL,
	  "skipped: kernels.tensor_core_ns is not reliable: clocks differ" },
	{ "KERNEL.NO_TENSOR_CORES", SKIPPED, "device_busy.span_ns 100\n", NULL,
	  "skipped: no kernels.tensor_core_ns: it needs a trace with kernels" },
};

TEST(rules_on_the_device)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

/* By the reason with most to win. */
TEST(advice_follows_what_is_slow)
{
	static const struct advice_case advised[] = {
		{ "GPU.IDLE", IDLE(30, "idle.host_unrecorded_ns 20000000\noperators.count 0\n"),
		  "ProfilerActivity.CPU" },
		{ "GPU.IDLE", IDLE(30, "idle.host_unrecorded_ns 20000000\noperators.count 1\n"),
		  "--show budget" },
		{ "GPU.IDLE",
		  IDLE(30, "idle.alloc_ns 20000000\nidle.culprits cause=alloc "
			   "name='cudaHostAlloc in aten::pin_memory' ns_per_step=10000000\n"),
		  "pin memory of the host once" },
		{ "GPU.IDLE",
		  IDLE(30, "idle.dependency_ns 20000000\nidle.gaps device=0\nidle.gaps device=1\n"),
		  "work in turn" },
		{ "GPU.IDLE",
		  IDLE(30, "idle.dependency_ns 20000000\nidle.gaps device=1\nidle.gaps device=1\n"),
		  "--show budget" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 30000000\nsteps.workload inference\n"
			"copies.by_direction direction=d2h exposed_ns=28000000\n",
		  "read them a request later" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 30000000\nsteps.workload inference\n"
			"copies.by_direction direction=d2d exposed_ns=28000000\n",
		  "look for clone(), contiguous()" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\n"
			"copies.by_direction direction=d2h exposed_ns=2\n",
		  "copy results to pinned memory" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\n"
			"copies.by_direction direction=p2p exposed_ns=2\n",
		  "compute one microbatch while another is copied" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\nsteps.workload inference\n"
			"copies.by_direction direction=p2p exposed_ns=2\n",
		  "split each layer over them" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\nsteps.boundary iteration\n"
			"copies.by_direction direction=p2p exposed_ns=2\n",
		  "overlap the exchange between devices" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\n"
			"copies.by_direction direction=fill exposed_ns=2\n",
		  "set_to_none=True" },
		{ "COPY.EXPOSED",
		  STEPS "budget.exposed_copy_total_ns 20000000\n"
			"copies.by_direction direction=h2d exposed_ns=2\n",
		  "copy the next batch" },
		{ "KERNEL.NO_TENSOR_CORES", SHAPES FP32("no", 60000000, 48000000, 6000000),
		  "allow_tf32 = True" },
		/* V100, T4, RTX 20: by shapes and by names. */
		{ "KERNEL.NO_TENSOR_CORES",
		  "flops.has_bf16 no\n" SHAPES OPERATOR("fp32", "no", 16, 60000000, ""),
		  "support neither TF32 nor bfloat16" },
		{ "KERNEL.NO_TENSOR_CORES",
		  "flops.has_bf16 no\n" MATRIX(50, 30) TENSOR(0, 30000000),
		  "support neither TF32 nor bfloat16" },
		{ "KERNEL.NO_TENSOR_CORES",
		  "flops.has_bf16 yes\n" MATRIX(50, 30) TENSOR(0, 30000000), "from Ampere on" },
		{ "KERNEL.NO_TENSOR_CORES", SHAPES OPERATOR("fp32", "no", 16, 60000000, ""),
		  "or float16 before Ampere" },
		{ "KERNEL.NO_TENSOR_CORES", MATRIX(50, 30) TENSOR(0, 30000000),
		  "Volta and Turing" },
		{ "KERNEL.PADDING", PRODUCTS PRODUCT("bf16", 1, "g", 60000000, 6000000) "\n",
		  "50257 tokens become 50304" },
		{ "KERNEL.INEFFICIENT",
		  PRODUCTS PRODUCT("bf16", 16, "g", 60000000, 6000000) "intensity=999.0\n",
		  "give each call more rows" },
		{ "KERNEL.INEFFICIENT",
		  PRODUCTS PRODUCT("bf16", 16, "g", 60000000, 6000000) "intensity=1000.0\n",
		  "large enough" },
		{ "KERNEL.LOW_PRECISION",
		  "flops.has_bf16 no\n" MATRIX(0, 0) PRODUCT(
			  "fp32", 16, "g", 60000000, 50000000) "half_roofline_ns=20000000\n",
		  "dtype=torch.float16" },
		{ "KERNEL.NO_TENSOR_CORES",
		  "steps.workload inference\nflops.has_bf16 no\n" MATRIX(50, 30)
			  TENSOR(0, 30000000),
		  "(model.half())" },
		{ "KERNEL.NO_TENSOR_CORES",
		  "steps.boundary iteration\nflops.has_bf16 no\n" MATRIX(50, 30)
			  TENSOR(0, 30000000),
		  "--dtype float16" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}

#define COPIED(direction)                                                                          \
	STEPS "budget.exposed_copy_total_ns 60000000\n"                                            \
	      "device_busy.span_ns 100000000\ncopies.pageable_ns 2000000\n"                        \
	      "copies.by_direction direction=" direction " exposed_ns=60000000\n"

/* Pinned memory speeds up copies from the host and does nothing for those between devices. */
TEST(copies_between_devices_are_a_cause_of_their_own)
{
	static const struct {
		const char *facts, *cause;
		size_t finding_count;
		enum tscope_gain_basis basis;
	} copied[] = {
		{ COPIED("h2d"), "copy_exposed", 1, TSCOPE_GAIN_MEASURED },
		{ COPIED("p2p"), "peer_copy", 2, TSCOPE_GAIN_BOUND },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(copied); i++) {
		struct tscope_analysis *facts = fact_values(copied[i].facts);
		struct tscope_diagnosis *diagnosis;

		assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
		assert_int_equal(tscope_diagnosis_finding_count(diagnosis),
				 copied[i].finding_count);
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
		assert_string_equal(finding.cause, copied[i].cause);
		assert_int_equal(finding.gain_basis, copied[i].basis);
		tscope_diagnosis_free(diagnosis);
	}
}

/* Rules that do not blame a gap show the longest kernels, copies and intervals behind them. */
TEST(findings_show_places)
{
	static const struct {
		const char *facts;
		int64_t start_ns, duration_ns;
	} shown[] = {
		{ PRODUCTS PRODUCT("bf16", 1, "g", 60000000, 6000000) "\n" LONGEST, 700, 9 },
		{ PRODUCTS PRODUCT("bf16", 1, "g", 60000000, 6000000) "\n" /* by one kernel */
		  PRODUCT("bf16", 1, "g", 50000000, 5000000) "\n" LONGEST,
		  700, 9 },
		{ "device_busy.span_ns 100000000\ncopies.pageable_ns 4000000\n"
		  "copies.by_direction direction=d2h pageable=no max_start_ns=1 max_ns=2\n"
		  "copies.by_direction direction=h2d pageable=yes max_start_ns=30 max_ns=4\n",
		  30, 4 },
		{ "step_time.mean_ns 100000000\noverlap.exposed_comm_ratio 0.5\n"
		  "overlap.exposed max_start_ns=50 max_ns=6\n",
		  50, 6 },
		{ STEPS "attention.scores_total_ns 80000000\n"
			"kernels.by_launcher name=k operator=aten::mm\n"
			"kernels.by_launcher name=g operator=aten::_softmax\n" LONGEST,
		  700, 9 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(shown); i++) {
		struct tscope_analysis *facts = fact_values(shown[i].facts);
		struct tscope_diagnosis *diagnosis;

		assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
		assert_int_equal(finding.place_count, 1);
		assert_int_equal(finding.places[0].start_ns, shown[i].start_ns);
		assert_int_equal(finding.places[0].duration_ns, shown[i].duration_ns);
		tscope_diagnosis_free(diagnosis);
	}
}
