/* SPDX-License-Identifier: MIT */
#include "model/trace/module_path.h"

#include "model/trace/python_name.h"

static bool is_of_name(char c)
{
	return tsi_is_letter(c) || tsi_is_digit(c) || c == '_';
}

bool tsi_is_module_number(struct str name)
{
	return name.length > 0 && tsi_count_digits(name) == name.length;
}

bool tsi_path_next(struct str *path, struct str *name)
{
	if (!path->length)
		return false;
	*name = tsi_str_take(path, '.');
	return true;
}

bool tsi_is_module_path(struct str text)
{
	struct str name;

	if (!text.length || text.data[text.length - 1] == '.')
		return false;
	while (tsi_path_next(&text, &name)) {
		size_t i = 0;
		while (i < name.length && is_of_name(name.data[i]))
			i++;
		if (!name.length || i < name.length)
			return false;
	}
	return true;
}

/* A dotted user annotation is a module path if it has a list index. */
static bool has_number(struct str path)
{
	struct str name;

	if (!path.length || tsi_is_digit(path.data[0]))
		return false;
	while (tsi_path_next(&path, &name))
		if (tsi_is_module_number(name))
			return true;
	return false;
}

static enum module_edge edge_of(struct str hook)
{
	if (tsi_str_equal(hook, TSI_STR("pre_forward")))
		return EDGE_BEGIN;
	return tsi_str_equal(hook, TSI_STR("post_forward")) ? EDGE_END : EDGE_HOOK;
}

/* "FSDP::pre_forward (layers.3)"; the root has no name, and its hooks say nothing. */
static struct module_mark fsdp_mark(struct str annotation)
{
	static const size_t prefix = sizeof("FSDP::") - 1;
	ptrdiff_t open = tsi_str_find(annotation, TSI_STR(" ("));
	struct module_mark mark = { MARK_NONE, EDGE_NONE, { NULL, 0 } };

	if (open < (ptrdiff_t)prefix || annotation.data[annotation.length - 1] != ')')
		return mark;
	struct str hook = { annotation.data + prefix, (size_t)open - prefix };
	struct str path = { annotation.data + open + 2, annotation.length - (size_t)open - 3 };
	if (tsi_is_module_path(path))
		mark = (struct module_mark){ MARK_FSDP_MODULE, edge_of(hook), path };
	return mark;
}

struct module_mark tsi_module_mark(struct str annotation)
{
	if (tsi_str_has_prefix(annotation, TSI_STR("FSDP::")))
		return fsdp_mark(annotation);
	if (tsi_str_equal(annotation, TSI_STR("FullyShardedDataParallel.forward")))
		return (struct module_mark){ MARK_FSDP_UNIT, EDGE_NONE, { NULL, 0 } };
	if (tsi_is_module_path(annotation) && has_number(annotation))
		return (struct module_mark){ MARK_PATH, EDGE_NONE, annotation };
	return (struct module_mark){ MARK_NONE, EDGE_NONE, { NULL, 0 } };
}

static struct str text_between(struct str text, size_t first, size_t end)
{
	return (struct str){ text.data + first, end - first };
}

bool tsi_hierarchy_next(struct str *hierarchy, struct str *name)
{
	while (hierarchy->length) {
		struct str item = tsi_str_take(hierarchy, '.');
		ptrdiff_t open = tsi_str_find(item, TSI_STR("("));
		ptrdiff_t close = tsi_str_find(item, TSI_STR(")::"));
		if (open <= 0 || close <= open + 1)
			continue; /* "::function" */
		*name = text_between(item, 0, (size_t)open);
		if (tsi_str_equal(*name, TSI_STR("SELF")))
			continue;
		if (tsi_str_equal(*name, TSI_STR("TOP")))
			*name = text_between(item, (size_t)open + 1, (size_t)close);
		return true;
	}
	return false;
}

struct str tsi_user_frame(struct str call_stack)
{
	while (call_stack.length) {
		struct str frame = tsi_str_trim(tsi_str_take(&call_stack, ';'));
		if (tsi_is_user_frame(frame))
			return frame;
	}
	return (struct str){ NULL, 0 };
}

/* Takes the text up to an end, which is left out; false where there is none. */
static bool take_until(struct str *text, struct str end, struct str *taken)
{
	ptrdiff_t at = tsi_str_find(*text, end);

	if (at < 0)
		return false;
	*taken = text_between(*text, 0, (size_t)at);
	*text = text_between(*text, (size_t)at + end.length, text->length);
	return true;
}

static char *put(char *out, struct str text)
{
	if (text.length)
		memcpy(out, text.data, text.length);
	return out + text.length;
}

/* A line of a traceback as a frame; 0: it is another. */
static size_t write_frame(struct str line, char *out)
{
	struct str before, file, number, function = tsi_str_trim(line);
	char *end = out;

	if (!take_until(&function, TSI_STR("File \""), &before) || before.length ||
	    !take_until(&function, TSI_STR("\", line "), &file) ||
	    !take_until(&function, TSI_STR(", in "), &number))
		return 0;
	end = put(end, file);
	end = put(end, TSI_STR("("));
	end = put(end, number);
	end = put(end, TSI_STR("): "));
	end = put(end, function);
	return (size_t)(end - out);
}

size_t tsi_traceback_frame(struct str traceback, char *out)
{
	for (size_t end = traceback.length; end > 0;) {
		size_t begin = end;
		while (begin > 0 && traceback.data[begin - 1] != '\n')
			begin--;
		size_t length = write_frame(text_between(traceback, begin, end), out);
		if (length && tsi_is_user_frame((struct str){ out, length }))
			return length;
		end = begin ? begin - 1 : 0;
	}
	return 0;
}
