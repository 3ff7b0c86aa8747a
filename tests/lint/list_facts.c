/* SPDX-License-Identifier: MIT */
/*
 * Prints every fact and column as tscope-json(5) should list it, through the
 * public API: what check_facts.py compares the page with.
 */
#include <stdio.h>
#include <tscope/tscope.h>

static const char *const unit_names[] = {
	[TSCOPE_UNIT_COUNT] = "count", [TSCOPE_UNIT_NS] = "ns",
	[TSCOPE_UNIT_BYTES] = "bytes", [TSCOPE_UNIT_BYTES_PER_SECOND] = "bytes/s",
	[TSCOPE_UNIT_RATIO] = "ratio", [TSCOPE_UNIT_NUMBER] = "number",
	[TSCOPE_UNIT_TEXT] = "text",   [TSCOPE_UNIT_FLAG] = "flag",
};

static void list(const struct tscope_fact_def *facts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf(".It %s Ta %s Ta %s\n", facts[i].name, unit_names[facts[i].unit],
		       facts[i].meaning);
}

int main(void)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		printf(".Ss %s\n", analyzer->id);
		list(analyzer->facts, analyzer->fact_count);
		for (size_t j = 0; j < analyzer->table_count; j++) {
			printf(".Sy %s :\n", analyzer->tables[j].name);
			list(analyzer->tables[j].columns, analyzer->tables[j].column_count);
		}
	}
	return 0;
}
