#!/usr/bin/env python3
"""Replicas that are silent for longer than the silence limit because they compute, or because all sleep: the job ends
right, as the processes for which the others wait are alive (docs/design/dead-replicas.md). Natively nothing waits."""
import argparse

from survivors_test import Case

LIMIT = "3s"  # of silence; the program computes and sleeps for 5 s at a time


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    # Native rank n plays rank n % 2 in replica n / 2.
    case = Case(args, 2, 2, [], ["long"], {"HOLDFAST_TEST_REPLICAS": "0,0,1,1"}, silence=LIMIT)
    case.expect(case.code == 0, "a process that computes is taken for one that is lost")
    names = ("stray_before_long_work", "one_works_long", "stray_before_long_sleep")
    case.expect(case.out == "".join(f"{name}: right\n" for name in names), "the output is not the program's")
    case.expect(case.record["counters"]["answers_apart"] > 0, "no replica asked what its leader did not ask")
    case.close()


if __name__ == "__main__":
    main()
