/* SPDX-License-Identifier: MIT */
#include "analyze/memory/site_words.h"

#include <ctype.h>
#include <string.h>

#include "model/memory/stack_site.h"

/* Start of the name in "file:83:name"; the frame if it is something else. */
static const char *name_in_frame(const char *frame, const char *end)
{
	const char *at = frame;

	/* Folders of Windows have a colon, too: the line is the first number between two. */
	while ((at = memchr(at, ':', (size_t)(end - at)))) {
		const char *digits = ++at;

		while (at < end && isdigit((unsigned char)*at))
			at++;
		if (at > digits && at < end && *at == ':')
			return at + 1;
	}
	return frame;
}

/* How far a name of C++ reaches without what it is called with. */
static size_t bare_length(struct str name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t at;

	for (at = 0; at < name.length; at++) {
		struct str rest = tsi_str_tail(name, at);

		if (tsi_str_has_prefix(rest, tsi_str_of(anonymous)))
			at += sizeof(anonymous) - 2;
		else if (at > 0 && (*rest.data == '(' || *rest.data == '<'))
			break;
	}
	return at;
}

/*
 * "DivBackward0" of "torch::autograd::generated::DivBackward0::apply(std::vector<…>&&)", else the
 * name without what it is called with.
 */
static struct str node_of(struct str name)
{
	size_t start = 0, end;

	name.length = bare_length(name);
	for (end = 0; end <= name.length; end++) {
		struct str part = { name.data + start, end - start };

		if (end < name.length && name.data[end] != ':')
			continue;
		if (tsi_str_find(part, TSI_STR("Backward")) >= 0 ||
		    tsi_str_find(part, TSI_STR("AccumulateGrad")) >= 0)
			return part;
		start = end + 1;
	}
	return name;
}

struct str tsi_site_words(const char *site)
{
	const char *callers = strstr(site, " < ");
	const char *end = callers ? callers : site + strlen(site);
	const char *name = name_in_frame(site, end), *file_end = strstr(site, ".py:");

	if (!file_end || file_end >= name)
		return node_of((struct str){ name, (size_t)(end - name) });
	const char *start =
		tsi_stack_file_name((struct str){ site, (size_t)(file_end - site) }).data;
	return (struct str){ start, (size_t)(end - start) };
}
