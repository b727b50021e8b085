#!/usr/bin/env python3
"""Does what a tutorial says, and compares what comes out with what the tutorial shows.

In a page, an indented block behind "Write `NAME`:" is a file. An indented line that begins with "$ " is a command
("> " continues it); the indented lines behind it are what it prints, output and errors as on a terminal. Where the page
has "...", anything may stand: a part of a line, or any number of lines where it is a line by itself. Between the numbers of
a table's row there may be more or fewer spaces, as versions of a program (LAMMPS) have them. A line "[N]" says
that the command ended with N; without it, that it ended with 0. All commands of a page run in one folder, in one shell
each; those below a heading with "Slurm" run in a cluster that the test starts (tests/slurm/cluster.py). The folder has
the build where a clone has it, build/release.

Usage: tutorial_test.py BIN_FOLDER PAGE
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "slurm"))
import cluster  # noqa: E402

NUMBERS = re.compile(r"\s+(?:-?\d+(?:\.\d+)?(?:\s+|$)){3,}")
WRITE = re.compile(r"Write `([\w.-]+)`:$")


class Command:
    def __init__(self, line, number, heading):
        self.line, self.number, self.heading = line, number, heading
        self.shown, self.status = [], 0


def parse(text):
    """Files as (name, text) and commands, in the order of the page."""
    steps, heading, name, lines, command = [], "", None, text.splitlines(), None
    for number, line in enumerate(lines, 1):
        if not line.startswith("    "):
            if line.startswith("#"):
                heading = line
            if line.strip():
                command = None
                found = WRITE.search(line)
                name = found.group(1) if found else None
            elif isinstance(name, list):
                name.append("")
            continue
        line = line[4:]
        if isinstance(name, str):
            steps.append((name, []))
            name = steps[-1][1]
        if isinstance(name, list):
            name.append(line)
        elif line.startswith("$ "):
            command = Command(line[2:], number, heading)
            steps.append(command)
        elif command is None:
            continue  # shown, not run
        elif line.startswith("> ") and not command.shown:
            command.line += "\n" + line[2:]
        elif re.fullmatch(r"\[\d+\]", line):
            command.status = int(line[1:-1])
        else:
            command.shown.append(line)
    return steps


def pattern(shown):
    """A regular expression for what a command may print."""
    parts = []
    for line in shown:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        elif NUMBERS.fullmatch(line):
            parts.append(r"[ ]*" + r"[ ]+".join(map(re.escape, line.split())) + r"\s*\n")
        else:
            parts.append(".*".join(re.escape(part.rstrip() if last else part)
                                   for part, last in with_last(line.split("..."))) + r"\s*\n")
    return "".join(parts)


def with_last(items):
    return [(item, index == len(items) - 1) for index, item in enumerate(items)]


def main():
    binaries, page = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    steps = parse(page.read_text(encoding="utf-8"))
    commands = [step for step in steps if isinstance(step, Command)]
    if len(commands) < 3 or not any(step.shown for step in commands):
        sys.exit(f"{page}: only {len(commands)} commands were found")
    folder = tempfile.mkdtemp(prefix="holdfast-tutorial-")
    pathlib.Path(folder, "build").mkdir()
    pathlib.Path(folder, "build", "release").symlink_to(pathlib.Path(binaries).parent)
    slurm, skipped = None, 0
    try:
        for step in steps:
            if not isinstance(step, Command):
                pathlib.Path(folder, step[0]).write_text("\n".join(step[1]).rstrip() + "\n", encoding="utf-8")
                continue
            with_slurm = "Slurm" in step.heading
            if with_slurm and cluster.missing():
                skipped += 1
                continue
            if with_slurm and slurm is None:
                slurm = cluster.Cluster().__enter__()
                environment = {**environment, "SLURM_CONF": slurm.environment["SLURM_CONF"]}
            done = subprocess.run(["bash", "-c", step.line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
            printed = re.sub(r"[ \t]+\n", "\n", done.stdout)
            if printed and not printed.endswith("\n"):
                printed += "\n"
            if done.returncode != step.status or not re.fullmatch(pattern(step.shown), printed):
                sys.exit(f"{page}:{step.number}: {step.line}\nended with {done.returncode}, should with {step.status}, "
                         f"and printed\n{printed}where the page shows\n" + "\n".join(step.shown))
    finally:
        if slurm is not None:
            slurm.__exit__()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{page.name}: {len(commands) - skipped} commands did what the page shows" +
          (f"; {skipped} left out: {cluster.missing()}" if skipped else ""))


if __name__ == "__main__":
    main()
