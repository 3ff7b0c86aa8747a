/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for analyze/ops/op_work.h: three lines, an operator's name, its signature and its
 * concrete inputs (the rest of the bytes), each in memory of just its length. Traps where a
 * call's work is no number that a report can hold, or is set although it is not known.
 */
#include "fuzz.h"

#include "analyze/ops/op_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 64 << 10, UNSET = 0x5a };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_known(const struct op_work *work, struct str name)
{
	require(isfinite(work->flops) && work->flops >= 0);
	require(isnan(work->bytes) || (isfinite(work->bytes) && work->bytes >= 0));
	require(work->precision < TSCOPE_PRECISION_COUNT);
	require(work->kind < KERNEL_KIND_COUNT);
	require(work->alignment <= 16 && (work->alignment & (work->alignment - 1)) == 0);
	if (work->flops > 0)
		require(tsi_op_multiplies(name));
}

static void check(struct str name, struct str signature, struct str concrete)
{
	struct op_work work, unset;

	memset(&work, UNSET, sizeof(work));
	memset(&unset, UNSET, sizeof(unset));
	switch (tsi_op_work(&work, name, signature, concrete)) {
	case OP_WORK_KNOWN:
		require_known(&work, name);
		return;
	case OP_WORK_NO_MODEL:
		require(!tsi_op_multiplies(name));
		break;
	case OP_WORK_NO_INPUTS:
		break;
	case OP_WORK_BY_CONTEXT:
		require(tsi_op_multiplies(name) && work.paged.pair_flops >= 0);
		require(work.paged.tokens >= 0 && !(work.paged.key_bytes < 0));
		return;
	}
	require(memcmp(&work, &unset, sizeof(work)) == 0);
}

/* The next line of rest, or all of it. In memory of its own: a read beyond the end is then seen. */
static struct str take_line(struct str *rest, bool is_last)
{
	const char *end = is_last || !rest->length ? NULL : memchr(rest->data, '\n', rest->length);
	size_t length = end ? (size_t)(end - rest->data) : rest->length;
	size_t taken = length + (end != NULL);
	char *copy = malloc(length ? length : 1);

	if (copy && length)
		memcpy(copy, rest->data, length);
	if (taken)
		*rest = (struct str){ rest->data + taken, rest->length - taken };
	return (struct str){ copy, copy ? length : 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct str rest = { (const char *)data, length };

	if (length > MAX_LENGTH)
		return 0;
	struct str name = take_line(&rest, false);
	struct str signature = take_line(&rest, false);
	struct str concrete = take_line(&rest, true);

	check(name, signature, concrete);
	free((char *)name.data);
	free((char *)signature.data);
	free((char *)concrete.data);
	return 0;
}
