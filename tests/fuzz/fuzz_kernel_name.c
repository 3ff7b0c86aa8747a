/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for model/trace/kernel_table.h and base/cxx_name.h: each line up to its first tab is
 * the name of a kernel, in memory of just its length. Traps where the table's answers contradict
 * each other, and where what people read is much longer.
 */
#include "fuzz.h"

#include "base/cxx_name.h"
#include "model/trace/kernel_table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 1 << 20 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Names for reading only add blanks behind commas and brackets that were cut off. */
static void check_reading(const char *data, size_t length)
{
	struct arena arena = { 0 };
	const char *name = tsi_arena_copy(&arena, (struct str){ data, length });
	size_t limit = strncmp(name, "_Z", 2) == 0 ? MAX_LENGTH + 8192 : 2 * strlen(name);

	require(strlen(tsi_cxx_name(&arena, name, CXX_ARGUMENTS)) <= limit);
	require(strlen(tsi_cxx_name(&arena, name, CXX_TYPES)) <= limit);
	tsi_arena_deinit(&arena);
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
	check_reading(data, length);
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
