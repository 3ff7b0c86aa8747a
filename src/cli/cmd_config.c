/* SPDX-License-Identifier: MIT */
/*
 * tscope config: what the project file says for each command; with a command and options: all that
 * holds for such a call, and from where.
 */
#include "command.h"
#include "message.h"
#include "option_table.h"
#include "option_values.h"
#include "print_settings.h"

#include <string.h>

/* The default as --help shows it: "auto (default) or never", "rows (default: 10)". */
static void print_default(const struct option_row *row)
{
	const char *help = row->help ? row->help : list_formats("  ");
	const char *word = strstr(help, "(default: ");
	const char *end = strstr(help, " (default)");

	if (word) {
		word += strlen("(default: ");
		end = strchr(word, ')');
	} else if (end) {
		for (word = end; word > help && word[-1] != ' ';)
			word--;
	}
	if (word && end)
		printf("%-32.*s", (int)(end - word), word);
	else
		printf("%-32s", row->value ? "-" : "false");
}

static void print_setting(const struct options *options, const struct option_setting *setting)
{
	const char *value = setting->value ? setting->value : "true";
	const char *path = options->project.path;
	const char *slash = path ? strrchr(path, '/') : NULL;

	printf("  %-18s", setting->row->name);
	tscope_write_escaped(stdout, value);
	printf("%*s", strlen(value) < 31 ? (int)(32 - strlen(value)) : 1, "");
	if (setting->line == 0) {
		puts("command line");
		return;
	}
	tscope_write_escaped(stdout, slash ? slash + 1 : path);
	printf(":%zu\n", setting->line);
}

/* The last setting of an option holds, of one that may be repeated all. */
static bool holds(const struct options *options, size_t index)
{
	const struct option_row *row = options->settings[index].row;

	for (size_t i = index + 1; i < options->setting_count; i++)
		if (options->settings[i].row == row && !option_is_repeatable(row))
			return false;
	return true;
}

static void print_all(const struct options *options, const char *command, bool with_defaults)
{
	for (size_t i = 0; i < option_row_count; i++) {
		bool is_set = false;

		if (option_is_typed_only(&option_rows[i]))
			continue;
		for (size_t k = 0; k < options->setting_count; k++) {
			if (options->settings[k].row != &option_rows[i] || !holds(options, k))
				continue;
			print_setting(options, &options->settings[k]);
			is_set = true;
		}
		if (is_set || !with_defaults || !option_is_taken(&option_rows[i], command))
			continue;
		printf("  %-18s", option_rows[i].name);
		print_default(&option_rows[i]);
		puts("default");
	}
}

static void print_path(const struct options *options)
{
	if (options->project.path)
		tscope_write_escaped(stdout, options->project.path);
	else
		fputs(options->no_config ? "project file not read (--no-config)"
					 : "no " PROJECT_FILE " found",
		      stdout);
	putchar('\n');
}

void print_settings(const struct options *options, const char *command)
{
	print_path(options);
	putchar('\n');
	print_all(options, command, true);
}

/* As a call of the command without options reads it. */
static enum exit_code print_of_command(const char *command, char *path)
{
	char *arguments[] = { "--config", path };
	struct options options;
	enum exit_code code = options_parse(&options, command, 2, arguments);

	if (code == EXIT_CODE_OK && options.setting_count > 1) { /* not --config alone */
		printf("\n%s\n", command);
		print_all(&options, command, false);
	}
	options_deinit(&options);
	return code;
}

static enum exit_code run_config(const struct options *options)
{
	static const char *const commands[] = {
#define COMMAND(name) #name,
#include "command_list.h"
#undef COMMAND
	};
	char *path = options->project.path;
	enum exit_code code = EXIT_CODE_OK;

	if (options->operand_count > 0) {
		struct guess guess = { .word = options->operands[0] };

		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			guess_consider(&guess, commands[i]);
		say_unknown("command", &guess);
		return EXIT_CODE_USAGE;
	}
	print_path(options);
	for (size_t i = 0; path && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (options_value_name("--config", commands[i]))
			code = worse(code, print_of_command(commands[i], path));
	return code;
}

const struct command command_config = {
	.name = "config",
	.operands = "[COMMAND [OPTION]...]",
	.summary = "the project file .tscope.yaml; with a command: what holds, and from where",
	.may_lack_operands = true,
	.run = run_config,
};
