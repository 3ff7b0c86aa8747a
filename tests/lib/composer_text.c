/* SPDX-License-Identifier: MIT */
/* Makes events of lines, word by word. */
#include "composer_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MAX_WORDS = 12, LINE_BYTES = 512 };

struct line {
	char text[LINE_BYTES];
	char *words[MAX_WORDS];
	size_t count;
	const char *process, *thread;
	char args[LINE_BYTES];
};

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Words end at blanks; what begins with a brace goes to the end of the line. */
static void split(struct line *line)
{
	char *p = line->text;

	line->count = 0;
	while (*p) {
		assert_true(line->count < MAX_WORDS);
		line->words[line->count++] = p;
		bool has_brace = *p == '{' || strncmp(p, "args=", 5) == 0;
		p += has_brace ? strlen(p) : strcspn(p, " ");
		if (*p)
			*p++ = '\0';
	}
}

static const char *value_of(const struct line *line, const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 1; i < line->count; i++)
		if (strncmp(line->words[i], key, length) == 0 && line->words[i][length] == '=')
			return line->words[i] + length + 1;
	return NULL;
}

static void emit(struct test_trace *t, const struct line *line, const char *name, char phase,
		 const char *at)
{
	test_event(t, &(struct raw_event){
			      .phase = phase,
			      .has_ts = true,
			      .ts_ns = strtoll(at, NULL, 10),
			      .name = str_of(name),
			      .pid = str_of(line->process),
			      .tid = str_of(line->thread),
			      .args = str_of(line->args),
		      });
}

static void emit_metadata(struct test_trace *t, struct line *line, const char *name,
			  const char *value)
{
	if (!value)
		return;
	snprintf(line->args, sizeof(line->args), "{\"value\": %s}", value);
	test_event(t, &(struct raw_event){
			      .phase = 'M',
			      .name = str_of(name),
			      .pid = str_of(line->process),
			      .tid = str_of(line->thread),
			      .args = str_of(line->args),
		      });
}

static void take_rank(struct test_trace *t, struct line *line)
{
	emit_metadata(t, line, "global_rank", line->words[1]);
	emit_metadata(t, line, "clock_sync_timestamp_us", value_of(line, "sync"));
	emit_metadata(t, line, "clock_sync_error_bound", value_of(line, "error"));
}

static void take_complete(struct test_trace *t, const struct line *line)
{
	const char *args = value_of(line, "args");
	int64_t start_ns = strtoll(line->words[2], NULL, 10);

	test_event(t, &(struct raw_event){
			      .phase = 'X',
			      .has_ts = true,
			      .has_dur = true,
			      .ts_ns = start_ns,
			      .dur_ns = strtoll(line->words[3], NULL, 10) - start_ns,
			      .name = str_of(line->words[1]),
			      .cat = str_of(line->words[0]),
			      .pid = str_of(line->process),
			      .tid = str_of(line->thread),
			      .args = str_of(args ? args : ""),
		      });
}

static void take_pair(struct test_trace *t, struct line *line)
{
	const char *batch = value_of(line, "batch");

	if (batch)
		snprintf(line->args, sizeof(line->args), "{\"epoch\": 0, \"batch\": %s}", batch);
	if (strcmp(line->words[1], "-") != 0)
		emit(t, line, line->words[0], 'B', line->words[1]);
	if (strcmp(line->words[2], "-") != 0)
		emit(t, line, line->words[0], 'E', line->words[2]);
}

static void take_counter(struct test_trace *t, struct line *line)
{
	snprintf(line->args, sizeof(line->args), "%s", line->words[3]);
	emit(t, line, line->words[1], 'C', line->words[2]);
}

static void take_line(struct test_trace *t, struct line *line)
{
	const char *process, *thread;

	split(line);
	assert_true(line->count >= 2);
	process = value_of(line, "process");
	thread = value_of(line, "thread");
	line->process = process ? process : "0";
	line->thread = thread ? thread : "1";
	line->args[0] = '\0';
	if (strcmp(line->words[0], "rank") == 0)
		take_rank(t, line);
	else if (strcmp(line->words[0], "counter") == 0)
		take_counter(t, line);
	else if (strchr(line->words[1], '-') == line->words[1] ||
		 (line->words[1][0] >= '0' && line->words[1][0] <= '9'))
		take_pair(t, line);
	else
		take_complete(t, line);
}

struct test_trace *composer_text_with(const char *text, const struct builder_options *options)
{
	struct test_trace *t = test_trace_new_with(options);
	struct line line;

	while (*text) {
		size_t length = strcspn(text, "\n");

		assert_true(length < sizeof(line.text));
		memcpy(line.text, text, length);
		line.text[length] = '\0';
		take_line(t, &line);
		text += length + (text[length] == '\n');
	}
	return t;
}

struct test_trace *composer_text(const char *text)
{
	return composer_text_with(text, &(struct builder_options){ 0 });
}
