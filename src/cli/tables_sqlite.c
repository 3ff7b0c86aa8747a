/* SPDX-License-Identifier: MIT */
/*
 * Runs in an SQLite database. One transaction appends them all; a run that is in it already, by
 * its path and the time of its inputs, is replaced. Tables grow columns as tscope grows facts.
 */
#include "tables.h"

#include "message.h"
#include "output.h"

#if HAVE_SQLITE

#ifdef SQLITE_LIBRARY
#include <dlfcn.h>
#endif
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define CALLS(X) \
	X(bind_double) X(bind_int) X(bind_int64) X(bind_null) X(bind_text) X(busy_timeout) \
	X(close) X(column_int64) X(column_text) X(errmsg) X(exec) X(finalize) X(open_v2) \
	X(prepare_v2) X(reset) X(step)
/* clang-format on */

#define CALL_MEMBER(name) __typeof__(&sqlite3_##name) name;
#define CALL_ITSELF(name) .name = sqlite3_##name,
#define CALL_NAME(name) "sqlite3_" #name,

struct sqlite_calls {
	CALLS(CALL_MEMBER)
};

#ifdef SQLITE_LIBRARY

/* Its relocations would cost each start of the program more than a small trace does. */
static struct sqlite_calls sqlite;

bool tables_load_sqlite(const char *path)
{
	static const char names[][24] = { CALLS(CALL_NAME) };
	void *library = dlopen(SQLITE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	char *call = (char *)&sqlite;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++, call += sizeof(void *)) {
		void *found = library ? dlsym(library, names[i]) : NULL;

		if (!found) {
			say("cannot write ", path,
			    ": cannot load " SQLITE_LIBRARY "; install it (Debian: libsqlite3-0), "
			    "or write CSV files: --to csv:DIR");
			return false;
		}
		memcpy(call, &found, sizeof(found)); /* ISO C has no cast from data to functions */
	}
	return true;
}

const char *tables_sqlite_version(void)
{
	return "sqlite: " SQLITE_LIBRARY ", loaded by export";
}

#else

static const struct sqlite_calls sqlite = { CALLS(CALL_ITSELF) };

bool tables_load_sqlite(const char *path)
{
	(void)path;
	return true;
}

const char *tables_sqlite_version(void)
{
	return "sqlite " SQLITE_VERSION;
}

#endif

enum {
	APPLICATION_ID = 0x7473636f, /* "tsco": whose the file is */
	SCHEMA_VERSION = 1,
	SQL_MAX = 16384,
	BUSY_MS = 10000,
};

struct database {
	struct table_store store; /* first: a pointer to it is one to the database */
	const char *path;
	sqlite3 *handle;
	sqlite3_stmt *insert;
	size_t column_count;
	char sql[SQL_MAX];
	size_t length;
};

static bool fail(const struct database *db)
{
	say_about(db->path, sqlite.errmsg(db->handle), "; nothing was changed in it");
	return false;
}

static bool execute(const struct database *db, const char *sql)
{
	return sqlite.exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || fail(db);
}

static void append(struct database *db, const char *text)
{
	size_t length = strlen(text);

	if (db->length + length < SQL_MAX) {
		memcpy(db->sql + db->length, text, length + 1);
		db->length += length;
	}
}

static void begin_sql(struct database *db, const char *text)
{
	db->length = 0;
	append(db, text);
}

/* The first number that a statement yields, or -1. */
static int64_t ask(const struct database *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number = -1;

	if (sqlite.prepare_v2(db->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	if (sqlite.step(statement) == SQLITE_ROW)
		number = sqlite.column_int64(statement, 0);
	sqlite.finalize(statement);
	return number;
}

/* ---- tables ---- */

static void append_columns(struct database *db, const struct table_shape *shape, bool with_types)
{
	for (size_t i = 0; i < shape->count; i++) {
		append(db, i > 0 ? ", \"" : "\"");
		append(db, shape->columns[i].name);
		append(db, with_types ? "\" " : "\"");
		append(db, with_types ? shape->columns[i].type : "");
	}
}

static bool has_column(const struct database *db, const struct table_shape *shape, size_t column)
{
	sqlite3_stmt *statement;
	bool has_it = false;

	if (sqlite.prepare_v2(db->handle,
			      "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE",
			      -1, &statement, NULL) != SQLITE_OK)
		return false;
	sqlite.bind_text(statement, 1, shape->name, -1, SQLITE_STATIC);
	sqlite.bind_text(statement, 2, shape->columns[column].name, -1, SQLITE_STATIC);
	has_it = sqlite.step(statement) == SQLITE_ROW;
	sqlite.finalize(statement);
	return has_it;
}

/* Columns that an earlier version had not. */
static bool add_columns(struct database *db, const struct table_shape *shape)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (has_column(db, shape, i))
			continue;
		begin_sql(db, "ALTER TABLE \"");
		append(db, shape->name);
		append(db, "\" ADD COLUMN \"");
		append(db, shape->columns[i].name);
		append(db, "\" ");
		append(db, shape->columns[i].type);
		if (!execute(db, db->sql))
			return false;
	}
	return true;
}

