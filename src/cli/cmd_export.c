/* SPDX-License-Identifier: MIT */
/*
 * tscope export: the step timeline of a run as pytscope's run directories,
 * which `tscope report` and other tools read. Every file is written under
 * another name first; only when all are whole do they get their own.
 */
#include "command.h"
#include "load_run.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is written for each rank. */
static const struct rank_file {
	const char *name;
	enum tscope_status (*write)(FILE *out, const struct tscope_run *run, size_t rank,
				    struct tscope_error *err);
} rank_files[] = {
	{ "steps.jsonl", tscope_run_write_steps },
	{ "run.json", tscope_run_write_meta },
};

enum { RANK_FILE_COUNT = sizeof(rank_files) / sizeof(rank_files[0]) };

/* The files of an export: RANK_FILE_COUNT for each rank, one after the other. */
struct export
{
	const struct tscope_run *run;
	const char *folder; /* the first folder_length bytes */
	int folder_length;
	size_t rank_count, file_count;
	char **paths;
	struct output *outputs; /* those not yet written are zero */
};

static enum exit_code fail_nomem(void)
{
	say("", tscope_status_text(TSCOPE_E_NOMEM), "");
	return EXIT_CODE_INTERNAL;
}

/* "DIR/rank3/steps.jsonl"; of a run with one rank "DIR/steps.jsonl". NULL: no memory. */
static char *path_of(const struct export *export, size_t rank, const char *name)
{
	int64_t number = tscope_run_rank_number(export->run, rank);
	size_t size = (size_t) export->folder_length + strlen(name) + 32;
	char *path = malloc(size);

	if (!path)
		return NULL;
	if (export->rank_count == 1)
		snprintf(path, size, "%.*s/%s", export->folder_length, export->folder, name);
	else
		snprintf(path, size, "%.*s/rank%lld/%s", export->folder_length, export->folder,
			 number < 0 ? (long long)rank : (long long)number, name);
	return path;
}

/* "out/" is the folder "out". */
static int length_without_slash(const char *folder)
{
	size_t length = strlen(folder);

	while (length > 0 && folder[length - 1] == '/')
		length--;
	return (int)length;
}

static void deinit(struct export *export)
{
	for (size_t i = 0; export->outputs && i < export->file_count; i++)
		output_abandon(&export->outputs[i]);
	for (size_t i = 0; export->paths && i < export->file_count; i++)
		free(export->paths[i]);
	free(export->outputs);
	free(export->paths);
}

static enum exit_code init(struct export *export, const struct tscope_run *run, const char *folder)
{
	size_t rank_count = tscope_run_rank_count(run);

	*export = (struct export){
		.run = run,
		.folder = folder,
		.folder_length = length_without_slash(folder),
		.rank_count = rank_count,
		.file_count = rank_count * RANK_FILE_COUNT,
	};
	export->paths = calloc(export->file_count, sizeof(*export->paths));
	export->outputs = calloc(export->file_count, sizeof(*export->outputs));
	if (!export->paths || !export->outputs)
		return fail_nomem();
	for (size_t i = 0; i < export->file_count; i++) {
		export->paths[i] =
			path_of(export, i / RANK_FILE_COUNT, rank_files[i % RANK_FILE_COUNT].name);
		if (!export->paths[i])
			return fail_nomem();
	}
	return EXIT_CODE_OK;
}

/* Before anything is changed: would a file be lost? */
static enum exit_code check_nothing_is_lost(const struct export *export)
{
	struct stat status;

	for (size_t i = 0; i < export->file_count; i++) {
		if (lstat(export->paths[i], &status) != 0)
			continue;
		say("", export->paths[i], " exists; --force replaces it");
		return EXIT_CODE_OUTPUT;
	}
	return EXIT_CODE_OK;
}

/* Creates the folders that lead to a file, where they are not there yet. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool is_there;

		*slash = '\0';
		is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
		if (!is_there)
			say_about(path, strerror(errno), "; the folder was not created");
		*slash = '/';
		if (!is_there)
			return false;
	}
	return true;
}

static enum exit_code write_file(struct export *export, size_t index)
{
	const struct rank_file *file = &rank_files[index % RANK_FILE_COUNT];
	struct output *out = &export->outputs[index];
	struct tscope_error err = { 0 };
	enum tscope_status status;

	if (!make_folders(export->paths[index]) || !output_open(out, export->paths[index]))
		return EXIT_CODE_OUTPUT;
	status = file->write(out->stream, export->run, index / RANK_FILE_COUNT, &err);
	/* A failed write stays with the stream, and closing it says why. */
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE) {
		say_error(export->paths[index], &err, "");
		return exit_code_of(status);
	}
	return output_close(out) ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}

static enum exit_code write_all(struct export *export)
{
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < export->file_count; i++)
		code = write_file(export, i);
	for (size_t i = 0; code == EXIT_CODE_OK && i < export->file_count; i++)
		if (!output_commit(&export->outputs[i]))
			code = EXIT_CODE_OUTPUT;
	return code;
}

static enum exit_code export_run(const struct tscope_run *run, const struct options *options)
{
	struct export export;
	enum exit_code code = init(&export, run, options->folder);

	if (code == EXIT_CODE_OK && !options->force)
		code = check_nothing_is_lost(&export);
	if (code == EXIT_CODE_OK)
		code = write_all(&export);
	for (size_t i = 0; code == EXIT_CODE_OK && !options->quiet && i < export.file_count; i++) {
		tscope_write_escaped(stdout, export.paths[i]);
		putchar('\n');
	}
	deinit(&export);
	return code;
}

static enum exit_code run(const struct options *options)
{
	struct tscope_run *loaded;
	enum exit_code code;

	if (!options->folder) {
		say("export needs a folder to write into: --out DIR", "", "");
		return EXIT_CODE_USAGE;
	}
	code = load_run(&loaded, options);
	if (loaded)
		code = worse(code, export_run(loaded, options));
	tscope_run_free(loaded);
	return code;
}

const struct command command_export = {
	.name = "export",
	.operands = "RUN... --out DIR",
	.summary = "the steps of a run as steps.jsonl and run.json, rank by rank",
	.run = run,
};
