/* SPDX-License-Identifier: MIT */
/* How the values of options are read. */
#include "option_values.h"

#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static unsigned scale_shift(char letter)
{
	if (letter == 'K')
		return 10;
	return letter == 'M' ? 20 : 30;
}

/* A whole number with an optional K, M or G (1024 each); digits only, no sign. */
static bool parse_number(const char *text, uint64_t limit, bool may_scale, uint64_t *number)
{
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (may_scale && *end != '\0' && strchr("KMG", *end))
		shift = scale_shift(*end++);
	if (errno != 0 || *end != '\0' || *number > limit >> shift)
		return false;
	*number <<= shift;
	return true;
}

const char *parse_unsigned(const char *text, void *field)
{
	uint64_t number;

	if (!parse_number(text, UINT_MAX, false, &number))
		return "a whole number";
	*(unsigned *)field = (unsigned)number;
	return NULL;
}

const char *parse_rank(const char *text, void *field)
{
	struct tscope_rank_choice *rank = field;

	rank->is_chosen = true;
	return parse_unsigned(text, &rank->number);
}

const char *parse_count(const char *text, void *field)
{
	uint64_t number;

	if (!parse_number(text, SIZE_MAX, false, &number))
		return "a whole number";
	*(size_t *)field = (size_t)number;
	return NULL;
}

const char *parse_positive_unsigned(const char *text, void *field)
{
	return parse_unsigned(text, field) || *(unsigned *)field == 0 ? "a whole number above 0"
								      : NULL;
}

const char *parse_quorum(const char *text, void *field)
{
	unsigned *percent = field;

	return parse_unsigned(text, field) || *percent <= 50 || *percent > 100
		       ? "a share of the ranks in percent, from 51 to 100"
		       : NULL;
}

/* From least to most, neither of which anything comes near. */
static bool parse_real(const char *text, double least, double most, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && *end == '\0' && *number >= least && *number <= most;
}

const char *parse_flops(const char *text, void *field)
{
	return parse_real(text, 1, 1e30, field) ? NULL : "a number of FLOPs, such as 6.2e15";
}

const char *parse_tflops(const char *text, void *field)
{
	if (!parse_real(text, 1e-9, 1e15, field))
		return "a number of TFLOP/s above 0, such as 312";
	*(double *)field *= 1e12;
	return NULL;
}

const char *parse_tolerance(const char *text, void *field)
{
	return parse_real(text, 0, 1, field) ? NULL : "a number from 0 to 1, such as 1e-6";
}

enum tscope_status check_model(const char *text, struct tscope_error *err)
{
	struct tscope_model model;

	return tscope_model_parse(&model, text, err);
}

/* check_model() has taken it. */
const char *parse_model(const char *text, void *field)
{
	return tscope_model_parse(field, text, NULL) == TSCOPE_OK ? NULL : "a model";
}

enum tscope_status check_scalar(const char *text, struct tscope_error *err)
{
	struct tscope_scalar_names names = { 0 };

	return tscope_scalar_names_add(&names, text, err);
}

/* check_scalar() has taken it. */
const char *parse_scalar(const char *text, void *field)
{
	return tscope_scalar_names_add(field, text, NULL) == TSCOPE_OK ? NULL : "ROLE=NAME";
}

const char *parse_memory_size(const char *text, void *field)
{
	uint64_t number;

	if (!parse_number(text, SIZE_MAX / 2, true, &number) || number == 0)
		return "a number of bytes above 0, such as 4096, 64K or 1M";
	*(size_t *)field = (size_t)number;
	return NULL;
}

const char *parse_file_size(const char *text, void *field)
{
	if (!parse_number(text, UINT64_MAX, true, field) || *(uint64_t *)field == 0)
		return "a number of bytes above 0, such as 4096, 64K or 100G";
	return NULL;
}

/* --full, --full=false where the project file says true */
const char *parse_flag(const char *text, void *field)
{
	*(bool *)field = !text || strcmp(text, "true") == 0;
	return *(bool *)field || strcmp(text, "false") == 0 ? NULL : "true or false";
}

const char *parse_text(const char *text, void *field)
{
	*(const char **)field = text;
	return *text != '\0' ? NULL : "a name";
}

/* options_parse() has made room for as many values as there are settings. */
const char *parse_value(const char *text, void *field)
{
	struct option_values *values = field;

	values->items[values->count++] = text;
	return NULL;
}

/* "text, json or csv"; each line but the last ends with line_end. */
const char *list_formats(const char *line_end)
{
	enum { LINE = 52 };
	static char text[512];
	const struct tscope_report_format *format;
	size_t length = 0, column = 0;

	for (size_t i = 0; (format = tscope_report_format(i)); i++) {
		const char *joint = i == 0 ? "" : tscope_report_format(i + 1) ? "," : " or";
		bool is_full = column + strlen(format->name) > LINE;
		int more = snprintf(text + length, sizeof(text) - length, "%s%s%s%s", joint,
				    is_full  ? line_end
				    : i == 0 ? ""
					     : " ",
				    format->name, i == 0 && line_end[1] ? " (default)" : "");

		column = is_full ? strlen(format->name) : column + (size_t)more;
		length += (size_t)more < sizeof(text) - length ? (size_t)more : 0;
	}
	return text;
}

/* "json", "json=FILE" */
const char *parse_format(const char *text, void *field)
{
	struct option_formats *formats = field;
	const char *path = strchr(text, '=');
	size_t length = strcspn(text, "="), format;
	char name[40];

	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	if (length >= sizeof(name) || !tscope_report_format_parse(name, &format))
		return list_formats(" ");
	if (path && path[1] == '\0')
		return "a file behind the =, such as json=report.json";
	if (!path && formats->is_given)
		return "FORMAT=FILE of all formats but one";
	if (path) {
		formats->files[formats->file_count++] = (struct report_file){ format, path + 1 };
		return NULL;
	}
	formats->format = format;
	formats->is_given = true;
	return NULL;
}

