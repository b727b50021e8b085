#!/usr/bin/env python3
"""Injects seeded flips into examples under `holdfast run` and judges every outcome.

Each run is one seed: program, MPI, place and rate of the flips follow from it, and --only SEED replays it. At degree 3 and
more a run must end with the fault-free output, or with a diagnosis (exit codes 3 and 4); at degree 2 with the fault-free
output if no flip happened or reached a message, else with a diagnosis. A run that is still going at the limit, or that
accepts a wrong answer, fails the campaign. The table at the end counts the outcomes.

With --scattered N, a run has N flips near each other in time, in ranks and replicas drawn one by one: an Allreduce then
mixes several. Seeds mean something else there.

With --partial, each rank has a number of replicas of its own, and the flips strike one that has at least two: what a rank
with one replica sends is not verified. Seeds mean something else there.
"""
import argparse
import collections
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = {"cg": [], "heat": [], "sort": [], "task_farm": []}
OUTCOMES = ["right, no flip", "right, corrected", "right, flip without effect", "diagnosed", "WRONG ANSWER", "FAILED",
            "HUNG"]


def holdfast(args, mpi, program, degree, extra, limit):
    line = [args.holdfast, "run", "-n", str(args.ranks), "--replicas", str(degree), "--protocol", args.protocol, "--quiet",
            "--silence-limit", "20s", *extra, "--",
            str(pathlib.Path(args.examples) / mpi / program), *PROGRAMS[program]]
    return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit)


def plan(seed, args):
    """What a seed stands for, under the same --degrees and --corrupt: (mpi, program, degree, fault)."""
    draw = random.Random(seed)
    mpi = draw.choice(["openmpi", "mpich"])
    program = draw.choice(sorted(PROGRAMS))
    degree = draw.choice(args.degrees)
    rank, replica = draw.randrange(2), draw.randrange(degree)
    if draw.random() < 0.7:
        fault = f"flip rank {rank} replica {replica} message {draw.randrange(1, 60)}"
    else:
        fault = f"flip replica {replica} rate 1/{draw.choice([20, 50, 100])}"
    others = [k for k in range(degree) if k != replica]
    for other in draw.sample(others, min(args.corrupt - 1, len(others))):
        fault += "; " + fault.split(";")[0].replace(f"replica {replica}", f"replica {other}")
    return mpi, program, degree, fault


# How many replicas ranks 0 and 1 have, by what --replicas takes.
PARTIAL = {"1.5": (2, 1), "1,2:1": (1, 2), "2.5": (3, 2), "2,3:1": (2, 3), "1,3:0": (3, 1), "1,3:1": (1, 3),
           "1,4:0": (4, 1), "5,2:0": (2, 5)}


def plan_partial(seed):
    """The same where ranks have different numbers of replicas."""
    draw = random.Random(f"partial {seed}")
    mpi = draw.choice(["openmpi", "mpich"])
    program = draw.choice(sorted(PROGRAMS))
    degree = draw.choice(sorted(PARTIAL))
    rank = draw.choice([rank for rank in range(2) if PARTIAL[degree][rank] > 1])
    place = f"flip rank {rank} replica {draw.randrange(PARTIAL[degree][rank])}"
    if draw.random() < 0.7:
        return mpi, program, degree, f"{place} message {draw.randrange(1, 60)}"
    return mpi, program, degree, f"{place} rate 1/{draw.choice([20, 50, 100])}"


def plan_scattered(seed, args):
    """Several flips, each in a rank and a replica of its own drawing: some ranks lose their vote, most do not."""
    draw = random.Random(f"scattered {seed}")
    mpi = draw.choice(["openmpi", "mpich"])
    program = draw.choice(sorted(PROGRAMS))
    degree = draw.choice(args.degrees)
    first = draw.randrange(1, 50)
    faults = [f"flip rank {draw.randrange(args.ranks)} replica {draw.randrange(degree)} message {first + draw.randrange(10)}"
              for _ in range(args.scattered)]
    return mpi, program, degree, "; ".join(faults)


