#!/usr/bin/env python3
"""Programs that end without MPI_Finalize in all replicas failed by themselves (exit code 1), and nobody was taken out;
so did one that says its status by _exit() after MPI_Finalize."""
import argparse
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-endings-") as folder:
        for replicas in (2, 3):
            for way in ("exit", "_exit", "quick_exit", "abort", "late"):
                line = [args.holdfast, "run", "-n", "2", "--replicas", str(replicas), "--mpi", args.mpi, "--", args.program,
                        way]
                ended = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                       timeout=100, env=os.environ, check=False)
                if ended.returncode != 1 or "is taken out, " in ended.stderr.split("\n", 1)[1]:
                    sys.exit(f"FAILED: {way}, {replicas} replicas, code {ended.returncode}\n{ended.stderr}")


if __name__ == "__main__":
    main()
