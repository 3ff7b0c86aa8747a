/* SPDX-License-Identifier: MIT */
/* analyze/memory/site_words.h, role_words.h: sites and roles as findings name them. */
#include "analyze/memory/site_words.h"

#include "analyze/memory/role_words.h"

#include "check.h"

TEST(a_site_is_named_by_its_innermost_frame)
{
	static const struct {
		const char *site, *words;
	} cases[] = {
		{ "/home/u/model.py:12:forward", "model.py:12:forward" },
		{ "C:\\u\\model.py:12:forward", "model.py:12:forward" },
		{ "model.py:12:forward < /home/u/train.py:7:step", "model.py:12:forward" },
		{ "??:0:torch::autograd::generated::DivBackward0::apply(std::vector<x>&&)",
		  "DivBackward0" },
		{ "??:0:torch::autograd::AccumulateGrad::accumulateGrad<x>(at::Tensor const&)",
		  "AccumulateGrad" },
		{ "??:0:at::_ops::linear::call(at::Tensor const&)", "at::_ops::linear::call" },
		{ "lib.cpp:7:mylib::Cache::reserve(long) < a.py:1:f", "mylib::Cache::reserve" },
		/* Not what a function is called with. */
		{ "lib.cpp:7:mylib::(anonymous namespace)::grow(long)",
		  "mylib::(anonymous namespace)::grow" },
		{ "lib.cpp:7:(anonymous namespace)::grow<float>(long)",
		  "(anonymous namespace)::grow" },
		{ "(other)", "(other)" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str words = tsi_site_words(cases[i].site);

		if (!tsi_str_equal(words, tsi_str_of(cases[i].words)))
			fail_msg("%s is %.*s, not %s", cases[i].site, (int)words.length, words.data,
				 cases[i].words);
	}
}

TEST(other_roles_have_no_sentence)
{
	assert_string_equal(tsi_role_sentence("forward"), "is allocated in forward");
	assert_null(tsi_role_sentence("other"));
	assert_true(tsi_is_role_unknown("unknown"));
	assert_true(tsi_is_role_unknown("earlier"));
	assert_false(tsi_is_role_unknown("forward"));
	assert_false(tsi_is_role_unknown("other"));
}

TEST(a_role_is_described_by_its_share_and_most_of_it)
{
	static const struct {
		struct role_part part;
		const char *words;
	} cases[] = {
		{ { "backward", "??:0:DivBackward0::apply()", "", 830, 300, 0, 1000 },
		  "83 % of it is allocated in backward, 300 B by DivBackward0" },
		{ { "backward", "??:0:DivBackward0::apply()", "", 830, 99, 0, 1000 },
		  "83 % of it is allocated in backward" },
		{ { "unknown", "", "", 500, 500, 0, 1000 }, "50 % of it has no recorded stack" },
		{ { "forward", "/a/m.py:1:f", "/a/m.py", 99, 99, 99, 1000 }, "" },
		/* What only its place describes: of the file, where its lines share the work. */
		{ { "other", "/a/adam.py:1:step", "/a/adam.py", 900, 480, 710, 1000 },
		  "71 % of it is allocated in adam.py, 480 B by adam.py:1:step" },
		{ { "other", "/b/m.py:1:f", "/a/adam.py", 900, 480, 710, 1000 },
		  "71 % of it is allocated in adam.py" },
		{ { "other", "/a/adam.py:1:step", "/a/adam.py", 900, 710, 710, 1000 },
		  "71 % of it is allocated by adam.py:1:step" },
		{ { "other", "/a/adam.py:1:step", "/a/adam.py", 900, 90, 99, 1000 }, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(tsi_describe_role(&cases[i].part).chars, cases[i].words);
}
