/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_MESSAGE_H
#define TSCOPE_CLI_MESSAGE_H

#include <stddef.h>
#include <tscope/error.h>

/*
 * Messages on standard error, one line each, "tscope: " in front. Texts that the user or an input
 * chose are shown escaped.
 */

/*
 * From here on messages begin with a place in the project file, and name options as it does; path
 * NULL: no longer.
 */
void say_in(const char *path, size_t line);

/* "tscope: <text><word><rest>": word is the user's. */
void say(const char *text, const char *word, const char *rest);

/* "tscope: trace.json.zst: zstd frame 3: truncated (byte 918273)<rest>"; subject may be NULL */
void say_error(const char *subject, const struct tscope_error *err, const char *rest);

/* "tscope: run/rank3.json: <what><rest>": both are the user's or an input's. */
void say_about(const char *subject, const char *what, const char *rest);

/* "tscope: trace.json: gate mfu<0.35 tripped: 0.31 < 0.35"; subject may be NULL */
void say_gate(const char *subject, const char *gate, const char *verdict, const char *reason);

/* Warns that --step-marker matches nothing in a trace. */
void say_unmatched(const char *path, const char *marker);

/* "tscope: out of memory" */
void say_nomem(void);

/* "tscope: --top needs a value" */
void say_option(const char *option, const char *what);

/* "tscope: --top: expected a whole number, not 'ten'" */
void say_value(const char *option, const char *value, const char *expected);

/* A guess at what was meant by a word that we do not know: the nearest name so far. */
struct guess {
	const char *word; /* what was written */
	const char *name; /* NULL: none is near */
	size_t distance;
};

void guess_consider(struct guess *guess, const char *name);

/* "tscope: unknown option --colr; did you mean --color?" */
void say_unknown_option(const struct guess *guess);

/* "tscope: unknown rule GC.PAUS; did you mean GC.PAUSE?" */
void say_unknown(const char *kind, const struct guess *guess);

#endif
