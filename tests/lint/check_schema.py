#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema/tscope-report.schema.json describes every fact, column and table as the analyzers define
them and in their order.

usage: check_schema.py [--update] SOURCE_ROOT LIST_FACTS

--update rewrites the part "facts" of the schema, which stands last in it.
"""
import difflib
import json
import pathlib
import subprocess
import sys

BEGIN = '    "facts": '
REAL_UNITS = ("bytes/s", "flop", "flop/s")


def definitions(lines):
    """What list_facts prints, as [analyzer, [facts], [(table, shape, [columns])]]."""
    analyzers = []
    for line in lines:
        macro, _, rest = line.partition(" ")
        if macro == ".Ss":
            analyzers.append([rest, [], []])
            target = analyzers[-1][1]
        elif macro == ".Sy":
            analyzers[-1][2].append([rest.removesuffix(" :"), "rows", []])
            target = analyzers[-1][2][-1][2]
        elif macro == '.\\"':
            analyzers[-1][2][-1][1] = rest
        elif macro == ".It":
            target.append(rest.split(" Ta "))
    return analyzers


def value(name, unit, meaning):
    """A fact or column. A rate, FLOPs or a mean change of bytes is no whole number."""
    is_real = unit in REAL_UNITS or unit == "bytes" and "_per_" in name
    kind = "number" if is_real else unit
    return {"$ref": f"#/$defs/{kind}", "description": meaning}


def members(properties, optional=()):
    return {"type": "object", "properties": properties,
            "required": [name for name in properties if name not in optional],
            "additionalProperties": False}


def nested(facts):
    """Properties of facts; those named group.x and group.y share an object."""
    properties = {}
    for name, unit, meaning in facts:
        group, dot, rest = name.partition(".")
        if dot:
            properties.setdefault(group, members({}))
            properties[group]["properties"][rest] = value(rest, unit, meaning)
            properties[group]["required"].append(rest)
        else:
            properties[name] = value(name, unit, meaning)
    return properties


def table(shape, columns):
    if shape == "list":
        return {"type": "array", "items": value(*columns[0])}
    if shape == "columns":
        arrays = {column[0]: {"type": "array", "items": value(*column)} for column in columns}
        return members(arrays, optional=arrays)
    row = members({column[0]: value(*column) for column in columns})
    if shape == "object":
        return {**row, "type": ["object", "null"]}
    return {"type": "array", "items": row}


def write(node, depth):
    """JSON with a line for each fact."""
    if not isinstance(node, dict) or not any(isinstance(child, dict) for child in node.values()):
        return json.dumps(node, ensure_ascii=False)
    inner = ",\n".join("  " * (depth + 1) + f'"{key}": {write(child, depth + 1)}'
                       for key, child in node.items())
    return "{\n" + inner + "\n" + "  " * depth + "}"


def generate(lines):
    analyzers = {}
    for name, facts, tables in definitions(lines):
        properties = {"reliability": {"type": "string"}, "doubts": {"$ref": "#/$defs/doubts"},
                      "left_out": {"$ref": "#/$defs/left_out"},
                      **nested(facts)}
        for table_name, shape, columns in tables:
            properties[table_name] = table(shape, columns)
        analyzers[name] = members(properties, optional=["reliability", "doubts", "left_out"])
    facts = members(analyzers, optional=analyzers)
    return write(facts, 2) + "\n  }\n}\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    path = pathlib.Path(arguments[0]) / "schema/tscope-report.schema.json"
    text = path.read_text(encoding="utf-8")
    lines = subprocess.run([arguments[1]], check=True, text=True, encoding="utf-8",
                           capture_output=True).stdout.splitlines()
    head = text[:text.index("\n" + BEGIN) + 1] + BEGIN
    expected = head + generate(lines)
    if "--update" in sys.argv:
        path.write_text(expected, encoding="utf-8")
        return 0
    difference = list(difflib.unified_diff(text.splitlines(), expected.splitlines(), path.name,
                                           "as defined", lineterm="", n=1))
    print("\n".join(difference))
    if difference:
        print("rewrite it: check_schema.py --update SOURCE_ROOT LIST_FACTS")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
