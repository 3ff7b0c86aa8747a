/* SPDX-License-Identifier: MIT */
/*
 * decode/events/lanes.c and chunk.c: whatever the text and wherever it is cut into
 * chunks, several threads give what one gives, which is the second implementation
 * here: events and metadata in their order, counters, status, message, and
 * how far the input was read. On generated traces of many layouts and on those
 * of testdata/, whole and damaged; with sinks that fail and memory that ends.
 * Run under TSan as well.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check.h"
#include "decoding.h"
#include "effort.h"
#include "event_log.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { TEXT_BYTES = 64 * 1024 };

struct text {
	char bytes[TEXT_BYTES];
	size_t length;
};

static uint64_t chance;

static size_t pick(size_t count)
{
	return (size_t)(random_bits(&chance) % count);
}

/* ---- reading ------------------------------------------------------------------------- */

static void fail_comparison(struct str text, const struct decoding *setting,
			    const struct decoded *outcomes, const struct event_log *logs)
{
	fwrite(text.data, 1, text.length, stderr); /* here: cmocka cuts long messages */
	for (int i = 0; i < 2; i++) {
		fprintf(stderr, "\n---- read as (status %d: %s; %llu bytes, %llu elements, odd:",
			outcomes[i].status, outcomes[i].err.message,
			(unsigned long long)outcomes[i].offset,
			(unsigned long long)logs[i].sink.element_count);
		for (int kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
			fprintf(stderr, " %llu",
				(unsigned long long)logs[i].sink.diagnostics[kind]);
		fprintf(stderr, ")\n");
		fwrite(logs[i].text, 1, logs[i].length, stderr);
	}
	fail_msg("%u threads, blocks of %zu, %s", setting->thread_count, setting->block_bytes,
		 setting->is_stream ? "stream" : "file");
}

/* One thread against those of the setting. */
static void compare(struct str text, struct decoding setting)
{
	struct decoding alone = setting;
	struct event_log logs[2];
	struct decoded outcomes[2];
	alone.thread_count = 1;
	event_log_init(&logs[0]);
	event_log_init(&logs[1]);
	logs[0].sink.arg_of = logs[1].sink.arg_of = decoding_arg_of;
	outcomes[0] = decode_text(text, &alone, &logs[0].sink);
	outcomes[1] = decode_text(text, &setting, &logs[1].sink);
	if (!event_log_equal(&logs[0], &logs[1]) || !is_decoded_alike(&outcomes[0], &outcomes[1]))
		fail_comparison(text, &setting, outcomes, logs);
	event_log_deinit(&logs[0]);
	event_log_deinit(&logs[1]);
}

static struct decoding random_setting(void)
{
	return (struct decoding){
		.thread_count = 2 + (unsigned)pick(2),
		.block_bytes = pick(4) ? 1 + pick(300) : 300 + pick(3000),
		.is_stream = pick(2),
		.max_depth = pick(10) ? 0 : 6,
		.max_event_bytes = pick(10) ? 0 : 1 + pick(400),
	};
}

/* ---- traces -------------------------------------------------------------------------- */

static void put(struct text *t, const char *piece)
{
	size_t length = strlen(piece);
	if (t->length + length > sizeof(t->bytes))
		return;
	memcpy(t->bytes + t->length, piece, length);
	t->length += length;
}

/* How one writer prints: what stands before an event, before a key, behind a colon, before a brace. */
struct layout_words {
	const char *event, *key, *colon, *brace;
};

static const struct layout_words layouts[] = {
	{ "\n  ", "\n    ", " ", "\n  " }, /* Kineto */
	{ "", "", "", "" },                /* the shortest */
	{ "\n", "", " ", "" },             /* a line for each */
	{ "\r\n\t", " ", " ", " " },
	{ "\n                                                                        ", "\n", "",
	  "\n" },
};

static const char *const values[] = {
	"\"cat\":\"cpu_op\"",
	"\"args\":{\"a\":[{\"ph\":1},{\"ph\":2}],\"b\":{\"c\":{\"d\":3}}}",
	"\"args\":{\"name\":\"}, {\\\"ph\\\": \\\"X\\\"\"}",
	"\"args\":{\"correlation\": 17, \"grid\": [1, 2, 3], \"stream\": 7}",
	"\"name\":\"aten::mm\"",
	"\"name\":\"a long name with some more words in it than most names have\"",
	"\"id\":\"0x1f\"",
	"\"tdur\":5.25",
	"\"args\":{}",
	"\"pid\":0",
};

#define DEEP(inner) "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":" inner "}}}}}}"

static const char *const odd_values[] = {
	"\"name\":\"},\n  {\n    \"ph\": \"X\"\"",
	"\"name\":\"a\"b\"",
	"\"name\":\"},{\"ph\":\"X\"\"",
	"\"id\":N/A",
	"\"dur\":1e3",
	"\"name\":\"b\tc\"",
	"\"args\":" DEEP("1"),
	"\"name\":\"c\",",
	"\"name\":7",
};

static void put_event(struct text *t, const struct layout_words *words, size_t odds)
{
	char times[128];
	put(t, words->event);
	put(t, "{");
	put(t, words->key);
	snprintf(times, sizeof(times), "\"ph\":%s\"%c\",%s\"ts\":%s%zu.%03zu,%s\"dur\":%zu",
		 words->colon, pick(8) ? 'X' : 'i', words->key, words->colon, pick(100000),
		 pick(1000), words->key, pick(100));
	put(t, times);
	for (size_t i = 0, count = pick(5); i < count; i++) {
		put(t, ",");
		put(t, words->key);
		put(t, pick(odds) ? values[pick(TSI_COUNT_OF(values))]
				  : odd_values[pick(TSI_COUNT_OF(odd_values))]);
	}
	put(t, words->brace);
	put(t, "}");
}

static const char *const odd_elements[] = { "7", "{}", "", "null", "\"x\"", "[{\"ph\":\"X\"}]" };

/* The elements of an array, with one in so many odd. */
static void put_events(struct text *t, size_t count, size_t odds)
{
	const struct layout_words *words = &layouts[pick(TSI_COUNT_OF(layouts))];
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			put(t, pick(odds) ? "," : "");
		if (pick(odds))
			put_event(t, words, odds);
		else
			put(t, odd_elements[pick(TSI_COUNT_OF(odd_elements))]);
		if (pick(odds) == 0)
			words = &layouts[pick(TSI_COUNT_OF(layouts))];
	}
	put(t, words->event);
}

