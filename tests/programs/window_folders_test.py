#!/usr/bin/env python3
"""What a job that is killed while it holds windows open leaves of them in the host's shared memory: nothing where
`holdfast run` is told to end; where everything is killed by SIGKILL, folders of this user's alone that the next job
removes, whether `holdfast run` or mpirun had started it. Their names are not to be guessed. The files of a rail `shm`
are libfabric's, and removed by the next job as well."""
import argparse
import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = re.compile(r"/dev/shm/holdfast-\d+-[0-9a-f]{16}-\d+")


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def ranks_of(run_directory):
    """The processes that are told of the directory."""
    mark = f"HOLDFAST_RUN_DIRECTORY={run_directory}".encode()
    found = []
    for environ in glob.glob("/proc/[0-9]*/environ"):
        try:
            if mark in pathlib.Path(environ).read_bytes().split(b"\0"):
                found.append(int(environ.split("/")[2]))
        except OSError:  # it has ended
            continue
    return found


def held_by(processes):
    """The folders that these processes hold open."""
    found = set()
    for process in processes:
        for entry in glob.glob(f"/proc/{process}/fd/*"):
            try:
                target = os.readlink(entry)
            except OSError:
                continue
            if target.startswith("/dev/shm/holdfast-") and os.path.isdir(target):
                found.add(target)
    return found


def wait_for_folders(job, run):
    while len(folders := held_by(ranks_of(run))) < 2:
        expect(job.poll() is None, f"the job goes on, but it ended with {job.returncode}")
        time.sleep(0.05)
    for folder in folders:
        expect(FOLDER.fullmatch(folder), "its name is the job's number in 16 digits", folder)
        status = os.stat(folder)
        expect(status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0, "it is this user's alone", folder)
    return folders


def has_ended(process):
    """Its files are closed. (What it was told cannot be read from when its memory goes, which is before that, and its
    first thread may end before the others.)"""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" and len(os.listdir(f"/proc/{process}/task")) == 1
    except OSError:
        return True


def kill_all(job, run):
    """As a host that stops: nobody has time to remove anything."""
    ranks = ranks_of(run)
    launchers = [int(child) for child in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()]
    for process in [job.pid, *launchers, *ranks]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.wait()
    while not all(map(has_ended, [*launchers, *ranks])):
        time.sleep(0.05)


def by_hand(args, run):
    variables = {"LD_PRELOAD": args.library, "HOLDFAST_REPLICATE_DEGREE": "2", "HOLDFAST_RUN_RANKS": "2",
                 "HOLDFAST_RUN_EPOCH": str(time.time_ns()), "HOLDFAST_RUN_ENTROPY": "1", "HOLDFAST_RUN_IDENTITY": "1",
                 "HOLDFAST_RUN_PROGRAM": os.path.realpath(args.program), "HOLDFAST_RUN_DIRECTORY": run}
    os.mkdir(run)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    given = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    return ["mpirun.openmpi", *root, "--oversubscribe", "-np", "4", *given, args.program]


def rail_files(args, directory):
    """Of a job over a rail `shm` that was killed nothing is left after the next job."""
    if os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC:
        return  # where not all processes are seen nothing is removed
    run = os.path.join(directory, "rails")
    job = subprocess.Popen([args.holdfast, "run", "-n", "2", "--replicas", "1", "--transport", "--rails", "shm", "--output",
                            run, "--", args.program], stdin=subprocess.DEVNULL, cwd=directory)
    files = set()
    try:
        while len(files) < 2:
            expect(job.poll() is None, f"the job goes on, but it ended with {job.returncode}")
            time.sleep(0.05)
            files = {file for rank in ranks_of(run) for file in glob.glob(f"/dev/shm/{rank}:{os.getuid()}:*")}
        next_job(args, directory)
        expect(all(map(os.path.exists, files)), "another job leaves alone what a process has open", files)
    finally:
        kill_all(job, run)
    expect(all(map(os.path.exists, files)), "nobody could remove them", files)
    next_job(args, directory)
    expect(not any(map(os.path.exists, files)), "the next job has removed them", files)


def next_job(args, directory):
    ended = subprocess.run([args.holdfast, "run", "-n", "1", "--replicas", "2", "--", args.ends], stdin=subprocess.DEVNULL,
                           cwd=directory, check=False, capture_output=True, text=True)
    expect(ended.returncode == 0, "the next job ends well", ended.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("holdfast", "program", "library", "ends"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as directory:
        directory = os.path.realpath(directory)
        seen = set()
        for case in ("told to end", "killed", "killed, by hand"):
            run = os.path.join(directory, case)
            line = by_hand(args, run) if case.endswith("by hand") else [
                args.holdfast, "run", "-n", "2", "--replicas", "2", "--output", run, "--", args.program]
            job = subprocess.Popen(line, stdin=subprocess.DEVNULL, cwd=directory)
            try:
                folders = wait_for_folders(job, run)
                if case == "told to end":
                    job.send_signal(signal.SIGTERM)
                    job.wait()
            finally:
                if job.poll() is None:
                    kill_all(job, run)
            expect(not seen & folders, f"{case}: no name is used again", folders)
            seen |= folders
            if case == "told to end":
                expect(not any(map(os.path.exists, folders)), "nothing is left", folders)
                continue
            expect(all(map(os.path.exists, folders)), f"{case}: nobody could remove them", folders)
            next_job(args, directory)
            expect(not any(map(os.path.exists, folders)), f"{case}: the next job has removed them", folders)
        rail_files(args, directory)


if __name__ == "__main__":
    main()
