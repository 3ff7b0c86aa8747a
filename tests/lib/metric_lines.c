/* SPDX-License-Identifier: MIT */
/* Reads metrics that a test wrote down; a word that it does not know fails the test. */
#include "metric_lines.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static void read_line(struct metric_log *log, char *line)
{
	char *rest = NULL;
	char *step = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest);
	char *value = strtok_r(NULL, " ", &rest), *word;
	struct metric_point point = { .time_ns = NO_METRIC_TIME };

	assert_non_null(value);
	point.step = strtoll(step, NULL, 10);
	point.value = strtod(value, NULL);
	while ((word = strtok_r(NULL, " ", &rest))) {
		if (*word == '@')
			point.time_ns = strtoll(word + 1, NULL, 10);
		else if (strcmp(word, "sample") == 0)
			point.is_sample = true;
		else
			fail_msg("a value has no %s", word);
	}
	assert_int_equal(tsi_metric_log_add(log, tsi_str_of(name), point, NULL), TSCOPE_OK);
}

struct metric_log test_metrics(const char *lines)
{
	struct metric_log log;
	char *copy = strdup(lines), *rest = NULL;

	assert_non_null(copy);
	assert_int_equal(tsi_metric_log_init(&log, NULL), TSCOPE_OK);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(&log, line);
	free(copy);
	return log;
}

void test_join(struct step_series *steps, const char *lines, const char *source)
{
	struct metric_log log = test_metrics(lines);
	struct scalar_part part = { &log, source };

	tsi_scalars_join(steps, &part, 1);
	tsi_metric_log_deinit(&log);
}
