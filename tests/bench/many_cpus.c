/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: lets a program see 192 processors, of which GRANTED_CPUS are allowed by affinity and,
 * where QUOTA_CPUS is set, so many by a control group. For cluster.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEN_CPUS = 192 };

long sysconf(int name)
{
	long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

	return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? SEEN_CPUS
									    : next(name);
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	const char *granted = getenv("GRANTED_CPUS");
	int count = granted ? atoi(granted) : SEEN_CPUS;

	(void)pid;
	memset(set, 0, bytes);
	for (int cpu = 0; cpu < count; cpu++)
		CPU_SET_S((size_t)cpu, bytes, set);
	return 0;
}

static FILE *open_file(const char *path, const char *mode, const char *name)
{
	FILE *(*next)(const char *, const char *) =
		(FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
	const char *quota = getenv("QUOTA_CPUS");
	static char text[64];

	if (quota && strncmp(path, "/sys/fs/cgroup", 14) == 0 && strstr(path, "cpu.max")) {
		snprintf(text, sizeof(text), "%d 100000\n", atoi(quota) * 100000);
		return fmemopen(text, strlen(text), "r");
	}
	return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return open_file(path, mode, "fopen");
}

FILE *fopen64(const char *path, const char *mode)
{
	return open_file(path, mode, "fopen64");
}
