#!/usr/bin/env python3
"""What a program prints and writes of its clocks after MPI_Finalize is the same in all replicas, as is what it sends of
those that it read before MPI_Init."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    for replicas in ("2", "3"):
        for where in ("print", "write"):
            with tempfile.TemporaryDirectory(prefix="holdfast-clocks-") as folder:
                line = [args.holdfast, "run", "-n", "2", "--replicas", replicas, "--mpi", args.mpi, "--", args.program, where]
                ended = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                       timeout=100, env=os.environ, check=False)
                told = ended.stdout + "".join(path.read_text() for path in pathlib.Path(folder).glob("times-*.out"))
                if ended.returncode != 0 or " 0 mismatches" not in ended.stderr or "differs" in ended.stderr \
                        or "another order" in ended.stderr or told.count("reading 0: ") != 2 or "PASSED" not in told:
                    sys.exit(f"FAILED: {replicas} replicas, {where}, code {ended.returncode}\n{told}\n{ended.stderr}")


if __name__ == "__main__":
    main()
