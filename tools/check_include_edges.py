#!/usr/bin/env python3
"""Holds the #include lines under src/ to the table of who may include whom (ARCHITECTURE.md), and bans folder names that
say nothing. Usage: check_include_edges.py [REPOSITORY]. Prints one line a violation; exits with 1 when there is one."""

import fnmatch
import os
import re
import sys

FOUNDATIONS = ["core/arithmetic", "core/status", "core/time"]
STANDARD_LIBRARY = r"<[a-z0-9_]+>"

# folder -> the folders, or patterns of files, that it may include besides itself. The longest folder that holds a file
# decides. A folder under src/ without a row is a violation, so that a new one is thought about.
EDGES = {
    "core/arithmetic": [],
    "core/status": [],
    "core/time": ["core/arithmetic", "core/status"],
    "core/markup": [],
    "core": FOUNDATIONS,
    "core/fault": FOUNDATIONS + ["core/random"],
    "core/config": FOUNDATIONS + ["core/input"],
    "core/input": FOUNDATIONS + ["core/scratch"],
    "core/memory": FOUNDATIONS + ["core/scratch"],
    "core/event": FOUNDATIONS + ["core/output", "core/stats"],
    "core/database": FOUNDATIONS + ["core/scratch"],
    "core/output": FOUNDATIONS + ["core/scratch"],
    "fabric": ["core"],
    "plan": ["core"],
    "record": ["core"],
    "record/mpi": ["core", "record"],
    "replicate/engine": ["core"],
    "replicate/world": ["core", "replicate/engine"],
    "replicate/heap": [],
    "replicate/launch": ["core", "record", "replicate/engine"],
    "replicate/mpi": ["core", "replicate/engine"],
    "replicate/libc": ["core", "replicate/engine", "replicate/mpi"],
    "transport/wire": ["core"],
    "transport/engine": ["core", "transport/wire"],
    "transport/rail": ["core", "transport/wire"],
    "transport/ofi": ["core", "transport"],
    "transport/world": ["core", "transport"],
    "simulate": ["core", "fabric", "transport/wire", "transport/engine", "transport/rail", "replicate/engine"],
    # A recorded program is replayed: its reader, and nothing of how it is recorded.
    "simulate/job": ["core", "fabric", "record", "simulate"],
    "report": ["core", "fabric/*record*.h", "simulate/*record*.h", "plan/*record*.h"],
    "cli": ["core", "fabric", "plan", "record", "report", "simulate", "replicate/engine", "replicate/launch", "transport/wire",
            "transport/engine", "transport/rail"],
}

# Rows that cover a folder's files but not what is below it: each folder of core stands for itself.
SIBLINGS_ARE_STRANGERS = ["core"]

# header pattern -> the folders that alone may include it
RESERVED_HEADERS = {
    "mpi.h": ["replicate/mpi", "simulate/study/mpi", "record/mpi"],
    "rdma/*": ["transport/ofi", "transport/rail"],
}

# folders that take the standard library and nothing else from outside; tests take GoogleTest besides
STANDARD_LIBRARY_ONLY = ["core/arithmetic", "core/status", "core/time"]

BANNED_FOLDERS = {"util", "utils", "common", "helper", "helpers", "misc"}
NOT_OURS = {".git", "build", "node_modules", "__pycache__"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|(<[^>]+>))')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def row_of(path):
    """The longest folder of EDGES that holds the file, or None."""
    rows = [folder for folder in EDGES if inside(path, folder)]
    return max(rows, key=len, default=None)


def home_of(path, row):
    """The folder whose files may include each other freely."""
    if row in SIBLINGS_ARE_STRANGERS:
        return "/".join(path.split("/")[:row.count("/") + 2])
    return row


def may_include(path, target):
    row = row_of(path)
    if inside(target, home_of(path, row)):
        return True
    return any(inside(target, allowed) or fnmatch.fnmatch(target, allowed) for allowed in EDGES[row])


# Written at build time by tools/generate_wrappers.py and tools/generate_recorder.py, for the preloaded libraries alone.
GENERATED = {"functions.h": "replicate", "hooks.h": "replicate", "real_functions.h": "replicate",
             "next_functions.h": "record", "recorded_functions.h": "record"}


def judge(path, target, quoted):
    """What is wrong with a file under src/ including the target, or None."""
    tops = {folder.split("/")[0] for folder in EDGES}
    for pattern, folders in RESERVED_HEADERS.items():
        if fnmatch.fnmatch(target, pattern) and not any(inside(path, folder) for folder in folders):
            return f"only {' and '.join(folders)} may include {target}"
    if target.split("/")[0] in tops and (quoted or "/" in target):
        return None if may_include(path, target) else f"{row_of(path)} may not include {target}"
    if target in GENERATED and any(inside(path, f"{GENERATED[target]}/{part}") for part in ("mpi", "libc")):
        return None
    if quoted and not target.startswith("holdfast/"):
        return f"write the include of {target} from src/"
    strict = any(inside(path, folder) for folder in STANDARD_LIBRARY_ONLY)
    of_a_test = path.endswith("_test.cc") and re.match(r"g(test|mock)/", target)
    if strict and not of_a_test and not re.fullmatch(STANDARD_LIBRARY, f"<{target}>"):
        return f"{row_of(path)} takes the standard library alone, not {target}"
    return None


def violations_of_file(source, path):
    """Yields 'place: what is wrong' for one file, whose path is relative to src/."""
    if row_of(path) is None:
        yield f"src/{path}: no row says what this folder may include"
        return
    with open(os.path.join(source, path), encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                wrong = judge(path, match[1] or match[2][1:-1], match[1] is not None)
                if wrong:
                    yield f"src/{path}:{number}: {wrong}"


def violations(repository):
    """All violations in the tree, in a fixed order."""
    found = []
    source = os.path.join(repository, "src")
    for folder, subfolders, files in os.walk(repository):
        subfolders[:] = sorted(set(subfolders) - NOT_OURS)
        for name in subfolders:
            if name in BANNED_FOLDERS:
                found.append(f"{os.path.relpath(os.path.join(folder, name), repository)}: "
                             "name the folder after what it holds")
        if not inside(folder, source):
            continue
        for name in sorted(files):
            if re.search(r"\.(h|hpp|c|cc|cpp|in)$", name):
                found.extend(violations_of_file(source, os.path.relpath(os.path.join(folder, name), source)))
    return found


def main():
    repository = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    if not os.path.isdir(os.path.join(repository, "src")):
        print(f"checking the include edges: {repository} has no folder src: name the repository", file=sys.stderr)
        return 2
    found = violations(repository)
    print("\n".join(found) if found else "include edges: all good")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
