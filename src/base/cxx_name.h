/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_CXX_NAME_H
#define TSCOPE_BASE_CXX_NAME_H

#include "base/arena.h"

enum cxx_detail {
	CXX_ARGUMENTS, /* template arguments, without those that are the same in all kernels */
	CXX_TYPES,     /* only those that are neither numbers nor plain types */
};

/*
 * The name of a C++ function as people say it, for reading only: without return type, parameters
 * and namespaces, and demangled as far as possible.
 *
 *	void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<c10::BFloat16>,
 *						       at::detail::Array<char*, 1> >(int, …)
 *	CXX_ARGUMENTS: vectorized_elementwise_kernel<4, FillFunctor<bf16>>
 *	CXX_TYPES:     vectorized_elementwise_kernel<FillFunctor>
 *
 * Other names are returned unchanged, and so is any name without memory. Two functions may come out
 * alike.
 */
const char *tsi_cxx_name(struct arena *arena, const char *name, enum cxx_detail detail);

/*
 * demangle.c: "_ZN5aiter4copyIfEEvPT_" → "void aiter::copy<float>(float*)"; of one that is cut off,
 * or where libiberty is missing, "aiter::copy". NULL where it is not mangled, or without memory.
 */
const char *tsi_demangle(struct arena *arena, const char *name);

#endif
