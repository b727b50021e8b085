#!/usr/bin/env python3
"""What replicas cost on a fabric: recorded programs replayed with one, two and three replicas of each rank, checked by
the protocol engine of `holdfast run`, by protocol and by where the replicas are.

    bench/replicas_on_fabric.py --record build/release/bin/holdfast --programs cg fft lammps --folder /tmp/recordings
    bench/replicas_on_fabric.py --replay build/release/bin/holdfast --folder /tmp/recordings --json FILE
    bench/replicas_on_fabric.py --json FILE --figures docs/results

Ratios are to the same recording, fabric and placement without replicas, seed by seed; the spread is over seeds of
random placement. A replay that was ended goes on where it was.
"""
import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess

import svg_lines

RANKS = (4, 8, 16)
FABRICS = {"torus": "torus(4,4) hosts=64", "tree": "tree(8,2)"}  # 64 hosts each
ENGINES = {"torus": "dfsssp", "tree": "ftree"}
PROTOCOLS = ("msg-plus-hash", "msg-plus-vote", "all-to-all")
SEEDS = (1, 2, 3)
COMMANDS = {"cg": ["EXAMPLES/cg", "--size", "48"], "fft": ["EXAMPLES/fft", "--size", "64", "--repetitions", "4"],
            "lammps": ["lmp", "-in", "INPUT", "-log", "none"]}


def record(holdfast, folder, programs):
    examples = pathlib.Path(holdfast).parent.parent / "examples/openmpi"
    text = pathlib.Path("/usr/share/lammps/examples/melt/in.melt").read_text()
    lines = ["run 60" if line.startswith("run") else line for line in text.splitlines()]
    (folder / "in.melt").write_text("\n".join(lines) + "\n")
    for program in programs:
        words = [word.replace("EXAMPLES", str(examples)).replace("INPUT", str(folder / "in.melt"))
                 for word in COMMANDS[program]]
        for ranks in RANKS:
            trace = folder / f"{program}-{ranks}.trace"
            subprocess.run([holdfast, "run", "-n", str(ranks), "--record", trace, "--", *words], check=True,
                           stdout=subprocess.DEVNULL)


def replay(holdfast, trace, fabric, degree, protocol, place, seed):
    """Seconds until the last rank ends, and the share of the ranks' time in which they compute."""
    words = ["--fabric", FABRICS[fabric], "--engine", ENGINES[fabric], "--trace", trace, "--place", "random", "--seed",
             str(seed), "--replicas", str(degree), "--protocol", protocol, "--place-replicas", place, "--json", "-"]
    done = subprocess.run([holdfast, "simulate", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr or f"{trace}: ended with {done.returncode}")
    run = json.loads(done.stdout)
    job = run["jobs"][0]
    return job["time_ps"] / 1e12, job["computing_share"]


def cases(traces):
    for trace in traces:
        for fabric in FABRICS:
            yield trace, fabric, 1, PROTOCOLS[0], "apart"
            for degree in (2, 3):
                for protocol in PROTOCOLS:
                    for place in ("apart", "together"):
                        yield trace, fabric, degree, protocol, place


def measure(holdfast, folder, workers, path):
    """By "trace fabric degree protocol place": [seconds, computing share] for each seed. What the file has is kept."""
    result = json.loads(path.read_text()) if path.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for case in cases(sorted(folder.glob("*.trace"))):
            key = " ".join([case[0].stem, *map(str, case[1:])])
            if key not in result:
                result[key] = list(pool.map(lambda seed: replay(holdfast, *case, seed), SEEDS))
                path.write_text(json.dumps(result, indent=1) + "\n")


def ratios(result, *case):
    """To the same without replicas, for each seed."""
    alone = result[f"{case[0]} {case[1]} 1 {PROTOCOLS[0]} apart"]
    return [run[0] / other[0] for run, other in zip(result[" ".join(map(str, case))], alone)]


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def names(result):
    return sorted({key.split()[0] for key in result}, key=lambda name: (name.split("-")[0], int(name.split("-")[1])))


def show(result):
    print("| program, ranks | fabric | computing | 2, hash | 2, vote | 2, all-to-all | 3, hash | 3, vote |"
          " 3, all-to-all | 2, hash, together | 3, hash, together |")
    print("|---" * 11 + "|")
    for trace in names(result):
        for fabric in FABRICS:
            computing = statistics.median(run[1] for run in result[f"{trace} {fabric} 1 {PROTOCOLS[0]} apart"])
            cells = [spread(ratios(result, trace, fabric, degree, protocol, "apart"))
                     for degree in (2, 3) for protocol in PROTOCOLS]
            cells += [spread(ratios(result, trace, fabric, degree, PROTOCOLS[0], "together")) for degree in (2, 3)]
            print(f"| {trace.replace('-', ', ')} | {fabric} | {100 * computing:.0f} % | {' | '.join(cells)} |")


def draw(result, folder):
    series = []
    for program in sorted({name.split("-")[0] for name in names(result)}):
        for degree in (2, 3):
            points = []
            for ranks in RANKS:
                if f"{program}-{ranks}" in names(result):
                    found = ratios(result, f"{program}-{ranks}", "torus", degree, PROTOCOLS[0], "apart")
                    points.append((ranks, 100 * statistics.median(found) - 100))
            series.append((f"{program} x {degree}", points))
    svg_lines.write(folder / "replicas-on-fabric.svg", "What replicas add to the time, 4x4 torus, msg-plus-hash",
                    "ranks", "%", series, [(ranks, str(ranks)) for ranks in RANKS])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="HOLDFAST")
    parser.add_argument("--replay", metavar="HOLDFAST")
    parser.add_argument("--programs", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--folder", type=pathlib.Path, help="of recordings")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--figures", type=pathlib.Path)
    args = parser.parse_args()
    if args.record:
        record(args.record, args.folder, args.programs)
    if args.replay:
        measure(args.replay, args.folder, args.workers, args.json)
    if args.json:
        result = json.loads(args.json.read_text())
        show(result)
        if args.figures:
            draw(result, args.figures)


main()
