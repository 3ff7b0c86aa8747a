/* SPDX-License-Identifier: MIT */
/*
 * The reporters over files about memory: what holds for any report, and what the sections say of
 * figures that no file of testdata/ has. Golden files show the rest.
 */
#include "base/str.h"
#include "fact_values.h"
#include "report_text.h"

#include "base/attributes.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

/* A file of testdata/ with what is said of it. */
struct loaded {
	struct tscope_memory *memory;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
};

static void analyze(struct loaded *file)
{
	static const struct tscope_analysis_options options = { 0 };

	assert_int_equal(tscope_memory_analyze(&file->analysis, file->memory, NULL, &options, NULL),
			 TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&file->diagnosis, file->analysis, NULL, NULL), TSCOPE_OK);
}

static void load(struct loaded *file, const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	assert_int_equal(tscope_memory_open(&file->memory, path, NULL, NULL), TSCOPE_OK);
	analyze(file);
}

static void unload(struct loaded *file)
{
	tscope_diagnosis_free(file->diagnosis);
	tscope_analysis_free(file->analysis);
	tscope_memory_free(file->memory);
}

/* The caller frees it. */
static char *report_all(const struct tscope_memory_report *reports, size_t count,
			const struct tscope_report_options *options)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(tscope_report_write_memory(out, reports, count, options, NULL), TSCOPE_OK);
	assert_int_equal(fclose(out), 0);
	return text;
}

static struct tscope_memory_report report_of(const struct loaded *file)
{
	return (struct tscope_memory_report){ file->memory, file->analysis, file->diagnosis, NULL,
					      0 };
}

static char *report(const struct loaded *file, const struct tscope_report_options *options)
{
	struct tscope_memory_report one = report_of(file);

	return report_all(&one, 1, options);
}

/* Those that every build reads. */
static const char *const files[] = {
	"oom.pickle",
	"leak_b.pickle",
	"snapshot.html",
	"fsdp_mem_rank_0_training_step_1.log",
};

static char *report_named(const char *name, const struct tscope_report_options *options)
{
	struct loaded file;
	char *text;

	load(&file, name);
	text = report(&file, options);
	unload(&file);
	return text;
}

TEST(test_color_changes_nothing_else)
{
	check_colored_inputs(report_named, files, TSI_COUNT_OF(files));
}

TEST(test_lines_keep_the_width)
{
	check_input_widths(report_named, files, TSI_COUNT_OF(files));
}

TEST(test_ascii)
{
	check_ascii_inputs(report_named, files, TSI_COUNT_OF(files));
}

/* Names that would move the cursor, as they stand on a stack. */
TEST(test_hostile_names)
{
	static const char json[] =
		"{\"segments\":[{\"device\":0,\"address\":4096,\"total_size\":2097152,"
		"\"allocated_size\":512,\"active_size\":512,\"stream\":0,"
		"\"segment_type\":\"small\",\"blocks\":[{\"size\":512,\"requested_size\":512,"
		"\"state\":\"active_allocated\",\"frames\":[{\"name\":\"\\u001b[2J\\u009b\\u0007\","
		"\"filename\":\"/x/\\u202e\\u001b]0;t.py\",\"line\":1}]},"
		"{\"size\":2096640,\"state\":\"inactive\"}]}],\"device_traces\":[[]]}";
	static const char *const forbidden[] = { "\033", "\x07", "\xC2\x9B", "\xE2\x80\xAE" };
	static const size_t formats[] = { TSCOPE_REPORT_TEXT, TSCOPE_REPORT_JSON };
	struct loaded file;

	assert_int_equal(tscope_memory_open_memory(&file.memory, "\033]0;title\x07", json,
						   sizeof(json) - 1, NULL, NULL),
			 TSCOPE_OK);
	analyze(&file);
	for (size_t i = 0; i < TSI_COUNT_OF(formats); i++) {
		char *text = report(&file, &(struct tscope_report_options){ .format = formats[i] });

		for (size_t j = 0; j < TSI_COUNT_OF(forbidden); j++)
			assert_null(strstr(text, forbidden[j]));
		assert_non_null(strstr(text, "202e"));
		free(text);
	}
	unload(&file);
}

