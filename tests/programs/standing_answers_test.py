#!/usr/bin/env python3
"""What a program sends of the system's answers before MPI_Init, and what it prints and writes of those after
MPI_Finalize, is the same in all replicas; so is what the commands of a script around it were told."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
for i in 1 2 3; do cat /proc/meminfo /proc/stat >> "asked-$rank.txt"; done
[ -z "$OWN_HOST" ] || exec unshare --uts sh -c 'hostname "node-$$"; exec "$@"' sh "$@"
exec "$@"
"""


def has_hosts():
    """Whether a process can have a name for its host alone, which takes root."""
    return subprocess.run(["unshare", "--uts", "hostname", "node"], capture_output=True, check=False).returncode == 0


def run(args, replicas, where, by_script, own_host=False):
    with tempfile.TemporaryDirectory(prefix="holdfast-answers-") as name:
        folder = pathlib.Path(name)
        script = folder / "job.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        program = [*([str(script)] if by_script else []), args.program, where]
        line = [args.holdfast, "run", "-n", "2", "--replicas", replicas, "--mpi", args.mpi, "--output", "run", "--", *program]
        ended = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
                               env={**os.environ, "OWN_HOST": "yes" if own_host else ""}, check=False)
        told = ended.stdout + "".join(path.read_text() for path in folder.glob("told-*.out"))
        asked = [path.read_text().count("MemFree:") for path in folder.glob("asked-*.txt")]
        left = list((folder / "run").glob("holdfast-answers"))
        if ended.returncode != 0 or " 0 mismatches" not in ended.stderr or "differs" in ended.stderr or left \
                or told.count("rank 0: MemTotal") != 1 or told.count("rank 1: MemTotal") != 1 or "PASSED" not in told \
                or asked != ([3, 3] if by_script else []):
            sys.exit(f"FAILED: {replicas} replicas, {where}, code {ended.returncode}, asked {asked}, left {left}\n"
                     f"{told}\n{ended.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    for replicas in ("2", "3"):
        for where in ("print", "write"):
            run(args, replicas, where, by_script=False)
        run(args, replicas, "write", by_script=True)
        if has_hosts():
            run(args, replicas, "print", by_script=True, own_host=True)


if __name__ == "__main__":
    main()
