/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_QUEUE_H
#define TSCOPE_BASE_QUEUE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <tscope/error.h>

/*
 * Threading primitives: a bounded first-in first-out queue of pointers, a monitor (a lock with a
 * condition to wait for), both of whose waiters sleep, and a thread to run beside the caller's. No
 * other file knows how threads are made.
 */
struct queue;
struct monitor;
struct thread;

/* A queue of at most capacity items. Free it when no thread uses it any more. */
TSI_MUST_CHECK
enum tscope_status tsi_queue_new(struct queue **ret, size_t capacity, struct tscope_error *err);

/* Items that are still inside are not freed. NULL is fine. */
void tsi_queue_free(struct queue *queue);

/* Waits while the queue is full. False: it was closed, and the item is not in it. */
TSI_MUST_CHECK
bool tsi_queue_push(struct queue *queue, void *item);

/* Waits while the queue is empty; NULL when it was closed and nothing is left. */
void *tsi_queue_pop(struct queue *queue);

/* No more pushes; wakes all who wait. */
void tsi_queue_close(struct queue *queue);

/*
 * Monitor: shared state is touched only between enter and leave, by one thread at a time. A thread
 * with nothing to do waits, and looks again whenever another one, having changed something, wakes
 * all.
 */
TSI_MUST_CHECK
enum tscope_status tsi_monitor_new(struct monitor **ret, struct tscope_error *err);

/* NULL is fine. */
void tsi_monitor_free(struct monitor *monitor);

void tsi_monitor_enter(struct monitor *monitor);
void tsi_monitor_leave(struct monitor *monitor);

/* Both from within. Waiting leaves until it is woken, perhaps for nothing. */
void tsi_monitor_wait(struct monitor *monitor);
void tsi_monitor_wake(struct monitor *monitor);

/*
 * Runs run(argument) in a thread of its own, which takes no signals. Every
 * thread that was started must be joined. Fails with TSCOPE_E_NOMEM also where
 * the system allows no more threads.
 */
TSI_MUST_CHECK
enum tscope_status tsi_thread_start(struct thread **ret, void (*run)(void *), void *argument,
				    struct tscope_error *err);

/* Waits until the thread has returned, and frees it. */
void tsi_thread_join(struct thread *thread);

/*
 * Threads that run at once: processors that the process may use, that its control group grants and,
 * in a job of Slurm, its task; at least 1.
 */
unsigned tsi_thread_count(void);

#endif