static void make_trace(struct text *t)
{
	static const size_t all_odds[] = { 3, 20, 300, 100000 };
	size_t odds = all_odds[pick(TSI_COUNT_OF(all_odds))];
	size_t form = pick(8);
	t->length = 0;
	put(t, pick(10) ? "" : "\xef\xbb\xbf");
	put(t, form < 4 ? "{\"schemaVersion\": 1,\n\"traceEvents\": [" : "[");
	put_events(t, pick(pick(4) ? 40 : 300), odds);
	put(t, form == 7 ? "" : "]");
	if (form < 4)
		put(t, ", \"traceName\": \"},{\\\"ph\\\"\", \"b\": [1, {\"ph\": 2}]");
	if (form == 1)
		put(t, ", \"traceEvents\": [");
	if (form == 6)
		put(t, "\n[");
	if (form == 1 || form == 6) {
		put_events(t, 1 + pick(20), odds);
		put(t, "]");
	}
	put(t, form < 3 ? "}\n" : form == 4 ? " trailing {\"ph\": 1}" : "\n");
}

static void damage(struct text *t)
{
	static const char bytes[] = "\"\"\\{}[],,: \n\x01\xffNx0";
	for (size_t i = 0, count = 1 + pick(4); i < count && t->length > 8; i++) {
		size_t at = pick(t->length),
		       length = pick(t->length - at < 60 ? t->length - at : 60);
		switch (pick(5)) {
		case 0: /* cut out */
			memmove(t->bytes + at, t->bytes + at + length, t->length - at - length);
			t->length -= length;
			break;
		case 1: /* cut off */
			if (pick(3) == 0)
				t->length = at + 1;
			break;
		case 2: /* doubled */
			if (t->length + length <= sizeof(t->bytes)) {
				memmove(t->bytes + at + length, t->bytes + at, t->length - at);
				t->length += length;
			}
			break;
		default:
			t->bytes[at] = bytes[pick(sizeof(bytes) - 1)];
		}
	}
}

