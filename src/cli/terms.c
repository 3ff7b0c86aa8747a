/* SPDX-License-Identifier: MIT */
/* The words of reports, explained once: `tscope help terms`, and TERMS in tscope(1). */
#include "terms.h"

#include "terminal.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *term, *meaning;
} terms[] = {
	{ "step", "one iteration of the training or serving loop, as the profiler marked it" },
	{ "cold step", "a step with start-up or compilation in it; not in the statistics" },
	{ "budget", "a step's wall time divided over lines that sum to it" },
	{ "compute", "a computing kernel runs on the device" },
	{ "exposed comm", "communication that no computing kernel overlaps" },
	{ "exposed copy", "copies and fills that no kernel overlaps" },
	{ "data stall", "the device is idle: the host waits for the data loader" },
	{ "sync stall", "the device is idle: the host waits for it, or for a copy" },
	{ "launch stall", "the device is idle: the host is too slow to launch work" },
	{ "device gap", "the device is idle although its next work was launched" },
	{ "unattributed", "the device is idle, and nothing recorded explains it" },
	{ "waiting", "of a collective: until the last rank arrives" },
	{ "transfer", "of a collective: from then on; what a faster link would shorten" },
	{ "local time", "a rank's time in a step without waiting for other ranks" },
	{ "straggler", "a rank that is slower than the others beyond chance" },
	{ "skew", "how much later than the median rank the slowest one is" },
	{ "MFU", "FLOPs of the model / (time x the device's peak FLOP/s)" },
	{ "HFU", "MFU with the FLOPs of recomputed activations" },
	{ "coverage", "share of the matrix kernels' time whose FLOPs are known" },
	{ "roofline", "the least time that FLOPs and bytes of an operator need" },
	{ "finding", "a problem with its evidence, its saving and what to do" },
	{ "saves", "a finding's own share of a step; findings never add up to more" },
	{ "fact", "a figure with a name and a unit: step_time.mean_ns" },
	{ "gate", "a condition on facts or findings that fails the job: mfu<35%" },
	{ "undecided", "a gate with too little to judge by; it fails unless --undecided pass" },
	{ "allocated", "memory that tensors hold" },
	{ "reserved", "memory that the allocator holds of the driver" },
	{ "inactive split", "reserved memory that is free beside blocks in use" },
	{ "segment", "a piece of memory that the allocator took from the driver" },
};

void terms_print(void)
{
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		printf("%-16s", terms[i].term);
		terminal_print(terms[i].meaning, strlen(terms[i].meaning));
		putchar('\n');
	}
}
