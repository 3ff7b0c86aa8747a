/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_PEAK_H
#define TSCOPE_ANALYZE_OPS_PEAK_H

#include "analyze/ops/trace_flops.h"

/*
 * Sets peak_flops, precision and no_peak, by the device and what was counted:
 * the FLOPs of operators or, where none are known, the time of matrix kernels.
 */
void tsi_find_peak(struct trace_flops *flops);

/* Peak of the device at this precision, FLOP/s, scaled for a partition; NAN: not known. */
double tsi_peak_at(const struct trace_flops *flops, enum tscope_precision precision);

/* Likewise of its memory, bytes/s. */
double tsi_peak_bytes_per_second(const struct trace_flops *flops);

#endif
