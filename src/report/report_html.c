/* SPDX-License-Identifier: MIT */
/*
 * The report as one page that needs no network: the document's words and tables as HTML, which can
 * be read and printed without script, and places that the page's script fills with pictures from
 * the data at its end. Verdict and findings come first, then the pictures, then the sections.
 */
#include "config.h"
#include "report/html/assets.h"
#include "report/html_writer.h"
#include "report/number.h"
#include "report/reporter.h"

#include <ctype.h>
#include <inttypes.h>

/* Nodes that stand side by side share an element. */
enum group { GROUP_NONE, GROUP_METERS, GROUP_INPUTS, GROUP_GATES, GROUP_VERDICTS, GROUP_WORDS };

struct page {
	FILE *out;
	size_t part;            /* its number */
	size_t section;         /* of the part, from 1 on */
	size_t finding, linked; /* that were written; that verdicts link to */
	enum group group;
	const char *title; /* of the section, as its tables' name */
	size_t table;      /* how many there were: each has a name of its own */
	const char *name;  /* of the part: places in this file need not name it */
	const char *meter; /* the last one that others may be parts of */
};

static const char *const group_begins[] = {
	[GROUP_NONE] = "",
	[GROUP_METERS] = "<table class=\"meters\"><tbody>\n",
	[GROUP_INPUTS] = "<table class=\"data\"><thead><tr><th scope=\"col\" class=\"name\">rank"
			 "</th><th scope=\"col\" class=\"name\">format</th><th scope=\"col\">size"
			 "</th><th scope=\"col\" class=\"name\">file</th></tr></thead><tbody>\n",
	[GROUP_GATES] = "<table class=\"data gates\"><thead><tr><th scope=\"col\" class=\"name\">"
			"gate</th><th scope=\"col\">value</th><th scope=\"col\" class=\"name\">"
			"verdict</th></tr></thead><tbody>\n",
	[GROUP_VERDICTS] = "<ol class=\"verdicts\">\n",
	[GROUP_WORDS] = "<dl class=\"words\">\n",
};

static const char *const group_ends[] = {
	[GROUP_NONE] = "",
	[GROUP_METERS] = "</tbody></table>\n",
	[GROUP_INPUTS] = "</tbody></table>\n",
	[GROUP_GATES] = "</tbody></table>\n",
	[GROUP_VERDICTS] = "</ol>\n",
	[GROUP_WORDS] = "</dl>\n",
};

static void enter(struct page *page, enum group group)
{
	if (page->group == group)
		return;
	fputs(group_ends[page->group], page->out);
	fputs(group_begins[group], page->out);
	page->group = group;
}

static void put(struct page *page, const char *before, const char *text, const char *after)
{
	fputs(before, page->out);
	tsi_html_text(page->out, text);
	fputs(after, page->out);
}

/* "CRITICAL PATH" → "Critical path" */
static void put_title(FILE *out, const char *title)
{
	char text[64];
	size_t i;

	for (i = 0; title[i] != '\0' && i + 1 < sizeof(text); i++)
		text[i] = (char)(i > 0 ? tolower((unsigned char)title[i]) : title[i]);
	text[i] = '\0';
	tsi_html_text(out, text);
}

/* "exposed comm" → "exposed_comm": a part of a step has its colour everywhere. */
static void put_color_class(FILE *out, const char *label)
{
	fputs("c-", out);
	for (; *label != '\0'; label++)
		fputc(isalnum((unsigned char)*label) ? tolower((unsigned char)*label) : '_', out);
}

/* ---- lines ---- */

static void put_items(struct page *page, const struct doc_line *line)
{
	for (size_t i = 0; i < line->item_count; i++) {
		const struct doc_item *item = &line->items[i];
		char number[NUMBER_MAX];

		fputs("<span class=\"item\">", page->out);
		if (item->label) {
			tsi_number_people(number, item->value, item->unit);
			put(page, "", item->label, " <b>");
			put(page, "", number, "</b>");
		} else {
			tsi_html_text(page->out, item->text);
		}
		fputs("</span> ", page->out);
	}
}

static void put_words(struct page *page, const struct doc_line *line)
{
	if (line->text)
		tsi_html_text(page->out, line->text);
	else
		put_items(page, line);
}

/* The lines of a head's verdict are in the order of the findings. */
static void put_verdict(struct page *page, const struct doc_line *line)
{
	bool is_finding = line->tag && *line->tag != '\0';

	enter(page, GROUP_VERDICTS);
	fprintf(page->out, "<li class=\"t-%s\">", tsi_html_tone(line->tone));
	if (is_finding)
		put(page, "<span class=\"badge\">", line->tag, "</span> ");
	fprintf(page->out, "<a href=\"#p%zu-%s%zu\">", page->part, is_finding ? "f" : "findings",
		is_finding ? ++page->linked : 0);
	put_words(page, line);
	fputs("</a></li>\n", page->out);
}

static void put_tagged(struct page *page, const struct doc_line *line)
{
	enter(page, GROUP_WORDS);
	fprintf(page->out, "<dt class=\"t-%s\">", tsi_html_tone(line->tone));
	put(page, "", line->tag, "</dt><dd>");
	if (line->aside)
		put(page, "<b>", line->aside, "</b> ");
	put_words(page, line);
	fputs("</dd>\n", page->out);
}

