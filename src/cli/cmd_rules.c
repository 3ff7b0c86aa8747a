/* SPDX-License-Identifier: MIT */
/*
 * tscope rules: what the rules are, or all about some of them, printed from
 * their definitions, and the devices that they are measured on. Reads no input.
 */
#include "command.h"
#include "message.h"
#include "print_devices.h"
#include "terminal.h"

#include <string.h>

enum {
	DEFAULT_WIDTH = 80,
	LEAST_WIDTH = 40,
	MOST_WIDTH = 100, /* longer lines are hard to read */
	LABEL_WIDTH = 12, /* "parameters" with its blanks */
	MAX_TEXT = 512,
};

/* Columns that a word takes: its bytes but those that go on a UTF-8 character. */
static size_t columns_of(const char *word, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)word[i] & 0xc0) != 0x80;
	return columns;
}

/* " label   text, wrapped at the width and": further lines begin below the text. */
static void print_paragraph(const char *label, const char *text, size_t width)
{
	size_t column = 2 + LABEL_WIDTH;
	bool is_first = true;

	printf("  %-*s", LABEL_WIDTH, label);
	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		size_t columns = columns_of(text, length);

		if (!is_first && column + 1 + columns > width) {
			printf("\n%*s", 2 + LABEL_WIDTH, "");
			column = 2 + LABEL_WIDTH;
			is_first = true;
		}
		if (!is_first)
			putchar(' ');
		terminal_print(text, length);
		column += columns + !is_first;
		is_first = false;
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_parameters(const struct tscope_rule_def *rule, size_t width)
{
	char text[MAX_TEXT];

	for (size_t i = 0; i < TSCOPE_RULE_MAX_PARAMETERS && rule->parameters[i].name; i++) {
		const struct tscope_rule_parameter *parameter = &rule->parameters[i];

		snprintf(text, sizeof(text), "%s = %.15g: %s", parameter->name, parameter->value,
			 parameter->meaning);
		print_paragraph(i == 0 ? "parameters" : "", text, width);
	}
}

static void print_facts_of(const struct tscope_rule_def *rule, size_t width)
{
	for (size_t i = 0; i < TSCOPE_RULE_MAX_FACTS && rule->facts[i]; i++)
		print_paragraph(i == 0 ? "facts" : "", rule->facts[i], width);
}

static void print_changes(const struct tscope_rule_def *rule, size_t width)
{
	char text[MAX_TEXT];

	snprintf(text, sizeof(text), "--rule %s=off|low|med|high", rule->id);
	print_paragraph("change it", text, width);
	if (!rule->parameters[0].name)
		return;
	snprintf(text, sizeof(text), "--rule %s.%s=%.15g", rule->id, rule->parameters[0].name,
		 rule->parameters[0].value);
	print_paragraph("", text, width);
}

static void print_rule(const struct tscope_rule_def *rule, size_t width)
{
	printf("%s: ", rule->id);
	terminal_print(rule->summary, strlen(rule->summary));
	fputs("\n\n", stdout);
	print_paragraph("trigger", rule->trigger, width);
	print_paragraph("why", rule->meaning, width);
	print_paragraph("what to do", rule->advice, width);
	if (rule->serving_advice)
		print_paragraph("  serving", rule->serving_advice, width);
	if (rule->inference_advice)
		print_paragraph("  inference", rule->inference_advice, width);
	print_paragraph("example", rule->example, width);
	print_parameters(rule, width);
	print_facts_of(rule, width);
	print_changes(rule, width);
}

static void print_all(void)
{
	size_t width = 0;

	for (size_t i = 0; i < tscope_rule_count(); i++) {
		size_t length = strlen(tscope_rule(i)->id);

		width = length > width ? length : width;
	}
	for (size_t i = 0; i < tscope_rule_count(); i++) {
		const struct tscope_rule_def *rule = tscope_rule(i);

		printf("%-*s  ", (int)width, rule->id);
		terminal_print(rule->summary, strlen(rule->summary));
		putchar('\n');
	}
}

/* Ids are upper case: look for the nearest one in upper case. */
static enum exit_code fail_unknown(const char *id)
{
	char word[64];
	struct guess guess = { .word = word };

	snprintf(word, sizeof(word), "%s", id);
	for (char *c = word; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	for (size_t i = 0; i < tscope_rule_count(); i++)
		guess_consider(&guess, tscope_rule(i)->id);
	say_unknown("rule", &guess);
	say("'tscope rules' lists them", "", "");
	return EXIT_CODE_USAGE;
}

static size_t width_of(const struct options *options)
{
	unsigned width = terminal_report_options(options).width;

	if (width == 0)
		return DEFAULT_WIDTH;
	if (width < LEAST_WIDTH)
		return LEAST_WIDTH;
	return width < MOST_WIDTH ? width : MOST_WIDTH;
}

static enum exit_code run_rules(const struct options *options)
{
	if (options->devices && options->operand_count > 0) {
		say("--devices prints no rule: ", options->operands[0], " is one too many");
		return EXIT_CODE_USAGE;
	}
	if (options->devices) {
		print_devices();
		return EXIT_CODE_OK;
	}
	for (int i = 0; i < options->operand_count; i++)
		if (!tscope_rule_find(options->operands[i]))
			return fail_unknown(options->operands[i]);
	for (int i = 0; i < options->operand_count; i++) {
		if (i > 0)
			putchar('\n');
		print_rule(tscope_rule_find(options->operands[i]), width_of(options));
	}
	if (options->operand_count == 0)
		print_all();
	return EXIT_CODE_OK;
}

const struct command command_rules = {
	.name = "rules",
	.operands = "[ID]...",
	.summary = "all rules; with an id: when it fires, why, what to do",
	.may_lack_operands = true,
	.run = run_rules,
};