/* The place of a word in a list that ends with NULL, or of its end. */
static unsigned find_word(const char *text, const char *const *words)
{
	unsigned i = 0;

	while (words[i] && strcmp(words[i], text) != 0)
		i++;
	return i;
}

/* "commit=4cb859f" */
const char *parse_tag(const char *text, void *field)
{
	static const char *const keys[] = { "run=", "time=", "commit=", NULL };
	struct option_tags *tags = field;
	const char **const to[] = { &tags->run, &tags->time, &tags->commit };
	size_t i = 0;

	while (keys[i] && strncmp(text, keys[i], strlen(keys[i])) != 0)
		i++;
	if (!keys[i] || text[strlen(keys[i])] == '\0')
		return "run=TEXT, time=TEXT or commit=TEXT";
	*to[i] = text + strlen(keys[i]);
	return NULL;
}

const char *parse_color(const char *text, void *field)
{
	static const char *const words[] = { "auto", "always", "never", NULL };

	*(enum when *)field = find_word(text, words);
	return *(enum when *)field <= WHEN_NEVER ? NULL : "auto, always or never";
}

const char *parse_moment(const char *text, void *field)
{
	static const char *const words[] = { "peak", "end", NULL };

	*(enum tscope_memory_moment *)field = find_word(text, words);
	return *(enum tscope_memory_moment *)field <= TSCOPE_MEMORY_AT_END ? NULL : "peak or end";
}

const char *parse_grouping(const char *text, void *field)
{
	static const char *const words[] = { "module", "source",   "operator",
					     "kernel", "category", NULL };
	unsigned word = find_word(text, words);

	*(enum tscope_grouping *)field = TSCOPE_BY_MODULE + word;
	return words[word] ? NULL : "module, source, operator, kernel or category";
}

const char *parse_stack_weight(const char *text, void *field)
{
	static const char *const words[] = { "device", "host", "bytes", NULL };
	unsigned word = find_word(text, words);

	*(enum tscope_stack_weight *)field = TSCOPE_STACKS_DEVICE + word;
	return words[word] ? NULL : "device, host or bytes";
}

const char *parse_undecided(const char *text, void *field)
{
	bool *passes = field;

	*passes = strcmp(text, "pass") == 0;
	return *passes || strcmp(text, "fail") == 0 ? NULL : "fail or pass";
}

const char *parse_ranks(const char *text, void *field)
{
	static const char *const names[] = {
		[TSCOPE_RANKS_ALL] = "all",
		[TSCOPE_RANKS_OUTLIERS] = "outliers",
		[TSCOPE_RANKS_SUMMARY] = "summary",
	};
	enum tscope_report_ranks *ranks = field;

	for (int i = TSCOPE_RANKS_ALL; i <= TSCOPE_RANKS_SUMMARY; i++)
		if (strcmp(text, names[i]) == 0) {
			*ranks = (enum tscope_report_ranks)i;
			return NULL;
		}
	return "summary, outliers or all";
}

const char *parse_progress(const char *text, void *field)
{
	if (strcmp(text, "always") == 0 || parse_color(text, field) != NULL)
		return "auto or never";
	return NULL;
}

/* I/N, I below N */
const char *parse_shard(const char *text, void *field)
{
	static const char expected[] = "I/N, this shard and how many there are, such as 0/8";
	struct tscope_shard *shard = field;
	char index[24];
	size_t length = strcspn(text, "/");

	if (text[length] != '/' || length >= sizeof(index))
		return expected;
	snprintf(index, sizeof(index), "%.*s", (int)length, text);
	if (parse_count(index, &shard->index) || parse_count(text + length + 1, &shard->count) ||
	    shard->index >= shard->count)
		return expected;
	return NULL;
}

/* A:B in µs, with up to three decimals. */
const char *parse_time(const char *text, void *field)
{
	static const char expected[] = "A:B, two times in us, such as 1200.5:1900";
	struct time_range *range = field;
	char *end;
	double first_us = strtod(text, &end), last_us;

	if (end == text || *end != ':')
		return expected;
	text = end + 1;
	last_us = strtod(text, &end);
	if (end == text || *end != '\0' || !(first_us < last_us) || !(first_us > -9e15) ||
	    !(last_us < 9e15))
		return expected;
	*range = (struct time_range){ true, (int64_t)(first_us * 1e3), (int64_t)(last_us * 1e3) };
	return NULL;
}

/* A:B, with either end left out: 3:5, 3:, :5 */
const char *parse_steps(const char *text, void *field)
{
	static const char expected[] = "A:B, the first and the last step, such as 3:5, 3: or :5";
	struct tscope_timeline_options *timeline = field;
	const char *last = strchr(text, ':');
	char *end;

	if (!last || strlen(text) < 2)
		return expected;
	timeline->has_range = true;
	timeline->first_step = INT64_MIN;
	timeline->last_step = INT64_MAX;
	errno = 0;
	if (text < last)
		timeline->first_step = strtoll(text, &end, 10);
	if (text < last && end != last)
		return expected;
	last++;
	if (*last != '\0')
		timeline->last_step = strtoll(last, &end, 10);
	if ((*last != '\0' && *end != '\0') || errno != 0 ||
	    timeline->first_step > timeline->last_step)
		return expected;
	return NULL;
}
