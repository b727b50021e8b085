#!/usr/bin/env python3
"""Holds the number of mutable variables of file scope (and static ones of functions) in the preloaded library: it may
fall, not rise. State belongs to the engine (src/replicate/engine/replica.h) or to the one Runtime of the adapter."""
import argparse
import re
import subprocess
import sys

NOT_STATE = ("guard variable", "vtable", "typeinfo", "VTT")


def variables(library):
    out = subprocess.run(["nm", "--demangle", library], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^[0-9a-f]+ [bBdD] (.*holdfast::replicate::.*)$", out, re.MULTILINE)
    return sorted(name for name in found if not name.startswith(NOT_STATE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--most", type=int, required=True)
    args = parser.parse_args()
    found = variables(args.library)
    if len(found) < 20:
        sys.exit(f"FAILED: {len(found)} variables: nm does not see the library's symbols")
    if len(found) > args.most:
        sys.exit("\n".join([f"FAILED: {len(found)} variables, {args.most} are allowed:"] + found))
    print(f"{len(found)} of at most {args.most}")


if __name__ == "__main__":
    main()