/* Retries of a snapshot in JSON are at most so many: it repeats a stack that a pickle shares. */
TEST(test_retries_of_json)
{
	static const char json[] =
		"{\"segments\":[],\"device_traces\":[["
		"{\"action\":\"segment_free\",\"addr\":1,\"size\":4,\"stream\":0,"
		"\"frames\":[{\"name\":\"f\",\"filename\":\"a.py\",\"line\":1}]},"
		"{\"action\":\"segment_alloc\",\"addr\":1,\"size\":4,\"stream\":0,"
		"\"frames\":[{\"name\":\"f\",\"filename\":\"a.py\",\"line\":1}]},"
		"{\"action\":\"segment_free\",\"addr\":1,\"size\":4,\"stream\":0,"
		"\"frames\":[{\"name\":\"f\",\"filename\":\"a.py\",\"line\":1}]}]]}";
	struct tscope_gate_result result;
	struct loaded file;

	assert_int_equal(
		tscope_memory_open_memory(&file.memory, "test", json, sizeof(json) - 1, NULL, NULL),
		TSCOPE_OK);
	analyze(&file);
	result = tscope_gate_evaluate("snapshot.retry_count>9", file.analysis, file.diagnosis);
	assert_string_equal(result.reason, "snapshot.retry_count is not reliable: at most: JSON "
					   "cannot distinguish equal stacks from a shared one");
	unload(&file);
}

/* More rows than any report has by itself: 150 sites, the last of them the largest. */
TEST(test_many_rows)
{
	enum { SITES = 150 };
	char *facts = NULL, *text;
	size_t length, last = 0;
	FILE *out = open_memstream(&facts, &length);
	struct loaded file;

	assert_non_null(out);
	fputs("snapshot.live_at_peak_count 1\nsnapshot.device_count 1\n", out);
	for (int i = 0; i < SITES; i++)
		fprintf(out, "snapshot.sites device=0 site=x%d.py:1:f bytes=%d\n", i, i + 1);
	assert_int_equal(fclose(out), 0);
	struct tscope_analysis *values = fact_values(facts);
	load(&file, "oom.pickle");
	struct tscope_memory_report made = report_of(&file);
	made.analysis = values;
	text = report_all(
		&made, 1,
		&(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL, .top = 500 });
	for (int i = SITES; i-- > 0;) {
		char site[40];

		snprintf(site, sizeof(site), "\n  x%d.py:1:f ", i);
		ptrdiff_t place = tsi_str_find(tsi_str_of(text + last), tsi_str_of(site));
		assert_true(place >= 0);
		last += (size_t)place;
	}
	assert_null(strstr(text, "  … and "));
	free(text);
	free(facts);
	unload(&file);
}

/* Several files are elements of runs[] in their order. */
TEST(test_json_shape)
{
	struct tscope_report_options options = { .format = TSCOPE_REPORT_JSON };
	struct loaded file;

	load(&file, "fsdp_mem_rank_0_training_step_1.log");
	struct tscope_memory_report two[] = { report_of(&file), report_of(&file) };
	char *text = report_all(two, 2, &options);
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, "\n      \"kind\": \"memory\",\n")); at++)
		count++;
	assert_int_equal(count, 2);
	free(text);
	unload(&file);
}

TEST(test_full_device)
{
	FILE *out = fopen("/dev/full", "w");
	struct tscope_error err = { 0 };
	struct loaded file;

	if (!out)
		skip();
	load(&file, "oom.pickle");
	struct tscope_memory_report one = report_of(&file);
	assert_int_equal(setvbuf(out, NULL, _IONBF, 0), 0);
	assert_int_equal(tscope_report_write_memory(out, &one, 1,
						    &(struct tscope_report_options){ 0 }, &err),
			 TSCOPE_E_WRITE);
	assert_string_equal(err.message, "cannot write the report");
	fclose(out);
	unload(&file);
}

/* ---- sections ---- */

#define PEAK                                                                                       \
	"snapshot.device_count 1\n"                                                                \
	"snapshot.trace_entry_count 100\n"                                                         \
	"snapshot.peak_allocated_bytes 1048576\n"                                                  \
	"snapshot.peak_device 0\n"                                                                 \
	"snapshot.peak_index 7\n"                                                                  \
	"snapshot.live_at_peak_count 1\n"
#define TWO_DEVICES                                                                                \
	"snapshot.device_count 2\n"                                                                \
	"snapshot.trace_entry_count 100\n"                                                         \
	"snapshot.peak_allocated_bytes 1048576\n"                                                  \
	"snapshot.peak_device 1\n"                                                                 \
	"snapshot.peak_index -1\n"                                                                 \
	"snapshot.peak_time_ns 1000\n"                                                             \
	"snapshot.live_at_peak_count 2\n"