static void put_line(struct page *page, const struct doc_line *line)
{
	if (!line->text && line->item_count == 0)
		return;
	if (line->role == DOC_VERDICT) {
		put_verdict(page, line);
		return;
	}
	if (line->tag && *line->tag != '\0') {
		put_tagged(page, line);
		return;
	}
	enter(page, GROUP_NONE);
	if (line->role == DOC_CAPTION || line->role == DOC_HEADING)
		fputs("<p class=\"caption\">", page->out);
	else
		fprintf(page->out, "<p class=\"t-%s%s\">", tsi_html_tone(line->tone),
			line->text ? "" : " figures");
	put_words(page, line);
	fputs("</p>\n", page->out);
}

static void put_meter(struct page *page, const struct doc_meter *meter)
{
	const char *label = meter->label + strspn(meter->label, " ");
	double share = meter->whole > 0 ? (double)meter->part / (double)meter->whole : 0;
	char text[NUMBER_MAX];

	enter(page, GROUP_METERS);
	fprintf(page->out, "<tr class=\"");
	if (label == meter->label || *page->meter == '\0')
		page->meter = label;
	put_color_class(page->out, page->meter);
	fprintf(page->out, "%s\">", label > meter->label ? " sub" : "");
	if (*label != '\0')
		put(page, "<th scope=\"row\">", label, "</th>");
	else
		fputs("<td></td>", page->out);
	tsi_number_people_int(text, meter->shown, meter->unit);
	put(page, "<td>", text, "</td><td>");
	tsi_number_people(text, (struct tscope_value){ .kind = TSCOPE_VALUE_REAL, .real = share },
			  TSCOPE_UNIT_RATIO);
	put(page, "", meter->whole > 0 ? text : "", "</td><td class=\"name\">");
	if (meter->name)
		tsi_html_text(page->out, meter->name);
	else
		tsi_html_bar(page->out, share, tsi_html_tone(meter->tone));
	fputs("</td></tr>\n", page->out);
}

static void put_input(struct page *page, const struct doc_input *input)
{
	char size[NUMBER_MAX];

	enter(page, GROUP_INPUTS);
	tsi_number_people_int(size, input->bytes, TSCOPE_UNIT_BYTES);
	put(page, "<tr><td class=\"name\">", input->rank, "</td><td class=\"name\">");
	put(page, "", input->format, "</td><td>");
	put(page, "", size, "</td>");
	put(page, input->is_damaged ? "<td class=\"name t-bad\">damaged: " : "<td class=\"name\">",
	    input->path, "</td></tr>\n");
}

static void put_explanation(struct page *page, const struct doc_explanation *explanation)
{
	char text[NUMBER_MAX];

	enter(page, GROUP_WORDS);
	tsi_number_signed(text, explanation->change_ns, TSCOPE_UNIT_NS);
	put(page, "<dt>", text, "</dt><dd>");
	tsi_html_text(page->out, explanation->line);
	if (explanation->part) {
		put(page, ": <span class=\"code\">", explanation->part, "</span>");
		tsi_html_text(page->out, explanation->rest);
	}
	fputs("</dd>\n", page->out);
}

/* ---- the page ---- */

static void put_node(struct page *page, const struct doc_node *node)
{
	if (node->kind == DOC_NODE_TABLE || node->kind == DOC_NODE_CHANGES ||
	    node->kind == DOC_NODE_SERIES || node->kind == DOC_NODE_HEAT)
		enter(page, GROUP_NONE);
	switch (node->kind) {
	case DOC_NODE_LINE:
		put_line(page, &node->line);
		break;
	case DOC_NODE_METER:
		put_meter(page, &node->meter);
		break;
	case DOC_NODE_SERIES:
		tsi_html_series(page->out, &node->series);
		break;
	case DOC_NODE_TABLE:
		tsi_html_table(page->out, &node->table, ++page->table, page->title);
		break;
	case DOC_NODE_CHANGES:
		tsi_html_changes(page->out, &node->changes, ++page->table);
		break;
	case DOC_NODE_EXPLANATION:
		put_explanation(page, &node->explanation);
		break;
	case DOC_NODE_HEAT:
		tsi_html_heat(page->out, &node->heat);
		break;
	case DOC_NODE_INPUT:
		put_input(page, &node->input);
		break;
	case DOC_NODE_FINDING:
		enter(page, GROUP_NONE);
		tsi_html_finding(page->out, &node->finding, page->name, page->part,
				 ++page->finding);
		break;
	case DOC_NODE_GATE:
		enter(page, GROUP_GATES);
		tsi_html_gate(page->out, node->gate);
		break;
	case DOC_NODE_NAME:
	case DOC_NODE_SECTION:
	case DOC_NODE_BREAK:
		break;
	}
}

static bool ends_section(const struct doc_node *node)
{
	return !node || node->kind == DOC_NODE_SECTION ||
	       (node->kind == DOC_NODE_NAME && node->name.place == DOC_PART);
}

