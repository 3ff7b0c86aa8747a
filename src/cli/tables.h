/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_TABLES_H
#define TSCOPE_CLI_TABLES_H

#include "gates.h"
#include "inputs.h"

/*
 * A run as tables, for a database or a folder of CSV files: the walk over facts, tables, findings
 * and spans knows nothing of where they go, and a store nothing of what they are.
 */
enum { TABLE_MAX_COLUMNS = 64, TABLE_NAME_MAX = 96 };

struct table_column {
	char name[TABLE_NAME_MAX];
	const char *type; /* of SQL */
};

struct table_shape {
	char name[TABLE_NAME_MAX];
	struct table_column columns[TABLE_MAX_COLUMNS];
	size_t count;
};

/* Its functions have said what went wrong when they return false. */
struct table_store {
	/* A table whose rows follow; each table of a run is begun once. */
	bool (*begin)(struct table_store *store, const struct table_shape *shape);
	/* As many values as the table has columns, the run's number first. */
	bool (*row)(struct table_store *store, const struct tscope_value *values);
	bool (*end)(struct table_store *store);
};

/* The exported part of one run. */
struct table_source {
	const struct tscope_run *run;
	const struct tscope_diagnosis *diagnosis;
	const struct gates *gates;
	const struct options *options;
	const char *path; /* that names it */
	int64_t time_ns;  /* when the last of its inputs was written */
	int64_t number;   /* of the run in the store */
};

/* Every table of the run; those without a row are left out but for the ones that views read. */
bool tables_write(struct table_store *store, const struct table_source *source);

/* tscope export --to: diagnoses the runs, evaluates the gates and writes all of it. */
enum exit_code tables_export(const struct tscope_runs *runs, const struct options *options);

/* Where --to writes: "csv:DIR" → "DIR"; NULL: nothing. */
const char *tables_path(const struct options *options);

/* "sqlite 3.40.1", the library that is loaded, or that it is not built in. */
const char *tables_sqlite_version(void);

/* Before the first tables_to_sqlite(). False: no library; it says so, and what to do. */
bool tables_load_sqlite(const char *path);

/* Lines of the budget in series.steps, one after another; NULL: no more. For a view. */
const char *tables_budget_column(size_t index);

/*
 * The stores. Runs are appended to a database, or take the place of the same one; a folder gets
 * new files. Both say what goes wrong, and leave what was there as it was then.
 */
enum exit_code tables_to_sqlite(const char *path, struct table_source *sources, size_t count,
				const struct inputs *inputs);
enum exit_code tables_to_csv(const char *folder, struct table_source *sources, size_t count,
			     const struct inputs *inputs);

#endif
