/* SPDX-License-Identifier: MIT */
#include "analyze/memory/role_words.h"

#include <stdio.h>
#include <string.h>

#include "analyze/memory/site_words.h"
#include "base/attributes.h"
#include "base/print_text.h"
#include "base/scaled_text.h"
#include "model/memory/stack_site.h"

static const struct role_sentence {
	const char *role, *sentence;
	bool is_unknown;
} role_sentences[] = {
	{ "unknown", "has no recorded stack", true },
	{ "earlier", "was allocated before the first recorded entry", true },
	{ "parameter", "is parameters", false },
	{ "optimizer", "is allocated by the optimizer", false },
	{ "backward", "is allocated in backward", false },
	{ "forward", "is allocated in forward", false },
	{ "kv_cache", "is KV cache", false },
	{ "communication", "is communication buffers", false },
};

/* NULL of other roles. */
static const struct role_sentence *find_sentence(const char *role)
{
	for (size_t i = 0; i < TSI_COUNT_OF(role_sentences); i++)
		if (strcmp(role, role_sentences[i].role) == 0)
			return &role_sentences[i];
	return NULL;
}

const char *tsi_role_sentence(const char *role)
{
	const struct role_sentence *found = find_sentence(role);

	return found ? found->sentence : NULL;
}

bool tsi_is_role_unknown(const char *role)
{
	const struct role_sentence *found = find_sentence(role);

	return found && found->is_unknown;
}

struct role_part tsi_role_part(const struct table_view *roles, size_t row, int64_t whole_bytes)
{
	return (struct role_part){
		.role = tsi_table_text(roles, row, "role"),
		.site = tsi_table_text(roles, row, "site"),
		.file = tsi_table_text(roles, row, "file"),
		.bytes = tsi_table_find(roles, row, "bytes").integer,
		.site_bytes = tsi_table_find(roles, row, "site_bytes").integer,
		.file_bytes = tsi_table_find(roles, row, "file_bytes").integer,
		.whole_bytes = whole_bytes,
	};
}

/* ---- in words ---- */

/* Share of the whole from which a role, a file or a site is worth a word. */
#define LEAST_SHARE 0.1

static bool is_worth_a_word(const struct role_part *part, int64_t bytes)
{
	return bytes > 0 && tsi_ratio_of_whole(part, bytes) >= LEAST_SHARE;
}

static double percent_of_whole(const struct role_part *part, int64_t bytes)
{
	return 100 * tsi_ratio_of_whole(part, bytes);
}

static void append_site(struct role_words *words, const struct role_part *part)
{
	if (*part->site != '\0' && is_worth_a_word(part, part->site_bytes))
		tsi_append_text(words->chars, sizeof(words->chars), ", %s by %.*s",
				tsi_size_text(part->site_bytes).chars,
				TSI_QUOTE(tsi_site_words(part->site)));
}

/*
 * Nothing says what the memory is for, so where it comes from is all there is: the file, where its
 * lines share the work, "71 % of it is allocated in adam_forward.py, 478 MiB by …", or the line.
 */
static struct role_words describe_place(const struct role_part *part)
{
	struct role_words words = { "" };
	struct str file = tsi_stack_file_name(tsi_str_of(part->file));

	if (part->file_bytes > part->site_bytes && is_worth_a_word(part, part->file_bytes)) {
		tsi_print_text(words.chars, sizeof(words.chars),
			       "%.0f %% of it is allocated in %.*s",
			       percent_of_whole(part, part->file_bytes), TSI_QUOTE(file));
		if (strncmp(part->site, part->file, strlen(part->file)) == 0)
			append_site(&words, part);
	} else if (*part->site != '\0' && is_worth_a_word(part, part->site_bytes)) {
		tsi_print_text(words.chars, sizeof(words.chars),
			       "%.0f %% of it is allocated by %.*s",
			       percent_of_whole(part, part->site_bytes),
			       TSI_QUOTE(tsi_site_words(part->site)));
	}
	return words;
}

struct role_words tsi_describe_role(const struct role_part *part)
{
	const char *sentence = tsi_role_sentence(part->role);
	struct role_words words = { "" };

	if (!sentence)
		return describe_place(part);
	if (!is_worth_a_word(part, part->bytes))
		return words;
	tsi_print_text(words.chars, sizeof(words.chars), "%.0f %% of it %s",
		       percent_of_whole(part, part->bytes), sentence);
	append_site(&words, part);
	return words;
}
