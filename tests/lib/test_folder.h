/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_TEST_FOLDER_H
#define TSCOPE_TESTS_TEST_FOLDER_H

#include <stddef.h>

/*
 * A folder of its own for a test, which is the current one while it runs: set-up and teardown of
 * cmocka. What is made in it is removed with it.
 */
int enter_folder(void **state);
int leave_folder(void **state);

/* A file with this text, and the folders that it lies in. */
void put_file(const char *path, const char *text);
void put_bytes(const char *path, const void *bytes, size_t count);
void make_folders(const char *path); /* those that what is called so lies in */

#endif
