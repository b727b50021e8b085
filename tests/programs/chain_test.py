#!/usr/bin/env python3
"""Another profiling tool, preloaded before Holdfast's library or behind it (--chain): EZTrace, which counts for nothing
where it does not see MPI_Init. Each replica's calls are traced, and a flipped bit is corrected. 77 without EZTrace.

Usage: chain_test.py --holdfast HOLDFAST --program PROGRAM --mpi openmpi|mpich"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

FLIP = "rank 1 replica 0 message 9 bit 5"
NOTHING_TRACED = 5000  # bytes of a trace without MPI calls; cg makes some hundred of 90 kB and more


def tool_libraries(mpi):
    """What `eztrace` puts into LD_PRELOAD; `env` itself does not survive it, having no MPI."""
    shown = subprocess.run(["eztrace", "-t", mpi, "env"], capture_output=True, text=True, errors="replace", check=False)
    return next(line.partition("=")[2] for line in shown.stdout.splitlines() if line.startswith("LD_PRELOAD="))


def run(arguments, order, options):
    """The program in three replicas with the tool's libraries where `order` puts them."""
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        script = os.path.join(folder, "traced.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexport LD_PRELOAD="{order}" EZTRACE_TRACE={arguments.mpi}\nexec "$@"\n')
        os.chmod(script, 0o755)
        ended = subprocess.run([arguments.holdfast, "run", "-n", "2", "--replicas", "3", "--mpi", arguments.mpi, *options,
                                "--files-may-differ", "*_trace/*", "--inject", FLIP, "--", script, arguments.program,
                                "--size", "8"], cwd=folder, capture_output=True, text=True, errors="replace", timeout=200,
                               stdin=subprocess.DEVNULL, check=False)
        traces = [os.path.getsize(path) for path in glob.glob(f"{folder}/*_trace/eztrace_log/*.evt")]
    return ended, traces


def main():
    parser = argparse.ArgumentParser()
    for name in ("holdfast", "program", "mpi"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    if shutil.which("eztrace") is None:
        print("eztrace is not installed")
        return 77
    tool = tool_libraries(arguments.mpi)
    for order, options in ((f"{tool}:$LD_PRELOAD", []), (f"{tool}:$LD_PRELOAD", ["--chain"]),
                           (f"$LD_PRELOAD:{tool}", ["--chain"])):
        ended, traces = run(arguments, order, options)
        wrong = [what for what, good in (("the job fails", ended.returncode == 0),
                                         ("the program's answer is missing", "verified\n" in ended.stdout),
                                         ("the flip is not corrected", " 0 corrected" not in ended.stderr),
                                         ("the tool has seen nothing", sum(traces) > NOTHING_TRACED)) if not good]
        if wrong:
            print(f"{order} {options}: {', '.join(wrong)}; traces {traces}\n{ended.stdout}\n{ended.stderr}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
