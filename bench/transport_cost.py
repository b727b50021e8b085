#!/usr/bin/env python3
"""CPU time of a message over the holdfast provider and over those that it competes with, by provider_bench: both sides in
one thread, so that it does not matter what else the machine does. Each round runs every row; printed are medians over the
rounds, and each row's ratio to its control. With --fragments also what the length of a fragment makes of it, as
Figure 5 of the Open MPI DR paper; with --acks by how many packets an acknowledgement waits for (section 3.3); with --bursts
what a message of 8 bytes costs when so many are posted one after another. Every run is bounded and written to the file at
once; one that was interrupted goes on.

    cmake --preset bench && ninja -C build/bench provider_bench holdfast-fi
    bench/transport_cost.py build/bench/bin/provider_bench build/bench/lib --fragments --json FILE
"""
import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile

import svg_lines
from ledger import Ledger

SIZES = (8, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
SIZE_NAMES = dict(zip(SIZES, ("8 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB")))
LONG = SIZES[5:6] + SIZES[7:]
# The control of a rail is the provider that carries it, as Open MPI DR compares with the same BTL without DR: net for tcp, shm
# for shm. libfabric has nothing for udp that takes messages of all lengths and is not reliable.
#         name                            provider        domain  rails         control
ROWS = (("net", "net", "lo", None, None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", "lo", None, "net"),
        ("holdfast over tcp", "holdfast", None, "tcp@lo", "net"),
        ("holdfast over tcp, no checksum", "holdfast", None, "tcp@lo/none", "net"),
        ("holdfast over tcp, secret", "holdfast", None, "tcp@lo", "net"),
        ("udp;ofi_rxd", "udp;ofi_rxd", "lo", None, None),
        ("holdfast over udp", "holdfast", None, "udp@lo", "udp;ofi_rxd"),
        ("holdfast over udp, no checksum", "holdfast", None, "udp@lo/none", "udp;ofi_rxd"),
        ("holdfast over udp, secret", "holdfast", None, "udp@lo", "udp;ofi_rxd"),
        ("shm", "shm", None, None, None),
        ("holdfast over shm", "holdfast", None, "shm", "shm"),
        ("holdfast over shm, no checksum", "holdfast", None, "shm/none", "shm"),
        ("holdfast over shm, secret", "holdfast", None, "shm", "shm"))
BURST_ROWS = tuple(row for row in ROWS if "," not in row[0])
ACK_PACKETS = (1, 2, 4, 16, 64, 256)
ACKED_FRAGMENT = 16384
BURSTS = (64, 1024, 16384)
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


def measure_burst(args, provider, domain, rails, messages):
    """Microseconds of CPU time for one message, or None."""
    environment = dict(os.environ)
    if rails:
        environment.update(FI_PROVIDER_PATH=args.libraries, HOLDFAST_RAILS_USE=rails)
    words = [args.program, "--provider", provider, "--burst", str(messages)] + (["--domain", domain] if domain else [])
    try:
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=args.limit, check=False)
        return json.loads(ended.stdout)["cpu_us"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None


def draw(folder, ledger):
    """The curves of Figure 4 of the Open MPI DR paper, by CPU time: a figure a rail, its control among the lines."""
    for rail, names in (("tcp", ("net", "tcp;ofi_rxm")), ("udp", ("udp;ofi_rxd",)), ("shm", ("shm",))):
        names += tuple(row[0] for row in ROWS if row[0].startswith(f"holdfast over {rail}"))
        series = [(name.replace(f"holdfast over {rail}", "ours"), [(size, size / ledger.median(f"{name} {size}")) for size in SIZES
                                                                 if ledger.good(f"{name} {size}")]) for name in names]
        if all(line for _, line in series):
            svg_lines.write(os.path.join(folder, f"transport-figure-4-{rail}.svg"), f"Rail {rail}, both sides' CPU time",
                            "length", "MB for a second of CPU time", series, list(SIZE_NAMES.items()), x_log=True)


def print_spread(ledger):
    """How far the rounds of a row are apart: the greatest value over the least, at the median of all rows."""
    found = [max(values) / min(values) for row in ROWS for size in SIZES
             if len(values := ledger.good(f"{row[0]} {size}")) > 1]
    if found:
        print(f"\nGreatest over least of a cell's rounds: {statistics.median(found):.2f} at the median of {len(found)} cells, "
              f"{max(found):.2f} at most")


def print_bursts(rows, ledger):
    print("\nCPU time of a message of 8 bytes among so many, microseconds\n\n| | "
          + " | ".join(f"{messages:,}" for messages in BURSTS) + " |\n|---" + "|---" * len(BURSTS) + "|")
    for name in rows:
        print(f"| {name} | " + " | ".join(ledger.cell(f"{name} burst {messages}", "{:.2f}") for messages in BURSTS) + " |")


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
    parser.add_argument("--acks", action="store_true", help="also by packets that an acknowledgement waits for")
    parser.add_argument("--bursts", action="store_true", help="bursts of short messages, and nothing else")
    parser.add_argument("--json", help="the file of measurements")
    parser.add_argument("--figures", help="folder for plots of bandwidth by length")
    parser.add_argument("--tables", action="store_true", help="print the tables of the file and measure nothing")
    args = parser.parse_args()
    ledger = Ledger(args.json)
    folder = tempfile.TemporaryDirectory()
    secret = os.path.join(folder.name, "secret")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    runs = [(row[0], row[1], row[2], row[3], {"HOLDFAST_TRANSPORT_SECRET_FILE": secret} if "secret" in row[0] else {})
            for row in ROWS]
    if args.fragments:
        runs += [(f"{rails} fragment {bytes_}", "holdfast", None, rails, {"HOLDFAST_TRANSPORT_FRAGMENT_BYTES": str(bytes_)})
                 for rails in ("tcp@lo", "udp@lo", "shm") for bytes_ in FRAGMENTS]
    if args.acks:
        runs += [(f"{rails} acks {packets}", "holdfast", None, rails,
                  {"HOLDFAST_TRANSPORT_ACK_PACKETS": str(packets), "HOLDFAST_TRANSPORT_FRAGMENT_BYTES": str(ACKED_FRAGMENT)})
                 for rails in ("tcp@lo", "udp@lo", "shm") for packets in ACK_PACKETS]
    if args.bursts:
        runs = []
    for rounds in range(1, 0 if args.tables else args.rounds + 1):
        for name, provider, domain, rails, _ in BURST_ROWS if args.bursts else ():
            for messages in BURSTS:
                if ledger.wants(f"{name} burst {messages}", rounds):
                    ledger.add(f"{name} burst {messages}", measure_burst(args, provider, domain, rails, messages))
        for name, provider, domain, rails, options in runs:
            if not ledger.wants(f"{name} 8", rounds):
                continue
            print(name, file=sys.stderr, flush=True)
            found = measure(args, provider, domain, rails, options)
            for size in SIZES:
                ledger.add(f"{name} {size}", found.get(size))
    print_table("CPU time of a message, microseconds (ratio to the control)", SIZES, [(row[0], row[0], row[4]) for row in ROWS],
                ledger)
    print_spread(ledger)
    if args.figures:
        draw(args.figures, ledger)
    for rails in ("tcp@lo", "udp@lo", "shm"):
        print_table(f"By the length of a fragment, {rails}, microseconds", LONG,
                    [(f"{bytes_ // 1024} KiB", f"{rails} fragment {bytes_}", None) for bytes_ in FRAGMENTS], ledger)
        print_table(f"By packets for one acknowledgement, fragments of 16 KiB, {rails}, microseconds", LONG,
                    [(str(packets), f"{rails} acks {packets}", None) for packets in ACK_PACKETS], ledger)
    if any(ledger.good(f"{row[0]} burst {BURSTS[0]}") for row in BURST_ROWS):
        print_bursts([row[0] for row in BURST_ROWS], ledger)


if __name__ == "__main__":
    main()
