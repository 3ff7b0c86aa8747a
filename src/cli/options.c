/* SPDX-License-Identifier: MIT */
/* From the project file and the command line to struct options: both are settings in one order. */
#include "options.h"

#include "message.h"
#include "option_table.h"
#include "option_values.h"

#include <stdlib.h>
#include <string.h>

/* command NULL: of all */
static bool fail_unknown(const char *name, const char *command)
{
	char word[40];
	struct guess guess = { .word = word };

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "="), name);
	for (size_t i = 0; i < option_row_count; i++)
		if (!command || option_is_taken(&option_rows[i], command))
			guess_consider(&guess, option_rows[i].name);
	say_unknown_option(&guess);
	return false;
}

static bool fail_not_taken(const struct option_row *row)
{
	char text[200], owners[160] = "";

	/* The option of one name may have several rows. */
	for (size_t i = 0, length = 0; i < option_row_count; i++) {
		if (strcmp(option_rows[i].name, row->name) == 0)
			length += (size_t)snprintf(owners + length, sizeof(owners) - length, "%s%s",
						   length > 0 ? ", " : "", option_rows[i].commands);
	}
	snprintf(text, sizeof(text), " only works with tscope %s", owners);
	say_option(row->name, text);
	return false;
}

/* "tscope: sections are budget, callbacks, …", in lines of a terminal's width. */
static void say_sections(void)
{
	char line[80] = "sections are", name[TSCOPE_SECTION_NAME_MAX],
	     next[TSCOPE_SECTION_NAME_MAX];
	bool is_more = tscope_report_section(0, name);

	for (size_t i = 1; is_more; i++) {
		size_t length = strlen(line);

		is_more = tscope_report_section(i, next);
		if (length + strlen(name) + 2 > 70) {
			say(line, "", "");
			length = (size_t)snprintf(line, sizeof(line), " ");
		}
		snprintf(line + length, sizeof(line) - length, " %s%s", name, is_more ? "," : "");
		memcpy(name, next, sizeof(name));
	}
	say(line, "", "");
}

/* Sets the option's field; false: said what is wrong with the value. NULL: a flag without one. */
static bool set(struct options *options, const struct option_row *row, const char *value)
{
	struct tscope_error err;
	const char *expected;

	if (row->check && row->check(value, &err) != TSCOPE_OK) {
		char text[sizeof(err.message) + 2];

		snprintf(text, sizeof(text), ": %s", err.message);
		say_option(row->name, text);
		if (row->check == tscope_report_check_sections)
			say_sections();
		return false;
	}
	expected = row->parse(value, (char *)options + row->offset);
	if (expected)
		say_value(row->name, value, expected);
	return !expected;
}

/* ---- the command line ---- */

/* Takes the option at arguments[*i]; *i moves on where its value is the next argument. */
static bool take_option(struct options *options, const char *command, int count, char **arguments,
			int *i)
{
	const char *name = arguments[*i] + 2;
	const struct option_row *row = option_find(name, command);
	const char *value = strchr(name, '=');

	if (!row)
		return fail_unknown(name, command);
	if (!option_is_taken(row, command))
		return fail_not_taken(row);
	if (value)
		value++;
	else if (row->value && *i + 1 < count)
		value = arguments[++*i];
	if (row->value && !value) {
		say_option(row->name, " needs a value");
		return false;
	}
	options->settings[options->setting_count++] = (struct option_setting){ row, value, 0 };
	return true;
}

static bool take_arguments(struct options *options, const char *command, int count,
			   char **arguments)
{
	bool may_be_option = true;

	for (int i = 0; i < count; i++) {
		char *argument = arguments[i];
		char *long_form = strcmp(argument, "-h") == 0   ? "--help"
				  : strcmp(argument, "-v") == 0 ? "--verbose"
								: argument;

		if (may_be_option && strcmp(argument, "--") == 0) {
			may_be_option = false;
		} else if (may_be_option && long_form != argument) {
			if (!take_option(options, command, 1, &long_form, &(int){ 0 }))
				return false;
		} else if (may_be_option && strncmp(argument, "--", 2) == 0) {
			if (!take_option(options, command, count, arguments, &i))
				return false;
		} else if (may_be_option && argument[0] == '-' && argument[1] != '\0') {
			say("unknown option ", argument, "; options have two dashes");
			return false;
		} else {
			options->operands[options->operand_count++] = argument;
		}
	}
	return true;
}

