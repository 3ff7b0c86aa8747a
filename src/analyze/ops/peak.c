/* SPDX-License-Identifier: MIT */
/*
 * The most FLOP/s that a device could reach with a mix of precisions, and what
 * to say where that is not known.
 */
#include "analyze/ops/peak.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"

/* Precisions with a smaller share are not named. */
#define NAMED_SHARE 0.001

/* Precisions with a smaller share need no peak. */
#define NEEDED_SHARE 0.01

#define REMEDY "pass its peak with --peak-tflops"

/* Share of each precision, 0 to 1. */
struct mix {
	double share[TSCOPE_PRECISION_COUNT];
	bool is_time; /* of kernels, not FLOPs of operators */
};

double tsi_peak_at(const struct trace_flops *flops, enum tscope_precision precision)
{
	const struct tscope_device *device = flops->device.device;

	if (!device || !(device->peak_flops[precision] > 0))
		return NAN;
	return device->peak_flops[precision] * flops->device.part;
}

double tsi_peak_bytes_per_second(const struct trace_flops *flops)
{
	const struct tscope_device *device = flops->device.device;

	return device && device->bytes_per_second > 0
		       ? device->bytes_per_second * flops->device.part
		       : NAN;
}

/* Time of matrix kernels by precision: of operators with FLOPs, and of kernels without. */
static double ns_of(const struct trace_flops *flops, int precision)
{
	return (double)flops->kernel_ns_of_precision[precision] +
	       (double)flops->op_ns_of_precision[precision];
}

/* False where nothing is known of it. */
static bool find_mix(struct mix *mix, const struct trace_flops *flops)
{
	const double least_known = 0.5; /* of matrix kernels' time: else FLOPs are not typical */
	double flops_sum = 0, ns_sum = 0;
	bool are_few = (double)flops->all.counted_ns < least_known * (double)flops->all.matrix_ns;

	/* Kernels whose names do not say are taken to be like the others. */
	for (int i = TSCOPE_PRECISION_UNKNOWN; i < TSCOPE_PRECISION_COUNT; i++) {
		flops_sum += flops->flops_of_precision[i];
		if (i != TSCOPE_PRECISION_UNKNOWN)
			ns_sum += ns_of(flops, i);
	}
	*mix = (struct mix){ .is_time = are_few || !(flops_sum > 0 && isfinite(flops_sum)) };
	for (int i = TSCOPE_PRECISION_UNKNOWN; i < TSCOPE_PRECISION_COUNT; i++) {
		if (!mix->is_time)
			mix->share[i] = flops->flops_of_precision[i] / flops_sum;
		else if (ns_sum > 0 && i != TSCOPE_PRECISION_UNKNOWN)
			mix->share[i] = ns_of(flops, i) / ns_sum;
	}
	return !mix->is_time || ns_sum > 0;
}

/* The precision with the largest share below (share, precision); or _COUNT. */
static int next_named(const struct mix *mix, int after)
{
	int next = TSCOPE_PRECISION_COUNT;

	for (int i = 0; i < TSCOPE_PRECISION_COUNT; i++) {
		bool is_behind = after == TSCOPE_PRECISION_COUNT ||
				 mix->share[i] < mix->share[after] ||
				 (mix->share[i] == mix->share[after] && i > after);
		if (mix->share[i] >= NAMED_SHARE && is_behind &&
		    (next == TSCOPE_PRECISION_COUNT || mix->share[i] > mix->share[next]))
			next = i;
	}
	return next;
}

/* ", fp32 3.0 %", with a point whatever the locale. */
static void put_share(char *text, size_t size, const char *separator, const char *name,
		      double share)
{
	int tenths = (int)(share * 1000 + 0.5);

	snprintf(text, size, "%s%s %d.%d %%", separator, name, tenths / 10, tenths % 10);
}

/* "bf16", or "bf16 97.0 %, fp32 3.0 %": the largest first, as many as there is room for. */
static void name_mix(struct trace_flops *flops, const struct mix *mix)
{
	int first = next_named(mix, TSCOPE_PRECISION_COUNT);
	size_t used = 0;

	for (int i = first; i < TSCOPE_PRECISION_COUNT; i = next_named(mix, i)) {
		char text[32];
		const char *name = tscope_precision_name((enum tscope_precision)i);
		if (i == first && next_named(mix, i) == TSCOPE_PRECISION_COUNT)
			snprintf(text, sizeof(text), "%s", name);
		else
			put_share(text, sizeof(text), i == first ? "" : ", ", name, mix->share[i]);
		size_t length = strlen(text);
		if (used + length >= sizeof(flops->precision))
			break;
		memcpy(flops->precision + used, text, length + 1);
		used += length;
	}
}

