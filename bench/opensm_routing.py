#!/usr/bin/env python3
"""Native routing engines against the real OpenSM's, on the same fabrics in one run: CPU time of the engine alone (OpenSM's
read inside OpenSM, around its two routing callbacks; ours on one thread) and memory. Prints a Markdown table of ratios.

Memory: OpenSM's largest resident size with its picture of the subnet; ours is that of a whole `holdfast fabric compare`
process that builds the fabric, routes it once and checks every pair and credit loop, so more than the engine takes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

FABRICS = ["10-ary-3-tree", "14-ary-3-tree", "torus-7x7x7", "dragonfly-14-7-7-23", "kautz-7-3", "18-ary-3-tree"]
ENGINES = ["minhop", "updn", "dnup", "dor", "ftree", "lash", "sssp", "dfsssp", "torus-2qos", "nue"]


def compare(holdfast, fabric, engines, limit):
    """The record of one comparison, and the largest resident size of its process in bytes."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([holdfast, "fabric", "compare", fabric, "--engines", engines, "--jobs", "1", "--json",
                                  "--quiet", "--time-limit", limit], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None, 0
        out.seek(0)
        return json.load(out)["engines"][0], usage.ru_maxrss * 1024


def seconds(entry):
    return entry["routing_cpu_ns"] / 1e9 if entry and "routing_cpu_ns" in entry else None


def line(fabric, engine, holdfast, limit):
    theirs, _ = compare(holdfast, fabric, "opensm:" + engine, limit)
    ours, our_bytes = compare(holdfast, fabric, engine, limit)
    their_s, our_s = seconds(theirs), seconds(ours)
    if their_s is None and our_s is None:
        return None
    their_text = f"{their_s:.3f}" if their_s is not None else (theirs or {}).get("verdict", "not run")
    our_text = f"{our_s:.4f}" if our_s is not None else (ours or {}).get("verdict", "not run")
    ratio = f"{their_s / our_s:.1f}" if their_s is not None and our_s is not None else ""
    their_mb = f"{theirs['memory_bytes'] / 1e6:.0f}" if theirs and "memory_bytes" in theirs else ""
    return f"| {fabric} | {engine} | {their_text} | {our_text} | {ratio} | {their_mb} | {our_bytes / 1e6:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", default="build/release/bin/holdfast")
    parser.add_argument("--fabrics", default=",".join(FABRICS), help="presets or topologies without commas")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--time-limit", default="120s", help="of each run of OpenSM")
    flags = parser.parse_args()
    print("| fabric | engine | OpenSM CPU s | ours CPU s | times faster | OpenSM MB | ours MB |")
    print("|---|---|---|---|---|---|---|")
    for fabric in flags.fabrics.split(","):
        for engine in flags.engines.split(","):
            text = line(fabric, engine, flags.holdfast, flags.time_limit)
            if text:
                print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