/* The last of this name on the command line, or NULL. */
static const struct option_setting *find_typed(const struct options *options, const char *name)
{
	const struct option_setting *found = NULL;

	for (size_t i = 0; i < options->setting_count; i++)
		if (options->settings[i].line == 0 &&
		    strcmp(options->settings[i].row->name, name) == 0)
			found = &options->settings[i];
	return found;
}

bool options_are_typed(const struct options *options, const char *name)
{
	return find_typed(options, name) != NULL;
}

/* ---- the project file ---- */

/* An entry's row; at the top level, where a name has several, the first: no gates on changes. */
static const struct option_row *row_of(const struct project_entry *entry)
{
	if (entry->section)
		return option_find(entry->key, entry->section);
	for (size_t i = 0; i < option_row_count; i++)
		if (strcmp(option_rows[i].name, entry->key) == 0)
			return &option_rows[i];
	return NULL;
}

static bool check_section(const char *section)
{
	static const char *const commands[] = {
#define COMMAND(name) #name,
#include "command_list.h"
#undef COMMAND
	};
	struct guess guess = { .word = section };

	for (size_t i = 0; section && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i], section) == 0)
			return true;
		guess_consider(&guess, commands[i]);
	}
	if (section)
		say_unknown("section", &guess);
	return !section;
}

/* Whether the entry means something, whatever the command is. */
static bool check_entry(const struct project_entry *entry)
{
	const struct option_row *row = row_of(entry);
	const char *value = NULL;
	struct options scratch = { .gates.items = &value, .rule_changes.items = &value };

	if (!check_section(entry->section))
		return false;
	if (!row)
		return fail_unknown(entry->key, entry->section);
	if (option_is_typed_only(row)) {
		say_option(row->name, " stands on the command line only");
		return false;
	}
	if (entry->section && !option_is_taken(row, entry->section))
		return fail_not_taken(row);
	if (entry->is_item && !option_is_repeatable(row)) {
		say_option(row->name, " takes one value, no list");
		return false;
	}
	if (row->parse == parse_format && strchr(entry->value, '=')) {
		say_option(row->name, ": files to write stand on the command line only");
		return false;
	}
	return set(&scratch, row, entry->value);
}

/* A path is relative to the file that names it. */
static bool resolve(struct project_entry *entry, const char *file)
{
	const char *slash = strrchr(file, '/');
	int length = slash ? (int)(slash + 1 - file) : 0;
	size_t size;
	char *path;

	if (strcmp(entry->key, "baseline") != 0 || entry->value[0] == '/' || length == 0)
		return true;
	size = (size_t)length + strlen(entry->value) + 1;
	path = malloc(size);
	if (!path)
		return false;
	snprintf(path, size, "%.*s%s", length, file, entry->value);
	free(entry->value);
	entry->value = path;
	return true;
}

static enum exit_code check_project(struct project_file *file)
{
	bool is_right = true;

	for (size_t i = 0; i < file->count && is_right; i++) {
		say_in(file->path, file->entries[i].line);
		is_right = check_entry(&file->entries[i]);
		say_in(NULL, 0);
		if (is_right && !resolve(&file->entries[i], file->path)) {
			say_nomem();
			return EXIT_CODE_INTERNAL;
		}
	}
	return is_right ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

/* Does the entry say something about this call? */
static bool applies(const struct project_entry *entry, const struct options *options,
		    const char *command)
{
	if (entry->section ? strcmp(entry->section, command) != 0
			   : !option_is_taken(row_of(entry), command))
		return false;
	/* A model that was typed goes before FLOPs that were not, which would go before it. */
	return strcmp(entry->key, "flops-per-step") != 0 || !options_are_typed(options, "model");
}

/* Puts what the project file says before what was typed: the top level, then the section. */
static enum exit_code add_project(struct options *options, const char *command)
{
	const struct project_file *file = &options->project;
	size_t typed_count = options->setting_count, count = 0;
	struct option_setting *settings = calloc(typed_count + file->count + 1, sizeof(*settings));

