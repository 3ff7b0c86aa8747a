/* SPDX-License-Identifier: MIT */
/*
 * Prints every fact and column as tscope-json(5) should list it, what each analyzer and table is
 * about as lines of text, and the shape of each table as a comment, through the public API: what
 * check_facts.py compares the page with, and check_schema.py the JSON Schema.
 */
#include <stdio.h>
#include <tscope/tscope.h>

static const char *const shapes[] = {
	[TSCOPE_TABLE_ROWS] = "rows",
	[TSCOPE_TABLE_LIST] = "list",
	[TSCOPE_TABLE_OBJECT] = "object",
	[TSCOPE_TABLE_COLUMNS] = "columns",
};

static void list(const struct tscope_fact_def *facts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf(".It %s Ta %s Ta %s\n", facts[i].name, tscope_unit_name(facts[i].unit),
		       facts[i].meaning);
}

int main(void)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		printf(".Ss %s\n%s\n", analyzer->id, analyzer->summary);
		list(analyzer->facts, analyzer->fact_count);
		for (size_t j = 0; j < analyzer->table_count; j++) {
			printf(".Sy %s :\n", analyzer->tables[j].name);
			printf("%s\n", analyzer->tables[j].meaning);
			printf(".\\\" %s\n", shapes[analyzer->tables[j].shape]);
			list(analyzer->tables[j].columns, analyzer->tables[j].column_count);
		}
	}
	return 0;
}
