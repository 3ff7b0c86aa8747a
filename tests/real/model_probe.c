/* SPDX-License-Identifier: MIT */
/*
 * Prints the rows of a trace as lines of JSON, for scripts that work out a figure by
 * somebody else's definition from what tscope has understood. It also shows that the public
 * headers are enough to walk a trace: it includes nothing else.
 *
 *	{"track":0,"pid":"4242","tid":"101","device":-1,"stream":-1}
 *	{"row":0,"track":0,"class":"cpu_op","name":"aten::mm","start_ns":5,"dur_ns":2,"launch":-1,"op":-1}
 */
#include <inttypes.h>
#include <stdio.h>
#include <tscope/trace.h>

static void print_text(const char *key, const char *text)
{
	printf(",\"%s\":\"", key);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at < 0x20 || *at == '"' || *at == '\\')
			printf("\\u%04x", *at);
		else
			putchar(*at);
	}
	putchar('"');
}

/* A row that another one points to: -1 where there is none. */
static int64_t row_or_none(uint32_t row)
{
	return row == UINT32_MAX ? -1 : (int64_t)row;
}

static void print_track(const struct tscope_trace *trace, uint32_t index)
{
	struct tscope_track track = tscope_trace_track(trace, index);

	printf("{\"track\":%" PRIu32, index);
	print_text("pid", track.pid);
	print_text("tid", track.tid);
	printf(",\"device\":%" PRId32 ",\"stream\":%" PRId64 "}\n", track.device, track.stream);
}

static void print_span(const struct tscope_trace *trace, uint32_t row)
{
	struct tscope_span span = tscope_trace_span(trace, row);

	printf("{\"row\":%" PRIu32 ",\"track\":%" PRIu32, row, span.track);
	print_text("class", tscope_span_class_name(span.span_class));
	print_text("name", span.name);
	printf(",\"start_ns\":%" PRId64 ",\"dur_ns\":%" PRId64 ",\"launch\":%" PRId64
	       ",\"op\":%" PRId64 "}\n",
	       span.start_ns, span.dur_ns, row_or_none(span.launch), row_or_none(span.op));
}

int main(int argc, char **argv)
{
	struct tscope_error err = { 0 };
	struct tscope_trace *trace = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: model_probe TRACE\n");
		return 2;
	}
	if (tscope_trace_open(&trace, argv[1], NULL, &err) != TSCOPE_OK) {
		fprintf(stderr, "model_probe: %s\n", err.message);
		return 3;
	}
	for (uint32_t track = 0; track < tscope_trace_track_count(trace); track++)
		print_track(trace, track);
	for (uint32_t row = 0; row < tscope_trace_span_count(trace); row++)
		print_span(trace, row);
	tscope_trace_free(trace);
	return ferror(stdout) ? 4 : 0;
}
