#!/usr/bin/env python3
"""What replication costs, against the honest peer: the same number of processes doing the same computation unprotected,
as r independent copies at the same time on the same cores. Runs alternate, so that what else the machine does falls on
both alike; printed are medians of the paired runs' ratios. Degree 1 is compared with no library at all.
"""
import argparse
import json
import statistics
import subprocess
import time


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json", help="file for the result")
    parser.add_argument("program", nargs="+")
    args = parser.parse_args()
    result = {"program": args.program, "mpi": args.mpi, "ranks": args.ranks, "pairs": args.pairs, "ratios": {}}
    for degree, protocol in [(1, "msg-plus-hash"), (2, "msg-plus-hash"), (3, "msg-plus-hash"), (3, "msg-plus-vote"),
                             (3, "all-to-all")]:
        protected = [args.holdfast, "run", "-n", str(args.ranks), "--replicas", str(degree), "--protocol", protocol,
                     "--quiet", "--", *args.program]
        copies = [mpirun(args, args.ranks, args.program)] * degree
        ratios = [seconds([protected]) / seconds(copies) for _ in range(args.pairs)]
        name = f"{degree} {protocol}"
        result["ratios"][name] = {"median": statistics.median(ratios), "all": ratios}
        print(f"{args.mpi:<8} {degree} replicas, {protocol:<20} {statistics.median(ratios):.2f} "
              f"(of {min(ratios):.2f} to {max(ratios):.2f}) times {degree} unprotected copies", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
