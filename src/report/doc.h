/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_DOC_H
#define TSCOPE_REPORT_DOC_H

#include "base/arena.h"

#include <tscope/analysis.h>
#include <tscope/gate.h>
#include <tscope/rules.h>

/*
 * A report before it has a format: sections, figures, tables, findings, in the order of reading.
 * Sections (section_*.c) build it from facts, renderers (reporter.h) print it.
 *
 * It knows nothing of terminals. Values keep their units, roles and tones say what something means,
 * and a renderer chooses what that looks like. Texts are raw: names of an input stand as they were
 * read, and a renderer escapes every text for its target.
 *
 * All nodes live in the document's arena; names, findings and gates may belong to the facts, which
 * must outlive it. No function fails: tsi_arena_status() says at the end whether memory sufficed.
 */
enum doc_tone {
	DOC_PLAIN,
	DOC_STRONG,
	DOC_FAINT, /* beside the point */
	DOC_BAD,
	DOC_GOOD,
	DOC_WARN,
	DOC_INFO,
	DOC_ALARM, /* bad, and to be seen first */
};

/* The name of what is reported on: a file, a run, a side of a comparison. */
enum doc_place {
	DOC_PART,   /* a report of its own begins here */
	DOC_SIDE,   /* one of the two that are compared; its tag says which */
	DOC_LISTED, /* in a list of those that follow */
};

struct doc_name {
	enum doc_place place;
	const char *tag, *text;
};

struct doc_section {
	const char *title;
	const char *summary; /* behind the title, or "" */
	enum doc_tone light;
	int64_t rank; /* the only one of several that it speaks of, or -1 */
};

/* Role of a line. */
enum doc_role {
	DOC_NOTE,    /* a remark */
	DOC_HEADING, /* what the lines below it are */
	DOC_CAPTION, /* the same within a section, set apart from what is above */
	DOC_FIGURES,
	DOC_RANKS, /* a list of them */
	DOC_TAGGED,
	DOC_DOUBT, /* why figures must not be believed */
	DOC_ALERT,
	DOC_SETTING, /* how a run was configured */

	/* In the head of a report. */
	DOC_OUTLINE,
	DOC_SIDE_OUTLINE, /* of a side of a comparison */
	DOC_LOSS,         /* what is missing from the figures */
	DOC_REMARK,
	DOC_FOUND,
	DOC_VERDICT,
	DOC_CHANGE,
	DOC_NO_CHANGE,
	DOC_CHANGE_GATES,

	/* Rows of words. */
	DOC_DIAGNOSTIC,
	DOC_CAUSE,
	DOC_REMEDY,
	DOC_FINDING_CHANGE,
	DOC_RULES, /* several that lack the same */
	DOC_IDS,   /* a list of rules */
};

/* A value with its unit and what to call it, or only a text. */
struct doc_item {
	const char *label; /* NULL: text is all */
	const char *text;
	struct tscope_value value;
	enum tscope_unit unit;
};

struct doc_line {
	enum doc_role role;
	enum doc_tone tone; /* of the tag or, where the role says so, of all */
	const char *tag;    /* NULL: none */
	const char *aside;  /* between tag and text, or NULL */
	const char *text;   /* NULL: the items */
	struct doc_item *items;
	size_t item_count, item_capacity;
};

/* A part of a whole. */
struct doc_meter {
	const char *label;
	int64_t part, whole;
	int64_t shown; /* what to print: the part, or its share of something else */
	enum doc_tone tone;
	enum tscope_unit unit;
	const char *name; /* in place of a bar, or NULL */
};

/* A sketch of a series, in the order of time. */
struct doc_series {
	const void *source;
	bool (*get)(const void *source, size_t index, double *value); /* false: there is none */
	size_t count;
};

enum { DOC_MAX_COLUMNS = 12 };

struct doc_column {
	const char *heading;
	enum tscope_unit unit; /* TSCOPE_UNIT_TEXT: names, flush left */
	unsigned width;        /* in characters, as usual for its values; 0: what others leave */
	unsigned least;        /* room without which other columns have to go; 0: as usual */
	unsigned most;         /* of a width of 0; 0: any */
	bool is_site;          /* places in source code */
	bool is_minor;         /* the first to go where there is no room */
};

struct doc_cell {
	struct tscope_value value;
	const char *text;  /* as people read it; NULL: the value in the column's unit */
	const char *brief; /* for where there is no room for that; or NULL */
};

struct doc_row {
	const char *caption; /* above it, or NULL */
	struct doc_cell *cells;
	double bar_ratio; /* where the table has bars */
	bool is_marked;
};

struct doc_table {
	struct doc_column columns[DOC_MAX_COLUMNS];
	size_t column_count;
	struct doc_row *rows;
	size_t row_count, row_capacity;
	size_t more_count;   /* rows that are left out */
	bool is_tight;       /* belongs to the lines above */
	bool keeps_empty;    /* columns without a value are shown */
	bool keeps_all;      /* no column goes, however short the line */
	bool has_plain_head; /* headings look like rows */
	bool has_bars;
	bool has_marks;
};

/* "in place of", and joined names (tsi_next_name) or "" */
struct doc_change_note {
	const char *words, *names;
};

