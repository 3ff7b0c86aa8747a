/* SPDX-License-Identifier: MIT */
/* base/queue.c: order, waiting, closing. Run under ThreadSanitizer as well. */
#include "base/queue.h"

#include "check.h"
#include "fail_alloc.h"

enum { COUNT = 20000 };

static void *item(uintptr_t number)
{
	return (void *)number;
}

struct producer {
	struct queue *queue;
	uintptr_t pushed;
};

static void produce(void *argument)
{
	struct producer *producer = argument;
	while (producer->pushed < COUNT) {
		if (!tsi_queue_push(producer->queue, item(producer->pushed + 1)))
			return;
		producer->pushed++;
	}
	tsi_queue_close(producer->queue);
}

TEST(test_order)
{
	for (size_t capacity = 1; capacity <= 4; capacity++) {
		struct producer producer = { 0 };
		struct thread *thread;
		assert_int_equal(tsi_queue_new(&producer.queue, capacity, NULL), TSCOPE_OK);
		assert_int_equal(tsi_thread_start(&thread, produce, &producer, NULL), TSCOPE_OK);
		for (uintptr_t i = 1; i <= COUNT; i++)
			assert_ptr_equal(tsi_queue_pop(producer.queue), item(i));
		assert_null(tsi_queue_pop(producer.queue)); /* closed and empty */
		tsi_thread_join(thread);
		tsi_queue_free(producer.queue);
	}
}

/* Whoever closes wakes a producer that waits for room; what is inside can still be taken. */
TEST(test_close_wakes_producer)
{
	struct producer producer = { 0 };
	struct thread *thread;
	assert_int_equal(tsi_queue_new(&producer.queue, 2, NULL), TSCOPE_OK);
	assert_int_equal(tsi_thread_start(&thread, produce, &producer, NULL), TSCOPE_OK);
	assert_ptr_equal(tsi_queue_pop(producer.queue), item(1));
	tsi_queue_close(producer.queue);
	tsi_thread_join(thread);

	assert_true(producer.pushed >= 1 && producer.pushed <= 3);
	for (uintptr_t i = 2; i <= producer.pushed; i++)
		assert_ptr_equal(tsi_queue_pop(producer.queue), item(i));
	assert_null(tsi_queue_pop(producer.queue));
	assert_false(tsi_queue_push(producer.queue, item(9)));
	tsi_queue_free(producer.queue);
}

static void pop_until_closed(void *argument)
{
	struct producer *consumer = argument;
	while (tsi_queue_pop(consumer->queue))
		consumer->pushed++;
}

TEST(test_close_wakes_consumer)
{
	struct producer consumer = { 0 };
	struct thread *thread;
	assert_int_equal(tsi_queue_new(&consumer.queue, 2, NULL), TSCOPE_OK);
	assert_int_equal(tsi_thread_start(&thread, pop_until_closed, &consumer, NULL), TSCOPE_OK);
	assert_true(tsi_queue_push(consumer.queue, item(1)));
	tsi_queue_close(consumer.queue);
	tsi_thread_join(thread);
	assert_int_equal(consumer.pushed, 1);
	tsi_queue_free(consumer.queue);
}

/* Two who count by turns, each waiting for the other. */
struct turns {
	struct monitor *monitor;
	int count;
};

static void take_turns(struct turns *turns, int parity)
{
	tsi_monitor_enter(turns->monitor);
	while (turns->count < COUNT) {
		if (turns->count % 2 != parity) {
			tsi_monitor_wait(turns->monitor);
			continue;
		}
		turns->count++;
		tsi_monitor_wake(turns->monitor);
	}
	tsi_monitor_leave(turns->monitor);
}

static void take_odd_turns(void *argument)
{
	take_turns(argument, 1);
}

TEST(test_monitor)
{
	struct turns turns = { 0 };
	struct thread *thread;
	assert_int_equal(tsi_monitor_new(&turns.monitor, NULL), TSCOPE_OK);
	assert_int_equal(tsi_thread_start(&thread, take_odd_turns, &turns, NULL), TSCOPE_OK);
	take_turns(&turns, 0);
	tsi_thread_join(thread);
	assert_int_equal(turns.count, COUNT);
	tsi_monitor_free(turns.monitor);
	tsi_monitor_free(NULL);
}

TEST(test_without_memory)
{
	struct tscope_error err = { 0 };
	struct queue *queue = NULL;
	struct monitor *monitor = NULL;
	struct thread *thread = NULL;
	fail_alloc_at(1);
	assert_int_equal(tsi_queue_new(&queue, 4, &err), TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	assert_string_equal(err.message, "out of memory");
	fail_alloc_at(1);
	assert_int_equal(tsi_thread_start(&thread, produce, NULL, &err), TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	fail_alloc_at(1);
	assert_int_equal(tsi_monitor_new(&monitor, &err), TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	assert_null(queue);
	assert_null(monitor);
	assert_null(thread);
	tsi_queue_free(NULL);
}
