/* SPDX-License-Identifier: MIT */
/*
 * The classes that a pickle may name. Nothing is imported or called: three constructors are
 * known by what they would make, which is plain data.
 */
#include "decode/plain/pickle_class.h"

#include "base/attributes.h"
#include "decode/plain/pickle_machine.h"

/* Role of a class. */
enum class_role {
	IS_ARGUMENT, /* as the factory of a defaultdict only */
	MAKES_DEFAULTDICT,
	MAKES_DICT,
	MAKES_TUPLE,
};

struct known_class {
	struct str module, name;
	enum class_role role;
	struct str full_name;
};

#define CLASS(module_name, class_name, class_role)                                                 \
	{                                                                                          \
		{ module_name, sizeof(module_name) - 1 }, { class_name, sizeof(class_name) - 1 },  \
			class_role,                                                                \
		{                                                                                  \
			module_name "." class_name, sizeof(module_name "." class_name) - 1         \
		}                                                                                  \
	}

static const struct known_class classes[] = {
	CLASS("builtins", "dict", IS_ARGUMENT),
	CLASS("__builtin__", "dict", IS_ARGUMENT), /* protocols 0 to 2 */
	CLASS("collections", "defaultdict", MAKES_DEFAULTDICT),
	CLASS("collections", "OrderedDict", MAKES_DICT),
	CLASS("torch", "Size", MAKES_TUPLE),
};

struct str tsi_pickle_class_name(uint32_t row)
{
	return classes[row].full_name;
}

void tsi_pickle_refuse_import(struct pickle_machine *m, struct str module, struct str name)
{
	bool is_checkpoint = tsi_str_starts(module, "torch.");

	tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED,
			"would import %.*s.%.*s%s; only plain data is read", TSI_QUOTE(module),
			TSI_QUOTE(name),
			is_checkpoint ? ", as a checkpoint of torch.save does" : "");
}

uint32_t tsi_pickle_find_class(struct pickle_machine *m, struct str module, struct str name)
{
	for (uint32_t i = 0; i < TSI_COUNT_OF(classes); i++)
		if (tsi_str_equal(module, classes[i].module) &&
		    tsi_str_equal(name, classes[i].name))
			return tsi_word(WORD_CLASS, i);
	tsi_pickle_refuse_import(m, module, name);
	return 0;
}

/* The one argument of a call; absent where there is none, or more. */
static struct plain_value only_argument(const struct plain *plain, struct plain_value arguments)
{
	if (tsi_plain_length(plain, arguments) != 1)
		return (struct plain_value){ 0 };
	return tsi_plain_item(plain, arguments, 0);
}

static bool is_factory(struct plain_value value)
{
	return tsi_plain_kind(value) == PLAIN_CLASS &&
	       classes[tsi_word_payload(value.word)].role == IS_ARGUMENT;
}

uint32_t tsi_pickle_call(struct pickle_machine *m, uint32_t callable, uint32_t arguments)
{
	struct plain_value class = { callable }, given = { arguments };
	struct plain_value only = only_argument(m->out, given);
	bool has_none =
		tsi_plain_kind(given) == PLAIN_TUPLE && tsi_plain_length(m->out, given) == 0;

	if (tsi_plain_kind(class) != PLAIN_CLASS) {
		tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED, "would call %s; only plain data is read",
				tsi_plain_kind_name(tsi_plain_kind(class)));
		return 0;
	}
	enum class_role role = classes[tsi_word_payload(callable)].role;
	if ((role == MAKES_DICT && has_none) ||
	    (role == MAKES_DEFAULTDICT && (has_none || is_factory(only))))
		return tsi_graph_add_object(m->out, WORD_DICT);
	if (role == MAKES_TUPLE && tsi_plain_kind(only) == PLAIN_TUPLE)
		return only.word;
	struct str name = tsi_plain_text(m->out, class);
	tsi_pickle_fail(m, TSCOPE_E_UNSUPPORTED,
			"would call %.*s with other arguments than plain data has",
			TSI_QUOTE(name));
	return 0;
}
