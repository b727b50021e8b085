#!/usr/bin/env python3
"""Runs some tests of a build again and again, in turn, and counts those that fail: for failures that are rare.

Usage: repeat_tests.py --build build/release --tests 'replicated.*(persistent|partial)' --runs 500 [--seconds S]
                       [--load N] [--keep FOLDER]

`--load`: so many processes beside them that do nothing but compute. Each failure's output is kept in the folder. Ends
with 1 where one failed. `nice` and `setsid` keep it out of the way of other work.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time


def tests_of(build, pattern):
    """Name, command, environment and time limit of each test of the build that matches."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True,
                            text=True)
    tests = []
    for test in json.loads(listed.stdout)["tests"]:
        if not re.search(pattern, test["name"]) or "command" not in test:
            continue
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []) if "=" in pair)
        tests.append((test["name"], test["command"], environment, float(properties.get("TIMEOUT", 600))))
    return tests


def failure_of(command, environment, limit):
    """What it wrote, where it failed; none where it did not."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", env={**os.environ, **environment})
    try:
        out, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.terminate()  # a test that is asked to end takes its processes with it
        out, _ = child.communicate()
        return f"not ended after {limit:g} s\n{out}"
    return out if child.returncode != 0 else None


def repeat(tests, runs, seconds, keep):
    """Runs by name, and failures by name."""
    ran, failed = collections.Counter(), collections.Counter()
    end = time.monotonic() + seconds
    for number in range(runs):
        if time.monotonic() > end:
            break
        name, command, environment, limit = tests[number % len(tests)]
        failure = failure_of(command, environment, limit)
        ran[name] += 1
        if failure is not None:
            failed[name] += 1
            (keep / f"{number}-{name}.txt").write_text(failure)
        print(f"{number + 1}/{runs} {name}: {'right' if failure is None else 'FAILED'}", flush=True)
    return ran, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--tests", required=True, help="a regular expression, of names")
    parser.add_argument("--runs", type=int, default=500, help="of all tests together")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new run after so long")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("repeated-tests"))
    args = parser.parse_args()
    tests = tests_of(args.build, args.tests)
    if not tests:
        sys.exit(f"repeat_tests: no test of {args.build} matches '{args.tests}'")
    args.keep.mkdir(parents=True, exist_ok=True)
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.load)]
    try:
        ran, failed = repeat(tests, args.runs, args.seconds, args.keep)
    finally:
        for process in load:
            process.kill()
    print(f"{ran.total()} runs of {len(ran)} tests, {failed.total()} failed: {dict(failed)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
