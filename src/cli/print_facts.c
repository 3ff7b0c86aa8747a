/* SPDX-License-Identifier: MIT */
/*
 * tscope report --list-facts: the vocabulary of gates, printed from the tables
 * that the analyzers register.
 */
#include "print_facts.h"

#include "terminal.h"

#include <string.h>
#include <tscope/analysis.h>

enum { UNIT_WIDTH = 7 /* "bytes/s" */, MAX_ID = 160 };

/* Aligned columns: as wide as the longest id, which is found before anything is printed. */
struct columns {
	bool is_measured;
	size_t id_width;
};

static void print_row(struct columns *columns, const char *id, const struct tscope_fact_def *fact)
{
	if (!columns->is_measured) {
		if (strlen(id) > columns->id_width)
			columns->id_width = strlen(id);
		return;
	}
	printf("%-*s  %-*s  ", (int)columns->id_width, id, UNIT_WIDTH,
	       tscope_unit_name(fact->unit));
	terminal_print(fact->meaning, strlen(fact->meaning));
	putchar('\n');
}

/* "overlap.comm_ns" */
static void print_all_facts(struct columns *columns)
{
	char id[MAX_ID];

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		for (size_t j = 0; j < analyzer->fact_count; j++) {
			snprintf(id, sizeof(id), "%s.%s", analyzer->id, analyzer->facts[j].name);
			print_row(columns, id, &analyzer->facts[j]);
		}
	}
}

/* "kernels.by_name[].count"; "distributed.straggler.rank" of an object; "….missing_ranks[]" */
static void print_table(struct columns *columns, const char *analyzer_id,
			const struct tscope_table_def *table)
{
	const char *rows = table->shape == TSCOPE_TABLE_OBJECT ? "" : "[]";
	bool is_list = table->shape == TSCOPE_TABLE_LIST;
	char id[MAX_ID];

	for (size_t i = 0; i < table->column_count; i++) {
		snprintf(id, sizeof(id), "%s.%s%s%s%s", analyzer_id, table->name, rows,
			 is_list ? "" : ".", is_list ? "" : table->columns[i].name);
		print_row(columns, id, &table->columns[i]);
	}
}

static void print_all_tables(struct columns *columns)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		for (size_t j = 0; j < analyzer->table_count; j++)
			print_table(columns, analyzer->id, &analyzer->tables[j]);
	}
}

void print_facts(void)
{
	struct columns columns = { 0 };

	print_all_facts(&columns);
	print_all_tables(&columns);
	columns.is_measured = true;
	print_all_facts(&columns);
	fputs("\nTables, for which there are no gates:\n\n", stdout);
	print_all_tables(&columns);
}