TEST(test_generated)
{
	struct text *t = malloc(sizeof(*t));
	for (int round = 0; round < 3000; round += EFFORT_STRIDE) {
		chance = (uint64_t)round;
		make_trace(t);
		compare((struct str){ t->bytes, t->length }, random_setting());
		damage(t);
		compare((struct str){ t->bytes, t->length }, random_setting());
	}
	free(t);
}

/* Every size of chunks, so every place of a boundary in one. */
TEST(test_every_size)
{
	struct text *t = malloc(sizeof(*t));
	for (int round = 0; round < 4; round++) {
		chance = (uint64_t)round;
		do
			make_trace(t);
		while (t->length < 1000);
		for (size_t bytes = 1; bytes <= 300; bytes += EFFORT_STRIDE)
			compare((struct str){ t->bytes, t->length },
				(struct decoding){ .thread_count = 2,
						   .block_bytes = bytes,
						   .is_stream = round % 2 });
	}
	free(t);
}

/* Of two files that were put together each was printed by a writer of its own. */
TEST(test_two_writers)
{
	struct text *t = malloc(sizeof(*t));
	t->length = 0;
	put(t, "[");
	for (int i = 0; i < 400; i++) {
		char event[100];
		snprintf(event, sizeof(event),
			 i / 40 % 2 ? "{\"ph\":\"X\",\"ts\":%d,\"dur\":2},\n"
				    : "{\"ph\": \"X\",\"ts\": %d,\"dur\": 2},\n",
			 1000 + i);
		put(t, event);
	}
	t->bytes[t->length - 2] = ']';
	for (size_t bytes = 200; bytes < 4000; bytes += 19 * SETTING_STRIDE)
		compare((struct str){ t->bytes, t->length },
			(struct decoding){ .thread_count = 2, .block_bytes = bytes });
	free(t);
}

static const char *const files[] = {
	"era_a.json",      "era_d.json",           "rocm.json",           "cpu_only.json",
	"two_steps.json",  "composer_merged.json", "viztracer.json",      "viztracer.html",
	"flops_part.json", "chrome_phases.json",   "bare_array_cut.json", "unescaped_quotes.json",
};

static void load(struct text *t, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot open %s", path);
	t->length = fread(t->bytes, 1, sizeof(t->bytes), file);
	fclose(file);
}

TEST(test_files)
{
	struct text *whole = malloc(sizeof(*whole)), *t = malloc(sizeof(*t));
	chance = 1;
	for (size_t i = 0; i < TSI_COUNT_OF(files); i++) {
		load(whole, files[i]);
		compare((struct str){ whole->bytes, whole->length },
			(struct decoding){ .thread_count = 3, .block_bytes = 1000 });
		for (int round = 0; round < 350; round += EFFORT_STRIDE) {
			*t = *whole;
			if (t->length > 6000 && pick(10))
				t->length = 1000 + pick(5000);
			damage(t);
			compare((struct str){ t->bytes, t->length }, random_setting());
		}
	}
	free(whole);
	free(t);
}

