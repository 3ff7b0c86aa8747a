/* SPDX-License-Identifier: MIT */
/*
 * The only place of the program that writes to standard error, but for the
 * progress line.
 */
#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tscope/report.h>

/* Subject of messages while a project file is read. */
static struct {
	const char *path;
	size_t line;
} place;

void say_in(const char *path, size_t line)
{
	place.path = path;
	place.line = line;
}

static const char *dashes(void)
{
	return place.path ? "" : "--";
}

static void begin(void)
{
	fputs("tscope: ", stderr);
	if (!place.path)
		return;
	tscope_write_escaped(stderr, place.path);
	fprintf(stderr, ":%zu: ", place.line);
}

void say(const char *text, const char *word, const char *rest)
{
	begin();
	fputs(text, stderr);
	tscope_write_escaped(stderr, word);
	fputs(rest, stderr);
	fputc('\n', stderr);
}

/* "tscope: subject: what", and the line goes on. */
static void begin_about(const char *subject, const char *what)
{
	begin();
	if (subject) {
		tscope_write_escaped(stderr, subject);
		fputs(": ", stderr);
	}
	tscope_write_escaped(stderr, what);
}

void say_about(const char *subject, const char *what, const char *rest)
{
	begin_about(subject, what);
	fputs(rest, stderr);
	fputc('\n', stderr);
}

void say_error(const char *subject, const struct tscope_error *err, const char *rest)
{
	begin_about(subject, err->message);
	if (err->has_offset)
		fprintf(stderr, " (byte %" PRIu64 ")", err->offset);
	if (err->status == TSCOPE_E_NOMEM)
		fputs(" (limit: max-memory)", stderr);
	fputs(rest, stderr);
	fputc('\n', stderr);
}

void say_gate(const char *subject, const char *gate, const char *verdict, const char *reason)
{
	begin_about(subject, "gate ");
	tscope_write_escaped(stderr, gate);
	fprintf(stderr, " %s: ", verdict);
	tscope_write_escaped(stderr, reason);
	fputc('\n', stderr);
}

void say_unmatched(const char *path, const char *marker)
{
	begin_about(path, "--step-marker ");
	tscope_write_escaped(stderr, marker);
	fputs(": no span has this name; steps are bounded as without it\n", stderr);
}

void say_nomem(void)
{
	say("", tscope_status_text(TSCOPE_E_NOMEM), " (limit: max-memory)");
}

void say_option(const char *option, const char *what)
{
	say(dashes(), option, what);
}

void say_value(const char *option, const char *value, const char *expected)
{
	begin();
	fprintf(stderr, "%s%s: expected %s, not '", dashes(), option, expected);
	tscope_write_escaped(stderr, value);
	fputs("'\n", stderr);
}

enum { MAX_WORD = 32 }; /* longer than any name of ours */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to put in, take out or change to make one word of the other (Levenshtein). */
static size_t word_distance(const char *a, const char *b)
{
	size_t row[MAX_WORD + 1]; /* distances of the prefix of a to all prefixes of b */
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(change, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[length];
}

void guess_consider(struct guess *guess, const char *name)
{
	size_t length = strlen(guess->word);
	size_t distance;

	if (length > MAX_WORD || strlen(name) > MAX_WORD)
		return;
	distance = word_distance(guess->word, name);
	/* More than a third of the letters wrong is another word, not a slip. */
	if (distance > (length < 4 ? 1 : (length + 1) / 3))
		return;
	if (!guess->name || distance < guess->distance) {
		guess->name = name;
		guess->distance = distance;
	}
}

static void complain_unknown(const char *kind, const char *before, const struct guess *guess)
{
	begin();
	fprintf(stderr, "unknown %s %s", kind, before);
	tscope_write_escaped(stderr, guess->word);
	if (guess->name)
		fprintf(stderr, "; did you mean %s%s?", before, guess->name);
	fputc('\n', stderr);
}

void say_unknown_option(const struct guess *guess)
{
	complain_unknown("option", dashes(), guess);
}

void say_unknown(const char *kind, const struct guess *guess)
{
	complain_unknown(kind, "", guess);
}
