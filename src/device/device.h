/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DEVICE_DEVICE_H
#define TSCOPE_DEVICE_DEVICE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <tscope/device.h>

/* What a trace says of a device. */
struct device_traits {
	const char *name;    /* as the driver calls it; may be "" */
	int64_t sm_count;    /* or a number below 1: not said */
	int64_t total_bytes; /* likewise */
};

enum { DEVICE_NEAR_CHARS = 96 };

struct device_match {
	const struct tscope_device *device; /* NULL: not known */
	/*
	 * What a partition (MIG, CPX) of so many units can do of the whole: their ratio, as
	 * it is. Seven slices of an A100 have 98 of its 108 units, which is 0.907 of its peak.
	 */
	double part;
	bool is_by_traits; /* the name says nothing; units and memory told it */
	/* Where the device is not known: names that are near, "H100 SXM5, H100 PCIe", or "". */
	char near[DEVICE_NEAR_CHARS];
	/* Likewise: rows have its name, but units and memory do not tell that it is one of them. */
	bool is_listed;
};

/*
 * Finds the row of the table that a device is. A row must have all words of the
 * name but those that tell nothing: "NVIDIA GeForce RTX 4090 Laptop GPU" is no RTX
 * 4090. Form factors that the name leaves out are told apart by units and memory,
 * rows with the same peaks by memory alone. A device with more units than a row is
 * another product. Where rows with different peaks are left, it is not known.
 */
struct device_match tsi_device_find(const struct device_traits *traits);

#endif