TSI_PRINTF(2, 3)
static void say_no_peak(struct trace_flops *flops, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(flops->no_peak, sizeof(flops->no_peak), format, args);
	va_end(args);
}

/* For "%.*s": as much of a name as fits into a message, no character cut in two. */
static int cut_name(const char *name)
{
	enum { ROOM = 48 };
	size_t length = strlen(name);

	if (length <= ROOM)
		return (int)length;
	for (length = ROOM; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;)
		length--;
	return (int)length;
}

static void explain_kinds(struct trace_flops *flops)
{
	const char *names[] = { flops->device_name, flops->other_device_name };

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++)
		if (names[i][0] == '\0')
			names[i] = "one without a name";
	say_no_peak(flops, "different devices ran (%.*s, %.*s); pass a peak with --peak-tflops",
		    cut_name(names[0]), names[0], cut_name(names[1]), names[1]);
}

/* The table has its name, but not what the trace says of it. */
static void explain_traits(struct trace_flops *flops)
{
	const char *name = flops->device_name;
	int64_t gib = flops->device_bytes / (1 << 30);

	if (flops->device_units <= 0)
		say_no_peak(flops,
			    "several devices are named %.*s and the trace has no multiprocessor "
			    "count; " REMEDY,
			    cut_name(name), name);
	else if (gib <= 0)
		say_no_peak(flops,
			    "several devices are named %.*s, none with %" PRId64
			    " multiprocessors; " REMEDY,
			    cut_name(name), name, flops->device_units);
	else
		say_no_peak(flops,
			    "several devices are named %.*s, none with %" PRId64
			    " multiprocessors and %" PRId64 " GiB; " REMEDY,
			    cut_name(name), name, flops->device_units, gib);
}

static void explain_device(struct trace_flops *flops)
{
	const char *name = flops->device_name, *near = flops->device.near;

	if (!flops->has_device)
		say_no_peak(flops, "no device activity in the trace: pass --peak-tflops "
				   "to get an MFU");
	else if (flops->other_device_name)
		explain_kinds(flops);
	else if (flops->device.is_listed)
		explain_traits(flops);
	else if (name[0] == '\0')
		say_no_peak(flops, "unknown device; " REMEDY);
	else if (near[0] == '\0')
		say_no_peak(flops, "%.*s is not in the table of devices; " REMEDY, cut_name(name),
			    name);
	else
		say_no_peak(flops, "%.*s is not in the table of devices (near: %.64s); " REMEDY,
			    cut_name(name), name, near);
}

static void explain_precision(struct trace_flops *flops, const struct mix *mix, int precision)
{
	if (precision == TSCOPE_PRECISION_UNKNOWN)
		say_no_peak(
			flops,
			"precision unknown for %d %% of the FLOPs; pass a peak with --peak-tflops",
			(int)(mix->share[precision] * 100 + 0.5));
	else
		say_no_peak(flops, "%s has no known peak for %s; " REMEDY,
			    flops->device.device->name,
			    tscope_precision_name((enum tscope_precision)precision));
}

/*
 * FLOPs f of each precision take f ÷ peak, so peaks are averaged harmonically by
 * FLOPs. Times are averaged as they are: at equal efficiency a kernel's FLOPs are
 * its time × its peak.
 */
static double mean_peak(struct trace_flops *flops, const struct mix *mix)
{
	double share_sum = 0, seconds = 0, weighted = 0;

	for (int i = 0; i < TSCOPE_PRECISION_COUNT; i++) {
		double peak = tsi_peak_at(flops, (enum tscope_precision)i);
		if (isnan(peak) && mix->share[i] >= NEEDED_SHARE) {
			explain_precision(flops, mix, i);
			return NAN;
		}
		if (isnan(peak))
			continue;
		share_sum += mix->share[i];
		seconds += mix->share[i] / peak;
		weighted += mix->share[i] * peak;
	}
	return mix->is_time ? weighted / share_sum : share_sum / seconds;
}

void tsi_find_peak(struct trace_flops *flops)
{
	struct mix mix;
	bool is_known = find_mix(&mix, flops);

	flops->peak_flops = NAN;
	if (is_known)
		name_mix(flops, &mix);
	if (!flops->device.device)
		explain_device(flops);
	else if (!is_known)
		say_no_peak(flops, "neither operators nor kernels show their precision; pass a "
				   "peak with --peak-tflops");
	else
		flops->peak_flops = mean_peak(flops, &mix);
}
