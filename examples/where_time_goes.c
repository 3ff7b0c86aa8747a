/* SPDX-License-Identifier: MIT */
/*
 * Says what to mend first in a run, and exits 1 where any of it weighs much:
 *
 *	cc where_time_goes.c $(pkg-config --cflags --libs tscope) && ./a.out run_dir
 */
#include <stdio.h>
#include <tscope/tscope.h>

int main(int argc, char **argv)
{
	struct tscope_diagnosis *diagnosis = NULL;
	struct tscope_run *run = NULL;
	struct tscope_value mfu = { 0 };
	struct tscope_error err = { 0 };
	bool is_grave = false;

	if (tscope_run_open(&run, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &err) !=
		    TSCOPE_OK ||
	    tscope_diagnose(&diagnosis, tscope_run_analysis(run), NULL, &err) != TSCOPE_OK) {
		fprintf(stderr, "%s\n", err.message);
		tscope_run_free(run);
		return 3;
	}
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		printf("%s\n  %s\n", finding.title, finding.advice);
		is_grave |= finding.severity == TSCOPE_SEVERITY_HIGH;
	}
	tscope_analysis_find(tscope_run_analysis(run), "efficiency.mfu", &mfu, NULL);
	if (mfu.kind == TSCOPE_VALUE_REAL)
		printf("MFU %.1f %%\n", 100 * mfu.real);
	tscope_diagnosis_free(diagnosis);
	tscope_run_free(run);
	return is_grave;
}
