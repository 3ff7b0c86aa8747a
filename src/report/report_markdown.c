/* SPDX-License-Identifier: MIT */
/*
 * Markdown for comments on pull requests: the verdict and the gates first, sections folded below
 * them. GitHub refuses comments of more than 65,536 characters, so what does not fit is counted and
 * left out. Names stand in code spans, where nothing is markup, a mention or a link.
 */
#include "report/reporter.h"
#include "report/sink.h"

#include "report/number.h"

enum { MAX_BYTES = 59000, LAST_BYTES = 500, MAX_NAME = 160 };

/* For words that may hold a name: no markup, no link, nobody is notified. */
static const struct escape words_escape = {
	"\\`*_[]|~#$<>&@",
	(const char *const[]){ "\\\\", "\\`", "\\*", "\\_", "\\[", "\\]", "\\|", "\\~", "\\#",
			       "\\$", "&lt;", "&gt;", "&amp;", "@&#8203;" },
};
static const struct escape code_escape = { "", NULL };
/* A name with characters that would end a code span or a cell. */
static const struct escape odd_code_escape = {
	"\\`*_[]|~#$:<>&@\"",
	(const char *const[]){ "&#92;", "&#96;", "&#42;", "&#95;", "&#91;", "&#93;", "&#124;",
			       "&#126;", "&#35;", "&#36;", "&#58;", "&lt;", "&gt;", "&amp;",
			       "&#64;&#8203;", "&quot;" },
};

static const struct escape html_escape = {
	"<>&\"@",
	(const char *const[]){ "&lt;", "&gt;", "&amp;", "&quot;", "@&#8203;" },
};

struct markdown {
	struct sink sink;
	size_t left_out_count;
};

/* ---- texts ---- */

/* So much of a text as ends with a whole character. */
static struct str cut(const char *text, size_t most)
{
	struct str all = tsi_str_of(text);

	if (all.length <= most)
		return all;
	all.length = most;
	while (all.length > 0 && ((unsigned char)all.data[all.length] & 0xC0) == 0x80)
		all.length--;
	return all;
}

static void put_code(struct sink *sink, const char *name)
{
	struct str shown = cut(name, MAX_NAME);

	if (shown.length == 0) {
		tsi_sink_put(sink, "-");
		return;
	}
	if (strpbrk(name, "`|\\")) {
		tsi_sink_put(sink, "<code>");
		tsi_sink_escape(sink, &odd_code_escape, shown);
		tsi_sink_put(sink, shown.length < strlen(name) ? "…</code>" : "</code>");
		return;
	}
	tsi_sink_put(sink, "`");
	tsi_sink_escape(sink, &code_escape, shown);
	tsi_sink_put(sink, shown.length < strlen(name) ? "…`" : "`");
}

/* Finds a link that GitHub would make: returns the end of its "www" or "https", or NULL. */
static const char *find_link(const char *words)
{
	const char *www = strstr(words, "www."), *scheme = strstr(words, "://");

	if (www && (!scheme || www < scheme))
		return www + 3;
	return scheme;
}

/* "1. " and "- " at the start of a line are lists. */
static void put_words(struct sink *sink, const char *words)
{
	size_t digits = strspn(words, "0123456789");
	const char *link;

	if (*words != '\0' && strchr("-+=", *words)) {
		tsi_sink_put(sink, "\\");
	} else if (digits > 0 && words[digits] != '\0' && strchr(".)", words[digits]) &&
		   words[digits + 1] == ' ') {
		tsi_sink_escape(sink, &words_escape, (struct str){ words, digits });
		tsi_sink_put(sink, "\\");
		words += digits;
	}
	for (; (link = find_link(words)); words = link) {
		tsi_sink_escape(sink, &words_escape, (struct str){ words, (size_t)(link - words) });
		tsi_sink_print(sink, "\\%c", *link++);
	}
	tsi_sink_escape(sink, &words_escape, tsi_str_of(words));
}

