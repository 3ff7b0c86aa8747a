/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_SIZE_TEXT_H
#define TSCOPE_BASE_SIZE_TEXT_H

#include <stdint.h>

/* A size for sentences, in the unit that fits: "512 B", "1.5 KiB", "40.0 MiB", "2.0 GiB". */
struct size_text {
	char chars[32];
};

struct size_text tsi_size_text(int64_t bytes);

#endif
