/* SPDX-License-Identifier: MIT */
/*
 * Prints all that the rules say of themselves, a field a line, through the
 * public API: of what check_rules.py makes their entries in tscope-rules(7).
 */
#include <stdio.h>
#include <tscope/tscope.h>

static void list(const struct tscope_rule_def *rule)
{
	printf("id\t%s\nsummary\t%s\nwhen\t%s\n", rule->id, rule->summary, rule->trigger);
	for (size_t i = 0; i < TSCOPE_RULE_MAX_PARAMETERS && rule->parameters[i].name; i++)
		printf("parameter\t%s\t%.15g\t%s\n", rule->parameters[i].name,
		       rule->parameters[i].value, rule->parameters[i].meaning);
	printf("why\t%s\nwhat to do\t%s\n", rule->meaning, rule->advice);
	if (rule->serving_advice)
		printf("serving\t%s\n", rule->serving_advice);
	if (rule->inference_advice)
		printf("inference\t%s\n", rule->inference_advice);
	printf("example\t%s\n", rule->example);
	for (size_t i = 0; i < TSCOPE_RULE_MAX_FACTS && rule->facts[i]; i++)
		printf("fact\t%s\n", rule->facts[i]);
}

int main(void)
{
	for (size_t i = 0; i < tscope_rule_count(); i++)
		list(tscope_rule(i));
	return 0;
}
