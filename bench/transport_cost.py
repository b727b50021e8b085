#!/usr/bin/env python3
"""CPU time of a message over the holdfast provider and over those that it competes with, by provider_bench: both sides in
one thread, so that it does not matter what else the machine does. Each round runs every row; printed are medians over the
rounds, and each holdfast row's ratio to its peer's. With --fragments also what the length of a fragment makes of it, as
Figure 5 of the Open MPI DR paper. Every run is bounded and written to the file at once; one that was interrupted goes on.

    cmake --preset bench && ninja -C build/bench provider_bench holdfast-fi
    bench/transport_cost.py build/bench/bin/provider_bench build/bench/lib --fragments --json FILE
"""
import argparse
import json
import os
import subprocess
import sys

from ledger import Ledger

SIZES = (8, 4096, 65536, 1048576, 4194304)
SIZE_NAMES = dict(zip(SIZES, ("8 B", "4 KiB", "64 KiB", "1 MiB", "4 MiB")))
#         name                 provider        domain  rails     peer
ROWS = (("net", "net", "lo", None, None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", "lo", None, None),
        ("holdfast over tcp", "holdfast", None, "tcp@lo", "tcp;ofi_rxm"),
        ("udp;ofi_rxd", "udp;ofi_rxd", "lo", None, None),
        ("holdfast over udp", "holdfast", None, "udp@lo", "udp;ofi_rxd"),
        ("shm", "shm", None, None, None),
        ("holdfast over shm", "holdfast", None, "shm", "shm"))
FRAGMENTS = (1024, 2048, 4096, 8192, 16384, 32768, 65536, 262144)


def measure(args, provider, domain, rails, options):
    """Microseconds of CPU time by size; without those that did not end well."""
    environment = {**os.environ, **options}
    if rails:
        environment.update(FI_PROVIDER_PATH=args.libraries, HOLDFAST_RAILS_USE=rails)
    words = [args.program, "--provider", provider] + (["--domain", domain] if domain else [])
    try:
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=args.limit, check=False)
        lines = ended.stdout.splitlines()
    except subprocess.TimeoutExpired as late:
        lines = (late.stdout or b"").decode().splitlines()
    return {row["bytes"]: row["cpu_us"] for row in map(json.loads, lines)}


def print_table(title, sizes, rows, ledger):
    """Rows of (name, key, key of the peer or None)."""
    rows = [row for row in rows if any(ledger.good(f"{row[1]} {size}") for size in sizes)]
    if not rows:
        return
    print(f"\n{title}\n\n| | " + " | ".join(SIZE_NAMES[size] for size in sizes) + " |\n|---" + "|---" * len(sizes) + "|")
    for name, key, peer in rows:
        cells = []
        for size in sizes:
            cell = ledger.cell(f"{key} {size}", "{:.2f}")
            other = ledger.median(f"{peer} {size}") if peer else None
            mine = ledger.median(f"{key} {size}")
            cells.append(cell + (f" ({mine / other:.2f})" if mine and other else ""))
        print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="provider_bench")
    parser.add_argument("libraries", help="the folder of libholdfast-fi.so")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each kind (default %(default)s)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one run (default %(default)s)")
    parser.add_argument("--fragments", action="store_true", help="also by the length of a fragment")
    parser.add_argument("--json", help="the file of measurements")
    parser.add_argument("--tables", action="store_true", help="print the tables of the file and measure nothing")
    args = parser.parse_args()
    ledger = Ledger(args.json)
    runs = [(row[0], row[1], row[2], row[3], {}) for row in ROWS]
    if args.fragments:
        runs += [(f"{rails} fragment {bytes_}", "holdfast", None, rails, {"HOLDFAST_TRANSPORT_FRAGMENT_BYTES": str(bytes_)})
                 for rails in ("tcp@lo", "udp@lo", "shm") for bytes_ in FRAGMENTS]
    for rounds in range(1, 0 if args.tables else args.rounds + 1):
        for name, provider, domain, rails, options in runs:
            if not ledger.wants(f"{name} 8", rounds):
                continue
            print(name, file=sys.stderr, flush=True)
            found = measure(args, provider, domain, rails, options)
            for size in SIZES:
                ledger.add(f"{name} {size}", found.get(size))
    print_table("CPU time of a message, microseconds (ratio to the peer's)", SIZES, [(row[0], row[0], row[4]) for row in ROWS],
                ledger)
    for rails in ("tcp@lo", "udp@lo", "shm"):
        print_table(f"By the length of a fragment, {rails}, microseconds", SIZES[2:],
                    [(f"{bytes_ // 1024} KiB", f"{rails} fragment {bytes_}", None) for bytes_ in FRAGMENTS], ledger)


if __name__ == "__main__":
    main()
