/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_FUZZ_H
#define TSCOPE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/*
 * What each fuzz_<target>.c defines; the name is libFuzzer's.
 *
 * To add a target: write fuzz_<target>.c, put <target> into the list in
 * meson.build, and a folder corpus/<target> with at least one input.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

#endif
