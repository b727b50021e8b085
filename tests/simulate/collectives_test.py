#!/usr/bin/env python3
"""Compares the messages of each collective with those that Open MPI sends, pair by pair: their number and their bytes."""

import argparse
import subprocess
import sys


# An operation, the number of its algorithm in coll/tuned, and what it is here.
FORCED = [("bcast", 4, "split-binary"), ("bcast", 8, "scatter-recursive-doubling"), ("bcast", 9, "scatter-ring"),
          ("bcast", 7, "knomial-4"), ("reduce", 6, "in-order-binary"), ("reduce", 7, "rabenseifner"),
          ("allreduce", 2, "reduce+bcast"), ("allreduce", 4, "ring"), ("allgather", 5, "neighbour-exchange"),
          ("allgather", 2, "bruck"), ("allgather", 4, "ring"), ("allgatherv", 4, "neighbour-exchange"),
          ("alltoall", 3, "bruck"), ("alltoall", 2, "pairwise"), ("barrier", 4, "dissemination"), ("barrier", 6, "tree"),
          ("reduce_scatter", 4, "butterfly"), ("reduce_scatter", 1, "reduce+scatter"), ("gather", 3, "linear-synchronous"),
          ("scatter", 3, "linear-at-once")]


def compare(args, ranks, force):
    """Yields a collective, what Open MPI sent in it, and what we say."""
    options = []
    if force:
        options = ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", f"coll_tuned_{force[0]}_algorithm", str(force[1])]
    real = subprocess.run([args.mpirun, "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
                           "--mca", "pml", "ob1", "--mca", "btl", "self,vader", *options, "-n", str(ranks), args.program,
                           str(args.most), *(force[:1] if force else [])],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if real.returncode != 0:
        sys.exit(f"{ranks} ranks ended with {real.returncode}\n{real.stdout[-500:]}\n{real.stderr[-2000:]}")
    lines = [line.split(":") for line in real.stdout.splitlines() if ":" in line]
    ours = subprocess.run([args.expected, *(force[2:] if force else [])], input="\n".join(line[0] for line in lines),
                          capture_output=True, text=True, check=True)
    for (_, messages), answer in zip(lines, ours.stdout.splitlines(), strict=True):
        which, expected = answer.split(":")
        yield which, messages, expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="real_collectives, compiled with Open MPI")
    parser.add_argument("--expected", required=True, help="expected_collectives")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--most", type=int, default=131072)
    parser.add_argument("--forced", action="store_true", help="also algorithms that the rules choose for many ranks alone")
    parser.add_argument("ranks", nargs="+", type=int)
    args = parser.parse_args()
    wrong = compared = 0
    for ranks in args.ranks:
        for force in [None, *(FORCED if args.forced else [])]:
            for which, real, ours in compare(args, ranks, force):
                compared += 1
                if real != ours:
                    wrong += 1
                    print(f"{which}\n  Open MPI:{real[:300]}\n  ours:    {ours[:300]}")
    print(f"{compared} collectives compared, {wrong} differ")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