/* Facts, and lines that the report then has; or, without has, does not have. */
static const struct section_case {
	const char *facts;
	bool has;
	const char *lines;
} section_cases[] = {
	/* A device more, and where the peak is. */
	{ TWO_DEVICES "snapshot.timeline device=0 index=9 time_ns=9 active_bytes=5\n"
		      "snapshot.timeline device=1 index=3 time_ns=1500 active_bytes=1\n"
		      "snapshot.timeline device=1 index=9 time_ns=3000 active_bytes=2\n",
	  true,
	  "● MEMORY OVER TIME\n"
	  "  peak 1.00 MiB before the first entry, 2.000 µs before the end, device 1\n"
	  "  ▁█\n" },
	{ TWO_DEVICES "snapshot.by_role device=0 role=forward bytes=9 count=1\n"
		      "snapshot.by_role device=1 role=unknown bytes=524288 count=1\n"
		      "snapshot.sites device=0 site=a.py:1:f bytes=1024 count=1\n"
		      "snapshot.sites device=1 site=b.py:2:g bytes=2048 count=2\n",
	  true,
	  "● LIVE AT THE PEAK  1.00 MiB in 2 blocks, device 1\n"
	  "  unknown             512 KiB   50.0 %  ████████████████████░░░░░░░░░░░░░░░░░░░░\n"
	  "\n"
	  "  site                                                     live   blocks  device\n"
	  "  b.py:2:g                                             2.00 KiB        2       1\n"
	  "  a.py:1:f                                             1.00 KiB        1       0\n" },
	/* The head names who holds the peak of the device that peaks, not who holds more elsewhere. */
	{ TWO_DEVICES "snapshot.by_role device=0 role=other bytes=900000 site=/x/a.py:1:f "
		      "site_bytes=900000\n"
		      "snapshot.by_role device=1 role=forward bytes=524288 site=/x/b.py:2:g "
		      "site_bytes=262144\n",
	  true,
	  "  allocated memory peaks at 1.00 MiB on device 1; 50 % of it is allocated in\n"
	  "  forward, 256 KiB by b.py:2:g\n" },
	/* Autograd's thread has no frame of Python; the line that the user knows holds less. */
	{ PEAK "snapshot.by_role device=0 role=backward bytes=838860 site_bytes=786432 "
	       "site='??:0:torch::autograd::generated::DivBackward0::apply(std::vector<x>&&)'\n"
	       "snapshot.by_role device=0 role=other bytes=209715 site=x.py:7:f "
	       "site_bytes=209715\n",
	  true,
	  "  allocated memory peaks at 1.00 MiB; 80 % of it is allocated in backward,\n"
	  "  768 KiB by DivBackward0\n" },
	/* Who held it before the entries is not known: the next role, too. */
	{ PEAK "snapshot.by_role device=0 role=earlier bytes=838860 site='' site_bytes=838860\n"
	       "snapshot.by_role device=0 role=communication bytes=209715 site=x.py:7:f "
	       "site_bytes=1000\n"
	       "snapshot.by_role device=0 role=forward bytes=200000 site=x.py:9:f "
	       "site_bytes=1000\n",
	  true,
	  "  allocated memory peaks at 1.00 MiB; 80 % of it was allocated before the first\n"
	  "  recorded entry; 20 % of it is communication buffers\n" },
	/* Many lines of one file; the largest line of all only if it is of that file. */
	{ PEAK "snapshot.by_role device=0 role=other bytes=838860 site=C:\\x\\a.py:168:<listcomp> "
	       "site_bytes=262144 file=C:\\x\\a.py file_bytes=734003\n",
	  true,
	  "  allocated memory peaks at 1.00 MiB; 70 % of it is allocated in a.py, 256 KiB\n"
	  "  by a.py:168:<listcomp>\n" },
	{ PEAK "snapshot.by_role device=0 role=other bytes=838860 site=/x/b.py:1:f "
	       "site_bytes=262144 file=/x/a.py file_bytes=524288\n",
	  true, "  allocated memory peaks at 1.00 MiB; 50 % of it is allocated in a.py\n" },
	{ PEAK "snapshot.by_role device=0 role=other bytes=838860 site=/x/b.py:1:f "
	       "site_bytes=734003 file=/x/b.py file_bytes=734003\n",
	  true, "  allocated memory peaks at 1.00 MiB; 70 % of it is allocated by b.py:1:f\n" },
	/* Spread over files: nothing to look at. C++ alone. */
	{ PEAK "snapshot.by_role device=0 role=other bytes=838860 site=/x/b.py:1:f site_bytes=9 "
	       "file=/x/b.py file_bytes=10\n"
	       "snapshot.by_role device=0 role=forward bytes=200000 site=/x/b.py:3:f "
	       "site_bytes=200000\n",
	  true, "  allocated memory peaks at 1.00 MiB\n" },
	{ PEAK "snapshot.by_role device=0 role=other bytes=838860 "
	       "site='a.cpp:0:at::_ops::linear::call(at::Tensor const&)' site_bytes=838860 "
	       "file='' file_bytes=0\n",
	  true,
	  "  allocated memory peaks at 1.00 MiB; 80 % of it is allocated by\n"
	  "  at::_ops::linear::call\n" },
	/* Files in one folder, whatever the system; what has no file does not count. */
	{ PEAK "snapshot.sites device=0 site='/a/b/c.py:1:f < /a/b/d/e.py:2:g' bytes=2048\n"
	       "snapshot.sites device=0 site='??:0:at::_ops::sum' bytes=1024\n"
	       "snapshot.sites device=0 site=/a/bc.py:3:h bytes=512\n",
	  true,
	  "  b/c.py:1:f < b/d/e.py:2:g                                             2.00 KiB\n"
	  "  at::_ops::sum                                                         1.00 KiB\n  "
	  "bc.py:3:h                                                                512 B\n  sites "
	  "under  /a/\n" },
	{ PEAK "snapshot.sites device=0 site=C:\\job\\x.py:1:f bytes=2048\n", true,
	  "  x.py:1:f                                                              2.00 KiB\n  "
	  "sites under  C:\\job\\\n" },
	{ PEAK "snapshot.sites device=0 site=/a/x.py:1:f bytes=2\nsnapshot.sites device=0 "
	       "site=/b/y.py:1:f bytes=1\n",
	  false, "sites under" },
	/* Without a stack. */
	{ PEAK "snapshot.sites device=0 site='' bytes=2048\n", true,
	  "  -                                                                     2.00 KiB\n"
	  "  - stands for blocks without a stack: allocated before _record_memory_history()\n"
	  "  was called, or recorded without stacks\n" },
	/* Nothing was recorded. */
	{ "snapshot.device_count 1\n"
	  "snapshot.trace_entry_count 0\n"
	  "snapshot.segment_count 1\n"
	  "snapshot.block_count 2\n"
	  "snapshot.reserved_bytes 2097152\n"
	  "snapshot.allocated_bytes 1048576\n",
	  true,
	  "● SNAPSHOT  2.00 MiB reserved in 1 segment of 2 blocks\n"
	  "  allocated          1.00 MiB   50.0 %  ████████████████████░░░░░░░░░░░░░░░░░░░░\n"
	  "  record  torch.cuda.memory._record_memory_history() for memory over time, and\n"
	  "          what was live at the peak\n" },
	{ "snapshot.device_count 1\n"
	  "snapshot.trace_entry_count 0\n"
	  "snapshot.peak_allocated_bytes 1024\n"
	  "snapshot.live_at_peak_count 1\n",
	  true, "● LIVE  1.00 KiB in 1 block\n" },
	/* Without times lives are counted in entries. Means are of those that were freed. */
	{ PEAK
	  "snapshot.alloc_count 5\n"
	  "snapshot.sites device=0 site=few.py:1:f alloc_bytes=3072 alloc_count=3 freed_count=2"
	  " lifetime_entries=7\n"
	  "snapshot.sites device=0 site=many.py:1:f alloc_bytes=4096 alloc_count=4 freed_count=0"
	  " lifetime_entries=0\n"
	  "snapshot.sites device=0 site=none.py:1:f alloc_bytes=0 alloc_count=0\n",
	  true,
	  "● CHURN  5 allocations\n"
	  "\n"
	  "  site                                  allocs  mean size   freed  life, entries\n"
	  "  many.py:1:f                                4   1.00 KiB       0              -\n"
	  "  few.py:1:f                                 3   1.00 KiB       2           3.50\n" },
	/* Free segments are no fragmentation, however large. */
	{ PEAK "snapshot.inactive_split_bytes 1024\n"
	       "snapshot.segments address=0x1 inactive_bytes=9999 active_bytes=0\n"
	       "snapshot.segments address=0x2 inactive_bytes=1 active_bytes=1\n"
	       "snapshot.segments address=0x3 inactive_bytes=1024 active_bytes=1\n",
	  true,
	  "● SEGMENTS  1.00 KiB inactive in those that are in use, worst first\n"
	  "\n"
	  "  segment                                                       in use  inactive\n"
	  "  0x3                                                              1 B  1.00 KiB\n"
	  "  0x2                                                              1 B       1 B\n" },
	{ PEAK "snapshot.inactive_split_bytes 9223372036854775807\n"
	       "snapshot.inactive_expandable_bytes 9223372036854775807\n",
	  true, "● SEGMENTS  8388608 TiB inactive in those that are in use, worst first\n" },
	{ PEAK "snapshot.inactive_split_bytes 0\n", false, "SEGMENTS" },
	/* The last request of the device that the facts speak of, and all of them. */
	{ PEAK
	  "snapshot.oom_count 2\n"
	  "snapshot.oom_device 0\n"
	  "snapshot.oom_size_bytes 2048\n"
	  "snapshot.oom_reserved_bytes 3072\n"
	  "snapshot.oom_device_free_bytes 1024\n"
	  "snapshot.oom_live_bytes 3072\n"
	  "snapshot.oom_largest_free_bytes 512\n"
	  "snapshot.oom_shortfall_bytes 100\n"
	  "snapshot.oom_fits_unfragmented no\n"
	  "snapshot.ooms device=0 index=5 size_bytes=2048 is_exact=no\n"
	  "snapshot.ooms device=1 index=4 size_bytes=4096 is_exact=yes\n"
	  "snapshot.oom_remedies oom=1 remedy=other verdict=yes arithmetic=x\n"
	  "snapshot.oom_remedies oom=0 remedy=expandable_segments verdict=in_use arithmetic=y\n",
	  true,
	  "● OUT OF MEMORY  2 requests failed, the last one of 2.00 KiB\n"
	  "  live               3.00 KiB   75.0 %  ██████████████████████████████░░░░░░░░░░\n"
	  "  free on device     1.00 KiB   25.0 %  ██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░\n  "
	  "requested          2.00 KiB   50.0 %  ████████████████████░░░░░░░░░░░░░░░░░░░░\n  the "
	  "largest free block was 512 B; even all free memory in one piece would be\n  100 B "
	  "short\n  the layout is not known to the byte: gaps may be smaller\n\n"
	  "  would the allocation have succeeded with\n  in use   expandable_segments: y\n\n"
	  "  requested at                                        device    entry  requested\n"
	  "  -                                                        0        5   2.00 KiB\n"
	  "  -                                                        1        4   4.00 KiB\n" },
	/* Sites are cut so that their lines stay; 80 - 2 - 11 columns. */
	{ PEAK "snapshot.sites device=0 bytes=1024 site=vllm/a_folder/and_another/worker/"
	       "cache_engine.py:83:_allocate_kv_cache_of_all_layers\n",
	  true,
	  "  …worker/cache_engine.py:83:_allocate_kv_cache_of_all_layers           1.00 KiB\n" },
	/* No blanks behind the last column, nor behind its heading. */
	{ "snapshot.by_device device=0 segment_count=1\n"
	  "snapshot.by_stream stream=0\nsnapshot.by_stream stream=77\n",
	  true, "\n  stream\n  0\n  77\n" },
	/* Growth may be none. */
	{ PEAK "snapshot.earlier_path before.pickle\n"
	       "snapshot.growth_bytes -2048\n"
	       "snapshot.growth_reserved_bytes 0\n"
	       "snapshot.growth site=a.py:1:f growth_bytes=-2048\n",
	  true, "● GROWTH  -2.00 KiB live, 0 B reserved since before.pickle\n\n●" },
};

TEST(test_sections)
{
	struct tscope_memory_report made;
	struct loaded file;

	load(&file, "oom.pickle");
	made = report_of(&file);
	for (size_t i = 0; i < TSI_COUNT_OF(section_cases); i++) {
		const struct section_case *c = &section_cases[i];
		struct tscope_analysis *facts = fact_values(c->facts);
		struct tscope_diagnosis *diagnosis;
		char *text;

		assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
		made.analysis = facts;
		made.diagnosis = diagnosis;
		text = report_all(&made, 1,
				  &(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL });
		if ((strstr(text, c->lines) != NULL) != c->has) {
			fputs(text, stderr); /* fail_msg() cuts what is long */
			fail_msg("with\n%sthe report %s\n%s", c->facts, c->has ? "lacks" : "has",
				 c->lines);
		}
		check_width(text, 80);
		free(text);
		tscope_diagnosis_free(diagnosis);
	}
	unload(&file);
}
