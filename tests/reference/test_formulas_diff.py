#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cases worked out by hand for formulas_diff.py itself."""
import math
import unittest

import formulas_diff


def records(*losses):
    """One record a loss, from step 5 on; None: a step without one."""
    return [{"step": 5 + i, "phases": {"forward": 1.0},
             **({} if loss is None else {"scalars": {"loss": loss}})}
            for i, loss in enumerate(losses)]


def run(meta, *losses):
    return {"metas": {0: meta}, "ranks": {0: records(*losses)}}


SEEDED = {"environment": {"torch": "2", "env": {"PYTHONHASHSEED": "0"}}, "config": {"lr": 1}}
OTHER_LR = {**SEEDED, "config": {"lr": 2}}
OTHER_TORCH = {**SEEDED, "environment": {"torch": "3", "env": {"PYTHONHASHSEED": "0"}}}


class Settings(unittest.TestCase):
    def test_same(self):
        self.assertTrue(formulas_diff.same({"a": [1, math.nan]}, {"a": [1.0, math.nan]}))
        self.assertFalse(formulas_diff.same(1, True))
        self.assertFalse(formulas_diff.same([1], [1, 2]))

    def test_flat(self):
        self.assertEqual(formulas_diff.flat({"env": {"A": "1", "x": {}}, "b": [{"c": 1}]}),
                         {"env.A": "1", "b": [{"c": 1}]})

    def test_changes(self):
        changes = formulas_diff.changes({"b": 1, "c": None, "d": 4}, {"d": 4, "b": 2, "B": 0})
        self.assertEqual(changes, [("B", False, None, True, 0), ("b", True, 1, True, 2),
                                   ("c", True, None, False, None)])


class Trajectories(unittest.TestCase):
    def check(self, a, b, expected, tolerance=0.0):
        facts = formulas_diff.trajectory(records(*a), records(*b), tolerance)
        self.assertEqual((facts["identical_trajectory"], facts["first_divergence"],
                          facts["first_divergence_step"], facts["differs"]), expected)

    def test_trajectories(self):
        self.check([2, 1], [2, 1], (True, None, None, False))
        self.check([2, 1], [2, 3], (False, 1, 6, True))
        self.check([2, None, 1], [2, 1], (True, None, None, False))
        self.check([None, 2, 1], [2, 3, 4], (False, 1, 7, True))  # A's step
        self.check([2], [2, 1], (False, 1, 6, False))
        self.check([], [2, 1], (False, 0, 5, False))
        self.check([], [None], (None, None, None, False))

    def test_what_is_not_finite(self):
        self.check([math.nan, math.inf], [math.nan, math.inf], (True, None, None, False))
        self.check([math.inf], [-math.inf], (False, 0, 5, True), 9.0)

    def test_tolerance(self):
        self.check([2.0], [1.9], (True, None, None, False), 0.06)  # 0.1 <= 0.06 * 2
        self.check([2.0], [1.9], (False, 0, 5, True), 0.04)


class Notes(unittest.TestCase):
    def check(self, a, b, expected):
        self.assertEqual(formulas_diff.diff(a, b)["notes"], expected)

    def test_reasons(self):
        self.check(run(SEEDED, 1), run(SEEDED, 1), [("reproducible", None)])
        self.check(run(SEEDED, 1), run(OTHER_LR, 2), [("config", ["lr"]), ("differ", None)])
        self.check(run(SEEDED, 1), run(OTHER_TORCH, 2),
                   [("environment", ["torch"]), ("differ", None)])
        self.check(run(SEEDED, 1), run(SEEDED, 2), [("nondeterminism", None), ("differ", None)])
        self.check(run(SEEDED, 1), run(SEEDED, 1, 2), [("prefix", None)])
        self.check(run(SEEDED, 1), run(None, 1), [("one_knows", "A")])
        self.check(run(SEEDED), run(SEEDED, 1), [("one_side", "B")])
        self.check(run(SEEDED), run(SEEDED), [("no_losses", None)])

    def test_switches(self):
        on = {"environment": {"cudnn_benchmark": True}}
        self.check(run(on, 1), run(on, 2),
                   [("nondeterminism", None), ("cudnn_benchmark", "A and B"),
                    ("hash_seed", "A and B"), ("differ", None)])

    def test_ranks(self):
        one, two = {0: records(1), 1: records(2)}, {0: records(1), 1: records(3)}
        metas = {0: SEEDED, 1: SEEDED}
        self.check({"metas": metas, "ranks": one}, {"metas": metas, "ranks": one},
                   [("reproducible", None)])
        self.check({"metas": metas, "ranks": one}, {"metas": metas, "ranks": two},
                   [("nondeterminism", None), ("differ", 1)])
        self.check({"metas": metas, "ranks": one}, run(SEEDED, 1), [("ranks", None)])

    def test_nothing(self):
        self.assertIsNone(formulas_diff.diff(run(None), run({"name": "r"}))["facts"])


if __name__ == "__main__":
    unittest.main()
