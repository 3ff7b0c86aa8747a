/* SPDX-License-Identifier: MIT */
/*
 * Threads: a bounded queue between them, a monitor around what they share, and
 * how one is started. Producers and consumers of blocks (decompression ahead of
 * the parser) and the lanes of the decoder meet only here, so this is also the
 * only file that includes pthread.h.
 */
#define _GNU_SOURCE /* sched_getaffinity() */
#include "base/queue.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_full, not_empty;
	bool closed;
	size_t first, count, capacity;
	void *items[];
};

struct monitor {
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct thread {
	pthread_t id;
	void (*run)(void *);
	void *argument;
};

enum tscope_status tsi_queue_new(struct queue **ret, size_t capacity, struct tscope_error *err)
{
	struct queue *queue = calloc(1, sizeof(*queue) + capacity * sizeof(queue->items[0]));
	if (!queue)
		return tsi_fail_nomem(err);
	queue->capacity = capacity;
	/* With default attributes none of the three can fail on the systems that we know. */
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->not_full, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	*ret = queue;
	return TSCOPE_OK;
}

void tsi_queue_free(struct queue *queue)
{
	if (!queue)
		return;
	pthread_cond_destroy(&queue->not_empty);
	pthread_cond_destroy(&queue->not_full);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

bool tsi_queue_push(struct queue *queue, void *item)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == queue->capacity && !queue->closed)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	bool open = !queue->closed;
	if (open) {
		queue->items[(queue->first + queue->count) % queue->capacity] = item;
		queue->count++;
		pthread_cond_signal(&queue->not_empty);
	}
	pthread_mutex_unlock(&queue->lock);
	return open;
}

void *tsi_queue_pop(struct queue *queue)
{
	void *item = NULL;
	pthread_mutex_lock(&queue->lock);
	while (queue->count == 0 && !queue->closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	if (queue->count) {
		item = queue->items[queue->first];
		queue->first = (queue->first + 1) % queue->capacity;
		queue->count--;
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

void tsi_queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->not_full);
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

enum tscope_status tsi_monitor_new(struct monitor **ret, struct tscope_error *err)
{
	struct monitor *monitor = calloc(1, sizeof(*monitor));
	if (!monitor)
		return tsi_fail_nomem(err);
	pthread_mutex_init(&monitor->lock, NULL);
	pthread_cond_init(&monitor->changed, NULL);
	*ret = monitor;
	return TSCOPE_OK;
}

void tsi_monitor_free(struct monitor *monitor)
{
	if (!monitor)
		return;
	pthread_cond_destroy(&monitor->changed);
	pthread_mutex_destroy(&monitor->lock);
	free(monitor);
}

void tsi_monitor_enter(struct monitor *monitor)
{
	pthread_mutex_lock(&monitor->lock);
}

void tsi_monitor_leave(struct monitor *monitor)
{
	pthread_mutex_unlock(&monitor->lock);
}

void tsi_monitor_wait(struct monitor *monitor)
{
	pthread_cond_wait(&monitor->changed, &monitor->lock);
}

void tsi_monitor_wake(struct monitor *monitor)
{
	pthread_cond_broadcast(&monitor->changed);
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;
	thread->run(thread->argument);
	return NULL;
}

enum tscope_status tsi_thread_start(struct thread **ret, void (*run)(void *), void *argument,
				    struct tscope_error *err)
{
	struct thread *thread = malloc(sizeof(*thread));
	if (!thread)
		return tsi_fail_nomem(err);
	thread->run = run;
	thread->argument = argument;

	/* A program's signals belong to its own threads: ours inherits a full mask. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(&thread->id, NULL, run_thread, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failure) {
		free(thread);
		return tsi_fail(err, TSCOPE_E_NOMEM, "out of memory: no thread can be started");
	}
	*ret = thread;
	return TSCOPE_OK;
}

void tsi_thread_join(struct thread *thread)
{
	pthread_join(thread->id, NULL);
	free(thread);
}

/* ---- how many are of use ---- */

static void lower(unsigned *count, long limit)
{
	if (limit > 0 && limit < (long)*count)
		*count = (unsigned)limit;
}

/* Processors that a control group grants by "QUOTA PERIOD" of cpu.max, rounded up; 0: any. */
static long quota_of(const char *path)
{
	long quota = 0, period = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	if (fscanf(file, "%ld %ld", &quota, &period) != 2 || quota <= 0 || period <= 0)
		quota = 0;
	fclose(file);
	return quota > 0 ? (quota - 1) / period + 1 : 0;
}

/* That of the process's own group and of those above it, as far as they can be seen. */
static void lower_to_quota(unsigned *count)
{
	char line[1024], path[1100];
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool is_known = false;

	while (file && !is_known && fgets(line, sizeof(line), file))
		is_known = strncmp(line, "0::/", 4) == 0;
	if (file)
		fclose(file);
	if (!is_known)
		return;
	line[strcspn(line, "\n")] = '\0';
	for (;;) {
		char *slash;

		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", line + 3);
		lower(count, quota_of(path));
		slash = strrchr(line + 3, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* A job may be granted one of the 192 that are there: more threads take memory and gain nothing. */
unsigned tsi_thread_count(void)
{
	const char *granted = getenv("SLURM_CPUS_PER_TASK");
	long there = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = there > 0 ? (unsigned)there : 1;
#ifdef __linux__
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		lower(&count, CPU_COUNT(&allowed));
#endif
	lower_to_quota(&count);
	if (granted)
		lower(&count, strtol(granted, NULL, 10));
	return count;
}
