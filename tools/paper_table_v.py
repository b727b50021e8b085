#!/usr/bin/env python3
"""Prints Table V of "Fail-in-Place Network Design" (SC 2014) beside what a study measured.

Usage: paper_table_v.py fail-in-place-table-v.sqlite [output]
       of studies/fail-in-place-table-v.toml: whole fabrics, and 1 % failed links; GB/s. With a queue a lane in each
       input buffer, or with one for each output.
"""
import sqlite3
import sys

# Table V: the fabric, the engine that the paper found best, and its intercept.
PAPER = [("mesh-5x5", "torus-2qos", 263.63), ("mesh-3x3x3", "torus-2qos", 276.18), ("torus-5x5", "torus-2qos", 341.11),
         ("torus-3x3x3", "dfsssp", 508.97), ("kautz-2-4", "dfsssp", 299.48), ("16-ary-2-tree", "dfsssp", 629.76),
         ("xgft-1-22-11", "dfsssp", 527.31), ("dragonfly-10-5-5-4", "dfsssp", 479.03), ("random-32", "dfsssp", 417.53)]
ENGINES = ["opensm:dfsssp", "opensm:torus-2QoS", "opensm:updn", "opensm:minhop", "opensm:ftree", "opensm:lash", "dfsssp",
           "torus-2qos"]


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def cell(database, fabric, engine, failures, queues):
    """The median of the runs that were measured, or what became of them."""
    rows = database.execute(
        "SELECT r.outcome, r.result ->> 'throughput_bytes_per_s' FROM point p JOIN run r USING (key) "
        "WHERE p.group_name = 'exchange' AND p.key ->> 'fabric' = ? AND p.key ->> 'engine' = ? AND "
        "p.key ->> 'failures' = ? AND coalesce(p.key ->> 'options' ->> '$.\"simulate.input_queues\"', 'lane') = ?",
        (fabric, engine, failures, queues)).fetchall()
    measured = [rate / 1e9 for outcome, rate in rows if outcome == "measured"]
    if measured:
        return f"{median(measured):.0f}"
    return rows[0][0] if rows else "not run"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["output"]):
        sys.exit(__doc__.strip())
    queues = sys.argv[2] if len(sys.argv) == 3 else "lane"
    database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    print("| fabric | the paper's best, intercept | " + " | ".join(ENGINES) + " |")
    print("|---" * (len(ENGINES) + 2) + "|")
    for fabric, engine, intercept in PAPER:
        cells = []
        for each in ENGINES:
            whole, damaged = (cell(database, fabric, each, failures, queues) for failures in ("none", "fail-link share 1%"))
            cells.append(whole if whole == damaged else f"{whole}, {damaged}")
        print(f"| {fabric} | {engine}, {intercept:.0f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
