/* SPDX-License-Identifier: MIT */
#include "complete.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ID = 160 };

static void offer(const char *start, const char *word, const char *meaning)
{
	if (strncmp(word, start, strlen(start)) == 0)
		printf("%s\t%s\n", word, meaning);
}

static void offer_rules(const char *start, const char *suffix)
{
	for (size_t i = 0; i < tscope_rule_count(); i++) {
		char id[MAX_ID];

		snprintf(id, sizeof(id), "%s%s", tscope_rule(i)->id, suffix);
		offer(start, id, tscope_rule(i)->summary);
	}
}

/* Completes the start of a gate: a fact, a rule, "straggler", "severity". */
static void offer_gates(const char *start)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		for (size_t j = 0; j < analyzer->fact_count; j++) {
			char id[MAX_ID];

			snprintf(id, sizeof(id), "%s.%s", analyzer->id, analyzer->facts[j].name);
			offer(start, id, analyzer->facts[j].meaning);
		}
	}
	offer_rules(start, "");
	offer(start, "mfu", "model FLOPs utilization");
	offer(start, "straggler", "one rank slows all others down");
	offer(start, "severity>=high", "any finding of high severity");
}

static void offer_formats(const char *start)
{
	const struct tscope_report_format *format;

	for (size_t i = 0; (format = tscope_report_format(i)); i++)
		offer(start, format->name, format->readers);
}

/* The numbers after "rank" in the names of a folder's entries. */
static void offer_ranks(const char *start, const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const char *number = strstr(entry->d_name, "rank");
		char text[24];

		if (!number)
			continue;
		number += 4 + strspn(number + 4, "-_=");
		if (!isdigit((unsigned char)*number))
			continue;
		snprintf(text, sizeof(text), "%lu", strtoul(number, NULL, 10));
		offer(start, text, entry->d_name);
	}
	if (directory)
		closedir(directory);
}

static void offer_values(const char *option, const char *value_name, const char *start)
{
	/* Options whose values are a few words. */
	static const struct {
		const char *option, *words[5];
	} choices[] = {
		{ "--color", { "auto", "always", "never" } },
		{ "--progress", { "auto", "never" } },
		{ "--undecided", { "fail", "pass" } },
		{ "--flamegraph-at", { "peak", "end" } },
		{ "--by", { "module", "source", "operator", "kernel", "category" } },
		{ "--flamegraph-by", { "device", "host", "bytes" } },
	};

	if (strcmp(value_name, "GATE") == 0)
		offer_gates(start);
	else if (strcmp(value_name, "CHANGE") == 0)
		offer_rules(start, "=");
	else if (strcmp(option, "--format") == 0)
		offer_formats(start);
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		for (size_t j = 0; j < 5 && strcmp(choices[i].option, option) == 0; j++)
			if (choices[i].words[j])
				offer(start, choices[i].words[j], "");
}

void complete_words(const struct command *const *commands, size_t command_count, int count,
		    char *const *words)
{
	bool is_config = count > 2 && strcmp(words[0], "config") == 0 && words[1][0] != '-';
	const char *start = count > 0 ? words[count - 1] : "";
	const char *before = count > 1 ? words[count - 2] : "";
	const char *command = count > 1 ? words[is_config] : NULL; /* config report --to */
	const char *value_name = command ? options_value_name(before, command) : NULL;

	if (!command || (count == 2 && start[0] != '-' &&
			 (strcmp(command, "help") == 0 || strcmp(command, "config") == 0))) {
		for (size_t i = 0; i < command_count; i++)
			offer(start, commands[i]->name, commands[i]->summary);
		if (!command)
			offer(start, "help", "the options of a command");
	} else if (strcmp(before, "--rank") == 0) {
		for (int i = 1; i < count - 2; i++)
			offer_ranks(start, words[i]);
	} else if (value_name) {
		offer_values(before, value_name, start);
	} else if (start[0] == '-') {
		options_print_names(stdout, command, start);
	} else if (strcmp(command, "rules") == 0) {
		offer_rules(start, "");
	}
}
