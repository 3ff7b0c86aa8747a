#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Maps the files of a run on the workers of Spark, and writes one .tsr file of all.

usage: spark-submit map_spark.py TRACES OUT.tsr [SLICES]     then: tscope report OUT.tsr

TRACES is any path or pattern that Spark reads (hdfs://..., s3a://.../*.json.gz): workers need
tscope, and no file system in common. Each file is piped through tscope map under its own name.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession


def map_file(named_bytes):
    """The records of one file, which is not written to disk."""
    name, content = named_bytes
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["tscope", "map", "--quiet", "--name", name, "--out", folder, "-"],
                              input=content, stderr=subprocess.PIPE, check=False)
        # 3: it is damaged, or no trace, which its record says
        if done.returncode not in (0, 3):
            raise RuntimeError(f"{name}: {done.stderr.decode(errors='replace')}")
        return b"".join(path.read_bytes() for path in Path(folder).iterdir())


def main():
    traces, out = sys.argv[1:3]
    slices = int(sys.argv[3]) if len(sys.argv) > 3 else None
    context = SparkSession.builder.appName("tscope map").getOrCreate().sparkContext
    with open(out, "wb") as file:
        for records in context.binaryFiles(traces, slices).map(map_file).toLocalIterator():
            file.write(records)


if __name__ == "__main__":
    main()
