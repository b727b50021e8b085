#!/usr/bin/env python3
"""A map file decides whose output is the job's: here the first processes are replica 1, so theirs goes to files."""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("holdfast")
    parser.add_argument("program", help="prints one line from rank 0")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        natives = pathlib.Path(folder, "map")
        natives.write_text("0 0 1\n1 1 1\n2 0 0\n3 1 0\n", encoding="utf-8")
        output = pathlib.Path(folder, "out")
        done = subprocess.run([args.holdfast, "run", "--map", natives, "--output", output, "--", args.program],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            sys.exit(f"FAILED: ended with {done.returncode}\n{done.stderr}")
        if len(done.stdout.splitlines()) != 1:
            sys.exit(f"FAILED: one line was to be shown, not\n{done.stdout}")
        files = {path.name for path in output.glob("rank-*")}
        wanted = {f"rank-{rank}.replica-1.other.{end}" for rank in (0, 1) for end in ("out", "err")}
        wanted |= {f"rank-0.replica-{replica}.out" for replica in (0, 1)}
        shown_from_files = {f"rank-{rank}.replica-0.other.{end}" for rank in (0, 1) for end in ("out", "err")}
        if files not in (wanted, wanted | shown_from_files):
            sys.exit(f"FAILED: output of the other replica in {sorted(files)}, not in {sorted(wanted)}")
        if (output / "rank-0.replica-1.out").read_text(encoding="utf-8") != done.stdout:
            sys.exit("FAILED: replica 1 printed something else")


if __name__ == "__main__":
    main()
