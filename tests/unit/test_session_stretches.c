/* SPDX-License-Identifier: MIT */
/* Stretches note which times are where, and a second reading leaves out those that are refused. */
#include "session/stretches.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "test_folder.h"

/* Elements of ten bytes, at 1, 11, … */
static const char text[] = "[{a      },{b      },{c      },{d      },{e      }]";

/* Takes what it gets; of a kind it first wants the whole event, as the builder does. */
struct counter {
	struct event_sink sink;
	unsigned events, repeats;
	bool knows[8];
};

static enum tscope_status count_event(struct event_sink *sink, const struct raw_event *event,
				      struct tscope_error *err)
{
	struct counter *counter = (struct counter *)sink;

	(void)err;
	counter->events++;
	counter->knows[event->kind] = true;
	return TSCOPE_OK;
}

static bool count_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			 enum tscope_status *status, struct tscope_error *err)
{
	struct counter *counter = (struct counter *)sink;

	(void)err;
	*status = TSCOPE_OK;
	counter->repeats += counter->knows[repeat->kind];
	return counter->knows[repeat->kind];
}

/* An event of a kind, as a chunk hands it on. */
static void give(struct stretches *stretches, char phase, uint32_t kind, int64_t ts_ns,
		 int64_t dur_ns)
{
	struct raw_repeat repeat = { .ts_ns = ts_ns, .dur_ns = dur_ns, .kind = kind };
	struct raw_event event = { .phase = phase,
				   .has_ts = true,
				   .has_dur = phase == 'X',
				   .ts_ns = ts_ns,
				   .dur_ns = dur_ns,
				   .kind = kind };
	enum tscope_status status;

	if (!stretches->sink.repeat(&stretches->sink, &repeat, &status, NULL))
		status = stretches->sink.event(&stretches->sink, &event, NULL);
	assert_int_equal(status, TSCOPE_OK);
}

static void begin(struct stretches *stretches, struct counter *counter)
{
	struct event_sink *sink = &stretches->sink;

	counter->sink = (struct event_sink){ .event = count_event, .repeat = count_repeat };
	assert_int_equal(tsi_stretches_begin(stretches, &counter->sink, NULL), TSCOPE_OK);
	give(stretches, 'X', 1, 10, 5); /* outside any stretch */
	sink->stretch(sink, 11, false);
	give(stretches, 'X', 1, 20, 5);
	give(stretches, 'X', 1, 18, 30);
	sink->stretch(sink, 21, true);
	sink->stretch(sink, 21, false);
	give(stretches, 'M', 2, 0, 0);
	sink->stretch(sink, 31, true);
	sink->stretch(sink, 31, false);
	give(stretches, 'M', 2, 0, 0); /* now its kind is known */
	sink->stretch(sink, 41, true);
	sink->element_count = 5;
	tsi_stretches_end(stretches);
}

TEST(notes_times)
{
	struct counter counter = { 0 };
	struct stretches stretches = { 0 };

	begin(&stretches, &counter);
	assert_int_equal(counter.events, 2);
	assert_int_equal(counter.repeats, 3);
	assert_int_equal(counter.sink.element_count, 5);
	assert_int_equal(stretches.count, 3);
	assert_int_equal(stretches.items[0].from, 11);
	assert_int_equal(stretches.items[0].to, 21);
	assert_int_equal(stretches.items[0].first_ns, 18);
	assert_int_equal(stretches.items[0].last_ns, 20);
	assert_int_equal(stretches.items[0].end_ns, 48);
	assert_false(stretches.items[0].is_needed);
	assert_true(stretches.items[1].is_needed);
	assert_true(stretches.items[2].is_needed);
	tsi_stretches_deinit(&stretches);
}

/* What is read where only the stretch at `from` is wanted. */
static void expect_text(struct stretches *stretches, uint64_t from, const char *wanted)
{
	const struct input_options options = { .single_thread = true };
	struct input *in;
	const char *data;
	size_t available;
	char *owned;

	for (size_t i = 0; i < stretches->count; i++)
		stretches->items[i].is_out = stretches->items[i].from != from;
	assert_int_equal(tsi_stretches_open(&in, &owned, stretches, "file", &options, NULL),
			 TSCOPE_OK);
	assert_int_equal(tsi_input_peek(in, strlen(wanted), &data, &available, NULL), TSCOPE_OK);
	assert_int_equal(available, strlen(wanted));
	assert_memory_equal(data, wanted, strlen(wanted));
	tsi_input_close(in);
	free(owned);
}

TEST_IN_FOLDER(leaves_out)
{
	struct counter counter = { 0 };
	struct stretches stretches = { 0 };

	put_file("file", text);
	begin(&stretches, &counter);
	/* Less than half is gone: the file is read whole. */
	expect_text(&stretches, 11, text);
	expect_text(&stretches, 0, "[{a      },{e      }]");
	/* The file has become shorter meanwhile. */
	put_file("file", "[]");
	expect_text(&stretches, 0, "[]");
	tsi_stretches_deinit(&stretches);
}
