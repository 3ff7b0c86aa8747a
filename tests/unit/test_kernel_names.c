/* SPDX-License-Identifier: MIT */
/* Kernels of real programs, by name: testdata/kernel_names.tsv says what each of them is. */
#include "model/trace/kernel_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyze/ops/kernel_kind.h"
#include "check.h"

enum { NAME, KIND, PRECISION, IS_COMM, PROJECT, SOURCE, COLUMNS };

/* Cuts a line at its tabs; false where it has not as many columns as it should. */
static bool read_columns(char *line, char *columns[COLUMNS])
{
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *column = line; column; count++) {
		char *tab = strchr(column, '\t');
		if (count == COLUMNS || *column == '\0' || tab == column)
			return false;
		columns[count] = column;
		if (tab)
			*tab++ = '\0';
		column = tab;
	}
	return count == COLUMNS;
}

static const char *comm_text(struct kernel_facts facts)
{
	return !facts.is_communicating ? "no" : facts.kind == KERNEL_COMM ? "yes" : "fused";
}

/* Whether the table says of one name what the corpus says; tells of it where not. */
static bool is_right(char *columns[COLUMNS])
{
	struct kernel_facts facts = tsi_kernel_facts(tsi_str_of(columns[NAME]));
	const char *kind = tsi_kernel_kind_name((enum kernel_kind)facts.kind);
	const char *precision = tscope_precision_name((enum tscope_precision)facts.precision);

	if (strcmp(kind, columns[KIND]) == 0 && strcmp(comm_text(facts), columns[IS_COMM]) == 0 &&
	    (strcmp(columns[PRECISION], "-") == 0 || strcmp(precision, columns[PRECISION]) == 0))
		return true;
	print_message("%s, %s, %s instead of %s, %s, %s: %s\n", kind, precision, comm_text(facts),
		      columns[KIND], columns[PRECISION], columns[IS_COMM], columns[NAME]);
	return false;
}

TEST(names_of_the_corpus)
{
	char path[4096], *line = NULL, *columns[COLUMNS] = { 0 };
	size_t room = 0, rows = 0, wrong = 0;

	snprintf(path, sizeof(path), "%s/kernel_names.tsv", testdata);
	FILE *corpus = fopen(path, "r");
	assert_non_null(corpus);
	assert_true(getline(&line, &room, corpus) > 0); /* the columns' names */
	for (; getline(&line, &room, corpus) > 0; rows++) {
		if (!read_columns(line, columns))
			fail_msg("row %zu: not %d columns", rows + 1, COLUMNS);
		wrong += !is_right(columns);
	}
	free(line);
	fclose(corpus);
	print_message("%zu of %zu names are wrong\n", wrong, rows);
	assert_int_equal(wrong, 0);
	assert_true(rows >= 1000);
}