	if (!settings) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (int is_section = 0; is_section < 2; is_section++) {
		for (size_t i = 0; i < file->count; i++) {
			const struct project_entry *entry = &file->entries[i];

			if (!entry->section == !is_section && applies(entry, options, command))
				settings[count++] =
					(struct option_setting){ row_of(entry), entry->value,
								 entry->line };
		}
	}
	memcpy(settings + count, options->settings, typed_count * sizeof(*settings));
	free(options->settings);
	options->settings = settings;
	options->setting_count = count + typed_count;
	return EXIT_CODE_OK;
}

static enum exit_code read_project(struct options *options, const char *command)
{
	const struct option_setting *path = find_typed(options, "config");
	enum exit_code code;

	if (!option_is_taken(option_find("config", command), command) ||
	    options_are_typed(options, "no-config") || options_are_typed(options, "help") ||
	    options_are_typed(options, "version"))
		return EXIT_CODE_OK;
	code = project_file_read(&options->project, path ? path->value : NULL);
	if (code == EXIT_CODE_OK)
		code = check_project(&options->project);
	return code == EXIT_CODE_OK ? add_project(options, command) : code;
}

/* ---- both ---- */

static enum exit_code fail_usage(const char *command)
{
	say("'tscope help ", command, "' lists the options");
	return EXIT_CODE_USAGE;
}

static enum exit_code set_all(struct options *options, const char *command)
{
	size_t room = options->setting_count + 1;

	options->gates.items = calloc(room, sizeof(*options->gates.items));
	options->rule_changes.items = calloc(room, sizeof(*options->rule_changes.items));
	options->formats.files = calloc(room, sizeof(*options->formats.files));
	if (!options->gates.items || !options->rule_changes.items || !options->formats.files) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (size_t i = 0; i < options->setting_count; i++) {
		const struct option_setting *setting = &options->settings[i];

		if (!set(options, setting->row, setting->value))
			return fail_usage(command);
		/* From the project file: another may stand in the section and be typed. */
		if (setting->line > 0)
			options->formats.is_given = false;
	}
	options->analysis.python = options->trace.python;
	return EXIT_CODE_OK;
}

/* Side A of `diff`: always where it was typed, else where the command line names side B only. */
static void put_baseline(struct options *options)
{
	if (!options->baseline ||
	    (options->operand_count != 1 && !options_are_typed(options, "baseline")))
		return;
	memmove(options->operands + 1, options->operands,
		(size_t)options->operand_count++ * sizeof(*options->operands));
	options->operands[0] = options->baseline;
}

enum exit_code options_parse(struct options *options, const char *command, int count,
			     char **arguments)
{
	enum exit_code code;

	*options = (struct options){
		.operands = calloc((size_t)count + 2, sizeof(*options->operands)),
		.settings = calloc((size_t)count + 1, sizeof(*options->settings)),
	};
	if (!options->operands || !options->settings) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	if (!take_arguments(options, command, count, arguments))
		return fail_usage(command);
	code = read_project(options, command);
	if (code == EXIT_CODE_OK)
		code = set_all(options, command);
	if (code == EXIT_CODE_OK)
		put_baseline(options);
	return code;
}

void options_deinit(struct options *options)
{
	free(options->gates.items);
	free(options->rule_changes.items);
	free(options->formats.files);
	free(options->operands);
	free(options->settings);
	project_file_deinit(&options->project);
	*options = (struct options){ 0 };
}
