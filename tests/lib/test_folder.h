/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_TEST_FOLDER_H
#define TSCOPE_TESTS_TEST_FOLDER_H

#include "check.h"

/*
 * A test in a folder of its own, which is the current one while it runs and is removed behind it
 * with all that was made in it.
 */
#define TEST_IN_FOLDER(name) TEST_WITH(name, enter_folder, leave_folder)

int enter_folder(void **state);
int leave_folder(void **state);

/* A file with this text, and the folders that it lies in. */
void put_file(const char *path, const char *text);
void put_bytes(const char *path, const void *bytes, size_t count);
void make_folders(const char *path); /* those that what is called so lies in */

#endif