static void put_strong(struct sink *sink, const char *words)
{
	tsi_sink_put(sink, "**");
	put_words(sink, words);
	tsi_sink_put(sink, "**");
}

static void put_number(struct sink *sink, struct tscope_value value, enum tscope_unit unit)
{
	char number[NUMBER_MAX];

	if (value.kind == TSCOPE_VALUE_TEXT) {
		put_code(sink, value.text);
		return;
	}
	tsi_number_people(number, value, unit);
	tsi_sink_put(sink, number);
}

/* ---- nodes ---- */

static void put_line(struct sink *sink, const struct doc_line *line)
{
	tsi_sink_put(sink, "- ");
	if (line->tag && *line->tag != '\0') {
		put_strong(sink, line->tag);
		tsi_sink_put(sink, " ");
	}
	if (line->aside) {
		put_words(sink, line->aside);
		tsi_sink_put(sink, " ");
	}
	if (line->text)
		put_words(sink, line->text);
	for (size_t i = 0; !line->text && i < line->item_count; i++) {
		const struct doc_item *item = &line->items[i];

		tsi_sink_put(sink, i > 0 ? " · " : "");
		put_words(sink, item->label ? item->label : item->text);
		if (item->label)
			tsi_sink_put(sink, " ");
		if (item->label)
			put_number(sink, item->value, item->unit);
	}
	tsi_sink_put(sink, "\n");
}

static void put_meter(struct sink *sink, const struct doc_meter *meter)
{
	size_t indent = strspn(meter->label, " ");
	char number[NUMBER_MAX];

	tsi_sink_put(sink, indent > 0 ? "| ↳ " : "| ");
	put_words(sink, meter->label + indent);
	tsi_number_people_int(number, meter->shown, meter->unit);
	tsi_sink_print(sink, " | %s | ", number);
	if (meter->whole > 0)
		tsi_sink_print(sink, "%.1f %%", 100 * (double)meter->part / (double)meter->whole);
	tsi_sink_put(sink, " | ");
	if (meter->name)
		put_code(sink, meter->name);
	tsi_sink_put(sink, " |\n");
}

static void put_more(struct sink *sink, size_t count)
{
	if (count > 0)
		tsi_sink_print(sink, "\nand %zu more\n", count);
}

static void put_table(struct sink *sink, const struct doc_table *table)
{
	tsi_sink_put(sink, "|");
	for (size_t i = 0; i < table->column_count; i++) {
		tsi_sink_put(sink, " ");
		put_words(sink, table->columns[i].heading);
		tsi_sink_put(sink, " |");
	}
	tsi_sink_put(sink, "\n|");
	for (size_t i = 0; i < table->column_count; i++)
		tsi_sink_put(sink,
			     table->columns[i].unit == TSCOPE_UNIT_TEXT ? " --- |" : " ---: |");
	tsi_sink_put(sink, "\n");
	for (size_t row = 0; row < table->row_count; row++) {
		tsi_sink_put(sink, "|");
		for (size_t i = 0; i < table->column_count; i++) {
			const struct doc_cell *cell = &table->rows[row].cells[i];

			tsi_sink_put(sink, " ");
			if (cell->text && table->columns[i].unit == TSCOPE_UNIT_TEXT)
				put_code(sink, cell->text);
			else if (cell->text)
				put_words(sink, cell->text);
			else
				put_number(sink, cell->value, table->columns[i].unit);
			tsi_sink_put(sink, " |");
		}
		tsi_sink_put(sink, "\n");
	}
	put_more(sink, table->more_count);
}

