#!/usr/bin/env python3
"""Processes that end before MPI_Init is over, when the others are inside it and would wait for ever: the job ends, within
the silence limit, and says who is missing. First where each of them ends at a known place, then killed at any moment."""
import argparse
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SILENCE_S = 30
LIMIT_S = 120  # for one run: the limit, the launcher's end, and a busy machine
SEED = 20
KILLS = 12


def fail(what, detail=""):
    sys.exit(f"FAILED: {what}\n{detail}")


def line_of(args, folder, program, on_failure, launcher=()):
    wish = [] if on_failure is None else ["--on-failure", on_failure]
    return [args.holdfast, "run", "-n", "2", "--replicas", "3", "--silence-limit", f"{SILENCE_S}s", "--mpi", args.mpi,
            "--output", str(folder / "run"), *wish, *launcher, "--", *program]


def run(args, script, on_failure):
    """What a script comes to in whose place the program starts; $native is the number of the process."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-start-up-"))
    # The launcher's own words, which the program's children are told beside those that are played (docs/reference/agreed.md).
    native = ("$(printenv HOLDFAST_RUN_LAUNCHED | tr ' ' '\\n' | "
              "sed -n 's/^\\(OMPI_COMM_WORLD_RANK\\|PMI_RANK\\)=\\([0-9]*\\)=.*/\\2/p')")
    text = f'native={native}\n{script}\nexec {shlex.quote(args.program)}\n'
    line = line_of(args, folder, ["/bin/sh", "-c", text], on_failure)
    try:
        done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                              check=False)
    except subprocess.TimeoutExpired:
        fail("the job hangs", shlex.join(line))
    done.launcher = "".join(path.read_text(errors="replace") for path in (folder / "run").glob("launcher.err"))
    shutil.rmtree(folder, ignore_errors=True)
    return done


def ends(args, script, codes, words, on_failure=None):
    done = run(args, script, on_failure)
    if done.returncode not in codes or words not in done.stderr:
        fail(f"'{script}' ended with {done.returncode}, not {codes} and '{words}'", f"{done.stderr}\n{done.launcher}")


def processes_of(run_directory):
    """Those that the launcher has started."""
    mark = f"HOLDFAST_RUN_DIRECTORY={run_directory}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            variables = pathlib.Path("/proc", name, "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in variables and any(v.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")) for v in variables):
            found.append(int(name))
    return found


def kill_at(args, moment_s, choice):
    """A process is killed so long after the first was seen."""
    folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="holdfast-start-up-")))
    line = line_of(args, folder, [args.program], None)
    with open(folder / "err", "w+", encoding="utf-8") as errors:
        job = subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        while job.poll() is None and not processes_of(folder / "run"):
            pass
        time.sleep(moment_s)
        found = processes_of(folder / "run")
        if found:
            try:
                os.kill(found[choice % len(found)], signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            out, _ = job.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            job.terminate()
            fail(f"a job hangs of which a process was killed after {moment_s:.3f} s", shlex.join(line))
        errors.seek(0)
        said = errors.read()
    shutil.rmtree(folder, ignore_errors=True)
    # MPICH's MPI_Init fails in another process now and then before the launcher has noticed the death.
    if job.returncode not in ((0, 4) if args.mpi == "openmpi" else (0, 1, 4)) or (job.returncode == 0 and out != "the number is 4\n"):
        fail(f"killed after {moment_s:.3f} s it ended with {job.returncode} and printed '{out}'", said)
    return job.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=KILLS)
    args = parser.parse_args()
    for on_failure in [None, "abort"] if args.mpi == "openmpi" else [None]:
        ends(args, ":", [0], "2 ranks x 3 replicas", on_failure)
        ends(args, f'{shlex.quote(args.program)}; exit 0', [0], "2 ranks x 3 replicas", on_failure)
        # Native rank n plays rank n % 2 in replica n / 2.
        ends(args, '[ "$native" = 3 ] && kill -9 $$', [4], "", on_failure)
        ends(args, '[ "$native" = 3 ] && exit 1', [1, 4], "", on_failure)
        ends(args, '[ "$native" = 3 ] && exit 0', [4], "rank 1 replica 1", on_failure)
        # mpirun itself sometimes waits for ever for processes that it has ended then, and is ended without a status.
        ends(args, '[ $((native % 2)) = 1 ] && exit 1', [1, 4] if on_failure else [1],
             "" if on_failure else "the application failed by itself", on_failure)
    draw = random.Random(SEED)
    codes = [kill_at(args, draw.uniform(0, 0.6), draw.randrange(6)) for _ in range(args.kills)]
    print(f"{args.kills} kills: {codes.count(0)} jobs went on, {codes.count(4)} ended")


if __name__ == "__main__":
    main()
