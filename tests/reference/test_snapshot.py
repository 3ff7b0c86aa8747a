#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cases worked out by hand for the simulated allocator, the writers and the simple readers: what is
compared with tscope must not be wrong the same way twice."""
import io
import pathlib
import pickle
import pickletools
import tempfile
import unittest

import cuda_allocator
import make_snapshot
import memory_files
import snapshot
import snapshot_writers
from cuda_allocator import ALL, KIB, MIB

STACK = (("forward", "/x/-packages/torch/nn/linear.py", 1), ("step", "/home/me/train.py", 7))


def allocator(capacity=1 << 30, is_expandable=False, max_split=float("inf")):
    made = cuda_allocator.Allocator(
        cuda_allocator.Settings(capacity, 0, is_expandable, max_split), 1 << 40)
    made.record(ALL)
    return made


def layout(one):
    """[[size, "used", "pending" or "free"] of each block] of each segment."""
    return [[(b.size, "used" if b.is_allocated else "pending" if b.is_active() else "free")
             for b in run] for run in one.segments()]


def get(one, size, stream=0):
    return one.malloc(size, stream, STACK, "")


class Allocator(unittest.TestCase):
    def test_sizes_of_segments_and_blocks(self):
        cases = (
            (1, [(512, "used"), (2 * MIB - 512, "free")]),
            (513, [(1024, "used"), (2 * MIB - 1024, "free")]),
            (MIB, [(MIB, "used"), (MIB, "free")]),
            (MIB + 1, [(MIB + 512, "used"), (19 * MIB - 512, "free")]),
            (10 * MIB - 512, [(10 * MIB - 512, "used"), (10 * MIB + 512, "free")]),
            (12 * MIB + 1, [(12 * MIB + 512, "used"), (2 * MIB - 512, "free")]),
            # A rest up to 1 MiB is not worth splitting off a large block.
            (13 * MIB, [(14 * MIB, "used")]),
            (19 * MIB + 512 * KIB, [(20 * MIB, "used")]))
        for requested, blocks in cases:
            with self.subTest(requested=requested):
                one = allocator()
                get(one, requested)
                self.assertEqual(layout(one), [blocks])
                self.assertEqual([e.size for e in one.log if e.action == "alloc"], [requested])

    def test_free_neighbours_merge_and_the_best_fit_is_taken(self):
        one = allocator()
        a, b, c, d = (get(one, size * MIB) for size in (4, 3, 5, 4))
        one.free(a, STACK)
        one.free(c, STACK)
        self.assertEqual(layout(one), [[(4 * MIB, "free"), (3 * MIB, "used"), (5 * MIB, "free"),
                                        (4 * MIB, "used"), (4 * MIB, "free")]])
        self.assertEqual(get(one, 5 * MIB).addr, c.addr)
        one.free(d, STACK)
        one.free(b, STACK)
        self.assertEqual(layout(one)[0][0], (7 * MIB, "free"))

    def test_streams_do_not_share(self):
        one = allocator()
        one.free(get(one, 100), STACK)
        get(one, 100, stream=5)
        self.assertEqual(len(layout(one)), 2)

    def test_a_block_used_elsewhere_is_free_later(self):
        one = allocator()
        a = get(one, 3 * MIB)
        one.use_on(a, 9, 50)
        one.free(a, STACK)
        self.assertEqual(layout(one)[0][0], (3 * MIB, "pending"))
        self.assertEqual(get(one, 3 * MIB).addr, a.addr + 3 * MIB)
        one.now_us = 50
        self.assertEqual(get(one, 3 * MIB).addr, a.addr)
        self.assertEqual([e.action for e in one.log], ["segment_alloc", "alloc", "free_requested",
                                                       "alloc", "free_completed", "alloc"])

    def test_the_cache_is_given_back_before_a_request_fails(self):
        one = allocator(capacity=40 * MIB)
        one.free(get(one, 22 * MIB), STACK)
        get(one, 30 * MIB)
        self.assertEqual([e.action for e in one.log][4:],
                         ["segment_free", "segment_alloc", "alloc"])
        self.assertEqual(one.retry_count, 1)
        with self.assertRaises(cuda_allocator.OutOfMemory):
            get(one, 11 * MIB)
        self.assertEqual((one.log[-1].action, one.log[-1].addr, one.log[-1].size),
                         ("oom", 10 * MIB, 11 * MIB))

    def test_expandable_segments_are_mapped_by_granules(self):
        one = allocator(is_expandable=True)
        a = get(one, 30 * MIB)
        b = get(one, 25 * MIB)
        self.assertEqual(layout(one), [[(30 * MIB, "used"), (25 * MIB, "used"), (5 * MIB, "free")]])
        self.assertEqual([(e.addr - a.addr, e.size) for e in one.log if e.action == "segment_map"],
                         [(0, 40 * MIB), (40 * MIB, 20 * MIB)])
        one.free(a, STACK)
        one.empty_cache(STACK)  # only the first granule is wholly free
        self.assertEqual(layout(one), [[(10 * MIB, "free"), (25 * MIB, "used"), (5 * MIB, "free")]])
        one.free(b, STACK)
        one.empty_cache(STACK)
        self.assertEqual((layout(one), one.reserved), ([], 0))

    def test_expandable_segments_use_scattered_pages(self):
        results = {}
        for is_expandable in (False, True):
            one = allocator(capacity=200 * MIB, is_expandable=is_expandable)
            whole = get(one, 180 * MIB)
            one.free(whole, STACK)
            parts = [get(one, 45 * MIB) for _ in range(4)]
            one.free(parts[0], STACK)
            one.free(parts[2], STACK)
            try:
                get(one, 60 * MIB)
                results[is_expandable] = True
            except cuda_allocator.OutOfMemory:
                results[is_expandable] = False
        self.assertEqual(results, {False: False, True: True})

    def test_large_blocks_are_not_split_beyond_the_limit(self):
        one = allocator(max_split=32 * MIB)
        one.free(get(one, 40 * MIB), STACK)
        get(one, 20 * MIB)  # does not cut the big one
        self.assertEqual(layout(one), [[(40 * MIB, "free")], [(20 * MIB, "used")]])


def block(address, size, state="active_allocated", requested=None, frames=()):
    return {"address": address, "size": size, "requested_size": requested or size, "state": state,
            "frames": list(frames)}


def segment(address, blocks, **more):
    return {"device": 0, "address": address, "total_size": sum(b["size"] for b in blocks),
            "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "blocks": blocks, **more}


def entry(action, addr, size, time_us=0, **more):
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time_us, **more}


def frame(name, file, line=1):
    return {"name": name, "filename": file, "line": line}


class Reader(unittest.TestCase):
    def test_totals(self):
        row = snapshot.totals_of([
            segment(0, [block(0, 1024, requested=1000), block(1024, 512, "inactive", 77),
                        block(1536, 512, "active_pending_free", 300)]),
            segment(1 << 20, [block(1 << 20, 2048, "inactive")]),
            segment(1 << 30, [block(1 << 30, 4096, "inactive")], is_expandable=True)])
        expected = {"reserved": 2048 + 2048 + 4096, "allocated": 1024, "pending": 512,
                    "active": 1536, "requested": 1000 + 300, "rounding": 1536 - 1300,
                    "inactive": 512 + 2048 + 4096, "inactive_split": 512, "free_segment": 2048,
                    "inactive_expandable": 4096, "largest_free": 4096}
        self.assertEqual({name: row[name + "_bytes"] for name in expected}, expected)

    def test_a_lost_beginning_is_found_from_the_end(self):
        # 100 bytes at 0 stay; 70 at 512 were there before and go; 300 at 1024 come and go; 40 stay.
        entries = [entry("alloc", 1024, 300, 10), entry("free_requested", 512, 70, 11),
                   entry("free_completed", 512, 70, 12), entry("free_requested", 1024, 300, 13),
                   entry("alloc", 512, 40, 14), entry("free_completed", 1024, 300, 15)]
        data = {"segments": [segment(0, [block(0, 512, requested=100),
                                         block(512, 512, requested=40),
                                         block(1024, 2048, "inactive")])],
                "device_traces": [entries]}
        device = snapshot.figures(data)["devices"]["0"]
        self.assertEqual(device["timeline"]["active"], {
            "start_bytes": 100 + 70, "end_bytes": 140, "peak_bytes": 100 + 70 + 300,
            "peak_index": 0, "peak_time_us": 10})
        self.assertEqual(device["timeline"]["allocated"]["peak_bytes"], 470)
        self.assertEqual(device["timeline"]["allocated"]["end_bytes"], 140)
        live = device["live_at_peak"]
        self.assertEqual((live["count"], live["bytes"]), (3, 470))
        self.assertEqual(device["never_freed"]["bytes"], 40)

    def test_the_state_before_the_first_entry_can_be_the_peak(self):
        data = {"segments": [segment(0, [block(0, 1024, "inactive")])],
                "device_traces": [[entry("free_requested", 0, 9), entry("free_completed", 0, 9)]]}
        active = snapshot.figures(data)["devices"]["0"]["timeline"]["active"]
        self.assertEqual((active["peak_bytes"], active["peak_index"], active["peak_time_us"]),
                         (9, -1, None))

    def test_an_address_is_used_again(self):
        entries = [entry("alloc", 0, 10, 1), entry("free_requested", 0, 10, 5),
                   entry("free_completed", 0, 10, 6), entry("alloc", 0, 20, 7)]
        data = {"segments": [segment(0, [block(0, 512, requested=20)])], "device_traces": [entries]}
        device = snapshot.figures(data)["devices"]["0"]
        self.assertEqual(device["timeline"]["active"]["start_bytes"], 0)
        self.assertEqual(device["lifetimes"], [
            {"site": "", "count": 2, "bytes": 30, "freed_count": 1, "lifetime_entries": 1,
             "longest_entries": 1, "lifetime_us": 4, "longest_us": 4}])

    def test_sites(self):
        torch, mine = "/v/site-packages/torch/nn/functional.py", "/home/me/train.py"
        cases = (
            ([], ""),
            ([frame("a", torch), frame("b", mine, 7), frame("c", mine, 9)], f"{mine}:7:b"),
            ([frame("x()", "??", 0), frame("a", torch)], f"{torch}:1:a"),
            ([frame("a", r"C:\env\Lib\site-packages\torch\_tensor.py"), frame("b", r"C:\me\t.py")],
             r"C:\me\t.py:1:b"),
            ([frame("call", "/tmp/torchinductor_me/ab/cab.py"), frame("b", mine)], f"{mine}:1:b"),
            ([frame("run", "<frozen runpy>"), frame("cell", "<ipython-input-3>")],
             "<ipython-input-3>:1:cell"),
            ([frame("m", "/v/site-packages/transformers/llama.py"), frame("b", mine)],
             "/v/site-packages/transformers/llama.py:1:m"),
            ([frame("gather()", "??", 0), frame("MulBackward0::apply()", "Functions.cpp", 0)],
             "Functions.cpp:0:MulBackward0::apply()"),
            ([frame("torch::unwind::unwind()", "??", 0), frame("at::_ops::sum::call()", "??", 0),
              frame("Engine::thread_main()", "", 0)], "??:0:at::_ops::sum::call()"),
            ([frame("gather_with_cpp()", "a.cpp", 0), frame("main", "", 0)], ":0:main"),
            ([frame("torch::unwind::unwind()", "??", 0)], "??:0:torch::unwind::unwind()"))
        for frames, site in cases:
            with self.subTest(site=site):
                self.assertEqual(snapshot.site_of(frames), site)

    def test_collapsed_stacks(self):
        frames = [frame("f;g", r"C:\a\b.py", 3), frame("m", "/x/t.py", 4)]
        self.assertEqual(snapshot.collapsed(frames), "t.py:4:m;b.py:3:f:g")

    def test_what_was_free_at_an_oom_before_the_end(self):
        # At the failure: [0, 512) and [1536, 2048) of the first segment taken; the second, which
        # is gone at the end, was all free.
        oom = {"action": "oom", "device_free": 5, "size": 3 * MIB, "stream": 0, "time_us": 3}
        entries = [oom, entry("segment_free", 20 * MIB, 12 * MIB),
                   entry("free_requested", 1536, 400), entry("free_completed", 1536, 400)]
        data = {"segments": [segment(0, [block(0, 512), block(512, 1 * MIB, "inactive")])],
                "device_traces": [entries]}
        row = snapshot.figures(data)["devices"]["0"]["ooms"][0]
        self.assertEqual(row["reserved_bytes"], 512 + MIB + 12 * MIB)
        self.assertEqual(row["largest_free_bytes"], 12 * MIB)
        self.assertEqual(row["free_bytes"], 12 * MIB + (MIB + 512) - 1024)
        self.assertEqual((row["live_bytes"], row["is_exact"]), (512 + 400, False))
        self.assertTrue(row["would_fit_unfragmented"])

    def test_a_layout_is_found_backwards(self):
        entries = [entry("snapshot", 0, 0), entry("segment_map", 24 * MIB, 6 * MIB),
                   entry("segment_alloc", 0, 20 * MIB), entry("segment_unmap", 40 * MIB, 4 * MIB),
                   entry("segment_free", 60 * MIB, 2 * MIB),
                   entry("segment_free", 62 * MIB, 20 * MIB)]
        segments = [segment(0, [block(0, 20 * MIB)]),
                    segment(22 * MIB, [block(22 * MIB, 18 * MIB)], is_expandable=True)]
        large, small = (0, "large", "0,0"), (0, "small", "0,0")
        self.assertEqual(snapshot.layout_at(segments, entries, 0), ({
            22 * MIB: (2 * MIB, large), 30 * MIB: (14 * MIB, large), 60 * MIB: (2 * MIB, small),
            62 * MIB: (20 * MIB, large)}, False))
        self.assertEqual(snapshot.layout_at(segments, entries, 5), ({
            0: (20 * MIB, large), 22 * MIB: (18 * MIB, large)}, True))

    def test_only_the_pool_of_the_request_is_of_use(self):
        segments = [segment(0, [block(0, MIB, "inactive"), block(MIB, MIB)], segment_type="small"),
                    segment(4 * MIB, [block(4 * MIB, 20 * MIB, "inactive")]),
                    segment(40 * MIB, [block(40 * MIB, 30 * MIB, "inactive")], stream=3),
                    segment(80 * MIB, [block(80 * MIB, 50 * MIB, "inactive")],
                            segment_pool_id=(0, 1))]
        for size, largest in ((MIB, MIB), (MIB + 512, 20 * MIB)):
            oom = {"action": "oom", "device_free": 0, "size": size, "stream": 0, "time_us": 3}
            row = snapshot.figures({"segments": segments, "device_traces": [[oom]]})
            row = row["devices"]["0"]["ooms"][0]
            self.assertEqual((row["largest_free_bytes"], row["is_exact"]), (largest, True))
            self.assertEqual(row["free_bytes"], (1 + 20 + 30) * MIB)
            # Of 1, 20 and 30 MiB free: no page of 2 MiB, one of 20 each, and that not for sure.
            self.assertEqual((row["pages_low_bytes"], row["pages_high_bytes"]), (0, 40 * MIB))

    def test_allocations_left_out_of_the_trace(self):
        entries = [entry(action, 0, 9) for action in ("free_requested", "free_completed") * 2]
        data = {"segments": [segment(0, [block(0, 512, "inactive")])], "device_traces": [entries]}
        active = snapshot.figures(data)["devices"]["0"]["timeline"]["active"]
        self.assertEqual(active["start_bytes"], 18)
        self.assertEqual(len(snapshot.lives(entries, [])), 2)

    def test_a_retry_is_a_release_and_a_growth_by_one_call(self):
        shared, other = [frame("a", "a.py")], [frame("a", "a.py")]
        cases = (((shared, shared), 1), ((shared, other), 0), ((None, None), 1),
                 ((shared, None), 0))
        for stacks, count in cases:
            entries = [{**entry(action, 0, 512), **({"frames": frames} if frames else {})}
                       for action, frames in zip(("segment_free", "segment_alloc"), stacks)]
            data = {"segments": [segment(0, [block(0, 512, "inactive")])],
                    "device_traces": [entries]}
            with self.subTest(stacks=stacks):
                churn = snapshot.figures(data)["devices"]["0"]["churn"]
                self.assertEqual(churn["retry_count"], count)

    def test_no_code_of_a_pickle_runs(self):
        class Evil:
            def __reduce__(self):
                return print, ("it ran",)
        with self.assertRaisesRegex(snapshot.NotASnapshot, "builtins.print"):
            snapshot.unpickle(pickle.dumps({"segments": Evil()}))


class Writers(unittest.TestCase):
    def test_the_writer_in_cpp(self):
        shared = [frame("f", "a.py", 300)]
        value = {"a": [1, 255, 256, 65535, 65536, -1, 1 << 40, True, 0.5], "b": [],
                 "frames": shared, "c": {"frames": shared, "a": "a"}}
        file = io.BytesIO()
        snapshot_writers.TorchScriptPickler(file).dump(value)
        loaded = pickle.loads(file.getvalue())
        self.assertEqual(loaded, value)
        self.assertIs(loaded["frames"], loaded["c"]["frames"])
        names = {op.name for op, _, _ in pickletools.genops(file.getvalue())}
        self.assertEqual(names, {
            "PROTO", "EMPTY_DICT", "MARK", "BINUNICODE", "BINPUT", "BINGET", "EMPTY_LIST",
            "APPENDS", "BININT1", "BININT2", "BININT", "LONG1", "NEWTRUE", "BINFLOAT", "SETITEMS",
            "STOP"})

    def test_the_same_options_write_the_same_bytes(self):
        plan = {**make_snapshot.DEFAULTS, "steps": 1, "layers": 1}
        with tempfile.TemporaryDirectory() as folder:
            for name in ("s.pickle", "s.pickle.gz"):
                texts = set()
                for number in range(2):
                    run, _ = make_snapshot.simulate(plan, 0, "2.9")
                    path = pathlib.Path(folder) / str(number) / name
                    path.parent.mkdir(exist_ok=True)
                    snapshot_writers.write(snapshot_writers.Builder(run, "2.9", 0).build(), path)
                    texts.add(path.read_bytes())
                self.assertEqual(len(texts), 1)

    def test_each_call_has_its_own_stack_of_shared_frames(self):
        run, _ = make_snapshot.simulate({**make_snapshot.DEFAULTS, "steps": 2}, 0, "2.9")
        data = snapshot_writers.Builder(run, "2.9", 0).build()
        entries = data["device_traces"][0]
        stacks = {id(e["frames"]) for e in entries}
        frames = {id(f) for e in entries for f in e["frames"]}
        calls = sum(e["action"] in ("alloc", "free_requested") for e in entries)
        self.assertEqual(len(stacks), calls)
        self.assertLess(len(frames), 100)


class MemoryFiles(unittest.TestCase):
    def test_raw_timeline(self):
        rows = [[-1, 1, 10, 0], [5, 2, 100, 4], [5, 4, -10, 0], [7, 3, -100, 4], [7, 3, 100, 5]]
        found = memory_files.timeline_figures(rows)
        # Rows of one moment count together: 110 is never seen.
        self.assertEqual((found["count"], found["peak_bytes"], found["peak_index"]), (3, 100, 1))
        self.assertEqual((found["start_time"], found["changed_count"]), (5, 1))
        self.assertEqual(found["end_by_category"]["gradient"], 100)

    def test_plain_timeline(self):
        found = memory_files.timeline_figures([[1, 2], [[0, 1, 2, 0, 0, 0, 0, 0, 4],
                                                        [0, 1, 0, 0, 0, 0, 0, 0, 0]]])
        self.assertEqual((found["peak_bytes"], found["end_bytes"], found["unit"]), (7, 1, "us"))
        self.assertEqual(found["peak_by_category"]["optimizer_state"], 2)

    def test_yaml(self):
        text = (memory_files.YAML_TAG + "\nargs:\n- !!python/name:builtins.dict ''\ndictitems:\n"
                "  0.a.b.2.start:\n    n: 3\n    npp_diff: null\n    ? long\n    : 1.0e+20\n"
                "  '0.a.b.2.end':\n    n: 5\n    long: .5\n")
        found = memory_files.stats_figures(memory_files.stats_of_yaml(text))
        self.assertEqual(found["largest"], {"long": 1e20, "n": 5})
        self.assertEqual(found["changes"], [{"rank": 0, "function": "a.b", "iteration": 2,
                                             "change": {"long": 0.5 - 1e20, "n": 2}}])

    def test_names_of_members(self):
        for text, name in (("Sharded Param", "sharded param"), ("_FSDPRefType.ACT", "activation"),
                           ("_FSDPRefType.REDUCE_SCATTER", "reduce scatter"),
                           ("_MemRefType.PARAM", "parameter"), ("_MemRefType.OPT", "optstate")):
            self.assertEqual(memory_files.type_name(text), name)
        for text, name in (("Peak-Forward", "Peak-Forward"), ("_FSDPModState.PRE_FW_AC",
                                                              "Pre-Forward AC"),
                           ("_ModState.PEAK_BW", "Peak-Backward"),
                           ("_FSDPModState.BEF_POST_BW", "Before Post-Backward")):
            self.assertEqual(memory_files.state_name(text), name)


if __name__ == "__main__":
    unittest.main()
