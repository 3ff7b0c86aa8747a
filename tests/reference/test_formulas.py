#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cases worked out by hand for formulas.py itself: what compares must not be wrong the same way."""
import math
import unittest

import formulas


def step(number, **phases):
    return {"step": number, "phases": phases}


class Statistics(unittest.TestCase):
    def test_percentile(self):
        self.assertEqual(formulas.percentile([4, 1, 3, 2], 50), 2.5)
        self.assertAlmostEqual(formulas.percentile([10, 20], 95), 19.5)

    def test_slope_is_under_reported_as_in_the_reference(self):
        # 5 MB a step over 40 steps: windows of 4, centres 36 apart, divided by 39.
        self.assertAlmostEqual(formulas.robust_slope([5 * i for i in range(40)]), 5 * 36 / 39)

    def test_spikes(self):
        self.assertEqual(formulas.local_spikes([1] * 6 + [2]), [6])
        self.assertEqual(formulas.local_spikes([1] * 5 + [2]), [])  # too little history
        self.assertEqual(formulas.local_spikes([1] * 6 + [1.5]), [])  # not above half more
        self.assertEqual(formulas.local_spikes([0] * 6 + [0.1]), [6])
        self.assertEqual(formulas.local_spikes([1, math.nan] * 6 + [math.inf, 9]), [13])


class Analyzers(unittest.TestCase):
    def test_memory(self):
        records = [{"step": i, "memory": {"alloc": 100, "reserved": 200}} for i in range(30)]
        self.assertEqual(formulas.memory(records)["fragmentation"], 0.5)

    def test_distributed(self):
        # Rank 1 is slowest in both steps: z = (2 - 1) / sqrt(2 / 4) = 1.414.
        ranks = {0: [step(0, forward=1.0), step(1, forward=1.0)],
                 1: [step(0, forward=2.0), step(1, forward=2.0, comm=1.0)]}
        result = formulas.distributed(ranks)
        self.assertEqual(result["mean_step_wall_ns"], 2.5e9)
        self.assertAlmostEqual(result["mean_comm_fraction"], (0 + 1 / 3) / 2)
        self.assertAlmostEqual(result["wall_frac_lost_to_imbalance"], 0.25)
        self.assertAlmostEqual(result["ranks"][1]["straggler_z"], math.sqrt(2))
        self.assertAlmostEqual(result["ranks"][1]["rel_slowdown"], 1 / 3)
        self.assertIsNone(result["straggler"])

    def test_ties_go_to_the_lowest_rank(self):
        ranks = {0: [step(0, forward=1.0)], 1: [step(0, forward=1.0)]}
        self.assertEqual([r["slowest_count"] for r in formulas.distributed(ranks)["ranks"]], [1, 0])

    def test_convergence(self):
        losses = [1.0, 0.9, 0.5, 0.4, math.nan]
        records = [{"step": i, "scalars": {"loss": v}} for i, v in enumerate(losses)]
        result = formulas.convergence(records)
        self.assertEqual((result["loss_trend"], result["diverged_at"]), ("diverged", 4))
        self.assertEqual((result["final_loss"], result["best_loss"]), (0.4, 0.4))

    def test_efficiency(self):
        # 2 steps of 1 s compute; 1e12 operations each at 2e12 per second: 1 s of 2 s + 2 s data.
        records = [step(i, forward=1.0, data=1.0, lunch=5.0) for i in range(2)]
        result = formulas.efficiency(records, 1e12, 2e12)
        self.assertEqual((result["mfu"], result["useful_ratio"]), (0.25, 0.25))
        self.assertEqual(result["achieved_tflops"], 0.5)  # 2e12 in 4 s
        # 6 s at the peak in 4 s, of which 2 are computing: no more than those can be useful.
        result = formulas.efficiency(records, 6e12, 2e12)
        self.assertEqual((result["mfu"], result["mfu_uncapped"]), (0.5, 1.5))


if __name__ == "__main__":
    unittest.main()
