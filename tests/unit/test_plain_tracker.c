/* SPDX-License-Identifier: MIT */
/* The reader of memory trackers' logs, in lines and in tables, of older and newer Pythons. */
#include "decode/plain/plain_reader.h"

#include "check.h"
#include "plain_reading.h"

extern const struct plain_reader tsi_plain_reader_tracker;
static const struct plain_reader *const reader = &tsi_plain_reader_tracker;

#define BAR "--------------------------------------------------------------------------------\n"
#define PEAK(body) "Iteration 2 training_step Peak FSDP memory stats: \n" BAR body BAR
#define MODULES(body) "Iteration 2 training_step Modulewise FSDP memory stats: \n" BAR body BAR
#define HEAD "{'tracker': 'fsdp', 'iteration': 2, 'function': 'training_step', "

static const struct plain_reading cases[] = {
	/* lines */
	PLAIN_GOOD(PEAK("Device: cuda:0\n\tSharded Param: 1024 B\n\tTotal: 1024 B\n"
			"Device: cpu\n\tBuffer: 7 B\n\tTotal: 7 B\n")
			   MODULES("Module:  net.0\nBefore Pre-Forward\n# 1:\n"
				   "Device: cuda:0\n\tActivation: 0.5 MiB\n\tTotal: 0.5 MiB\n"
				   "# 2:\nDevice: cuda:0\n\tActivation: 1.25 KiB\n\n"
				   "Module:  net.1\nPeak-Forward\n# 1:\nDevice: cpu\n"),
		   /* 0.5 * 2^20 and 1.25 * 2^10 */
		   HEAD
		   "'peak': [{'device': 'cuda:0', 'bytes': {'sharded param': 1024}, "
		   "'total': 1024}, {'device': 'cpu', 'bytes': {'buffer': 7}, 'total': 7}], "
		   "'modules': [{'device': 'cuda:0', 'bytes': {'activation': 524288}, "
		   "'module': 'net.0', 'state': 'Before Pre-Forward', 'call': 1, "
		   "'total': 524288}, "
		   "{'device': 'cuda:0', 'bytes': {'activation': 1280}, 'module': 'net.0', "
		   "'state': 'Before Pre-Forward', 'call': 2}, "
		   "{'device': 'cpu', 'bytes': {}, 'module': 'net.1', 'state': 'Peak-Forward', "
		   "'call': 1}]}"),
	PLAIN_GOOD(PEAK("No memory tracked.\n"), HEAD "'peak': [], 'modules': []}"),
	/* names of members */
	PLAIN_GOOD(PEAK("Device: cpu\n\t_FSDPRefType.SHARDED_PARAM: 1 B\n\t_FSDPRefType.ACT: 2 B\n"
			"\t_FSDPRefType.ALL_GATHER: 3 B\n\t_MemRefType.PARAM: 4 B\n"
			"\t_RefType.OPT: 5 B\n\t_FSDPRefType.SHARDED_GRAD: 6 B\n"
			"\tOptState: 7 B\n\tTotal: 28 B\n"),
		   HEAD "'peak': [{'device': 'cpu', 'bytes': {'sharded param': 1, 'activation': 2, "
			"'all gather': 3, 'parameter': 4, 'optstate': 7, 'sharded grad': 6}, "
			"'total': 28}], "
			"'modules': []}"),
	PLAIN_GOOD(MODULES("Module:  m\n_FSDPModState.AFT_POST_FW\n# 3:\nDevice: cpu\n"
			   "_ModState.PRE_FW_AC\n# 1:\nDevice: cpu\n"
			   "_FSDPModState.NEW_WORD\n# 1:\nDevice: cpu\n"),
		   HEAD "'peak': [], 'modules': ["
			"{'device': 'cpu', 'bytes': {}, 'module': 'm', "
			"'state': 'After Post-Forward', 'call': 3}, "
			"{'device': 'cpu', 'bytes': {}, 'module': 'm', 'state': 'Pre-Forward AC', "
			"'call': 1}, "
			"{'device': 'cpu', 'bytes': {}, 'module': 'm', "
			"'state': '_FSDPModState.NEW_WORD', 'call': 1}]}"),
	/* tables */
	PLAIN_GOOD(PEAK("========  ===============  =======\n"
			"Device    Sharded Param    Total\n"
			"========  ===============  =======\n"
			"cuda:0    1024 B           1024 B\n"
			"cpu       7 B              7 B\n"
			"========  ===============  =======\n")
			   MODULES("Module:  net.0\n"
				   "======================  ========  ============  =======\n"
				   "State & Call            Device    Activation    Total\n"
				   "======================  ========  ============  =======\n"
				   "Before Pre-Forward # 1  cuda:0    0.5 MiB       0.5 MiB\n"
				   "..                      cpu       1.0 MiB       1.0 MiB\n"
				   "                        cpu:1     1.0 MiB       1.0 MiB\n"
				   "_ModState.PEAK_BW # 2   cuda:0    2.0 GiB       2.0 GiB\n"
				   "======================  ========  ============  =======\n"),
		   /* 2 * 2^30 */
		   HEAD
		   "'peak': [{'device': 'cuda:0', 'bytes': {'sharded param': 1024}, "
		   "'total': 1024}, {'device': 'cpu', 'bytes': {'sharded param': 7}, 'total': 7}], "
		   "'modules': [{'device': 'cuda:0', 'bytes': {'activation': 524288}, "
		   "'module': 'net.0', 'state': 'Before Pre-Forward', 'call': 1, 'total': 524288}, "
		   "{'device': 'cpu', 'bytes': {'activation': 1048576}, 'module': 'net.0', "
		   "'state': 'Before Pre-Forward', 'call': 1, 'total': 1048576}, "
		   "{'device': 'cpu:1', 'bytes': {'activation': 1048576}, 'module': 'net.0', "
		   "'state': 'Before Pre-Forward', 'call': 1, 'total': 1048576}, "
		   "{'device': 'cuda:0', 'bytes': {'activation': 2147483648}, 'module': 'net.0', "
		   "'state': 'Peak-Backward', 'call': 2, 'total': 2147483648}]}"),
	/* cells that are no bytes */
	PLAIN_GOOD(
		PEAK("Device: cpu\n\ta: 1\n\tb: B\n\tc: 1 TB\n\td: 1e30 B\n\te: nan B\n\tf: x B\n"
		     "\tg: -5 B\n\th\n\ti: 1e3 B\n"),
		HEAD "'peak': [{'device': 'cpu', 'bytes': {'a': None, 'b': None, 'c': None, "
		     "'d': None, 'e': None, 'f': None, 'g': -5, 'i': 1000}}], 'modules': []}"),
	/* Windows' line ends, and no line end */
	PLAIN_GOOD("Iteration 2 training_step Modulewise FSDP memory stats: \r\nModule:  m\r\n"
		   "Peak-Forward\r\n# 1:\r\nDevice: cpu\r\n\ta: 1 B\r\n\tb: 2 B",
		   HEAD "'peak': [], 'modules': [{'device': 'cpu', 'bytes': {'a': 1, 'b': 2}, "
			"'module': 'm', 'state': 'Peak-Forward', 'call': 1}]}"),
	/* a table without its last line */
	PLAIN_GOOD(MODULES("Module:  a\n======  =======\nDevice  Buffer\n======  =======\n"
			   "cpu     1 B\n"
			   "Module:  b\n======  =======\nDevice  Inputs\n======  =======\n"
			   "cpu     2 B\n"),
		   HEAD "'peak': [], 'modules': [{'device': 'cpu', 'bytes': {'buffer': 1}, "
			"'module': 'a', 'state': '', 'call': 0}, {'device': 'cpu', "
			"'bytes': {'inputs': 2}, 'module': 'b', 'state': '', 'call': 0}]}"),
	/* rows before there is what they belong to */
	PLAIN_GOOD("\tx: 1 B\nDevice: cpu\n" PEAK("\ta: 1 B\nDevice: cpu\n\tb: 2 B\n")
			   MODULES("Device: cpu\n"),
		   HEAD "'peak': [{'device': 'cpu', 'bytes': {'b': 2}}], 'modules': ["
			"{'device': 'cpu', 'bytes': {}, 'module': '', 'state': '', 'call': 0}]}"),

	PLAIN_REFUSED("", FORMAT,
		      "no memory tracker's log: no line begins as \"Iteration 0 training_step Peak "
		      "FSDP memory stats\""),
	PLAIN_REFUSED("Iteration x f Peak FSDP memory stats: \nIteration 1 f Peak memory\n"
		      "Iteration 1  Peak FSDP memory stats: \n",
		      FORMAT,
		      "no memory tracker's log: no line begins as \"Iteration 0 training_step Peak "
		      "FSDP memory stats\""),
};