static void put_changes(struct sink *sink, const struct doc_changes *changes)
{
	tsi_sink_put(sink, "| ");
	put_words(sink, changes->heading);
	tsi_sink_put(sink, " | | A | B | change |\n| --- | --- | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < changes->row_count; i++) {
		const struct doc_change *row = &changes->rows[i];
		char number[NUMBER_MAX];

		tsi_sink_put(sink, "| ");
		put_code(sink, row->name);
		tsi_sink_put(sink, " | ");
		put_words(sink, row->word);
		tsi_sink_put(sink, " | ");
		if (!row->is_sum)
			put_number(sink, row->a, row->unit);
		tsi_sink_put(sink, " | ");
		if (!row->is_sum)
			put_number(sink, row->b, row->unit);
		tsi_number_difference(number, row->change, row->unit);
		tsi_sink_print(sink, " | %s |\n", number);
	}
	put_more(sink, changes->more_count);
}

static void put_explanation(struct sink *sink, const struct doc_explanation *explanation)
{
	char amount[NUMBER_MAX];

	tsi_number_signed(amount, explanation->change_ns, TSCOPE_UNIT_NS);
	tsi_sink_print(sink, "- %s ", amount);
	put_words(sink, explanation->line);
	if (explanation->part) {
		tsi_sink_put(sink, ": ");
		put_code(sink, explanation->part);
		put_words(sink, explanation->rest);
	}
	tsi_sink_put(sink, "\n");
}

static void put_input(struct sink *sink, const struct doc_input *input)
{
	char size[NUMBER_MAX];

	tsi_number_people_int(size, input->bytes, TSCOPE_UNIT_BYTES);
	tsi_sink_put(sink, "| ");
	put_words(sink, input->rank);
	tsi_sink_put(sink, " | ");
	put_words(sink, input->format);
	tsi_sink_print(sink, " | %s | ", size);
	put_code(sink, input->path);
	tsi_sink_put(sink, input->is_damaged ? " (damaged) |\n" : " |\n");
}

static void put_finding(struct sink *sink, const struct tscope_finding *finding)
{
	tsi_sink_print(sink, "- **%s** ", tsi_severity_word(finding->severity));
	put_words(sink, finding->title);
	tsi_sink_print(sink, " (`%s`)", finding->rule->id);
	if (finding->has_gain && finding->gain_ns > 0 && !finding->is_gain_in_title) {
		char time[NUMBER_MAX];

		tsi_number_people_int(time, finding->gain_ns, TSCOPE_UNIT_NS);
		tsi_sink_print(sink, "; saves %s%s per step",
			       finding->gain_basis == TSCOPE_GAIN_BOUND ? "up to " : "", time);
	}
	tsi_sink_put(sink, "\n");
	if (*finding->detail != '\0') {
		tsi_sink_put(sink, "  - ");
		put_words(sink, finding->detail);
		tsi_sink_put(sink, "\n");
	}
	tsi_sink_put(sink, "  - → ");
	put_words(sink, finding->advice);
	tsi_sink_put(sink, "\n");
}

static void put_gate(struct sink *sink, const struct tscope_gate_result *gate)
{
	tsi_sink_put(sink, "| ");
	put_code(sink, gate->expression);
	tsi_sink_print(sink, " | %s | ",
		       gate->is_inconclusive ? "⚠️ undecided"
		       : gate->held          ? "✅ held"
					     : "❌ **tripped**");
	put_words(sink, gate->reason);
	tsi_sink_put(sink, " |\n");
}

static void put_name(struct sink *sink, const struct doc_name *name)
{
	tsi_sink_put(sink, "- ");
	if (name->tag) {
		put_strong(sink, name->tag);
		tsi_sink_put(sink, " ");
	}
	put_code(sink, name->text);
	tsi_sink_put(sink, "\n");
}

/* Table head of rows of a kind; NULL: they are no rows of a table. */
static const char *table_head(enum doc_kind kind)
{
	switch (kind) {
	case DOC_NODE_METER:
		return "| part | | share | |\n| --- | ---: | ---: | --- |\n";
	case DOC_NODE_INPUT:
		return "| rank | format | size | file |\n| --- | --- | ---: | --- |\n";
	case DOC_NODE_GATE:
		return "| gate | verdict | why |\n| --- | --- | --- |\n";
	default:
		return NULL;
	}
}

