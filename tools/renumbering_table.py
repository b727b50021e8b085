#!/usr/bin/env python3
"""Judges routing engines, ours and OpenSM's, over random renumberings of fabrics, and writes one table in Markdown.

    tools/renumbering_table.py --program build/release/bin/holdfast --count 50 --opensm-count 50 > table.md

Both sides get the same files: renumbering n of a fabric is drawn from seed n. With a smaller --opensm-count OpenSM gets
the first of them (engines that OpenSM has not are ours alone). Each fabric, engine and renumbering is one run of
'holdfast fabric compare FABRIC --renumber 1 --seed n --json'; what it printed is kept in --keep, and read from there when
the table is made again, so that an interrupted run goes on and a longer one begins where a shorter one ended.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

FABRICS = [
    "tree(8,2)", "16-ary-2-tree", "xgft(2;18,18;1,9)", "xgft-1-22-11", "tree(4,3)", "tree(6,3)", "tree(10,3)",
    "tree(12,3)", "deimos-cluster", "tsubame2-rail", "mesh-5x5", "torus-5x5", "mesh-3x3x3", "torus-3x3x3",
    "torus(4,4,4) hosts=128", "hyperx(4,4) hosts=64", "slimfly(5) hosts=100", "kautz-2-4", "random-32",
    "dragonfly-10-5-5-4",
]
LARGE = ["tree(10,3)", "tree(12,3)", "deimos-cluster", "tsubame2-rail"]
ENGINES = ["minhop", "updn", "dnup", "dor", "ftree", "dmodc", "lash", "sssp", "dfsssp", "torus-2qos", "nue", "lnmp",
           "parx", "dragonfly"]
MEASURES = ["edge_forwarding_index", "edge_forwarding_index_deviation", "exchange_share", "bisection_share"]
OPENSM = ["minhop", "updn", "dnup", "dor", "ftree", "lash", "sssp", "dfsssp", "torus-2qos", "nue"]


def judged_once(arguments, fabric, engine, seed):
    """What compare says of this engine on this renumbering."""
    words = [arguments.program, "fabric", "compare", fabric, "--engines", engine, "--renumber", "1", "--seed",
             str(seed), "--time-limit", arguments.time_limit, "--json", "--quiet"]
    if arguments.lanes != 8:
        words += ["--lanes", str(arguments.lanes)]
    keep = pathlib.Path(arguments.keep) if arguments.keep else None
    file = keep / (hashlib.sha1("\n".join(words[2:]).encode()).hexdigest() + ".json") if keep else None
    if file and file.exists():
        text = file.read_text()
    else:
        print(f"{fabric}: {engine}, renumbering {seed}", file=sys.stderr)
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{fabric}: {run.stderr.strip()}")
        text = run.stdout
        if file:
            keep.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return json.loads(text)["engines"][0]


def judged(arguments, fabric, engine, count):
    """The same over the first `count` renumberings; None without any."""
    if count == 0:
        return None
    entries = [judged_once(arguments, fabric, engine, seed) for seed in range(1, count + 1)]
    merged = {key: sum(entry[key] for entry in entries) for key in ("renumberings", "routed", "valid")}
    merged["runs"] = [run for entry in entries for run in entry["runs"]]
    for key in MEASURES:
        values = sorted(entry[key]["median"] for entry in entries if routes(entry))
        if values:
            merged[key] = {"least": values[0], "median": values[(len(values) - 1) // 2], "most": values[-1]}
    return merged


def extent(entry, key, scale=1, digits=0):
    values = entry[key]
    least, median, most = (scale * values[name] for name in ("least", "median", "most"))
    if f"{least:.{digits}f}" == f"{most:.{digits}f}":
        return f"{median:.{digits}f}"
    return f"{median:.{digits}f} ({least:.{digits}f} to {most:.{digits}f})"


def spread(entry):
    values = entry["edge_forwarding_index"]
    return 100 * (values["most"] / values["least"] - 1) if values["least"] else 0


def routes(entry):
    return entry is not None and entry["routed"] > 0


def cells(entry):
    if entry is None:
        return ["not run", "", "", "", ""]
    if not routes(entry):
        return ["refused", "", "", "", ""]
    free = entry["valid"] == entry["routed"]
    lost = "" if entry["routed"] == entry["renumberings"] else f" ({entry['routed']} of {entry['renumberings']} routed)"
    return [extent(entry, "edge_forwarding_index") + ("" if free else " *") + lost, f"{spread(entry):.1f}",
            extent(entry, "edge_forwarding_index_deviation", 1, 1), extent(entry, "exchange_share", 100, 1),
            extent(entry, "bisection_share", 100, 1)]


def worse(ours, theirs):
    """On how many of the same files ours has the fuller fullest link, of how many."""
    if not routes(ours) or not routes(theirs):
        return ""
    by_seed = {run["seed"]: run["edge_forwarding_index"] for run in ours["runs"]}
    pairs = [(by_seed[run["seed"]], run["edge_forwarding_index"]) for run in theirs["runs"] if run["seed"] in by_seed]
    return f"{sum(a > b for a, b in pairs)} of {len(pairs)}"


def counts(arguments, fabric):
    """Renumberings of this fabric for ours and for OpenSM."""
    def chosen(count, large):
        return large if fabric in LARGE and large is not None else count
    return (chosen(arguments.count, arguments.large_count),
            chosen(arguments.opensm_count, arguments.opensm_large_count))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="holdfast")
    parser.add_argument("--count", type=int, default=50, help="renumberings for our engines")
    parser.add_argument("--opensm-count", type=int, default=50, help="of them, for OpenSM's")
    parser.add_argument("--large-count", type=int, help="as --count, on " + ", ".join(LARGE))
    parser.add_argument("--opensm-large-count", type=int, help="as --opensm-count, on those")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--lanes", type=int, default=8, help="of a port, for both sides")
    parser.add_argument("--fabrics", nargs="*", default=FABRICS)
    parser.add_argument("--time-limit", default="60s", help="CPU time of each run of OpenSM")
    parser.add_argument("--keep", help="folder for what compare printed")
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    print("| fabric | engine | fullest link | spread, % | deviation | exchange, % | bisection, % | OpenSM's fullest link "
          "| spread, % | deviation | exchange, % | bisection, % | ours fuller |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for fabric in arguments.fabrics:
        count, opensm_count = counts(arguments, fabric)
        for engine in engines:
            own = judged(arguments, fabric, engine, count)
            other = judged(arguments, fabric, "opensm:" + engine, opensm_count) if engine in OPENSM else {"routed": 0}
            if not routes(own) and not routes(other):
                continue
            print("| " + " | ".join([fabric, engine, *cells(own), *cells(other), worse(own, other)]) + " |", flush=True)


if __name__ == "__main__":
    main()
