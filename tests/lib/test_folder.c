/* SPDX-License-Identifier: MIT */
#include "test_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char start_folder[4096];
static char test_folder[] = "tscope-test-XXXXXX";

void make_folders(const char *path)
{
	char part[512];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0777) != 0)
			assert_int_equal(errno, EEXIST);
	}
}

void put_bytes(const char *path, const void *bytes, size_t count)
{
	make_folders(path);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

void put_file(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

/* Links are not followed. */
static void remove_tree(const char *path)
{
	DIR *dir = NULL;
	struct stat found;

	assert_int_equal(lstat(path, &found), 0);
	if (S_ISDIR(found.st_mode))
		dir = opendir(path);
	for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
		char inner[4096];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		remove_tree(inner);
	}
	if (dir)
		closedir(dir);
	assert_int_equal(remove(path), 0);
}

int enter_folder(void **state)
{
	(void)state;
	strcpy(strrchr(test_folder, '-'), "-XXXXXX");
	assert_non_null(getcwd(start_folder, sizeof(start_folder)));
	assert_non_null(mkdtemp(test_folder));
	return chdir(test_folder);
}

int leave_folder(void **state)
{
	(void)state;
	assert_int_equal(chdir(start_folder), 0);
	remove_tree(test_folder);
	return 0;
}
