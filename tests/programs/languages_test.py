#!/usr/bin/env python3
"""Runs a program in C and the same one in Fortran under replication: what was sent and verified must be the same, so that
no call is counted twice or missed by the way that Fortran's calls take through the MPI library."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

COMPARED = ("messages", "bytes", "collectives", "records_sent", "mismatches", "requests_left", "communicators_left")


def counters(holdfast, program, degree):
    with tempfile.TemporaryDirectory(prefix="holdfast-languages-") as folder:
        record = pathlib.Path(folder) / "record.json"
        line = [holdfast, "run", "-n", "2", "--replicas", str(degree), "--silence-limit", "60s", "--json", str(record),
                "--", program, "--size", "12"]
        done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0 or "verified" not in done.stdout:
            sys.exit(f"FAILED: {' '.join(line)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return {name: json.loads(record.read_text())["counters"][name] for name in COMPARED}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("program", nargs=2)
    args = parser.parse_args()
    for degree in (2, 3):
        first, second = (counters(args.holdfast, program, degree) for program in args.program)
        if first != second or first["messages"] == 0 or first["collectives"] == 0:
            sys.exit(f"FAILED: with {degree} replicas\n{args.program[0]}: {first}\n{args.program[1]}: {second}")
        print(degree, first)


if __name__ == "__main__":
    main()
