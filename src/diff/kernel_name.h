/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_KERNEL_NAME_H
#define TSCOPE_DIFF_KERNEL_NAME_H

#include <stddef.h>

/*
 * The name of a kernel or operator without what changes from build to build, device to device and
 * size to size:
 *
 *  - parameters, return type, and of template arguments all but the names of functors and
 *    functions: "void ns::loop<4, ns::Add<float>, std::array<char*, 3ul> >(int)" is
 *    "ns::loop<Add>";
 *  - of libraries of matrix products and collectives the words of a variant: architecture, tile,
 *    stages, alignment, split of K, protocol; what is computed (element types, transposes,
 *    layouts) stays;
 *  - numbers, hashes and addresses that Triton, inductor and profilers append.
 *
 * Two kernels of one normal name do the same work. Mangled names (_Z…) lose hashes only.
 *
 * Writes at most `size` bytes with the NUL (size > 0), cut where it is longer; returns its length.
 * Never empty where the name is not. O(length).
 */
size_t tsi_normal_kernel_name(const char *name, char *normal, size_t size);

#endif