static void put_node(struct sink *sink, const struct doc_node *node)
{
	switch (node->kind) {
	case DOC_NODE_NAME:
		put_name(sink, &node->name);
		break;
	case DOC_NODE_LINE:
		put_line(sink, &node->line);
		break;
	case DOC_NODE_METER:
		put_meter(sink, &node->meter);
		break;
	case DOC_NODE_TABLE:
		put_table(sink, &node->table);
		break;
	case DOC_NODE_CHANGES:
		put_changes(sink, &node->changes);
		break;
	case DOC_NODE_EXPLANATION:
		put_explanation(sink, &node->explanation);
		break;
	case DOC_NODE_INPUT:
		put_input(sink, &node->input);
		break;
	case DOC_NODE_FINDING:
		put_finding(sink, &node->finding);
		break;
	case DOC_NODE_GATE:
		put_gate(sink, node->gate);
		break;
	default:
		break;
	}
}

/* Lists go on; anything else needs a blank line before it. */
static bool is_item(enum doc_kind kind)
{
	return kind == DOC_NODE_LINE || kind == DOC_NODE_NAME || kind == DOC_NODE_EXPLANATION ||
	       kind == DOC_NODE_FINDING;
}

/* The summary of a section is that of its fold; sketches are for terminals. */
static bool is_silent(const struct doc_node *node)
{
	return node->kind == DOC_NODE_SECTION || node->kind == DOC_NODE_BREAK ||
	       node->kind == DOC_NODE_SERIES || node->kind == DOC_NODE_HEAT ||
	       (node->kind == DOC_NODE_TABLE && node->table.row_count == 0) ||
	       (node->kind == DOC_NODE_LINE && !node->line.text && node->line.item_count == 0);
}

/* ---- a part of the document ---- */

/* The nodes [first, end) of which some are shown. */
struct extract {
	const struct doc_node *first, *end;
	bool (*is_shown)(const struct doc_node *node);
};

static void put_extract(struct sink *sink, const struct extract *extract)
{
	const struct doc_node *last = NULL;

	for (const struct doc_node *node = extract->first; node != extract->end;
	     node = node->next) {
		const char *head = table_head(node->kind);

		if (is_silent(node) || (extract->is_shown && !extract->is_shown(node)))
			continue;
		if (last && (last->kind != node->kind || node->kind == DOC_NODE_TABLE) &&
		    !(is_item(last->kind) && is_item(node->kind)))
			tsi_sink_put(sink, "\n");
		if (head && (!last || last->kind != node->kind))
			tsi_sink_put(sink, head);
		put_node(sink, node);
		last = node;
	}
	if (last)
		tsi_sink_put(sink, "\n");
}

static bool is_verdict(const struct doc_node *node)
{
	enum doc_role role = node->line.role;

	return node->kind == DOC_NODE_LINE &&
	       (role == DOC_LOSS || role == DOC_NOTE || role == DOC_VERDICT || role == DOC_CHANGE ||
		role == DOC_NO_CHANGE || role == DOC_ALERT || role == DOC_DOUBT);
}

static bool is_gate(const struct doc_node *node)
{
	return node->kind == DOC_NODE_GATE;
}

static bool is_outline(const struct doc_node *node)
{
	return (node->kind == DOC_NODE_NAME && node->name.place != DOC_PART) ||
	       node->kind == DOC_NODE_EXPLANATION || node->kind == DOC_NODE_METER ||
	       node->kind == DOC_NODE_TABLE || node->kind == DOC_NODE_CHANGES ||
	       (node->kind == DOC_NODE_LINE && !is_verdict(node) && node->line.role != DOC_TAGGED &&
		node->line.role != DOC_CHANGE_GATES);
}