def plan_of(seed, args):
    if args.scattered:
        return plan_scattered(seed, args)
    return plan_partial(seed) if args.partial else plan(seed, args)


def judge(args, seed, natives):
    mpi, program, degree, fault = plan_of(seed, args)
    with tempfile.TemporaryDirectory(prefix="holdfast-campaign-") as folder:
        record = pathlib.Path(folder) / "record.json"
        extra = ["--inject", fault, "--seed", str(seed), "--json", str(record)]
        try:
            done = holdfast(args, mpi, program, degree, extra, args.limit)
        except subprocess.TimeoutExpired:
            return "HUNG"
        if done.returncode in (3, 4):
            return "diagnosed"
        if done.returncode != 0:
            return "FAILED"
        if done.stdout != natives[mpi, program]:
            return "WRONG ANSWER"
        counters = json.loads(record.read_text())["counters"]
        if counters["injected"] == 0:
            return "right, no flip"
        return "right, corrected" if counters["mismatches"] > 0 else "right, flip without effect"


class Progress:
    """How far the campaign is: a line that is written over on a terminal, else one line every hundred runs."""

    def __init__(self, runs):
        self.runs, self.done, self.start = runs, 0, time.monotonic()

    def bad(self, line):
        print("\r\033[K" * sys.stderr.isatty() + line, file=sys.stderr, flush=True)

    def step(self):
        self.done += 1
        left = (time.monotonic() - self.start) / self.done * (self.runs - self.done)
        text = f"{self.done} of {self.runs} runs, about {left / 60:.0f} minutes left"
        if sys.stderr.isatty():
            print("\r\033[K" + text, end="\n" if self.done == self.runs else "", file=sys.stderr, flush=True)
        elif self.done % 100 == 0:
            print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", required=True, help="the program")
    parser.add_argument("--examples", required=True, help="folder with openmpi/ and mpich/")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--only", type=int, help="replay one seed")
    parser.add_argument("--protocol", default="msg-plus-hash", help="msg-plus-hash, msg-plus-vote or all-to-all")
    parser.add_argument("--degrees", type=lambda text: [int(d) for d in text.split(",")], default=[2, 3, 3, 3],
                        help="replicas, drawn from this list (default 2,3,3,3)")
    parser.add_argument("--partial", action="store_true", help="another number of replicas for each rank, instead")
    parser.add_argument("--corrupt", type=int, default=1, help="how many replicas get the same kind of fault")
    parser.add_argument("--ranks", type=int, default=2, help="of which --scattered draws; the other faults strike 0 and 1")
    parser.add_argument("--scattered", type=int, default=0, metavar="N",
                        help="N flips at once, over all ranks and replicas, instead")
    parser.add_argument("--limit", type=float, default=120, help="seconds a run may take")
    args = parser.parse_args()

    natives = {}
    for mpi in ("openmpi", "mpich"):
        for program in PROGRAMS:
            natives[mpi, program] = holdfast(args, mpi, program, 1, [], args.limit).stdout
    seeds = [args.only] if args.only is not None else range(args.first, args.first + args.runs)
    table = collections.Counter()
    bad = []
    progress = Progress(len(seeds))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for seed in seeds:
            mpi, program, degree, fault = plan_of(seed, args)
            outcome = judge(args, seed, natives)
            table[program, degree, outcome] += 1
            if outcome in ("WRONG ANSWER", "FAILED", "HUNG"):
                bad.append(f"seed {seed}: {outcome}: {mpi} {program}, {degree} replicas, '{fault}'")
                progress.bad(bad[-1])
            progress.step()
    except KeyboardInterrupt:
        bad.append(f"interrupted at seed {seed}: the table has what was run before")
    print(f"{'program':<12}{'degree':<8}" + "".join(f"{o:<28}" for o in OUTCOMES))
    for program, degree in sorted({(p, d) for p, d, _ in table}):
        print(f"{program:<12}{degree:<8}" + "".join(f"{table[program, degree, o]:<28}" for o in OUTCOMES))
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
