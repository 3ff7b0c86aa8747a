/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_MAGIC_H
#define TSCOPE_INPUT_MAGIC_H

#include <stdbool.h>
#include <stddef.h>

/* A kind of file, known by some bytes at a fixed place. */
struct magic {
	size_t at;
	const char *bytes;
	size_t length;
	const char *name;
	/* Remedy for compressions and archives that no filter reads; else NULL. */
	const char *remedy;
	bool is_archive; /* that archive.h can read */
};

/* The first bytes that have to be seen to know any of them. */
enum { MAGIC_BYTES_MAX = 262 };

/* The kind that these first bytes show, or NULL. */
const struct magic *tsi_magic_find(const char *data, size_t length);

#endif
