/* SPDX-License-Identifier: MIT */
/*
 * The program: finds the command, reads its options, runs it and turns what
 * happened into an exit code. All work is done by libtscope, of which it sees
 * the public headers only.
 */
#include "command.h"
#include "complete.h"
#include "max_memory.h"
#include "message.h"
#include "option_table.h"
#include "output.h"
#include "pager.h"
#include "print_settings.h"
#include "reports.h"
#include "sandbox.h"
#include "spill.h"
#include "tables.h"
#include "terms.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name) extern const struct command command_##name;
#include "command_list.h"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "command_list.h"
#undef COMMAND
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static void print_usage(FILE *out)
{
	fputs("usage: tscope COMMAND [OPTION]... [FILE]...\n\n"
	      "Says where the time of a training or inference job went.\n\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs("\n'tscope help COMMAND' lists the options, 'tscope help terms' explains the "
	      "words.\n",
	      out);
}

static void print_command_help(FILE *out, const struct command *command)
{
	fprintf(out, "usage: tscope %s [OPTION]... %s\n\n%s\n\n", command->name, command->operands,
		command->summary);
	options_print_help(out, command->name);
}

static void print_version(FILE *out)
{
	fprintf(out, "tscope %s\n", tscope_version());
	for (size_t i = 0; tscope_build_feature(i); i++)
		fprintf(out, "%s\n", tscope_build_feature(i));
	fprintf(out, "%s\n", tables_sqlite_version());
}

static enum exit_code fail_unknown_command(const char *word)
{
	struct guess guess = { .word = word };

	if (access(word, F_OK) == 0) {
		say("no command given; did you mean: tscope report ", word, "");
		return EXIT_CODE_USAGE;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		guess_consider(&guess, commands[i]->name);
	guess_consider(&guess, "help");
	if (word[0] == '-') {
		say("unknown option ", word, "; options of commands follow the command");
	} else {
		say_unknown("command", &guess);
	}
	say("'tscope help' lists the commands", "", "");
	return EXIT_CODE_USAGE;
}

static enum exit_code run_help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	if (name && strcmp(name, "terms") == 0) {
		terms_print();
		return EXIT_CODE_OK;
	}
	if (name && !command)
		return fail_unknown_command(name);
	if (command)
		print_command_help(stdout, command);
	else
		print_usage(stdout);
	return EXIT_CODE_OK;
}

static enum exit_code fail_no_operand(const struct command *command)
{
	char text[80];

	snprintf(text, sizeof(text), "no file given: tscope %s %s", command->name,
		 command->operands);
	say(text, "", "; - is standard input");
	return EXIT_CODE_USAGE;
}

static enum exit_code run_with(const struct command *command, const struct options *options)
{
	if (options->help)
		return run_help(command->name);
	if (options->version) {
		print_version(stdout);
		return EXIT_CODE_OK;
	}
	if (options->operand_count == 0 && !command->may_lack_operands && !options->list_facts)
		return fail_no_operand(command);
	return command->run(options);
}

/* Paths that are not given are NULL. */
static enum exit_code enter_sandbox(const struct options *options)
{
	const char *const fixed[] = { options->output, options->flamegraph, options->folder,
				      tables_path(options), reports_summary_path(options) };
	enum { FIXED_COUNT = sizeof(fixed) / sizeof(fixed[0]) };
	size_t count = FIXED_COUNT;
	const char **outputs = calloc(count + options->formats.file_count, sizeof(*outputs));

	if (!outputs) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	memcpy(outputs, fixed, sizeof(fixed));
	for (size_t i = 0; i < options->formats.file_count; i++)
		outputs[count++] = options->formats.files[i].path;
	sandbox_enter(outputs, count);
	free(outputs);
	return EXIT_CODE_OK;
}

/* Shows the settings of a hypothetical call: tscope config report --top 5 */
static enum exit_code show_settings(const struct command *command, int count, char **arguments)
{
	struct options options;
	enum exit_code code = options_parse(&options, command->name, count, arguments);

	if (code == EXIT_CODE_OK)
		print_settings(&options, command->name);
	options_deinit(&options);
	return code;
}

static enum exit_code run_command(const struct command *command, int count, char **arguments)
{
	struct options options;
	enum exit_code code = options_parse(&options, command->name, count, arguments);

	if (code == EXIT_CODE_OK) {
		if (option_is_taken(option_find("no-pager", command->name), command->name))
			pager_prepare(&options);
		max_memory_set(&options);
		spill_prepare(&options);
		if (!options.no_sandbox)
			code = enter_sandbox(&options);
	}
	if (code == EXIT_CODE_OK)
		code = run_with(command, &options);
	tscope_spill_free(options.trace.spill);
	options_deinit(&options);
	return code;
}

static enum exit_code run(int count, char **arguments)
{
	const struct command *command;
	struct tscope_error err;

	if (tscope_report_check(&err) != TSCOPE_OK) {
		say_error(NULL, &err, "");
		return EXIT_CODE_INTERNAL;
	}
	if (count < 1) {
		print_usage(stderr);
		return EXIT_CODE_USAGE;
	}
	if (strcmp(arguments[0], "--version") == 0) {
		print_version(stdout);
		return EXIT_CODE_OK;
	}
	if (strcmp(arguments[0], "help") == 0 || strcmp(arguments[0], "--help") == 0 ||
	    strcmp(arguments[0], "-h") == 0)
		return run_help(count > 1 ? arguments[1] : NULL);
	if (strcmp(arguments[0], "__complete") == 0) {
		complete_words(commands, COMMAND_COUNT, count - 1, arguments + 1);
		return EXIT_CODE_OK;
	}
	command = find_command(arguments[0]);
	if (!command)
		return fail_unknown_command(arguments[0]);
	if (command == &command_config && count > 1 && find_command(arguments[1]))
		return show_settings(find_command(arguments[1]), count - 2, arguments + 2);
	return run_command(command, count - 1, arguments + 1);
}

/*
 * Gives the three standard descriptors to /dev/null where they are closed, in
 * the direction that fails: else the first file we open would be standard
 * output, and a report would be written into it.
 */
static void occupy_standard_descriptors(void)
{
	static const int failing_mode[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	int fd;

	for (int i = 0; i < 3; i++) {
		if (fcntl(i, F_GETFD) >= 0)
			continue;
		fd = open("/dev/null", failing_mode[i]); /* takes the lowest free number: i */
		(void)fd;
	}
}

int main(int argc, char **argv)
{
	enum exit_code code;

	occupy_standard_descriptors();
	/* A file that grows too large is a failed write, which leaves nothing half. */
	signal(SIGXFSZ, SIG_IGN);
	code = run(argc - 1, argv + 1);
	output_end();
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		if (code != EXIT_CODE_OUTPUT)
			say("cannot write to standard output: ",
			    errno != 0 ? strerror(errno) : "the device refused it", "");
		code = code > EXIT_CODE_OUTPUT ? code : EXIT_CODE_OUTPUT;
	}
	return (int)code;
}
