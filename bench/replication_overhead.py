#!/usr/bin/env python3
"""What replication costs, against the honest peer: the same number of processes doing the same computation unprotected,
as r independent copies at the same time on the same cores. Runs alternate, so that what else the machine does falls on
both alike; printed are medians of the paired runs' ratios. Degree 1 is compared with no library at all.

With --degrees, each of them, as holdfast run --replicas takes it, is compared with one unprotected run instead: there are no
whole copies of a job in which ranks have different numbers of replicas.
"""
import argparse
import json
import statistics
import subprocess
import time


RUNS = [(1, "msg-plus-hash"), (2, "msg-plus-hash"), (3, "msg-plus-hash"), (3, "msg-plus-vote"), (3, "all-to-all")]


def mpirun(args, ranks, program):
    if args.mpi == "openmpi":
        return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np",
                str(ranks), *program]
    return ["mpiexec.mpich", "-np", str(ranks), *program]


def seconds(lines):
    """Wall time until the last of several commands, started together, has ended."""
    start = time.monotonic()
    children = [subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for line in lines]
    for child in children:
        if child.wait() != 0:
            raise SystemExit(f"{' '.join(child.args)} ended with {child.returncode}")
    return time.monotonic() - start


def against_one_run(args):
    """By degree: the ratios of a run's time to that of the program alone."""
    alone = mpirun(args, args.ranks, args.program)
    ratios = {degree: [] for degree in args.degrees}
    for _ in range(args.pairs):
        for degree in args.degrees:
            run = [args.holdfast, "run", "-n", str(args.ranks), "--replicas", degree, "--quiet", "--", *args.program]
            ratios[degree].append(seconds([run]) / seconds([alone]))
    for degree, all_of_it in ratios.items():
        print(f"{args.mpi:<8} {degree} replicas {statistics.median(all_of_it):.2f} (of {min(all_of_it):.2f} to "
              f"{max(all_of_it):.2f}) times one unprotected run", flush=True)
    return {degree: {"median": statistics.median(all_of_it), "all": all_of_it} for degree, all_of_it in ratios.items()}


def against_copies(args):
    """By degree and protocol: the ratios of a run's time to that of as many copies of the program."""
    result = {}
    for degree, protocol in RUNS:
        if args.protocol not in (None, protocol):
            continue
        protected = [args.holdfast, "run", "-n", str(args.ranks), "--replicas", str(degree), "--protocol", protocol,
                     "--quiet", "--", *args.program]
        copies = [mpirun(args, args.ranks, args.program)] * degree
        ratios = [seconds([protected]) / seconds(copies) for _ in range(args.pairs)]
        result[f"{degree} {protocol}"] = {"median": statistics.median(ratios), "all": ratios}
        print(f"{args.mpi:<8} {degree} replicas, {protocol:<20} {statistics.median(ratios):.2f} "
              f"(of {min(ratios):.2f} to {max(ratios):.2f}) times {degree} unprotected copies", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--degrees", type=lambda text: text.split(), help="these instead, as '1 1.5 2', against one run")
    parser.add_argument("--protocol", choices=sorted({protocol for _, protocol in RUNS}), help="this one alone")
    parser.add_argument("--json", help="file for the result")
    parser.add_argument("program", nargs="+")
    args = parser.parse_args()
    result = {"program": args.program, "mpi": args.mpi, "ranks": args.ranks, "pairs": args.pairs}
    result["ratios"] = against_one_run(args) if args.degrees else against_copies(args)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
