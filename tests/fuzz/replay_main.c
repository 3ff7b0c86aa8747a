/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without a fuzzer: once on no bytes at all, then on each
 * file that lies in the folders named on the command line. So every finding that was
 * ever put into a corpus is tested again by a plain `meson test`.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;

	if (!file || fstat(fileno(file), &status) != 0) {
		perror(path);
		return 1;
	}
	if (S_ISDIR(status.st_mode)) {
		fclose(file);
		return 0;
	}
	size_t length = (size_t)status.st_size;
	uint8_t *data = malloc(length + 1);
	if (!data || fread(data, 1, length, file) != length) {
		perror(path);
		return 1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, length);
	free(data);
	return 0;
}

static int replay_folder(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	int failed = 0;

	if (count < 0) {
		perror(folder);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			failed |= replay_file(path);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		failed |= replay_folder(argv[i]);
	return failed;
}
