#!/usr/bin/env python3
"""Signals from outside and from timers, which come at another step of the program in each replica: its handlers are called
at the same one (signals.c)."""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def start(args, degree, words, folder):
    line = [args.holdfast, "run", "-n", "2", "--replicas", str(degree), "--mpi", args.mpi, "--", args.program, *words]
    return subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def end(job, wanted, what):
    """What the job printed, which must have ended well without a difference."""
    out, err = job.communicate(timeout=120)
    expect(job.returncode == 0, f"{what}: it ended with {job.returncode}", out, err)
    expect(re.search(wanted, out), f"{what}: nothing says {wanted!r}", out, err)
    expect("0 mismatches" in err, f"{what}: replicas differ", err)
    return out


def from_outside(args, degree, folder):
    ready = folder / "ready"
    for wait in (0.3, 0.35, 0.41, 0.6):  # all have their handlers by then
        ready.unlink(missing_ok=True)
        job = start(args, degree, ["outside"], folder)
        while not ready.exists():
            if job.poll() is not None:
                sys.exit(f"FAILED: it ended before the signal\n{job.communicate()}")
            time.sleep(0.01)
        time.sleep(wait)
        job.send_signal(signal.SIGUSR1)
        end(job, r"signal 10 by step \d+: .* 0\n", f"{degree} replicas, from outside")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("holdfast", "program", "mpi"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as name:
        folder = pathlib.Path(name)
        for degree in (2, 3):
            # Processes 0 and 1 lead, first or last: the one that has it first of them counts. All know in the step after.
            for words, step in ((["self", "5", "3"], 7), (["self", "40", "-3"], 39)):
                end(start(args, degree, words, folder), rf"signal 10 at step {step}: .* 0\n", f"{degree} replicas, {words}")
            end(start(args, degree, ["alarm"], folder), r"signal 14 by step \d+: .* 0\n", f"{degree} replicas, alarm")
            end(start(args, degree, ["wait"], folder), r"waited for signal 15\n", f"{degree} replicas, wait")
            end(start(args, degree, ["child"], folder), r"the child ended with 7, and here 0 came\n",
                f"{degree} replicas, child")
            from_outside(args, degree, folder)


if __name__ == "__main__":
    main()
