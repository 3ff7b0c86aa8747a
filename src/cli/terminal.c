/* SPDX-License-Identifier: MIT */
/*
 * Terminal properties from the environment. They change only the layout, never a figure; a pipe
 * gets the same text without escapes.
 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The value of a variable, "" where it is not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static bool wants_color(const struct options *options)
{
	if (options->color != WHEN_AUTO)
		return options->color == WHEN_ALWAYS;
	if (options->output || *variable("NO_COLOR") != '\0')
		return false;
	if (*variable("FORCE_COLOR") != '\0')
		return true;
	return isatty(STDOUT_FILENO) && strcmp(variable("TERM"), "dumb") != 0;
}

static unsigned width(const struct options *options)
{
	unsigned long columns = strtoul(variable("COLUMNS"), NULL, 10);
	struct winsize size;

	if (columns > 0 && columns <= 9999)
		return (unsigned)columns;
	if (!options->output && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

struct terminal_size terminal_size(void)
{
	struct winsize size = { 0 };

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return (struct terminal_size){ size.ws_row > 0 ? size.ws_row : 24,
				       size.ws_col > 0 ? size.ws_col : 80 };
}

static bool is_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = "";
	const char *charset;

	for (size_t i = 0; *locale == '\0' && i < sizeof(names) / sizeof(names[0]); i++)
		locale = variable(names[i]);
	charset = strchr(locale, '.');
	return charset && (strncasecmp(charset + 1, "UTF-8", 5) == 0 ||
			   strncasecmp(charset + 1, "UTF8", 4) == 0);
}

/* Above which the verdict would scroll out of sight; 0: no terminal, or not the whole report. */
static unsigned rows(const struct options *options)
{
	bool is_seen = !options->output && !options->shown && isatty(STDOUT_FILENO);

	return is_seen ? terminal_size().rows : 0;
}

/* GitHub and GitLab say which commit a job is about. */
static const char *commit(const struct options *options)
{
	const char *commit = options->tags.commit;

	commit = commit ? commit : getenv("GITHUB_SHA");
	return commit ? commit : getenv("CI_COMMIT_SHA");
}

struct tscope_report_options terminal_report_options(const struct options *options)
{
	bool is_by = options->analysis.by || options->analysis.under;
	const char *shown =
		options->shown || options->full || !is_by ? options->shown : "attribution";

	return (struct tscope_report_options){
		.format = options->formats.format,
		.color = wants_color(options),
		.ascii = !is_utf8_locale(),
		.width = width(options),
		.rows = rows(options),
		.top = options->top,
		.rank = options->rank,
		.extent = options->quiet ? TSCOPE_REPORT_BRIEF
			  : options->full || shown || options->verbose || options->all ||
					  options->rank.is_chosen
				  ? TSCOPE_REPORT_FULL
				  : TSCOPE_REPORT_SCREEN,
		.shown = shown,
		.verbose = options->verbose,
		.all = options->all,
		.undecided_pass = options->undecided_pass,
		.run_tag = options->tags.run,
		.time_tag = options->tags.time,
		.commit_tag = commit(options),
		.all_rows = options->full,
		.ranks = options->ranks,
	};
}

struct tscope_report_options terminal_file_options(const struct options *options,
						   const struct report_file *file)
{
	struct options changed = *options;

	changed.output = file->path;
	changed.formats.format = file->format;
	return terminal_report_options(&changed);
}

/* The substitute of the character that begins at text, which has *length bytes. */
static const char *substitute_at(const char *text, size_t *length)
{
	static const struct {
		const char *utf8, *ascii;
	} substitutes[] = {
		{ "÷", "/" }, { "×", "x" }, { "µ", "u" }, { "…", "..." }, { "∪", "|" },
	};

	for (size_t i = 0; i < sizeof(substitutes) / sizeof(substitutes[0]); i++) {
		*length = strlen(substitutes[i].utf8);
		if (strncmp(text, substitutes[i].utf8, *length) == 0)
			return substitutes[i].ascii;
	}
	*length = 1;
	return "?";
}

void terminal_print(const char *text, size_t length)
{
	bool is_utf8 = is_utf8_locale();
	size_t step;

	for (size_t i = 0; i < length; i += step) {
		step = 1;
		if (is_utf8 || (unsigned char)text[i] < 0x80)
			putchar(text[i]);
		else
			fputs(substitute_at(text + i, &step), stdout);
	}
}
