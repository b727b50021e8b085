#!/usr/bin/env python3
"""The program is started by a script or a tool: what the system tells it is the same in all replicas.

Usage: starters_test.py --holdfast HOLDFAST --program SYSTEM_ANSWERS --mpi openmpi|mpich"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SCENARIOS = ["numbers", "host", "environment", "whole_environment"]


def script(folder, name, text, shell="sh"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/{shell}\n" + text)
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
        # Names after ranks are the same in all replicas; bash has a getenv() of its own.
        naming = script(folder, "naming", 'rank=$OMPI_COMM_WORLD_RANK$PMI_RANK\necho $rank > told.$rank\n"$@"\n', "bash")
        for words in ([naming, *program], [replacing, *program], [calling, *program], ["env", "HELD=fast", *program],
                      ["timeout", "100", *program], ["sh", "-c", " ".join(program) + "; true"]):
            ended = subprocess.run([args.holdfast, "run", "-n", "2", "--replicas", "3", "--mpi", args.mpi, "--", *words],
                                   cwd=folder, capture_output=True, text=True, timeout=150, stdin=subprocess.DEVNULL,
                                   check=False)
            right = all(f"{name}: right" in ended.stdout for name in SCENARIOS)
            if ended.returncode != 0 or not right or " 0 mismatches" not in ended.stderr:
                sys.exit(f"FAILED: {words} ended with {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
        told = {path.name: path.read_text() for path in pathlib.Path(folder).glob("told.*")}
        if told != {"told.0": "0\n", "told.1": "1\n"}:
            sys.exit(f"FAILED: the shells were told other ranks: {told}")


if __name__ == "__main__":
    main()
