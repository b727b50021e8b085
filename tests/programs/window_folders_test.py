#!/usr/bin/env python3
"""A job that is killed while it holds windows open leaves nothing of them in the host's shared memory."""
import argparse
import glob
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


def windows_of(run_directory):
    """What the folders of the job in that directory begin with, as its processes are told; None before they are there."""
    mark = f"HOLDFAST_RUN_DIRECTORY={run_directory}".encode()
    for environ in glob.glob("/proc/[0-9]*/environ"):
        try:
            variables = pathlib.Path(environ).read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if mark in variables:
            for variable in variables:
                name, _, value = variable.decode(errors="replace").partition("=")
                if name == "HOLDFAST_RUN_WINDOWS":
                    return value
    return None


def wait_for(what, job):
    while not (found := what()):
        if job.poll() is not None:
            sys.exit(f"FAILED: the job ended by itself with {job.returncode}")
        time.sleep(0.05)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as directory:
        run = os.path.join(os.path.realpath(directory), "run")
        job = subprocess.Popen([args.holdfast, "run", "-n", "2", "--replicas", "2", "--output", run, "--",
                                args.program], stdin=subprocess.DEVNULL, cwd=directory)
        try:
            prefix = wait_for(lambda: windows_of(run), job)
            folders = [f"{prefix}-{replica}" for replica in range(2)]
            wait_for(lambda: all(map(os.path.isdir, folders)), job)
            job.send_signal(signal.SIGTERM)
            job.wait()
        finally:
            if job.poll() is None:
                job.kill()
                job.wait()
        left = [folder for folder in folders if os.path.exists(folder)]
        if left:
            sys.exit(f"FAILED: left behind: {left}")


if __name__ == "__main__":
    main()
