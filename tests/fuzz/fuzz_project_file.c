/* SPDX-License-Identifier: MIT */
/* Fuzz target for cli/project_file.c, which is part of the program: it says nothing here. */
#include "fuzz.h"

#include "config.h"

#include "../../src/cli/project_file.c"

void say(const char *text, const char *word, const char *rest)
{
	(void)text;
	(void)word;
	(void)rest;
}

void say_about(const char *subject, const char *what, const char *rest)
{
	say(subject, what, rest);
}

void say_in(const char *path, size_t line)
{
	(void)path;
	(void)line;
}

void say_nomem(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct project_file file = { 0 };

	if (length > MAX_BYTES)
		return 0;
	(void)project_file_parse(&file, (const char *)data, length);
	for (size_t i = 0; i < file.count; i++) {
		const struct project_entry *entry = &file.entries[i];

		if (!entry->key || !entry->value || entry->line == 0 || file.count > MAX_ENTRIES)
			abort();
	}
	project_file_deinit(&file);
	return 0;
}