static bool create(struct database *db, const struct table_shape *shape)
{
	begin_sql(db, "CREATE TABLE IF NOT EXISTS \"");
	append(db, shape->name);
	append(db, "\" (");
	append_columns(db, shape, true);
	append(db, ")");
	if (!execute(db, db->sql) || !add_columns(db, shape))
		return false;
	begin_sql(db, "CREATE INDEX IF NOT EXISTS \"of_run_");
	append(db, shape->name);
	append(db, "\" ON \"");
	append(db, shape->name);
	append(db, "\" (\"run\")");
	return execute(db, db->sql);
}

static bool sqlite_begin(struct table_store *store, const struct table_shape *shape)
{
	struct database *db = (struct database *)store;

	if (!create(db, shape))
		return false;
	begin_sql(db, "INSERT INTO \"");
	append(db, shape->name);
	append(db, "\" (");
	append_columns(db, shape, false);
	append(db, ") VALUES (");
	for (size_t i = 0; i < shape->count; i++)
		append(db, i > 0 ? ", ?" : "?");
	append(db, ")");
	db->column_count = shape->count;
	return sqlite.prepare_v2(db->handle, db->sql, -1, &db->insert, NULL) == SQLITE_OK ||
	       fail(db);
}

static int bind(sqlite3_stmt *insert, int index, const struct tscope_value *value)
{
	switch (value->kind) {
	case TSCOPE_VALUE_INT:
		return sqlite.bind_int64(insert, index, value->integer);
	case TSCOPE_VALUE_FLAG:
		return sqlite.bind_int(insert, index, value->flag);
	case TSCOPE_VALUE_REAL:
		return sqlite.bind_double(insert, index, value->real);
	case TSCOPE_VALUE_TEXT:
		return sqlite.bind_text(insert, index, value->text, -1, SQLITE_STATIC);
	case TSCOPE_VALUE_ABSENT:
		break;
	}
	return sqlite.bind_null(insert, index);
}

static bool sqlite_row(struct table_store *store, const struct tscope_value *values)
{
	struct database *db = (struct database *)store;

	for (size_t i = 0; i < db->column_count; i++)
		if (bind(db->insert, (int)i + 1, &values[i]) != SQLITE_OK)
			return fail(db);
	if (sqlite.step(db->insert) != SQLITE_DONE)
		return fail(db);
	return sqlite.reset(db->insert) == SQLITE_OK || fail(db);
}

static bool sqlite_end(struct table_store *store)
{
	struct database *db = (struct database *)store;
	bool is_good = sqlite.finalize(db->insert) == SQLITE_OK;

	db->insert = NULL;
	return is_good || fail(db);
}

/* ---- views ---- */

/* "budget": a row for each step, rank and line. */
static bool create_budget(struct database *db)
{
	const char *column;

	begin_sql(db, "CREATE VIEW \"budget\" AS ");
	for (size_t i = 0; (column = tables_budget_column(i)); i++) {
		append(db, i > 0 ? " UNION ALL SELECT" : "SELECT");
		append(db, " run, of_rank AS rank, step, substr('");
		append(db, column);
		append(db, "', 6, length('");
		append(db, column);
		append(db, "') - 8) AS line, \"");
		append(db, column);
		append(db, "\" AS ns FROM series_steps WHERE \"");
		append(db, column);
		append(db, "\" IS NOT NULL");
	}
	return execute(db, "DROP VIEW IF EXISTS \"budget\"") && execute(db, db->sql);
}

static bool create_views(struct database *db)
{
	return execute(db, "DROP VIEW IF EXISTS kernels;"
			   "CREATE VIEW kernels AS SELECT * FROM kernels_by_name"
			   " WHERE of_rank IS NOT NULL AND of_device IS NULL;"
			   "DROP VIEW IF EXISTS operators;"
			   "CREATE VIEW operators AS SELECT * FROM operators_by_name"
			   " WHERE of_rank IS NOT NULL AND of_device IS NULL;"
			   "DROP VIEW IF EXISTS collectives;"
			   "CREATE VIEW collectives AS SELECT * FROM collectives_by_kind"
			   " WHERE of_rank IS NOT NULL AND of_device IS NULL;"
			   "DROP VIEW IF EXISTS history;"
			   "CREATE VIEW history AS SELECT r.run, r.path,"
			   " datetime(r.time_ns / 1000000000, 'unixepoch') AS time,"
			   " f.name, f.value, f.unit, f.doubt FROM runs r JOIN facts f"
			   " ON f.run = r.run AND f.rank IS NULL AND f.device IS NULL;") &&
	       create_budget(db);
}

/* ---- runs ---- */

