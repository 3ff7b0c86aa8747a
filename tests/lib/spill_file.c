/* SPDX-License-Identifier: MIT */
/* The file that columns go to, and a disk that is full. */
#include "spill_file.h"

#include <signal.h>

#include "check.h"

struct tscope_spill *open_spill(void)
{
	struct tscope_spill *spill = NULL;

	if (tscope_spill_open(&spill, ".", NULL) != TSCOPE_OK)
		skip();
	return spill;
}

void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
}
