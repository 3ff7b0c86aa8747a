/* SPDX-License-Identifier: MIT */
/*
 * tscope map: keeps what a run needs of each file as a small file, for runs of more ranks than one
 * machine reads. Each file appears whole or not at all, so that a task that was killed can be run
 * again: it does what is left.
 */
#include "command.h"
#include "load_run.h"
#include "loss.h"
#include "message.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The paths that are given, and those in a list. */
struct path_list {
	const char **items;
	size_t count, capacity;
	char *text; /* of the list */
};

struct mapping {
	struct tscope_map *map;
	const struct options *options;
	struct inputs inputs;
	size_t *wanted; /* indices of the files that are to be done */
	size_t wanted_count, done_count, failed_count;
	enum exit_code code;
};

/* ---- which files ---- */

static bool add_path(struct path_list *list, const char *path)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 64;
		const char **items = realloc(list->items, capacity * sizeof(*items));

		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = path;
	return true;
}

/* All of a stream; NULL without memory or where it cannot be read. */
static char *read_stream(FILE *in)
{
	size_t count = 0, capacity = 1 << 16;
	char *text = malloc(capacity);

	while (text) {
		size_t got = fread(text + count, 1, capacity - count - 1, in);

		count += got;
		text[count] = '\0';
		if (got == 0)
			break;
		if (capacity - count > 1)
			continue;
		char *more = realloc(text, capacity *= 2);
		if (!more)
			free(text);
		text = more;
	}
	return text;
}

static enum exit_code read_list(struct path_list *list, const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	bool is_read = false;

	errno = in ? ENOMEM : errno;
	if (in) {
		list->text = read_stream(in);
		is_read = list->text && !ferror(in);
	}
	if (!is_read)
		say_about(path, strerror(errno), "");
	if (in && in != stdin)
		fclose(in);
	if (!is_read)
		return EXIT_CODE_INPUT;
	for (char *line = list->text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line && !add_path(list, line))
			return EXIT_CODE_INTERNAL;
	}
	return EXIT_CODE_OK;
}

