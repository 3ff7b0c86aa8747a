# SPDX-License-Identifier: MIT
"""libtscope from Python, with nothing but ctypes: the facts, tables and findings of a run.

    import tscope
    run = tscope.Run("run_dir")                     # a folder, or several files
    run.facts["efficiency.mfu"]                     # 0.41, or None where it is not known
    run.findings[0]["title"], run.findings[0]["gain_ns"]
    pandas.DataFrame(run.table("kernels.by_name"))  # a list of dicts

Times are in nanoseconds, sizes in bytes, ratios from 0 to 1; tscope-json(5) explains each fact.
The library is found as the loader finds it; the environment's TSCOPE_LIBRARY names another.
"""
import ctypes
import os
import struct
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p

WHOLE = -1  # the scope of a run's figures; 0, 1 … are devices


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("has_offset", c_bool), ("offset", c_uint64), ("message", c_char * 488)]


class Value(ctypes.Structure):
    """A number of 64 bits; kind says how it is to be read."""
    _fields_ = [("kind", c_int), ("bits", c_int64)]

    def get(self):
        if self.kind == 0:
            return None
        if self.kind == 1:
            return self.bits
        if self.kind == 2:
            return struct.unpack("d", struct.pack("q", self.bits))[0]
        if self.kind == 3:
            return ctypes.cast(self.bits, c_char_p).value.decode(errors="replace")
        return bool(self.bits & 255)


class FactDef(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("unit", c_int), ("meaning", c_char_p)]


class TableDef(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("columns", POINTER(FactDef)), ("column_count", c_size_t),
                ("meaning", c_char_p), ("shape", c_int)]


class AnalyzerDef(ctypes.Structure):
    _fields_ = [("id", c_char_p), ("summary", c_char_p), ("facts", POINTER(FactDef)), ("fact_count", c_size_t),
                ("tables", POINTER(TableDef)), ("table_count", c_size_t)]


class Subject(ctypes.Structure):
    _fields_ = [("rank", c_int64), ("device", c_int64), ("step", c_int64), ("op", c_char_p),
                ("kernel", c_char_p), ("call", c_char_p), ("module", c_char_p), ("source", c_char_p)]


class RuleDef(ctypes.Structure):
    _fields_ = [("id", c_char_p)]


class Finding(ctypes.Structure):
    _fields_ = [("rule", POINTER(RuleDef)), ("cause", c_char_p), ("severity", c_int), ("confidence", c_int),
                ("title", c_char_p), ("detail", c_char_p), ("advice", c_char_p), ("is_gain_in_title", c_bool),
                ("has_gain", c_bool), ("is_tentative", c_bool), ("gain_ns", c_int64), ("gain_basis", c_int),
                ("subject", Subject), ("places", c_void_p), ("place_count", c_size_t), ("evidence", c_void_p),
                ("evidence_count", c_size_t), ("also", c_void_p), ("also_count", c_size_t)]


_lib = ctypes.CDLL(os.environ.get("TSCOPE_LIBRARY", "libtscope.so.0"))
for _name, _result, _arguments in [
        ("tscope_run_open", c_int, [POINTER(c_void_p), POINTER(c_char_p), c_size_t, c_void_p, POINTER(Error)]),
        ("tscope_run_free", None, [c_void_p]),
        ("tscope_run_analysis", c_void_p, [c_void_p]),
        ("tscope_analyzer_count", c_size_t, []),
        ("tscope_analyzer", POINTER(AnalyzerDef), [c_size_t]),
        ("tscope_analysis_fact", Value, [c_void_p, c_size_t, c_size_t, c_int]),
        ("tscope_analysis_row_count", c_size_t, [c_void_p, c_size_t, c_size_t, c_int]),
        ("tscope_analysis_cell", Value, [c_void_p, c_size_t, c_size_t, c_int, c_size_t, c_size_t]),
        ("tscope_table_find", POINTER(TableDef), [c_char_p, POINTER(c_size_t), POINTER(c_size_t)]),
        ("tscope_diagnose", c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(Error)]),
        ("tscope_diagnosis_free", None, [c_void_p]),
        ("tscope_diagnosis_finding_count", c_size_t, [c_void_p]),
        ("tscope_diagnosis_finding", Finding, [c_void_p, c_size_t]),
]:
    getattr(_lib, _name).restype, getattr(_lib, _name).argtypes = _result, _arguments


def _check(status, error):
    if status != 0:
        raise OSError(error.message.decode(errors="replace"))


class Run:
    """A run, read whole when it is made: its facts and findings; tables on request."""

    def __init__(self, *paths):
        error = Error()
        names = (c_char_p * len(paths))(*map(os.fsencode, paths))
        self._run = c_void_p()
        _check(_lib.tscope_run_open(byref(self._run), names, len(paths), None, byref(error)), error)
        self._analysis = _lib.tscope_run_analysis(self._run)
        self.facts = {}
        for i in range(_lib.tscope_analyzer_count()):
            analyzer = _lib.tscope_analyzer(i).contents
            for j in range(analyzer.fact_count):
                name = f"{analyzer.id.decode()}.{analyzer.facts[j].name.decode()}"
                self.facts[name] = _lib.tscope_analysis_fact(self._analysis, i, j, WHOLE).get()
        self.findings = self._read_findings()

    def __del__(self):
        _lib.tscope_run_free(self._run)

    def _read_findings(self):
        error, diagnosis = Error(), c_void_p()
        _check(_lib.tscope_diagnose(byref(diagnosis), self._analysis, None, byref(error)), error)
        findings = []
        for i in range(_lib.tscope_diagnosis_finding_count(diagnosis)):
            found = _lib.tscope_diagnosis_finding(diagnosis, i)
            texts = {name: getattr(found, name).decode(errors="replace")
                     for name in ("cause", "title", "detail", "advice")}
            findings.append({"id": found.rule.contents.id.decode(), **texts,
                             "gain_ns": found.gain_ns if found.has_gain else None,
                             "rank": found.subject.rank if found.subject.rank >= 0 else None})
        _lib.tscope_diagnosis_free(diagnosis)
        return findings

    def table(self, name, scope=WHOLE):
        """The rows of "kernels.by_name" and the like; tscope report --list-facts prints the names."""
        analyzer, table = c_size_t(), c_size_t()
        found = _lib.tscope_table_find(name.encode(), byref(analyzer), byref(table))
        if not found:
            raise KeyError(name)
        columns = [found.contents.columns[i].name.decode() for i in range(found.contents.column_count)]
        rows = _lib.tscope_analysis_row_count(self._analysis, analyzer, table, scope)
        return [{column: _lib.tscope_analysis_cell(self._analysis, analyzer, table, scope, row, i).get()
                 for i, column in enumerate(columns)} for row in range(rows)]
