#!/usr/bin/env python3
"""Replicas whose ranks share hosts in different patterns: MPICH's own reduction rounds differently in each, Holdfast warns,
and collectives on point-to-point messages give the same bits. MPICH plays two hosts on one: even and odd ranks.

Usage: placement_test.py HOLDFAST PROGRAM [ARGUMENT...]
"""
import os
import subprocess
import sys
import tempfile

# Ranks 0, 1, 2 of replica 0 are on hosts a, b, b; those of replica 1 on a, a, b.
UNLIKE = "0 0 0\n1 1 0\n3 2 0\n2 0 1\n4 1 1\n5 2 1\n"
# On a, b, a and b, a, b: the same pattern.
ALIKE = "0 0 0\n1 1 0\n2 2 0\n3 0 1\n4 1 1\n5 2 1\n"
WARNING = "replicas are placed on hosts in different ways"


def run(holdfast, program, placement, options):
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        path = os.path.join(folder, "map")
        with open(path, "w", encoding="utf-8") as file:
            file.write(placement)
        return subprocess.run([holdfast, "run", "--map", path, *options, "--", *program], cwd=folder, timeout=200,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**os.environ, "MPIR_CVAR_ODD_EVEN_CLIQUES": "1"})


def expect(condition, what, ended):
    if not condition:
        sys.exit(f"FAILED: {what}\nexit code {ended.returncode}\n{ended.stdout}\n{ended.stderr}")


def main():
    holdfast, *program = sys.argv[1:]
    ended = run(holdfast, program, ALIKE, [])
    expect(ended.returncode == 0 and WARNING not in ended.stderr, "alike placements work and are not warned of", ended)
    ended = run(holdfast, program, UNLIKE, [])
    expect(WARNING in ended.stderr, "unlike placements are warned of", ended)
    expect(ended.returncode in (0, 3), "and work, or end with a diagnosis", ended)
    ended = run(holdfast, program, UNLIKE, ["--collectives", "p2p"])
    expect(ended.returncode == 0 and WARNING not in ended.stderr, "p2p does not depend on the placement", ended)
    expect(" 0 mismatches" in ended.stderr, "and all copies are equal", ended)


if __name__ == "__main__":
    main()
