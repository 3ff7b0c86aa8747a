/* SPDX-License-Identifier: MIT */
/*
 * How much memory there is: that of the machine, of the control groups that the process is in, and
 * what its resource limits allow, whichever is least.
 */
#include "max_memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sanitized.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The number that a file holds; UINT64_MAX where it holds none ("max"), or is not there. */
static uint64_t number_in(const char *path)
{
	FILE *file = fopen(path, "r");
	uint64_t number = UINT64_MAX;

	if (file && fscanf(file, "%" SCNu64, &number) != 1)
		number = UINT64_MAX;
	if (file)
		fclose(file);
	return number;
}

/* The limits of a group and of those that it is in; the last that is asked is the root. */
static uint64_t limit_of_group(const char *mount, char *group, const char *name)
{
	uint64_t limit = UINT64_MAX;

	for (;;) {
		char path[4400], *slash = strrchr(group, '/');

		snprintf(path, sizeof(path), "%s%s/%s", mount, group, name);
		limit = least(limit, number_in(path));
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

/* Lines are "0::/group" of version 2, and "5:memory:/group" of version 1. */
static uint64_t limit_of_groups(void)
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	uint64_t limit = UINT64_MAX;
	char line[4200];

	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!group)
			continue;
		*group++ = '\0';
		if (controllers[1] == '\0')
			limit = least(limit, limit_of_group("/sys/fs/cgroup", group, "memory.max"));
		else if (strstr(controllers, "memory"))
			limit = least(limit, limit_of_group("/sys/fs/cgroup/memory", group,
							    "memory.limit_in_bytes"));
	}
	if (file)
		fclose(file);
	return limit;
}

static uint64_t limit_of_resource(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		       ? (uint64_t)limit.rlim_cur
		       : UINT64_MAX;
}

static uint64_t available_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t bytes =
		pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;

	bytes = least(bytes, limit_of_groups());
	bytes = least(bytes, limit_of_resource(RLIMIT_AS));
	return least(bytes, limit_of_resource(RLIMIT_DATA));
}

void max_memory_set(struct options *options)
{
	uint64_t bytes = options->max_memory;
	struct rlimit limit;

	if (bytes == 0 && available_bytes() != UINT64_MAX)
		bytes = available_bytes() / 4 * 3;
	if (bytes == 0)
		return;
	if (options->trace.memory_limit == 0)
		options->trace.memory_limit = (size_t)least(bytes / 8, SIZE_MAX);
	/* Sanitizers take terabytes for themselves, of which the least is ever used. */
	if (!IS_SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0) {
		limit.rlim_cur = (rlim_t)least(bytes, limit.rlim_max);
		(void)setrlimit(RLIMIT_DATA, &limit);
	}
}