TEST(test_cases)
{
	plain_check_readings(reader, cases, TSI_COUNT_OF(cases));
}

static const char lines[] = PEAK("Device: cuda:0\n\tSharded Param: 1024 B\n")
	MODULES("Module:  net.0\nBefore Pre-Forward\n# 1:\nDevice: cuda:0\n\tx: 300000000 B\n");
static const char table[] = PEAK("======  =======\nDevice  Buffer\n======  =======\n"
				 "cpu     1024 B\ncuda:0  2048 B\n======  =======\n");

TEST(test_cuts)
{
	plain_check_cuts(reader, lines, sizeof(lines) - 1, false);
	plain_check_cuts(reader, table, sizeof(table) - 1, false);
}

/* A cut between two bytes of a number must not make another number of it. */
TEST(test_cut_numbers)
{
	struct plain_value row, bytes;
	int64_t number;

	for (size_t cut = sizeof("Iteration 2 training_step Peak FSDP memory stats");
	     cut < sizeof(table); cut++) {
		struct plain *p = plain_read_good(reader, table, cut);
		for (size_t i = 0; i < 2; i++) {
			row = tsi_plain_item(
				p, tsi_plain_find(p, tsi_plain_root(p), TSI_STR("peak")), i);
			bytes = tsi_plain_find(p, row, TSI_STR("bytes"));
			if (tsi_plain_to_int64(p, tsi_plain_find(p, bytes, TSI_STR("buffer")),
					       &number))
				assert_int_equal(number, 1024 << i);
		}
		tsi_plain_free(p);
	}
}