static void put_title(struct sink *sink, const struct extract *part)
{
	size_t count = 0, held = 0, unsure = 0;

	for (const struct doc_node *node = part->first; node != part->end; node = node->next) {
		if (node->kind != DOC_NODE_GATE)
			continue;
		count++;
		held += node->gate->held;
		unsure += node->gate->is_inconclusive;
	}
	tsi_sink_put(sink, "### ");
	if (count == 0)
		tsi_sink_put(sink, "tscope");
	else if (held == count)
		tsi_sink_print(sink, "✅ tscope: all %zu gates held", count);
	else if (held + unsure == count)
		tsi_sink_print(sink, "⚠️ tscope: %zu of %zu gates undecided", unsure, count);
	else
		tsi_sink_print(sink, "❌ tscope: %zu of %zu gates tripped", count - held - unsure,
			       count);
	if (part->first->kind == DOC_NODE_NAME && part->first->name.place == DOC_PART) {
		tsi_sink_put(sink, " · ");
		put_code(sink, part->first->name.text);
	}
	tsi_sink_put(sink, "\n\n");
}

static void put_fold(struct sink *sink, const struct extract *section)
{
	const struct doc_section *head = &section->first->section;

	tsi_sink_put(sink, "<details><summary><b>");
	tsi_sink_escape(sink, &html_escape, tsi_str_of(head->title));
	tsi_sink_put(sink, "</b> ");
	tsi_sink_escape(sink, &html_escape, tsi_str_of(head->summary));
	tsi_sink_put(sink, "</summary>\n\n");
	put_extract(sink, section);
	tsi_sink_put(sink, "</details>\n\n");
}

/* Writes what fits as a whole, and counts what does not. */
static void put_if_room(struct markdown *md, void (*put)(struct sink *, const struct extract *),
			const struct extract *extract)
{
	struct sink measure = { 0 };

	put(&measure, extract);
	if (md->sink.count + measure.count > MAX_BYTES - LAST_BYTES)
		md->left_out_count++;
	else
		put(&md->sink, extract);
}

static const struct doc_node *next_section(const struct doc_node *node, const struct doc_node *end)
{
	while (node != end && node->kind != DOC_NODE_SECTION)
		node = node->next;
	return node;
}

static void put_part(struct markdown *md, const struct extract *part)
{
	const struct doc_node *sections = next_section(part->first, part->end);
	const struct doc_node *end;

	put_if_room(md, put_title, part);
	put_if_room(md, put_extract, &(struct extract){ part->first, sections, is_verdict });
	put_if_room(md, put_extract, &(struct extract){ part->first, part->end, is_gate });
	put_if_room(md, put_extract, &(struct extract){ part->first, sections, is_outline });
	for (const struct doc_node *node = sections; node != part->end; node = end) {
		end = next_section(node->next, part->end);
		if (!node->next || node->next == part->end || node->next->kind == DOC_NODE_GATE)
			continue;
		put_if_room(md, put_fold, &(struct extract){ node, end, NULL });
	}
}

static void write_markdown(FILE *out, const struct doc *doc,
			   const struct tscope_report_options *options)
{
	struct markdown md = { .sink = { .out = out } };
	const struct doc_node *end;

	(void)options;
	for (const struct doc_node *node = doc->first; node; node = end) {
		end = node->next;
		while (end && !(end->kind == DOC_NODE_NAME && end->name.place == DOC_PART))
			end = end->next;
		put_part(&md, &(struct extract){ node, end, NULL });
	}
	if (md.left_out_count > 0)
		tsi_sink_print(&md.sink,
			       "%zu more part%s had no room; `--format text --full` shows all.\n",
			       md.left_out_count, md.left_out_count == 1 ? "" : "s");
}

const struct reporter tsi_reporter_markdown = {
	.format = { .name = "markdown", .readers = "pull requests" },
	.is_whole = true,
	.write = write_markdown,
};
