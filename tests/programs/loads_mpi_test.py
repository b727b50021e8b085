#!/usr/bin/env python3
"""A program that loads MPI by itself is protected where `holdfast run` starts it; from a shell script, whose programs may
have an MPI of their own, it is refused in one line before it has called MPI."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

REFUSED = 6


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def run(line, folder):
    job = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    return job.returncode, job.stdout, job.stderr


def replicated(args, options, program, folder):
    """The exit code, what it printed, and the counters of its record."""
    record = pathlib.Path(folder) / "record.json"
    record.unlink(missing_ok=True)
    code, out, err = run([args.holdfast, "run", "--mpi", args.mpi, "-n", "3", "--json", str(record), *options, "--", *program],
                         folder)
    return code, out, err, json.loads(record.read_text()).get("counters", {}) if record.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    program = [args.program, args.library]
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    os.environ.update(environment)
    native = ["mpiexec.mpich"] if args.mpi == "mpich" else ["mpirun.openmpi", "--oversubscribe"]
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        code, right, err = run([*native, "-n", "3", *program], folder)
        expect(code == 0 and right, f"natively it ended with {code}", right, err)
        for replicas, options in (("2", []), ("3", ["--inject", "flip rank 1 replica 1 message 2 bit 5"])):
            code, out, err, counters = replicated(args, ["--replicas", replicas, *options], program, folder)
            expect(code == 0 and out == right, f"{replicas} replicas: ended with {code}", out, err)
            expect(counters["messages"] > 0, "messages were verified", counters)
            expect((counters["corrections"] > 0) == bool(options), "a flip, and nothing else, is corrected", counters)
        script = pathlib.Path(folder) / "job.sh"
        script.write_text('#!/bin/sh\n"$@"\n')
        script.chmod(0o755)
        code, out, err, _ = replicated(args, ["--replicas", "2"], [str(script), *program], folder)
        expect(code == REFUSED, f"from a script it ended with {code}", out, err)
        expect("for itself alone" in err and "LD_PRELOAD" in err, "the message does not say why", err)


if __name__ == "__main__":
    main()
