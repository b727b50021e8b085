#!/usr/bin/env python3
"""The tables of docs/results/job-on-degraded-fabric.md, from the database that its study left:

    tools/job_tables.py job-on-degraded-fabric.sqlite

Means over seeds. Times are over those of the unprotected job by MPI alone on the whole fabric of the same group.
"""
import collections
import json
import sqlite3
import statistics
import sys

STRUCK = "fail-link any time 5ms"


def read(path):
    """Group -> (program, fabric, failures, replicas, way) -> seconds of each seed."""
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT p.group_name, p.key, r.outcome, r.result FROM point p JOIN run r USING (key)")
        for group, key, outcome, result in rows:
            point = json.loads(key)
            if outcome != "measured":
                sys.exit(f"{outcome}: {key}")
            where = (point["trace"].removesuffix(".trace"), point["fabric"].split("(")[0], point["failures"],
                     point.get("replicas", 1), point.get("sender", point.get("collectives", "default")))
            times[group][where].append(json.loads(result)["time_ps"] * 1e-12)
    return times


def share(failures):
    return "0 %" if failures == "none" else failures.split()[-1].replace("%", " %")


def ratios(runs, columns, head):
    """One row for each program, fabric and share of failed links."""
    print("| program | fabric | failed links | " + " | ".join(head) + " |\n|" + "---|" * (3 + len(head)))
    spread = 0.0
    for program, fabric, failures in dict.fromkeys(where[:3] for where in runs):
        if failures == STRUCK:
            continue
        whole = statistics.mean(runs[program, fabric, "none", *columns[0]])
        cells = []
        for column in columns:
            seeds = runs[program, fabric, failures, *column]
            cells.append(f"{statistics.mean(seeds) / whole:.3f}")
            spread = max(spread, (max(seeds) - min(seeds)) / statistics.mean(seeds))
        print(f"| {program} | {fabric} | {share(failures)} | " + " | ".join(cells) + " |")
    print(f"\nThe seeds of a cell differ by at most {spread:.1%} of their mean.\n")


def struck(runs, columns, head):
    """What a link that fails in mid-run costs beside the same protection on the whole fabric, in ms."""
    print("| program | fabric | bare job, ms | " + " | ".join(head) + " |\n|" + "---|" * (3 + len(head)))
    for program, fabric in dict.fromkeys(where[:2] for where in runs):
        whole = statistics.mean(runs[program, fabric, "none", *columns[0]])
        cells = []
        for column in columns:
            hit, unhurt = (statistics.mean(runs[program, fabric, f, *column]) for f in (STRUCK, "none"))
            cells.append(f"{1e3 * (hit - unhurt):.1f}")
        print(f"| {program} | {fabric} | {1e3 * whole:.1f} | " + " | ".join(cells) + " |")
    print()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    times = read(sys.argv[1])
    joined = {where: seeds for group in ("torus", "tree", "dragonfly") for where, seeds in times[group].items()}
    order = {"cg-16": 0, "fft-16": 1, "lammps-16": 2}
    joined = dict(sorted(joined.items(), key=lambda item: order.get(item[0][0], 3)))
    columns = [(k, way) for k in (1, 2, 3) for way in ("default", "transport")]
    head = [f"{k}, {'transport' if way == 'transport' else 'plain'}" for k, way in columns]
    ratios(joined, columns, head)
    struck(joined, columns, head)
    columns = [(k, way) for k in (1, 2, 3) for way in ("default", "in-network")]
    ratios(times["collectives"], columns, [f"{k}, {'by switches' if w == 'in-network' else 'by MPI'}" for k, w in columns])


if __name__ == "__main__":
    main()
