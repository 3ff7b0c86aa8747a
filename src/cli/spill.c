/* SPDX-License-Identifier: MIT */
/* The file that takes what is too much for memory. */
#include "spill.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/*
 * Spans take a twentieth of the text that they are read from, which may be packed to a thirtieth:
 * what is so small stays below the limit. Of pipes and folders nothing is known.
 */
static bool may_reach(const char *path, size_t limit)
{
	enum { MOST_BYTES = 16 }; /* of memory for a byte of the file */
	struct stat status;

	return stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	       (size_t)status.st_size > limit / MOST_BYTES;
}

void spill_prepare(struct options *options)
{
	const char *folder = getenv("TMPDIR");
	size_t limit = options->trace.memory_limit;
	struct tscope_error err;
	bool is_needed = false;

	for (int i = 0; limit && i < options->operand_count; i++)
		is_needed |= may_reach(options->operands[i], limit);
	if (is_needed &&
	    tscope_spill_open(&options->trace.spill, folder && *folder ? folder : "/var/tmp",
			      &err) != TSCOPE_OK)
		snprintf(options->spill_lack, sizeof(options->spill_lack), "%.*s",
			 (int)sizeof(options->spill_lack) - 1, err.message);
}
