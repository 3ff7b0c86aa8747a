/* SPDX-License-Identifier: MIT */
/*
 * The limits of a machine, which figures of speed are to be read with: how fast one and two threads
 * copy memory, and how much slower a thread counts while another CPU does so too (1 on cores of
 * their own, near 2 where both share one).
 *
 * usage: bench_machine     prints a JSON object
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BUFFER_BYTES = 64 << 20, /* more than caches hold */
	COPIES = 16,
	ROUNDS = 5,
	MOST_THREADS = 2,
};

static const uint64_t TURNS = 100 * 1000 * 1000;

struct task {
	int cpu;
	void (*run)(struct task *task);
	char *from, *to;
	double seconds; /* of this thread's CPU time */
	uint64_t sum;
};

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void copy(struct task *task)
{
	for (int i = 0; i < COPIES; i++) {
		memcpy(task->to, task->from, BUFFER_BYTES);
		task->sum += (unsigned char)task->to[i];
	}
}

/* Four chains of additions and multiplications, so that a core of its own is busy. */
static void spin(struct task *task)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	for (uint64_t i = 0; i < TURNS; i++) {
		a = a * 5 + i;
		b = b * 9 + i;
		c = c * 3 + i;
		d = d * 7 + i;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
	task->sum += a ^ b ^ c ^ d;
}

static void *start(void *argument)
{
	struct task *task = argument;
	cpu_set_t set;
	double begin;

	CPU_ZERO(&set);
	CPU_SET((unsigned)task->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	begin = now(CLOCK_THREAD_CPUTIME_ID);
	task->run(task);
	task->seconds = now(CLOCK_THREAD_CPUTIME_ID) - begin;
	return NULL;
}

/* The least over ROUNDS of the CPU time that a thread needs while `count` of them run at once. */
static double least_seconds(struct task *tasks, int count, void (*run)(struct task *task))
{
	pthread_t threads[MOST_THREADS];
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double mean = 0;

		for (int i = 0; i < count; i++) {
			tasks[i].run = run;
			if (pthread_create(&threads[i], NULL, start, &tasks[i]) != 0)
				exit(1);
		}
		for (int i = 0; i < count; i++) {
			pthread_join(threads[i], NULL);
			mean += tasks[i].seconds / count;
		}
		if (mean < least)
			least = mean;
	}
	return least;
}

static int find_cpus(struct task *tasks)
{
	cpu_set_t set;
	int count = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < MOST_THREADS; cpu++) {
		if (CPU_ISSET((unsigned)cpu, &set))
			tasks[count++].cpu = cpu;
	}
	return count;
}

int main(void)
{
	struct task tasks[MOST_THREADS] = { { 0 } };
	int count = find_cpus(tasks);
	double copied = (double)BUFFER_BYTES * COPIES, alone;

	for (int i = 0; i < count; i++) {
		tasks[i].from = malloc(BUFFER_BYTES);
		tasks[i].to = malloc(BUFFER_BYTES);
		if (!tasks[i].from || !tasks[i].to)
			return 1;
		memset(tasks[i].from, 1, BUFFER_BYTES);
		memset(tasks[i].to, 2, BUFFER_BYTES);
	}
	printf("{\"memcpy_bytes_per_second\": %.4g", copied / least_seconds(tasks, 1, copy));
	if (count == MOST_THREADS)
		printf(", \"memcpy_two_threads_bytes_per_second\": %.4g",
		       count * copied / least_seconds(tasks, count, copy));
	alone = least_seconds(tasks, 1, spin);
	printf(", \"spin_seconds\": %.4g", alone);
	if (count == MOST_THREADS)
		printf(", \"spin_two_cpus_ratio\": %.4g",
		       least_seconds(tasks, count, spin) / alone);
	printf("}\n");
	for (int i = 0; i < count; i++) {
		free(tasks[i].from);
		free(tasks[i].to);
	}
	return 0;
}
