#!/usr/bin/env python3
"""Native routing engines against the real OpenSM's, on the same fabrics: CPU time of the engine alone (OpenSM's read
inside OpenSM, around its two routing callbacks; ours on one thread), memory, edge forwarding index and verdict. Prints
Markdown.

Every run is a record of the records file (JSON Lines, or one JSON array where its name ends in .json), so a measurement of
hours can be stopped and goes on where it was; the tables are made from that file. --again measures anew what it has. What takes less than two seconds is repeated, and the least CPU time counts, for both sides.

Memory: OpenSM's largest resident size with its picture of the subnet; ours is that of a whole `holdfast fabric compare`
process that builds the fabric, routes it once and checks every pair and credit loop, so more than the engine takes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

MEASURED = ["10-ary-3-tree", "14-ary-3-tree", "18-ary-3-tree", "torus-7x7x7", "dragonfly-14-7-7-23", "kautz-7-3",
            "tsubame2-rail", "deimos-cluster"]
ENGINES = ["minhop", "updn", "dnup", "dor", "ftree", "lash", "sssp", "dfsssp", "torus-2qos", "nue"]
QUICK_NS = 2_000_000_000


def compare(holdfast, fabric, label, limit):
    """What one engine made of the fabric, with the largest resident size of the process; None when it failed."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([holdfast, "fabric", "compare", fabric, "--engines", label, "--jobs", "1", "--json",
                                  "--quiet", "--time-limit", limit], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None
        out.seek(0)
        entry = json.load(out)["engines"][0]
        entry["process_bytes"] = usage.ru_maxrss * 1024
        return entry


def measure(holdfast, fabric, label, limit, repeats):
    """The run with the least CPU time of several, when it is quick; of one, when not."""
    best = None
    for _ in range(repeats):
        entry = compare(holdfast, fabric, label, limit)
        if entry is None or entry["verdict"] != "routed":
            return best or entry
        if best is None or entry["routing_cpu_ns"] < best["routing_cpu_ns"]:
            best = entry
        if entry["routing_cpu_ns"] > QUICK_NS:
            break
    return best


def read_records(path):
    records = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for record in json.loads(text) if path.endswith(".json") else map(json.loads, text.splitlines()):
            records[record["fabric"], record["engine"].lower()] = record
    return records


def write_records(path, records):
    """All of them, at once: what is interrupted leaves the old file."""
    if not path:
        return
    lines = [json.dumps(record) for record in records.values()]
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n" if path.endswith(".json") else "\n".join(lines) + "\n")
    os.replace(path + ".new", path)


def run(flags, records):
    for engine in flags.engines.split(","):
        for fabric in flags.fabrics.split(","):
            for side in flags.sides.split(","):
                label = ("opensm:" if side == "opensm" else "") + engine
                if (fabric, label.lower()) in records and not flags.again:
                    continue
                entry = measure(flags.holdfast, fabric, label, flags.time_limit, flags.repeats)
                if entry is None:
                    continue
                record = {"fabric": fabric, "time_limit": flags.time_limit, **entry}
                records[fabric, label.lower()] = record
                write_records(flags.records, records)
                print(f"{fabric} {label}: {entry['verdict']}", file=sys.stderr, flush=True)


def routed(record):
    return record is not None and record["verdict"] == "routed"


def time_cell(record):
    if record is None:
        return "not run"
    if routed(record):
        return f"{record['routing_cpu_ns'] / 1e9:.4f}"
    return f"not ended after {record['time_limit']}" if record["verdict"] == "timed out" else record["verdict"]


def ratio_cell(theirs, ours):
    if not routed(ours) or theirs is None:
        return ""
    if routed(theirs):
        return f"{theirs['routing_cpu_ns'] / ours['routing_cpu_ns']:.1f}"
    if theirs["verdict"] == "timed out" and theirs["time_limit"].endswith("s"):
        return f"> {float(theirs['time_limit'][:-1]) * 1e9 / ours['routing_cpu_ns']:.0f}"
    return ""


def number(record, key, scale=1.0):
    return f"{record[key] / scale:.0f}" if record is not None and key in record else "-"


def lanes(record):
    return str(record.get("lanes_needed") or record["lanes"]) if routed(record) else "-"


def time_table(records, fabrics, engines):
    print("| fabric | engine | OpenSM CPU s | ours CPU s | times faster | OpenSM MB | ours MB | index OpenSM / ours |"
          " lanes OpenSM / ours |")
    print("|---|---|---|---|---|---|---|---|---|")
    for fabric in fabrics:
        for engine in engines:
            theirs, ours = records.get((fabric, "opensm:" + engine)), records.get((fabric, engine))
            if not routed(theirs) and not routed(ours):
                continue
            print(f"| {fabric} | {engine} | {time_cell(theirs)} | {time_cell(ours)} | {ratio_cell(theirs, ours)} "
                  f"| {number(theirs, 'memory_bytes', 1e6)} | {number(ours, 'process_bytes', 1e6)} "
                  f"| {number(theirs, 'edge_forwarding_index')} / {number(ours, 'edge_forwarding_index')} "
                  f"| {lanes(theirs)} / {lanes(ours)} |")


def verdict(record):
    if record is None:
        return "(not run)"
    if not routed(record):
        return "too slow" if record["verdict"] == "timed out" else record["verdict"]
    if record["lost_pairs"]:
        return "loses pairs"
    return "deadlock" if record["credit_loops"] else "ok"


def verdict_table(records, fabrics, engines):
    print("| Table IV | " + " | ".join(engines) + " |")
    print("|---" * (len(engines) + 1) + "|")
    notes = []
    for fabric in fabrics:
        cells = []
        for engine in engines:
            theirs, ours = records.get((fabric, "opensm:" + engine)), records.get((fabric, engine))
            a, b = verdict(theirs), verdict(ours)
            cells.append(a if a == b else f"**{a} / {b}**")
            if a != b:
                why = [(r or {}).get("reason") or (r or {}).get("example") or "" for r in (theirs, ours)]
                notes.append(f"- {fabric}, {engine}: OpenSM: {why[0] or a}; ours: {why[1] or b}")
        print(f"| {fabric} | " + " | ".join(cells) + " |")
    print("\n" + "\n".join(notes))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", default="build/release/bin/holdfast")
    parser.add_argument("--fabrics", default=",".join(MEASURED), help="presets or topologies without commas")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--sides", default="opensm,native")
    parser.add_argument("--time-limit", default="600s", help="CPU time of each run of OpenSM")
    parser.add_argument("--repeats", type=int, default=3, help="of what is quick")
    parser.add_argument("--records", help="runs are read from here and added")
    parser.add_argument("--again", action="store_true", help="measure what is in --records anew")
    parser.add_argument("--no-run", action="store_true", help="print the tables of what is in --records")
    flags = parser.parse_args()
    records = read_records(flags.records)
    if not flags.no_run:
        run(flags, records)
    fabrics, engines = flags.fabrics.split(","), flags.engines.split(",")
    time_table(records, fabrics, engines)
    print()
    verdict_table(records, fabrics, engines)


if __name__ == "__main__":
    sys.exit(main())
