/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_FUZZ_AS_FILE_H
#define TSCOPE_TESTS_FUZZ_AS_FILE_H

/* The input as a file that lies in memory, for what opens paths; and what the JSON that comes of it must be. */
#include "decode/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AS_FILE_PATH_CHARS = 64, AS_FILE_JSON_DEPTH = 64 };

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

/* The caller closes it. */
static inline int make_file(const void *data, size_t length, char path[AS_FILE_PATH_CHARS])
{
	int file = memfd_create("input", 0);

	require(file >= 0 && write(file, data, length) == (ssize_t)length);
	snprintf(path, AS_FILE_PATH_CHARS, "/proc/self/fd/%d", file);
	return file;
}

/* Makes a file of each part of the input between bytes 0xff, up to max; returns how many. */
static inline size_t make_files(const uint8_t *data, size_t length, size_t max, int *files,
				char (*paths)[AS_FILE_PATH_CHARS])
{
	const uint8_t *end = data + length, *mark;
	size_t count = 0;

	for (; count < max; count++, data = mark + 1) {
		mark = length ? memchr(data, 0xff, (size_t)(end - data)) : NULL;
		files[count] = make_file(data, (size_t)((mark ? mark : end) - data), paths[count]);
		if (!mark)
			return count + 1;
	}
	return count;
}

static inline void require_json(const char *text, size_t length)
{
	while (length > 0 && text[length - 1] == '\n')
		length--;
	require(tsi_json_check((struct str){ text, length }, AS_FILE_JSON_DEPTH, NULL) ==
		TSCOPE_OK);
}

#endif
