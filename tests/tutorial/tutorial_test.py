#!/usr/bin/env python3
"""Runs every command of a tutorial, in the order of the page, and holds the page to what comes out.

Usage: tutorial_test.py PAGE. HOLDFAST: the program. An indented block is a file where the line before it ends with "as
`NAME`:" and it holds no command. A command begins with "$ "; the lines below it are lines of its output, in which "..." is
any text, or "# ends with N". Commands whose program is not installed (lmp, mpi4py) are left out and counted.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def blocks(text):
    """(the paragraph before, the lines) of each indented block."""
    before, block = "", []
    for line in text.splitlines() + ["end"]:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        else:
            if block:
                yield before, block
                before, block = "", []
            before = before + " " + line if line.strip() else before
            if not line.strip():
                before = before.strip()
    if block:
        yield before, block


def commands(block):
    """(command, lines of output, exit status)."""
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append([line[2:], [], 0])
        elif ends := re.fullmatch(r"# ends with (\d+)", line):
            found[-1][2] = int(ends.group(1))
        elif line.strip():
            found[-1][1].append(line)
    return found


def can_run(command):
    if "lmp" in command.split() and not shutil.which("lmp"):
        return False
    python = "/usr/bin/python3"
    return "job.py" not in command or subprocess.run([python, "-c", "import mpi4py"], capture_output=True).returncode == 0


def as_pattern(line):
    return ".*".join(re.escape(part) for part in line.split("..."))


def run(command, lines, status, folder, environment):
    ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    problems = [] if ended.returncode == status else [f"ends with {ended.returncode}, not {status}"]
    problems += [f"no line of the output is '{line}'" for line in lines
                 if not any(re.fullmatch(as_pattern(line), said) for said in ended.stdout.splitlines())]
    if problems:
        sys.exit(f"FAILED: {command}\n" + "\n".join(problems) + "\nIt says:\n" + ended.stdout)


def main():
    page = pathlib.Path(sys.argv[1])
    holdfast = pathlib.Path(os.environ["HOLDFAST"])
    ran = left_out = 0
    with tempfile.TemporaryDirectory(prefix="holdfast-tutorial-") as folder:
        environment = {**os.environ, "PATH": f"{holdfast.parent}:{os.environ['PATH']}"}
        for before, block in blocks(page.read_text(encoding="utf-8")):
            if not any(line.startswith("$ ") for line in block):
                if named := re.search(r"as `([\w.]+)`[^`]*:$", before):
                    pathlib.Path(folder, named.group(1)).write_text("\n".join(block) + "\n", encoding="utf-8")
                continue
            for command, lines, status in commands(block):
                if can_run(command):
                    run(command, lines, status, folder, environment)
                    ran += 1
                else:
                    left_out += 1
    print(f"{ran} commands of {page.name} do what it says; {left_out} left out, whose programs are not installed")
    if ran < 5:
        sys.exit("FAILED: hardly anything was run")


if __name__ == "__main__":
    main()
