#!/usr/bin/env python3
"""What is said of a job that an injected flip brings down, and that it is right where the MPI can go on."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLIP = "rank 0 replica 1 message 1 bit 30"  # of the number: 4 becomes 2^30 + 4
CAUSE = f"the injected 'flip {FLIP}' had struck rank 0 replica 1"


def run(args, degree, manner, options=(), faults=(FLIP,), threads=1):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-struck-"))
    record = folder / "record.json"
    injected = [word for fault in faults for word in ("--inject", fault)]
    line = [args.holdfast, "run", "-n", "2", "--replicas", str(degree), "--silence-limit", "60s", *injected, *options,
            "--json", str(record), "--output", str(folder / "run"), "--", args.program, manner]
    done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": str(threads),
                               "HOLDFAST_TEST_REPLICAS": ",".join(str(k // 2) for k in range(2 * degree))})
    done.record = json.loads(record.read_text()) if record.exists() else {}
    done.said = f"{' '.join(line)}\ncode {done.returncode}\n{done.stdout}{done.stderr}"
    shutil.rmtree(folder, ignore_errors=True)
    return done


def expect(done, condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}\n{done.said}")


def brings_down(args, degree, manner, options=()):
    done = run(args, degree, manner, options)
    expect(done, done.returncode in (3, 4), "corruption is what the job ended for, not the application")
    expect(done, done.returncode == 3 or CAUSE in done.stderr, "the cause is not named")
    expect(done, " 0 mismatches" not in done.stderr, "nothing was wrong, it says")
    expect(done, "rank 0 replica 0 died" not in done.stderr, "a good replica is blamed")
    expect(done, "mpirun" not in done.stderr and "PMIX" not in done.stderr, "the launcher's words hide the one line")


def is_right(args, manner):
    done = run(args, 3, manner)
    expect(done, done.returncode == 0, "the job did not go on")
    expect(done, done.stdout == "the number is 4\n", "the answer is wrong")
    expect(done, " 0 mismatches" not in done.stderr, "nothing was wrong, it says")
    expect(done, "rank 0 replica 1 died" in done.stderr, "the death is not reported")
    expect(done, CAUSE in done.stderr, "the cause is not named")


WORDS = 1 << 16
TWICE = f"rank 0 replica 1 message 2 bit {WORDS // 2 * 64 + 7}"  # in the middle: MPI may have taken what comes first


def is_altered_on_its_way(args):
    """A message that is altered when its digest is out, and that all other replicas have long: it comes from their memory,
    or the replica goes."""
    wanted = f"the sum is {WORDS * (WORDS - 1)}\n"
    for protocol in ([], ["--protocol", "msg-plus-hash"]):
        done = run(args, 3, "twice", protocol, faults=(TWICE,))
        expect(done, done.returncode == 0 and done.stdout == wanted, "it was not had from another replica's memory")
        expect(done, "2 mismatches, 2 corrected" in done.stderr, "not both messages were corrected")
        done = run(args, 3, "twice-gone", ["--on-failure", "abort", *protocol], faults=(TWICE,))
        expect(done, done.returncode == 3 and "in its memory any more" in done.stderr, "a message is there that is gone")
    if args.mpi == "openmpi":
        done = run(args, 3, "twice-gone", faults=(TWICE,))
        expect(done, done.returncode == 0 and done.stdout == wanted, "the job did not go on without the replica")
        expect(done, "rank 1 replica 1 ends, and the job goes on without it" in done.stderr, "nobody says why it went")
        expect(done, "rank 1 replica 1 died" in done.stderr, "the death is not reported")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    manners = ["crash", "crash-in-mpi", "exit", "abort"]
    for manner in manners:
        if args.mpi == "openmpi":
            is_right(args, manner)
        brings_down(args, 3, manner, ["--on-failure", "abort"])
    brings_down(args, 2, "exit")
    is_altered_on_its_way(args)
    done = run(args, 3, "", faults=(FLIP, "rank 1 message 900"))
    expect(done, done.returncode == 0 and "1 mismatch, 1 corrected" in done.stderr, "the flip was not corrected")
    expect(done, "1 of 2 injected faults never struck: flip rank 1 message 900\n" in done.stderr, "nobody says what missed")
    expect(done, done.record["faults_that_never_struck"] == ["flip rank 1 message 900"], "nor does the record")
    # Threads of OpenMP are named where there are several.
    for threads in (1, 3):
        done = run(args, 2, "", threads=threads)
        expect(done, done.returncode == 3 and ("3 threads of OpenMP" in done.stderr) == (threads == 3), "OpenMP's threads")
    # What the advice is where it has been followed.
    done = run(args, 2, "", ["--same-memory"])
    expect(done, done.returncode == 3 and "--same-memory" not in done.stderr, "the advice is what was done")


if __name__ == "__main__":
    main()
