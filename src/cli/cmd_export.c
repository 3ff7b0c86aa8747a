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
#include "tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files written for each rank. */
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
struct export_files {
	const struct tscope_run *run;
	struct inputs inputs;
	const char *folder; /* the first folder_length bytes */
	int folder_length;
	size_t rank_count, file_count;
	char **paths;
	struct output *outputs; /* those not yet written are zero */
};

/* A file below the folder: "rank3/steps.jsonl", of a run with one rank "steps.jsonl". */
struct place {
	char text[NAME_MAX + sizeof("/steps.jsonl")];
};

/* "DIR/rank3/steps.jsonl". NULL: no memory. */
static char *path_of(const struct export_files *files, const struct place *place)
{
	size_t size = (size_t)files->folder_length + sizeof("/") + strlen(place->text);
	char *path = malloc(size);

	if (path)
		snprintf(path, size, "%.*s/%s", files->folder_length, files->folder, place->text);
	return path;
}

static struct place place_of_rank(const struct export_files *files, size_t rank, const char *name)
{
	int64_t number = tscope_run_rank_number(files->run, rank);
	struct place place;

	if (files->rank_count == 1)
		snprintf(place.text, sizeof(place.text), "%s", name);
	else
		snprintf(place.text, sizeof(place.text), "rank%lld/%s",
			 number < 0 ? (long long)rank : (long long)number, name);
	return place;
}

/* "out/" is the folder "out". */
static int length_without_slash(const char *folder)
{
	size_t length = strlen(folder);

	while (length > 0 && folder[length - 1] == '/')
		length--;
	return (int)length;
}

static void deinit(struct export_files *files)
{
	for (size_t i = 0; files->outputs && i < files->file_count; i++)
		output_abandon(&files->outputs[i]);
	for (size_t i = 0; files->paths && i < files->file_count; i++)
		free(files->paths[i]);
	free(files->outputs);
	free(files->paths);
	inputs_deinit(&files->inputs);
}

/* Fails only without memory. */
static enum exit_code init(struct export_files *files, const struct tscope_run *run,
			   const struct options *options)
{
	size_t rank_count = tscope_run_rank_count(run);

	*files = (struct export_files){
		.run = run,
		.folder = options->folder,
		.folder_length = length_without_slash(options->folder),
		.rank_count = rank_count,
		.file_count = rank_count * RANK_FILE_COUNT,
	};
	files->paths = calloc(files->file_count, sizeof(*files->paths));
	files->outputs = calloc(files->file_count, sizeof(*files->outputs));
	inputs_init(&files->inputs, options);
	inputs_add_run(&files->inputs, run);
	if (!files->paths || !files->outputs)
		return EXIT_CODE_INTERNAL;
	for (size_t i = 0; i < files->file_count; i++) {
		struct place place = place_of_rank(files, i / RANK_FILE_COUNT,
						   rank_files[i % RANK_FILE_COUNT].name);

		files->paths[i] = path_of(files, &place);
		if (!files->paths[i])
			return EXIT_CODE_INTERNAL;
	}
	return EXIT_CODE_OK;
}

/* The step records that an entry of the folder may be or contain; false: none. */
static bool place_of_steps(struct place *place, const char *entry)
{
	size_t digit_count = strncmp(entry, "rank", 4) == 0 ? strspn(entry + 4, "0123456789") : 0;
	bool is_rank = digit_count > 0 && entry[4 + digit_count] == '\0';

	snprintf(place->text, sizeof(place->text), "%s%s", entry, is_rank ? "/steps.jsonl" : "");
	return is_rank || strcmp(entry, "steps.jsonl") == 0;
}

static bool is_ours(const struct export_files *files, const struct place *place)
{
	for (size_t i = 0; i < files->file_count; i++)
		if (strcmp(files->paths[i] + files->folder_length + 1, place->text) == 0)
			return true;
	return false;
}

/* rank9 comes before rank10. */
static bool comes_before(const struct place *a, const struct place *b)
{
	size_t a_length = strlen(a->text), b_length = strlen(b->text);

	return a_length != b_length ? a_length < b_length : strcmp(a->text, b->text) < 0;
}

