#!/usr/bin/env python3
"""The program is started by a script or a tool: what the system tells it is the same in all replicas.

Usage: starters_test.py --holdfast HOLDFAST --program SYSTEM_ANSWERS --mpi openmpi|mpich"""
import argparse
import os
import subprocess
import sys
import tempfile

SCENARIOS = ["numbers", "host", "environment", "whole_environment"]


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("holdfast", "program", "mpi"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    program = [args.program, *SCENARIOS]
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        replacing = script(folder, "replacing", 'export HELD=fast\nexec "$@"\n')
        calling = script(folder, "calling", 'date > /dev/null\n"$@"\n')
        for words in ([replacing, *program], [calling, *program], ["env", "HELD=fast", *program],
                      ["timeout", "100", *program], ["sh", "-c", " ".join(program) + "; true"]):
            ended = subprocess.run([args.holdfast, "run", "-n", "2", "--replicas", "3", "--mpi", args.mpi, "--", *words],
                                   cwd=folder, capture_output=True, text=True, timeout=150, stdin=subprocess.DEVNULL,
                                   check=False)
            right = all(f"{name}: right" in ended.stdout for name in SCENARIOS)
            if ended.returncode != 0 or not right or " 0 mismatches" not in ended.stderr:
                sys.exit(f"FAILED: {words} ended with {ended.returncode}\n{ended.stdout}\n{ended.stderr}")


if __name__ == "__main__":
    main()
