#!/usr/bin/env python3
"""One replica goes another way than the others: with three it is taken out and the job ends right; with two, or under
MPICH, the job ends with a diagnosis. What a job prints is known from a native run, which nothing leads astray."""
import argparse

from survivors_test import Case, native

LIMIT = "6s"  # of silence: enough for six processes on two busy cores


def ends_right(args, wanted, degree, program, out):
    case = Case(args, 2, degree, [], program, silence=LIMIT)
    case.expect(case.code == 0, "the job did not go on")
    case.expect(case.out == wanted, "the output is not that of a run in which nobody strays")
    case.expect([d["replica"] for d in case.record["deaths"]] == out,
                f"the record has {case.record['deaths']}, not replicas {out}")
    case.expect(all(d["diverged"] for d in case.record["deaths"]), "it is taken for a death")
    case.expect(("went another way than most replicas" in case.err) == bool(out), "what is said is not what was")
    case.close()


def ends(args, degree, options, program, words):
    case = Case(args, 2, degree, options, program, silence=LIMIT)
    case.expect(case.code == 4, "the exit code is not 4")
    case.expect(words in case.err, f"nothing says '{words}'")
    case.expect(not case.deaths or not any(d["diverged"] for d in case.record["deaths"]), "somebody was taken out")
    case.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    # Native rank n plays rank n % 2 in replica n / 2.
    if args.mpi == "mpich":
        ends(args, 3, [], ["--strays", "3", "--way", "leaves"], "replicas diverged")
        return
    wanted = native(args, 2)
    for strays, way in ((3, "leaves"), (5, "stays"), (4, "skips"), (1, "sends"), (5, "asks"), (3, "sleeps"), (5, "reduces"),
                        (1, "leaves")):
        ends_right(args, wanted, 3, ["--strays", str(strays), "--way", way], [strays // 2])
    # A clock that one replica reads once more is no other way, each reading has its place (docs/design/replication.md);
    # nor is a probe in vain that the leader makes once more: the others have no use for its answer.
    for strays, way in ((2, "reads"), (0, "reads"), (1, "asks")):
        ends_right(args, wanted, 3, ["--strays", str(strays), "--way", way], [])
    ends_right(args, wanted, 5, ["--strays", "2", "--then", "9", "--way", "skips"], [1, 4])
    ends(args, 2, ["--on-failure", "continue"], ["--strays", "3", "--way", "leaves"], "replicas diverged")
    ends(args, 3, ["--on-failure", "abort"], ["--strays", "3", "--way", "leaves"], "replicas diverged")
    # A second one of three: the two that are left cannot tell.
    case = Case(args, 2, 3, [], ["--strays", "3", "--then", "5", "--way", "sends"], silence=LIMIT)
    case.expect(case.code == 4 and len(case.deaths) == 1, "two that are left judge each other")
    case.close()


if __name__ == "__main__":
    main()
