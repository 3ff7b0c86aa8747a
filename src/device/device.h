/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DEVICE_DEVICE_H
#define TSCOPE_DEVICE_DEVICE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <tscope/device.h>

/* Device properties in a trace. */
struct device_traits {
	const char *name;    /* as the driver calls it; may be "" */
	int64_t sm_count;    /* or a number below 1: not said */
	int64_t total_bytes; /* likewise */
};

enum { DEVICE_NEAR_CHARS = 96 };

struct device_match {
	const struct tscope_device *device; /* NULL: not known */
	/*
	 * Share of the peak that a partition (MIG, CPX) has: its share of the units. Seven slices
	 * of an A100 have 98 of its 108 units, so 0.907 of its peak.
	 */
	double part;
	bool is_by_traits; /* identified by units and memory, not by its name */
	/* For an unknown device: similar names ("H100 SXM5, H100 PCIe"), or "". */
	char near[DEVICE_NEAR_CHARS];
	/* Likewise: rows match its name, but not its units and memory. */
	bool is_listed;
};

/*
 * Finds the table row of a device. A row must have all informative words of the name: "NVIDIA
 * GeForce RTX 4090 Laptop GPU" is not an RTX 4090. Units and memory identify form factors that the
 * name omits, memory alone rows with equal peaks. A device with more units than a row is another
 * product. If rows with different peaks remain, the device is unknown.
 */
struct device_match tsi_device_find(const struct device_traits *traits);

#endif
