/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for model/trace/kernel_table.h: each line up to its first tab is the name of a
 * kernel, in memory of just its length. Traps where the table's answers contradict each other.
 */
#include "fuzz.h"

#include "model/trace/kernel_table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 1 << 20 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const char *data, size_t length)
{
	char *copy = malloc(length ? length : 1);

	if (!copy)
		return;
	memcpy(copy, data, length);
	struct str name = { copy, length };
	struct kernel_facts facts = tsi_kernel_facts(name);
	require(facts.kind < KERNEL_KIND_COUNT);
	require(facts.precision < TSCOPE_PRECISION_COUNT);
	require(tsi_is_comm_kernel(name) == (facts.kind == KERNEL_COMM));
	require(facts.kind != KERNEL_COMM || facts.is_communicating);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const char *text = (const char *)data, *end = text + length;

	if (length > MAX_LENGTH)
		return 0;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		const char *tab = memchr(text, '\t', (size_t)(line_end - text));
		check(text, (size_t)((tab ? tab : line_end) - text));
		text = line_end + 1;
	}
	return 0;
}