/* Long enough for blocks of the usual size, with elements around the sizes that matter. */
TEST(test_long_elements)
{
	static const size_t lengths[] = { 10, 65000, 65536, 66000, 262144, 700000, 1100000 };
	enum { LONG = 8 << 20 };
	char *bytes = malloc(LONG);
	for (size_t l = 0; l < TSI_COUNT_OF(lengths); l += SETTING_STRIDE) {
		for (int is_broken = 0; is_broken < 2; is_broken++) {
			size_t length = (size_t)sprintf(bytes, "[");
			for (int i = 0; length + 2 * lengths[l] + 400 < LONG; i++) {
				bool is_long = i % 3000 == 2999;
				length += (size_t)sprintf(bytes + length,
							  "{\"ph\":\"X\",\"ts\":%d,\"dur\":2%s,"
							  "\"name\":\"a",
							  i, is_long && is_broken ? "]" : "");
				memset(bytes + length, 'x', is_long ? lengths[l] : 300);
				length += is_long ? lengths[l] : 300;
				length += (size_t)sprintf(bytes + length, "\"},\n");
			}
			bytes[length - 2] = ']';
			for (int is_stream = 0; is_stream < 2; is_stream++)
				compare((struct str){ bytes, length },
					(struct decoding){ .thread_count = 2,
							   .is_stream = is_stream });
		}
	}
	free(bytes);
}

/* ---- failures ------------------------------------------------------------------------ */

/* A sink that takes so many events, and notes what they were without memory of its own. */
struct short_sink {
	struct event_sink sink;
	size_t left;
	uint64_t sum;
};

static void add(struct short_sink *s, struct str text)
{
	for (size_t i = 0; i < text.length; i++)
		s->sum = (s->sum ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
	s->sum += text.length;
}

static enum tscope_status take_some(struct event_sink *sink, const struct raw_event *event,
				    struct tscope_error *err)
{
	struct short_sink *s = (struct short_sink *)sink;
	if (s->left == 0)
		return tsi_fail(err, TSCOPE_E_LIMIT, "too many events");
	s->left--;
	add(s, event->name);
	add(s, event->args);
	s->sum += (uint64_t)event->ts_ns + 3 * (uint64_t)event->dur_ns;
	return TSCOPE_OK;
}

static enum tscope_status take_metadata(struct event_sink *sink, struct str key, struct str value,
					struct tscope_error *err)
{
	struct short_sink *s = (struct short_sink *)sink;
	(void)err;
	add(s, key);
	add(s, value);
	return TSCOPE_OK;
}

static struct short_sink new_sink(size_t left)
{
	return (struct short_sink){ .sink = { .event = take_some, .metadata = take_metadata },
				    .left = left };
}

TEST(test_failing_sink)
{
	struct text *t = malloc(sizeof(*t));
	for (int round = 0; round < 20; round++) {
		chance = (uint64_t)round;
		do
			make_trace(t);
		while (t->length < 8000);
		struct decoding setting = random_setting();
		setting.block_bytes = 1000;
		struct str text = { t->bytes, t->length };
		struct decoding alone = setting;
		alone.thread_count = 1;
		for (size_t left = 0; left < 60; left += SETTING_STRIDE) {
			struct short_sink a = new_sink(left), b = new_sink(left);
			struct decoded expected = decode_text(text, &alone, &a.sink);
			struct decoded actual = decode_text(text, &setting, &b.sink);
			assert_true(is_decoded_alike(&expected, &actual));
			assert_memory_equal(&a, &b, sizeof(a));
		}
	}
	free(t);
}

/* Without memory there are fewer threads, or none; or there is an error. */
TEST(test_memory_ends)
{
	struct text *t = malloc(sizeof(*t));
	struct decoding setting = { .thread_count = 3, .block_bytes = 500 }, alone = setting;
	chance = 5;
	do
		make_trace(t);
	while (t->length < 4000);
	struct str text = { t->bytes, t->length };
	struct short_sink expected = new_sink(SIZE_MAX);
	alone.thread_count = 1;
	assert_int_equal(decode_text(text, &alone, &expected.sink).status, TSCOPE_OK);
	/* How many allocations there are depends on the threads. */
	for (size_t n = 1, unfailed = 0; unfailed < 10; n++) {
		struct short_sink sink = new_sink(SIZE_MAX);
		fail_alloc_at(n);
		struct decoded outcome = decode_text(text, &setting, &sink.sink);
		unfailed += !fail_alloc_stop();
		if (outcome.status == TSCOPE_OK)
			assert_memory_equal(&sink, &expected, sizeof(sink));
		else
			assert_int_equal(outcome.status, TSCOPE_E_NOMEM);
	}
	free(t);
}
