/* SPDX-License-Identifier: MIT */
/*
 * Runs as a folder of CSV files, one a table, for those without SQL. All files are whole before
 * the first one gets its name.
 */
#include "tables.h"

#include "message.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 400 };

struct csv_file {
	char name[TABLE_NAME_MAX];
	char *path;
	struct output output;
};

struct csv_folder {
	struct table_store store; /* first: a pointer to it is one to the folder */
	const char *path;
	const struct inputs *inputs;
	struct csv_file files[MAX_FILES];
	size_t count;
	struct csv_file *current;
	size_t column_count;
};

/* A spreadsheet takes what begins so for a formula. */
static void put_text(FILE *out, const char *text)
{
	putc('"', out);
	if (*text != '\0' && strchr("=+-@\t\r", text[strspn(text, " ")]) &&
	    text[strspn(text, " ")] != '\0')
		putc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putc('"', out);
		putc((unsigned char)*text < 0x20 ? ' ' : *text, out);
	}
	putc('"', out);
}

static void put_value(FILE *out, const struct tscope_value *value)
{
	if (value->kind == TSCOPE_VALUE_INT)
		fprintf(out, "%" PRId64, value->integer);
	else if (value->kind == TSCOPE_VALUE_FLAG)
		fputs(value->flag ? "1" : "0", out);
	else if (value->kind == TSCOPE_VALUE_REAL && isfinite(value->real))
		fprintf(out, "%.17g", value->real);
	else if (value->kind == TSCOPE_VALUE_TEXT)
		put_text(out, value->text);
}

static struct csv_file *find_file(struct csv_folder *folder, const char *name)
{
	for (size_t i = 0; i < folder->count; i++)
		if (strcmp(folder->files[i].name, name) == 0)
			return &folder->files[i];
	return NULL;
}

static struct csv_file *open_file(struct csv_folder *folder, const struct table_shape *shape)
{
	struct csv_file *file = &folder->files[folder->count];
	size_t size = strlen(folder->path) + sizeof("/.csv") + strlen(shape->name);
	struct stat status;

	if (folder->count == MAX_FILES || !(file->path = malloc(size))) {
		say_nomem();
		return NULL;
	}
	snprintf(file->path, size, "%s/%s.csv", folder->path, shape->name);
	snprintf(file->name, sizeof(file->name), "%s", shape->name);
	folder->count++;
	if (lstat(file->path, &status) == 0 && !folder->inputs->may_force) {
		say("", file->path, " exists; --force replaces it");
		return NULL;
	}
	if (!output_open(&file->output, file->path, folder->inputs))
		return NULL;
	for (size_t i = 0; i < shape->count; i++)
		fprintf(file->output.stream, "%s%s", i > 0 ? "," : "", shape->columns[i].name);
	fputs("\n", file->output.stream);
	return file;
}

static bool csv_begin(struct table_store *store, const struct table_shape *shape)
{
	struct csv_folder *folder = (struct csv_folder *)store;

	folder->column_count = shape->count;
	folder->current = find_file(folder, shape->name);
	if (!folder->current)
		folder->current = open_file(folder, shape);
	return folder->current != NULL;
}

static bool csv_row(struct table_store *store, const struct tscope_value *values)
{
	struct csv_folder *folder = (struct csv_folder *)store;
	FILE *out = folder->current->output.stream;

	for (size_t i = 0; i < folder->column_count; i++) {
		fputs(i > 0 ? "," : "", out);
		put_value(out, &values[i]);
	}
	fputs("\n", out);
	return !ferror(out) || output_close(&folder->current->output);
}

static bool csv_end(struct table_store *store)
{
	(void)store;
	return true;
}

static bool write_runs(struct csv_folder *folder, struct table_source *sources, size_t count)
{
	bool is_good = output_make_folder(folder->path);

	for (size_t i = 0; is_good && i < count; i++) {
		sources[i].number = (int64_t)i + 1;
		is_good = tables_write(&folder->store, &sources[i]);
	}
	for (size_t i = 0; is_good && i < folder->count; i++)
		is_good = output_close(&folder->files[i].output);
	for (size_t i = 0; is_good && i < folder->count; i++)
		is_good = output_commit(&folder->files[i].output);
	return is_good;
}

enum exit_code tables_to_csv(const char *path, struct table_source *sources, size_t count,
			     const struct inputs *inputs)
{
	struct csv_folder *folder = calloc(1, sizeof(*folder));
	bool is_good;

	if (!folder) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	folder->store = (struct table_store){ csv_begin, csv_row, csv_end };
	folder->path = path;
	folder->inputs = inputs;
	is_good = write_runs(folder, sources, count);
	for (size_t i = 0; i < folder->count; i++) {
		output_abandon(&folder->files[i].output);
		free(folder->files[i].path);
	}
	free(folder);
	return is_good ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}
