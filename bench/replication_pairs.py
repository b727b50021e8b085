#!/usr/bin/env python3
"""Two builds of the replication library against each other, and against unprotected copies. In each round every program
runs once with each library and once as two copies without one, at the same time, on the same cores; the order changes from
round to round, so that what else the machine does falls on all alike. Printed are ratios of medians with their bootstrap
interval of 95 %, and the least and greatest ratio within one round. A ping-pong's time is what NetPIPE says of a message,
the others' that of the whole job. Needs NetPIPE (netpipe-openmpi) and LAMMPS.

    bench/replication_pairs.py --before OLD/lib/libholdfast-replicate-openmpi.so --now NEW/lib/libholdfast-replicate-openmpi.so \\
        --examples build/release/examples/openmpi --rounds 15 --json pairs.json
"""
import argparse
import json
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time

MELT = pathlib.Path("/usr/share/lammps/examples/melt/in.melt")


def programs(examples, folder):
    example = lambda name: str(examples / name)
    melt = folder / "in.melt"
    melt.write_text(re.sub(r"(?m)^run.*", "run 1000", MELT.read_text()))
    return {
        "ping-pong, 8 bytes": ["NPopenmpi", "-l", "8", "-u", "8", "-p", "0", "-n", "20000"],
        "ping-pong, 1 MiB": ["NPopenmpi", "-l", "1048576", "-u", "1048576", "-p", "0", "-n", "600"],
        "fft --size 128 --repetitions 4": [example("fft"), "--size", "128", "--repetitions", "4"],
        "cg --size 96": [example("cg"), "--size", "96"],
        "lmp in.melt, 1,000 steps": ["lmp", "-in", str(melt), "-log", "none", "-screen", "none"],
    }


def command(library, words):
    preload = ["-x", "HOLDFAST_REPLICATE_DEGREE=2", "-x", f"LD_PRELOAD={library}"] if library else []
    return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca",
            "hwloc_base_binding_policy", "none", "-np", "4" if library else "2", *preload, *words]


def once(library, words):
    """Seconds: NetPIPE's own of one message, else of the job. Two copies: the mean of theirs, and until both have ended."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        running = []
        for copy in range(1 if library else 2):
            place = pathlib.Path(folder) / str(copy)
            place.mkdir()
            running.append(subprocess.Popen(command(library, words), cwd=place, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL))
        for child in running:
            if child.wait(timeout=300) != 0:
                raise SystemExit(f"{' '.join(words)} with {library} ended with {child.returncode}")
        elapsed = time.monotonic() - start
        said = sorted(pathlib.Path(folder).glob("*/np.out"))
        return statistics.mean(float(path.read_text().split()[2]) for path in said) if said else elapsed


def ratio(rounds, a, b):
    return statistics.median(one[a] for one in rounds) / statistics.median(one[b] for one in rounds)


def interval(rounds, a, b):
    draw = random.Random(7)
    again = sorted(ratio([draw.choice(rounds) for _ in rounds], a, b) for _ in range(4000))
    return again[100], again[3899]


def row(name, rounds, a, b):
    least, most = interval(rounds, a, b)
    single = [one[a] / one[b] for one in rounds]
    print(f"| {name} | {a} / {b} | {ratio(rounds, a, b):.3f} | {least:.3f} to {most:.3f} | {min(single):.2f} to {max(single):.2f} | "
          f"{statistics.median(one[a] for one in rounds):.3g} s |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the library of the version before")
    parser.add_argument("--now", required=True, help="the library to judge")
    parser.add_argument("--examples", type=pathlib.Path, required=True, help="the built examples of Open MPI")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--json", help="where the seconds are kept")
    args = parser.parse_args()
    libraries = {"now": args.now, "before": args.before, "copies": None}
    kept = {}
    place = tempfile.TemporaryDirectory(prefix="holdfast-pairs-")
    print("| program, two replicas | ratio of | medians | interval | single rounds | median |\n|---|---|---|---|---|---|")
    for name, words in programs(args.examples.resolve(), pathlib.Path(place.name)).items():
        if not name.startswith(tuple(args.only.split(","))):
            continue
        rounds = []
        for number in range(args.rounds):
            order = sorted(libraries, key=lambda which: random.Random(f"{number} {which}").random())
            rounds.append({which: once(libraries[which], words) for which in order})
        kept[name] = rounds
        for other in ("before", "copies"):
            row(name, rounds, "now", other)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
