/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_SANITIZED_H
#define TSCOPE_CLI_SANITIZED_H

/* Is this a build with a sanitizer, whose runtime needs more than the program: gcc, clang. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