TEST(test_allocations)
{
	plain_check_allocations(reader, lines, sizeof(lines) - 1);
	plain_check_allocations(reader, table, sizeof(table) - 1);
}

/* Of several reports the first is read. */
TEST(test_further_reports)
{
	static const char reports[] = PEAK("Device: a\n") MODULES(
		"Device: b\n") "Iteration 3 training_step Peak FSDP memory stats: \nDevice: c\n"
			       "Iteration 3 training_step Modulewise FSDP memory stats: \nDevice: "
			       "d\n"
			       "Iteration 3 validation_step Peak FSDP memory stats: \nDevice: "
			       "e\n" MODULES("Device: f\n");
	struct plain *p = plain_read_good(reader, reports, sizeof(reports) - 1);
	struct plain_value root = tsi_plain_root(p);

	assert_int_equal(tsi_plain_length(p, tsi_plain_find(p, root, TSI_STR("peak"))), 1);
	assert_int_equal(tsi_plain_length(p, tsi_plain_find(p, root, TSI_STR("modules"))), 2);
	assert_int_equal(tsi_plain_further_count(p), 2);
	tsi_plain_free(p);
}

/* More columns than are kept, and names of any length. */
TEST(test_wide_table)
{
	enum { COLUMNS = 100 };
	struct bytes data = { 0 };

	bytes_add_literal(&data, "Iteration 2 f Peak FSDP memory stats: \n");
	for (int i = 0; i < COLUMNS; i++)
		bytes_add_literal(&data, "====== ");
	bytes_add_literal(&data, "\nDevice ");
	for (int i = 1; i < COLUMNS; i++)
		bytes_add_literal(&data, "KIND   ");
	bytes_add_literal(&data, "\n==\n");
	for (int i = 0; i < COLUMNS; i++)
		bytes_add_literal(&data, "1 B    ");
	bytes_add_literal(&data, "\n==\nDevice: x\n\t");
	for (int i = 0; i < COLUMNS; i++)
		bytes_add_literal(&data, "LONG_");
	bytes_add_literal(&data, ": 1 B\n");
	struct plain *p = plain_read_good(reader, data.data, data.length);
	struct plain_value peak = tsi_plain_find(p, tsi_plain_root(p), TSI_STR("peak"));
	struct plain_value cells = tsi_plain_find(p, tsi_plain_item(p, peak, 1), TSI_STR("bytes"));
	assert_int_equal(tsi_plain_length(p, peak), 2);
	assert_int_equal(tsi_plain_text(p, tsi_plain_key(p, cells, 0)).length, 5 * COLUMNS);
	tsi_plain_free(p);
	bytes_reset(&data);
}

TEST(test_limits)
{
	static const struct plain_limits texts = { .max_text_bytes = 60 };
	static const struct plain_limits objects = { .max_objects = 3 };
	struct tscope_error err = { 0 };

	assert_null(plain_read(reader, lines, sizeof(lines) - 1, &texts, 7, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "a text of more than 60 bytes (limit: text bytes)");
	assert_null(plain_read(reader, lines, sizeof(lines) - 1, &objects, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "log: more than 3 texts (limit: texts)");
}

TEST(test_taste)
{
	assert_true(reader->taste(TSI_STR(PEAK(""))) > 0);
	assert_true(reader->taste(TSI_STR("\n" MODULES(""))) > 0);
	assert_int_equal(reader->taste(TSI_STR("Iteration 2 loss 0.5\n" PEAK(""))), 0);
	assert_int_equal(reader->taste(TSI_STR("")), 0);
}