static bool is_first(const struct doc_node *node)
{
	return strcmp(node->section.title, "FINDINGS") == 0 ||
	       strcmp(node->section.title, "GATES") == 0;
}

static void put_section(struct page *page, const struct doc_node *node)
{
	const struct doc_section *section = &node->section;

	page->title = section->title;
	page->meter = "";
	if (strcmp(section->title, "FINDINGS") == 0)
		fprintf(page->out, "<section id=\"p%zu-findings0\" class=\"findings\">",
			page->part);
	else
		fprintf(page->out, "<section id=\"p%zu-s%zu\">", page->part, ++page->section);
	fprintf(page->out, "<h2><span class=\"light t-%s\" aria-hidden=\"true\"></span>",
		tsi_html_tone(section->light));
	put_title(page->out, section->title);
	if (section->rank >= 0)
		fprintf(page->out, " of rank %" PRId64, section->rank);
	fputs("</h2>", page->out);
	if (*section->summary != '\0')
		put(page, "<p class=\"summary\">", section->summary, "</p>");
	fputs("\n", page->out);
	for (node = node->next; !ends_section(node); node = node->next)
		put_node(page, node);
	enter(page, GROUP_NONE);
	fputs("</section>\n", page->out);
}

/* The last name of a path stands out. */
static void put_path(struct page *page, const char *path)
{
	const char *base = strrchr(path, '/');

	page->name = path;
	if (base && base > path && base[1] != '\0') {
		fputs("<span class=\"folder\">", page->out);
		tsi_html_str(page->out, (struct str){ path, (size_t)(base + 1 - path) });
		fputs("</span>", page->out);
		path = base + 1;
	}
	put(page, "", path, "</h1>\n");
}

static void put_name(struct page *page, const struct doc_name *name)
{
	bool is_listed = name->place == DOC_LISTED;

	enter(page, GROUP_NONE);
	fputs(is_listed ? "<p class=\"name\">" : "<h1>", page->out);
	if (name->tag)
		put(page, "<span class=\"badge\">", name->tag, "</span> ");
	if (is_listed)
		put(page, "", name->text, "</p>\n");
	else
		put_path(page, name->text);
}

/* Name, verdict, findings, gates, pictures, sections; returns the node behind the part. */
static const struct doc_node *put_part(struct page *page, const struct doc_node *first)
{
	const struct doc_node *node = first, *head_end;

	fprintf(page->out, "<article id=\"p%zu\">\n<header>\n", page->part);
	for (; node == first || !ends_section(node); node = node->next) {
		if (node->kind == DOC_NODE_NAME) {
			enter(page, GROUP_NONE);
			put_name(page, &node->name);
		} else {
			put_node(page, node);
		}
	}
	enter(page, GROUP_NONE);
	fputs("</header>\n", page->out);
	head_end = node;
	for (int is_rest = 0; is_rest < 2; is_rest++) {
		for (node = head_end; node && node->kind == DOC_NODE_SECTION;) {
			if (is_first(node) == !is_rest)
				put_section(page, node);
			for (node = node->next; !ends_section(node);)
				node = node->next;
		}
		if (!is_rest)
			fprintf(page->out, "<div class=\"views\" data-part=\"%zu\"></div>\n",
				page->part);
	}
	fputs("</article>\n", page->out);
	return node;
}

static void put_head(FILE *out, const struct doc *doc)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		tsi_page_style_hash, tsi_page_script_hash);
	for (const struct doc_node *node = doc->first; node; node = node->next) {
		if (node->kind == DOC_NODE_NAME) {
			tsi_html_text(out, node->name.text);
			fputs(" - ", out);
			break;
		}
	}
	fprintf(out, "tscope</title>\n<style>%s</style>\n</head>\n<body>\n", tsi_page_style);
	fputs("<a class=\"skip\" href=\"#main\">skip to the report</a>\n"
	      "<nav id=\"nav\" aria-label=\"sections\"></nav>\n<main id=\"main\">\n"
	      "<noscript><p class=\"t-warn\">Pictures need JavaScript; words and tables do not."
	      "</p></noscript>\n",
	      out);
}

static void write_html(FILE *out, const struct doc *doc,
		       const struct tscope_report_options *options)
{
	struct page page = { .out = out, .title = "", .name = "", .meter = "" };

	(void)options;
	put_head(out, doc);
	for (const struct doc_node *node = doc->first; node; page.part++) {
		page.section = page.finding = page.linked = 0;
		node = put_part(&page, node);
	}
	fputs("<footer>written by tscope " TSCOPE_VERSION
	      "; keys: <kbd>?</kbd></footer>\n</main>\n",
	      out);
	fputs("<script type=\"text/plain\" id=\"data\"", out);
	if (!tsi_html_data(out, doc->subject) && doc->lacks_memory)
		*doc->lacks_memory = true;
	fprintf(out, "</script>\n<script>%s</script>\n</body>\n</html>\n", tsi_page_script);
}

const struct reporter tsi_reporter_html = {
	.format = { .name = "html", .readers = "browsers", .draws = true },
	.is_whole = true,
	.top = 100,
	.write = write_html,
};
