#!/usr/bin/env python3
"""A program that sends what it never set, and addresses, agrees in all replicas under --same-memory, and still has its
flips found; without the option it does not."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

UNCORRECTED = 3


def addresses_are_random():
    return pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() != "0"


def run(args, options, folder, scenarios=()):
    """The exit code, what it printed, and the counters of its record."""
    record = pathlib.Path(folder) / "record.json"
    record.unlink(missing_ok=True)
    job = subprocess.run([args.holdfast, "run", "-n", "3", "--json", str(record), *options, "--", args.program,
                          *scenarios], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    counters = json.loads(record.read_text()).get("counters", {}) if record.exists() else {}
    return job.returncode, job.stdout, job.stderr, counters


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def agrees(args, options, folder):
    code, out, err, counters = run(args, ["--same-memory", *options], folder)
    expect(code == 0, f"{options}: ended with {code}", out, err)
    for scenario in ("stack", "registers", "heap", "addresses"):
        expect(f"{scenario}: right" in out, f"{options}: {scenario} is not there", out, err)
    return counters


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        for replicas in ("2", "3"):
            counters = agrees(args, ["--replicas", replicas], folder)
            expect(counters["mismatches"] == 0, "copies differed without a fault", counters)
        counters = agrees(args, ["--replicas", "3", "--inject", "flip rank 1 replica 1 message 40 bit 5"], folder)
        expect(counters["corrections"] == 1, "the flip was not corrected", counters)
        if addresses_are_random():
            code, out, err, _ = run(args, ["--replicas", "2"], folder)
            expect(code == UNCORRECTED and "--same-memory" in err, f"without the option it ended with {code}", out, err)
        for replicas in ("2", "3"):  # blocks are cleared without it
            code, out, err, counters = run(args, ["--replicas", replicas], folder, ["heap"])
            expect(code == 0 and "heap: right" in out and counters["mismatches"] == 0, "blocks differ", counters, out, err)
        code, out, err, _ = run(args, ["--replicas", "2", "--replicate.clear-blocks", "off"], folder, ["heap"])
        expect(code == UNCORRECTED or not addresses_are_random(), f"with neither it ended with {code}", out, err)


if __name__ == "__main__":
    main()
