/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_LIBRARY_H
#define TSCOPE_BASE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * For a struct of the calls of a library that is loaded when it is needed, or linked:
 *
 *	#define CALLS(X) X(first_call) X(second_call)
 *	struct calls { CALLS(TSI_CALL_MEMBER) };
 *	static const char names[][48] = { CALLS(TSI_CALL_NAME) };
 *	struct calls linked = { CALLS(TSI_CALL_ITSELF) };
 */
#define TSI_CALL_MEMBER(name) __typeof__(&name) name;
#define TSI_CALL_NAME(name) #name,
#define TSI_CALL_ITSELF(name) .name = name,

/* Fills the struct. Once loaded the library stays: the next one finds it. */
static inline bool tsi_library_load(void *calls, const char *library, const char (*names)[48],
				    size_t count)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	char *call = calls;

	for (size_t i = 0; i < count; i++, call += sizeof(void *)) {
		void *found = handle ? dlsym(handle, names[i]) : NULL;

		if (!found)
			return false;
		memcpy(call, &found, sizeof(found)); /* ISO C has no cast from data to functions */
	}
	return true;
}

#endif
