"""Holds every C and C++ source to .clang-format. Other versions of clang-format than 14 lay out differently: skipped (77).
Usage: source_format_test.py REPOSITORY."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDERS = ["bench", "examples", "include", "src", "tests", "tools"]
SUFFIXES = {".c", ".cc", ".cpp", ".h"}
AT_ONCE = 64


def formatter():
    """clang-format 14, or None."""
    for name in ("clang-format-14", "clang-format"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
            if re.search(r"version 14\.", said):
                return program
    return None


def unformatted(program, sources):
    """The sources that the program would change."""
    said = ""
    for first in range(0, len(sources), AT_ONCE):
        run = subprocess.run([program, "--dry-run", *map(str, sources[first:first + AT_ONCE])], capture_output=True, text=True,
                             timeout=300, check=False)
        said += run.stderr
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning: code should be clang-formatted", said, re.MULTILINE)))


def main():
    program = formatter()
    if program is None:
        print("skipped: there is no clang-format 14 here")
        return 77
    repository = Path(sys.argv[1])
    sources = [path for folder in FOLDERS for path in sorted((repository / folder).rglob("*")) if path.suffix in SUFFIXES]
    wrong = unformatted(program, sources)
    for path in wrong:
        print(f"{path}: differs from .clang-format: run clang-format -i on it")
    print(f"{len(sources)} sources, {len(wrong)} differ")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
