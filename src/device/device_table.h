/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DEVICE_DEVICE_TABLE_H
#define TSCOPE_DEVICE_DEVICE_TABLE_H

#include <stdbool.h>
#include <tscope/device.h>

/*
 * A device and the names that it goes by.
 *
 * To add one: write its row in device_table.c, after those that are nearest to it,
 * and what its driver calls it into the cases of tests/unit/test_device.c; rewrite
 * the golden file of tests/cli/rules_devices.sh.
 */
struct device_row {
	/* Words that its name must have, in lower case: "rtx a6000"; alternatives after '|'. */
	const char *words;
	const char *forms; /* words that it may have, such as the form factor; NULL: none */
	bool is_nameless;  /* its driver may omit the name; units and memory identify it */
	struct tscope_device device;
};

extern const struct device_row tsi_device_rows[];

#endif