static bool read_number(const char *name, size_t *number)
{
	const char *text = getenv(name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*number = (size_t)strtoull(text, &end, 10);
	return *end == '\0';
}

/* One of several tasks of an array, or of a step, by what an engine says of both. */
static bool shard_of_array(struct tscope_shard *shard)
{
	size_t id, first = 0, step = 1, task, task_count;

	if (!read_number("SLURM_ARRAY_TASK_ID", &id) ||
	    !read_number("SLURM_ARRAY_TASK_COUNT", &shard->count))
		return false;
	(void)read_number("SLURM_ARRAY_TASK_MIN", &first);
	(void)read_number("SLURM_ARRAY_TASK_STEP", &step);
	shard->index = (id - first) / (step ? step : 1);
	/*
	 * In a batch script SLURM_NTASKS is the number of tasks it may start, not the job's size.
	 */
	if (read_number("SLURM_PROCID", &task) &&
	    read_number("SLURM_STEP_NUM_TASKS", &task_count) && task < task_count) {
		shard->index = shard->index * task_count + task;
		shard->count *= task_count;
	}
	return true;
}

/* The shard that the environment says; *from: the variable that does, or NULL. */
static enum exit_code shard_of_environment(struct tscope_shard *shard, const char **from)
{
	static const char *const engines[][2] = {
		{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS" },
	};

	*from = NULL;
	if (shard_of_array(shard)) {
		*from = "SLURM_ARRAY_TASK_ID";
	} else {
		for (size_t i = 0; !*from && i < sizeof(engines) / sizeof(engines[0]); i++)
			if (read_number(engines[i][0], &shard->index) &&
			    read_number(engines[i][1], &shard->count))
				*from = engines[i][0];
	}
	if (!*from && getenv("JOB_COMPLETION_INDEX")) {
		say("JOB_COMPLETION_INDEX says which shard this is and not of how many: --shard "
		    "$JOB_COMPLETION_INDEX/N",
		    "", "");
		return EXIT_CODE_USAGE;
	}
	if (*from && shard->index >= shard->count) {
		say("", *from, " is not below the number of shards; give --shard I/N");
		return EXIT_CODE_USAGE;
	}
	return EXIT_CODE_OK;
}

static enum exit_code choose_shard(struct tscope_shard *shard, const struct options *options)
{
	const char *from;
	enum exit_code code;
	char text[80];

	*shard = options->shard;
	if (shard->count > 0)
		return EXIT_CODE_OK;
	code = shard_of_environment(shard, &from);
	if (!from)
		*shard = (struct tscope_shard){ 0 };
	if (code == EXIT_CODE_OK && from && !options->quiet) {
		snprintf(text, sizeof(text), ": this is shard %zu/%zu", shard->index, shard->count);
		say("by ", from, text);
	}
	return code;
}

/* ---- doing it ---- */

static enum exit_code fail_nomem(void)
{
	say_nomem();
	return EXIT_CODE_INTERNAL;
}

/* "DIR/name"; NULL: no memory. */
static char *path_in(const char *folder, const char *name)
{
	size_t size = name ? strlen(folder) + 1 + strlen(name) + 1 : 0;
	char *path = name ? malloc(size) : NULL;

	if (path)
		snprintf(path, size, "%s/%s", folder, name);
	return path;
}

/* Lacking memory, or a medium that failed, is no property of a file: the next task may read it. */
static bool is_of_file(const struct tscope_error *error)
{
	return error->status != TSCOPE_E_IO && error->status != TSCOPE_E_NOMEM &&
	       error->status != TSCOPE_E_INTERNAL;
}

/* Judges how reading a file went; false: keep nothing of it. */
static bool judge_outcome(struct mapping *mapping, size_t place, size_t index)
{
	struct tscope_map_outcome outcome = tscope_map_outcome(mapping->map, place);
	const char *path = tscope_map_path(mapping->map, index);
	enum exit_code code;

	if (!outcome.error) {
		code = judge_loss(path,
				  &(struct loss){ outcome.input.damage, outcome.input.dropped_count,
						  tscope_input_kind_unit(outcome.input.kind) },
				  mapping->options->strict);
		mapping->code = worse(mapping->code, code);
		if (!outcome.input.damage || is_of_file(outcome.input.damage))
			return true;
		mapping->code = worse(mapping->code, EXIT_CODE_INPUT);
		return false;
	}
	say_error(path, outcome.error, "");
	mapping->failed_count++;
	if (mapping->options->strict)
		mapping->code = worse(mapping->code, EXIT_CODE_INPUT);
	if (is_of_file(outcome.error))
		return true;
	mapping->code = worse(mapping->code, exit_code_of(outcome.error->status));
	return false;
}

static void write_one(struct mapping *mapping, size_t place, size_t index)
{
	char *path = path_in(mapping->options->folder, tscope_map_name(mapping->map, index));
	enum exit_code code = EXIT_CODE_OUTPUT;
	struct tscope_error err = { 0 };
	enum tscope_status status;
	struct output out;

	if (!path)
		code = fail_nomem();
	else if (output_make_folders(path) && output_open(&out, path, &mapping->inputs)) {
		status = tscope_map_write(out.stream, mapping->map, place, &err);
		if (status != TSCOPE_OK && status != TSCOPE_E_WRITE)
			say_error(tscope_map_path(mapping->map, index), &err, "");
		code = output_finish(&out, status);
	}
	if (code == EXIT_CODE_OK && !mapping->options->quiet) {
		tscope_write_escaped(stdout, path);
		putchar('\n');
	}
	mapping->code = worse(mapping->code, code);
	free(path);
}

/* The files that are not whole yet. */
static bool find_wanted(struct mapping *mapping)
{
	size_t count = tscope_map_count(mapping->map);

	mapping->wanted = calloc(count + 1, sizeof(*mapping->wanted));
	for (size_t i = 0; mapping->wanted && i < count; i++) {
		char *path = path_in(mapping->options->folder, tscope_map_name(mapping->map, i));

		if (!path)
			return false;
		if (!mapping->options->force && tscope_map_is_done(mapping->map, i, path))
			mapping->done_count++;
		else
			mapping->wanted[mapping->wanted_count++] = i;
		inputs_add(&mapping->inputs, tscope_map_path(mapping->map, i));
		free(path);
	}
	return mapping->wanted != NULL;
}

static void map_all(struct mapping *mapping)
{
	size_t batch = tscope_map_batch(mapping->map);
	struct tscope_error err;

	for (size_t i = 0; i < mapping->wanted_count && mapping->code < EXIT_CODE_OUTPUT;
	     i += batch) {
		size_t left = mapping->wanted_count - i, count = left < batch ? left : batch;

		if (tscope_map_read(mapping->map, mapping->wanted + i, count, &err) != TSCOPE_OK) {
			say_error(NULL, &err, "");
			mapping->code = worse(mapping->code, exit_code_of(err.status));
			return;
		}
		for (size_t k = 0; k < count; k++)
			if (judge_outcome(mapping, k, mapping->wanted[i + k]))
				write_one(mapping, k, mapping->wanted[i + k]);
	}
}

static void say_done(const struct mapping *mapping)
{
	char text[120];

	if (mapping->options->quiet || mapping->done_count == 0)
		return;
	snprintf(text, sizeof(text), ": %zu of %zu files are whole already and stay",
		 mapping->done_count, tscope_map_count(mapping->map));
	say("", mapping->options->folder, text);
}

static enum exit_code map_paths(const struct path_list *list, const struct options *options)
{
	struct tscope_run_options run_options = load_run_options(options);
	struct mapping mapping = { .options = options };
	struct tscope_shard shard;
	struct tscope_error err;
	enum exit_code code = choose_shard(&shard, options);

	if (code != EXIT_CODE_OK)
		return code;
	if (tscope_map_open(&mapping.map, (const char *const *)list->items, list->count, &shard,
			    &run_options, &err) != TSCOPE_OK) {
		say_error(NULL, &err, "");
		return exit_code_of(err.status);
	}
	if (options->input_name &&
	    tscope_map_name_input(mapping.map, options->input_name, &err) != TSCOPE_OK) {
		say_error(NULL, &err, "");
		tscope_map_free(mapping.map);
		return err.status == TSCOPE_E_FORMAT ? EXIT_CODE_USAGE : exit_code_of(err.status);
	}
	inputs_init(&mapping.inputs, options);
	if (find_wanted(&mapping)) {
		say_done(&mapping);
		map_all(&mapping);
	} else {
		mapping.code = fail_nomem();
	}
	if (mapping.failed_count > 0 && mapping.failed_count == tscope_map_count(mapping.map))
		mapping.code = worse(mapping.code, EXIT_CODE_INPUT);
	free(mapping.wanted);
	inputs_deinit(&mapping.inputs);
	tscope_map_free(mapping.map);
	return mapping.code;
}

static enum exit_code run_map(const struct options *options)
{
	struct path_list list = { 0 };
	enum exit_code code = EXIT_CODE_OK;

	if (!options->folder) {
		say("map needs a folder to write into: --out DIR", "", "");
		return EXIT_CODE_USAGE;
	}
	for (int i = 0; i < options->operand_count && code == EXIT_CODE_OK; i++)
		if (!add_path(&list, options->operands[i]))
			code = EXIT_CODE_INTERNAL;
	if (code == EXIT_CODE_OK && options->files_from)
		code = read_list(&list, options->files_from);
	if (code == EXIT_CODE_INTERNAL)
		say_nomem();
	if (code == EXIT_CODE_OK && list.count == 0) {
		say("map needs a file: FILE... or --files-from LIST", "", "");
		code = EXIT_CODE_USAGE;
	}
	if (code == EXIT_CODE_OK)
		code = map_paths(&list, options);
	free(list.items);
	free(list.text);
	return code;
}

const struct command command_map = {
	.name = "map",
	.operands = "FILE... --out DIR",
	.summary = "what report needs of each file, as a small file: for large clusters",
	.may_lack_operands = true,
	.run = run_map,
};