/* A row of a comparison: a name, what became of it, its value in A and in B. */
struct doc_change {
	struct doc_change_note *notes;
	size_t note_count, note_capacity;
	const char *name; /* joined, where one in A is several in B */
	unsigned indent;  /* of the name */
	const char *word; /* "slower" */
	struct tscope_value a, b, change;
	enum tscope_unit unit;
	bool is_site; /* the name is one */
	bool is_cost; /* more is worse */
	bool is_strong;
	bool is_sum; /* of lines that are not shown: there is a difference only */
};

struct doc_changes {
	const char *heading;
	struct doc_change *rows;
	size_t row_count, row_capacity;
	size_t more_count;
};

/* Explanation of a change: a line of the step, and the part of it that changed most. */
struct doc_explanation {
	struct tscope_value change_ns;
	const char *line;
	const char *part; /* NULL: nothing names it */
	const char *rest; /* behind its name */
};

/* A figure by rank and step, in blocks of several; row by row. */
struct doc_heat {
	const double *ratios;
	const int64_t *first_ranks, *last_ranks; /* of each row */
	size_t row_count, column_count;
	int64_t first_step, last_step;
};

/* A file of a run. */
struct doc_input {
	const char *rank, *format, *path;
	int64_t bytes;
	bool is_damaged;
};

struct report_subject; /* reporter.h */

enum doc_kind {
	DOC_NODE_NAME,
	DOC_NODE_SECTION,
	DOC_NODE_BREAK, /* what follows stands by itself */
	DOC_NODE_LINE,
	DOC_NODE_METER,
	DOC_NODE_SERIES,
	DOC_NODE_TABLE,
	DOC_NODE_CHANGES,
	DOC_NODE_EXPLANATION,
	DOC_NODE_HEAT,
	DOC_NODE_INPUT,
	DOC_NODE_FINDING,
	DOC_NODE_GATE,
};

struct doc_node {
	struct doc_node *next;
	enum doc_kind kind;
	union {
		struct doc_name name;
		struct doc_section section;
		struct doc_line line;
		struct doc_meter meter;
		struct doc_series series;
		struct doc_table table;
		struct doc_changes changes;
		struct doc_explanation explanation;
		struct doc_heat heat;
		struct doc_input input;
		struct tscope_finding finding;
		const struct tscope_gate_result *gate;
	};
};

/* A zeroed struct is an empty document; it ends with tsi_arena_deinit(). */
struct doc {
	struct arena arena;
	struct doc_node *first, *last;
	const struct report_subject *subject; /* for what a format draws itself; or NULL */
	struct doc_node *part;                /* where the last report of its own begins, or NULL */
	bool *lacks_memory;                   /* for a format that needs more of it; or NULL */
};

/* Appends a copy of a node; NULL without memory. The functions below are shorthand for it. */
struct doc_node *tsi_doc_add(struct doc *doc, const struct doc_node *node);

/* Drops what was appended behind a node. */
void tsi_doc_cut(struct doc *doc, struct doc_node *last);

void tsi_doc_name(struct doc *doc, enum doc_place place, const char *tag, const char *name);

/* A line of words. */
TSI_PRINTF(5, 6)
void tsi_doc_line(struct doc *doc, enum doc_role role, enum doc_tone tone, const char *tag,
		  const char *format, ...);
TSI_PRINTF(2, 3) void tsi_doc_note(struct doc *doc, const char *format, ...);

/* A line of items, which are appended to it. Where an argument is NULL, nothing happens. */
struct doc_line *tsi_doc_items(struct doc *doc, enum doc_role role, enum doc_tone tone,
			       const char *tag);
TSI_PRINTF(3, 4)
void tsi_doc_item(struct doc *doc, struct doc_line *line, const char *format, ...);
void tsi_doc_figure(struct doc *doc, struct doc_line *line, const char *label,
		    struct tscope_value value, enum tscope_unit unit);

/* A copy of what a series reads from, in the document's memory; NULL without. */
const void *tsi_doc_copy(struct doc *doc, const void *item, size_t bytes);

void tsi_doc_meter(struct doc *doc, const struct doc_meter *meter);
void tsi_doc_series(struct doc *doc, const struct doc_series *series);

/*
 * A table without rows, of at most DOC_MAX_COLUMNS columns; its rows, each
 * valid until the next one. NULL without memory.
 */
struct doc_table *tsi_doc_table(struct doc *doc, const struct doc_column *columns, size_t count);
struct doc_row *tsi_doc_row(struct doc *doc, struct doc_table *table);

struct doc_changes *tsi_doc_changes(struct doc *doc, const char *heading);
struct doc_change *tsi_doc_change(struct doc *doc, struct doc_changes *changes,
				  const struct doc_change *change);
void tsi_doc_changes_more(struct doc_changes *changes, size_t left_out_count);
void tsi_doc_change_note(struct doc *doc, struct doc_change *change, const char *words,
			 const char *names);

enum doc_tone tsi_severity_tone(enum tscope_severity severity);
enum doc_tone tsi_severity_tag_tone(enum tscope_severity severity); /* of its word */
const char *tsi_severity_word(enum tscope_severity severity);       /* "HIGH" */

/* Joined names, "sgemm + relu": how many, and the first one as a copy; returns those behind it. */
enum { ONE_NAME_MAX = 1024 };
size_t tsi_count_names(const char *joined);
const char *tsi_next_name(char one[ONE_NAME_MAX], const char *joined); /* NULL: it was the last */

#endif