/* The first step records in the folder that are not ours, or "". False: errno says why not. */
static bool find_stranger(struct place *first, const struct export_files *files, DIR *folder)
{
	first->text[0] = '\0';
	for (;;) {
		struct stat status;
		struct place place;

		errno = 0;
		const struct dirent *entry = readdir(folder);
		if (!entry)
			return errno == 0;
		if (!place_of_steps(&place, entry->d_name) ||
		    fstatat(dirfd(folder), place.text, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		    is_ours(files, &place))
			continue;
		if (!first->text[0] || comes_before(&place, first))
			*first = place;
	}
}

static enum exit_code fail_stranger(const struct export_files *files, const struct place *stranger)
{
	char *path = path_of(files, stranger);

	if (!path) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	say("", path, " is not of this run; choose another folder or remove it");
	free(path);
	return EXIT_CODE_OUTPUT;
}

/* Before anything is changed: would records that stay be taken for ranks of this run? */
static enum exit_code check_no_strangers(const struct export_files *files)
{
	DIR *folder = opendir(files->folder);
	struct place stranger;
	bool is_read;

	/* A missing folder is created later, and failing to says why. */
	if (!folder && (errno == ENOENT || errno == ENOTDIR))
		return EXIT_CODE_OK;
	is_read = folder && find_stranger(&stranger, files, folder);
	if (!is_read)
		say_about(files->folder, strerror(errno), "; what it holds is not known");
	if (folder)
		closedir(folder);
	if (!is_read)
		return EXIT_CODE_OUTPUT;
	return stranger.text[0] ? fail_stranger(files, &stranger) : EXIT_CODE_OK;
}

/* Before anything is changed: would a file be lost? */
static enum exit_code check_nothing_is_lost(const struct export_files *files)
{
	struct stat status;

	for (size_t i = 0; i < files->file_count; i++) {
		if (lstat(files->paths[i], &status) != 0)
			continue;
		say("", files->paths[i], " exists; --force replaces it");
		return EXIT_CODE_OUTPUT;
	}
	return EXIT_CODE_OK;
}

/* The number of the only rank that records hold; -1: several, not said, or no records. */
static int64_t rank_number_of(const char *path, const struct options *options)
{
	struct tscope_run_options run_options = load_run_options(options);
	struct tscope_run *run;
	int64_t number = -1;

	if (tscope_run_open(&run, &path, 1, &run_options, NULL) != TSCOPE_OK)
		return -1;
	if (tscope_run_rank_count(run) == 1)
		number = tscope_run_rank_number(run, 0);
	tscope_run_free(run);
	return number;
}

/* The records of one rank have no number in their path: whose are those that are there? */
static enum exit_code check_same_rank(const struct export_files *files,
				      const struct options *options)
{
	int64_t ours = tscope_run_rank_number(files->run, 0), theirs;
	char rest[80];

	if (files->rank_count != 1 || ours < 0 || access(files->paths[0], F_OK) != 0)
		return EXIT_CODE_OK;
	theirs = rank_number_of(files->paths[0], options);
	if (theirs < 0 || theirs == ours)
		return EXIT_CODE_OK;
	snprintf(rest, sizeof(rest), " is of rank %lld, not %lld; choose another folder",
		 (long long)theirs, (long long)ours);
	say("", files->paths[0], rest);
	return EXIT_CODE_OUTPUT;
}

static enum exit_code write_file(struct export_files *files, size_t index)
{
	const struct rank_file *file = &rank_files[index % RANK_FILE_COUNT];
	struct output *out = &files->outputs[index];
	struct tscope_error err = { 0 };
	enum tscope_status status;

	if (!output_make_folders(files->paths[index]) ||
	    !output_open(out, files->paths[index], &files->inputs))
		return EXIT_CODE_OUTPUT;
	status = file->write(out->stream, files->run, index / RANK_FILE_COUNT, &err);
	/* A failed write stays with the stream, and closing it says why. */
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE) {
		say_error(files->paths[index], &err, "");
		return exit_code_of(status);
	}
	return output_close(out) ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}

static enum exit_code write_all(struct export_files *files)
{
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < files->file_count; i++)
		code = write_file(files, i);
	for (size_t i = 0; code == EXIT_CODE_OK && i < files->file_count; i++)
		if (!output_commit(&files->outputs[i]))
			code = EXIT_CODE_OUTPUT;
	return code;
}

/* A run of files about memory alone has ranks and no step. */
static bool has_steps(const struct tscope_run *run)
{
	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		if (tscope_run_step_count(run, i) > 0)
			return true;
	return false;
}

static enum exit_code export_run(const struct tscope_run *run, const struct options *options)
{
	struct export_files files;
	enum exit_code code = init(&files, run, options);

	if (code != EXIT_CODE_OK)
		say_nomem();
	if (code == EXIT_CODE_OK)
		code = check_no_strangers(&files);
	if (code == EXIT_CODE_OK && !options->force)
		code = check_nothing_is_lost(&files);
	if (code == EXIT_CODE_OK)
		code = check_same_rank(&files, options);
	if (code == EXIT_CODE_OK)
		code = write_all(&files);
	for (size_t i = 0; code == EXIT_CODE_OK && !options->quiet && i < files.file_count; i++) {
		tscope_write_escaped(stdout, files.paths[i]);
		putchar('\n');
	}
	deinit(&files);
	return code;
}

static enum exit_code export_folder(const struct options *options)
{
	struct tscope_run *loaded;
	enum exit_code code = load_run(&loaded, options);

	if (loaded && has_steps(loaded)) {
		code = worse(code, export_run(loaded, options));
	} else if (loaded) {
		say("no steps to export: the files hold neither a trace nor step records", "", "");
		code = EXIT_CODE_INPUT;
	}
	tscope_run_free(loaded);
	return code;
}

static enum exit_code export_tables(const struct options *options)
{
	const char *path = tables_path(options);
	struct tscope_runs *loaded;
	enum exit_code code;

	if (path == options->tables && !tables_load_sqlite(path))
		return EXIT_CODE_OUTPUT;
	code = load_runs(&loaded, options, false);
	if (loaded)
		code = worse(code, tables_export(loaded, options));
	tscope_runs_free(loaded);
	return code;
}

static enum exit_code run_export(const struct options *options)
{
	if (!options->folder == !options->tables) {
		say(options->folder ? "--out and --to are two exports: give one"
				    : "export needs a place to write to: --out DIR or --to FILE",
		    "", "");
		return EXIT_CODE_USAGE;
	}
	/* Gates of the project file are for those who can judge. */
	if (options->folder && (options->events || options_are_typed(options, "fail-on"))) {
		say(options->events ? "--events" : "--fail-on", " works with --to only", "");
		return EXIT_CODE_USAGE;
	}
	return options->tables ? export_tables(options) : export_folder(options);
}

const struct command command_export = {
	.name = "export",
	.operands = "RUN... --out DIR | --to FILE",
	.summary = "a run for other tools: its steps, or all figures as SQL or CSV",
	.run = run_export,
};
