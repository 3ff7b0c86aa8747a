/* SPDX-License-Identifier: MIT */
/* Text reports as a terminal shows them: without escapes, in columns. */
#include "report_text.h"

#include "base/attributes.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Takes "\033[...m" out of a text, in place. */
static void strip_escapes(char *text)
{
	char *out = text;

	for (char *in = text; *in != '\0'; in++) {
		if (*in == '\033')
			in = strchr(in, 'm');
		else
			*out++ = *in;
	}
	*out = '\0';
}

/* Code points, as the tests' files hold none that is wide. */
static unsigned columns_of(const char *line, size_t length)
{
	unsigned columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)line[i] & 0xC0) != 0x80;
	return columns;
}

void check_colored(char *colored, const char *plain)
{
	assert_non_null(strchr(colored, '\033'));
	assert_null(strchr(plain, '\033'));
	strip_escapes(colored);
	assert_string_equal(colored, plain);
}

void check_width(const char *text, unsigned width)
{
	for (size_t at = strcspn(text, "\n"); text[at] != '\0';) {
		size_t length = strcspn(text + at + 1, "\n");

		if (columns_of(text + at + 1, length) > width)
			fail_msg("more than %u columns: %.*s", width, (int)length, text + at + 1);
		at += 1 + length;
	}
}

void check_ascii(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		assert_true((unsigned char)*p < 0x80);
}

void check_colored_inputs(report_input *report, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *plain =
			report(names[i], &(struct tscope_report_options){
						 .extent = TSCOPE_REPORT_FULL, .color = false });
		char *colored =
			report(names[i], &(struct tscope_report_options){
						 .extent = TSCOPE_REPORT_FULL, .color = true });

		check_colored(colored, plain);
		free(plain);
		free(colored);
	}
}

void check_input_widths(report_input *report, const char *const *names, size_t count)
{
	static const unsigned widths[] = { 40, 60, 80, 120 };

	for (size_t i = 0; i < count * TSI_COUNT_OF(widths); i++) {
		struct tscope_report_options options = { .extent = TSCOPE_REPORT_FULL,
							 .width = widths[i / count] };
		char *text = report(names[i % count], &options);

		check_width(text, options.width);
		free(text);
	}
}

void check_ascii_inputs(report_input *report, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *text =
			report(names[i], &(struct tscope_report_options){
						 .extent = TSCOPE_REPORT_FULL, .ascii = true });

		check_ascii(text);
		assert_null(strstr(text, "?")); /* a character without a substitute */
		free(text);
	}
}