/* The number of the run with this path and time: its old one, whose rows go, or a new one. */
static bool choose_number(struct database *db, struct table_source *source)
{
	sqlite3_stmt *statement;
	bool is_new = true;

	source->number = 1 + ask(db, "SELECT coalesce(max(run), 0) FROM runs");
	if (source->number == 0)
		source->number = 1;
	if (sqlite.prepare_v2(db->handle, "SELECT run FROM runs WHERE path = ?1 AND time_ns = ?2",
			      -1, &statement, NULL) != SQLITE_OK)
		return true; /* no such table yet */
	sqlite.bind_text(statement, 1, source->path, -1, SQLITE_STATIC);
	sqlite.bind_int64(statement, 2, source->time_ns);
	if (sqlite.step(statement) == SQLITE_ROW) {
		source->number = sqlite.column_int64(statement, 0);
		is_new = false;
	}
	sqlite.finalize(statement);
	if (is_new)
		return true;
	if (sqlite.prepare_v2(db->handle,
			      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
			      " WHERE m.type = 'table' AND c.name = 'run'",
			      -1, &statement, NULL) != SQLITE_OK)
		return fail(db);
	while (sqlite.step(statement) == SQLITE_ROW) {
		char number[32];

		snprintf(number, sizeof(number), "%lld", (long long)source->number);
		begin_sql(db, "DELETE FROM \"");
		append(db, (const char *)sqlite.column_text(statement, 0));
		append(db, "\" WHERE run = ");
		append(db, number);
		if (!execute(db, db->sql)) {
			sqlite.finalize(statement);
			return false;
		}
	}
	sqlite.finalize(statement);
	return true;
}

/* A file that is there must be a database of ours, of a version that we know. */
static bool check_owner(struct database *db)
{
	int64_t version = ask(db, "PRAGMA user_version");
	char pragmas[96];

	if (ask(db, "SELECT count(*) FROM sqlite_master") == 0) {
		snprintf(pragmas, sizeof(pragmas),
			 "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
			 SCHEMA_VERSION);
		return execute(db, pragmas);
	}
	if (ask(db, "PRAGMA application_id") == APPLICATION_ID && version == SCHEMA_VERSION)
		return true;
	say_about(db->path,
		  version > SCHEMA_VERSION ? "a later version of tscope made it"
					   : "it is no database that tscope made",
		  "; nothing was changed in it");
	return false;
}

static bool write_runs(struct database *db, struct table_source *sources, size_t count)
{
	if (!execute(db, "PRAGMA temp_store = MEMORY") || !execute(db, "BEGIN IMMEDIATE") ||
	    !check_owner(db))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!choose_number(db, &sources[i]) || !tables_write(&db->store, &sources[i]))
			return false;
	return create_views(db) && execute(db, "COMMIT");
}

/* A file that is there keeps its journal, by which the next to open it takes back what is half. */
struct guards {
	struct temporary *database, *journal;
};

static bool guard(struct guards *guards, const char *path)
{
	size_t size = strlen(path) + sizeof("-journal");
	char *journal = malloc(size);

	if (journal) {
		snprintf(journal, size, "%s-journal", path);
		guards->journal = output_guard(journal);
		guards->database = output_guard(path);
	}
	free(journal);
	return guards->journal && guards->database;
}

static void release(const struct guards *guards, bool is_whole)
{
	if (guards->database)
		output_release(guards->database, is_whole);
	if (guards->journal)
		output_release(guards->journal, is_whole);
}

static bool write_database(struct database *db, struct table_source *sources, size_t count)
{
	bool is_good;

	if (sqlite.open_v2(db->path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			   NULL) != SQLITE_OK)
		is_good = fail(db);
	else
		is_good = sqlite.busy_timeout(db->handle, BUSY_MS) == SQLITE_OK &&
			  write_runs(db, sources, count);
	sqlite.finalize(db->insert);
	/* Uncommitted changes are rolled back. */
	sqlite.close(db->handle);
	return is_good;
}

enum exit_code tables_to_sqlite(const char *path, struct table_source *sources, size_t count,
				const struct inputs *inputs)
{
	const char *refusal = output_refusal(path, inputs);
	struct database *db = calloc(1, sizeof(*db));
	struct guards guards = { 0 };
	bool is_good;

	if (refusal) {
		say_about(path, refusal, "; nothing was changed in it");
		free(db);
		return EXIT_CODE_OUTPUT;
	}
	if (!db || (access(path, F_OK) != 0 && !guard(&guards, path))) {
		say_nomem();
		release(&guards, true);
		free(db);
		return EXIT_CODE_INTERNAL;
	}
	db->store = (struct table_store){ sqlite_begin, sqlite_row, sqlite_end };
	db->path = path;
	is_good = write_database(db, sources, count);
	release(&guards, is_good);
	free(db);
	return is_good ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}

#else

const char *tables_sqlite_version(void)
{
	return "sqlite: not built in";
}

bool tables_load_sqlite(const char *path)
{
	say("cannot write ", path, ": this build has no SQLite; --to csv:DIR writes CSV files");
	return false;
}

enum exit_code tables_to_sqlite(const char *path, struct table_source *sources, size_t count,
				const struct inputs *inputs)
{
	(void)path;
	(void)sources;
	(void)count;
	(void)inputs;
	return EXIT_CODE_OUTPUT;
}

#endif
