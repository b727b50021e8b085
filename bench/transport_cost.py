#!/usr/bin/env python3
"""CPU time of a message over the holdfast provider and over those that it competes with, by provider_bench: both sides in
one thread, so that it does not matter what else the machine does. Each round runs every row; printed are medians over the
rounds, and each holdfast row's ratio to its peer's. With --fragments also what the length of a fragment makes of it, as
Figure 5 of the Open MPI DR paper.

    cmake --preset bench && ninja -C build/bench provider_bench holdfast-fi
    bench/transport_cost.py build/bench/bin/provider_bench build/bench/lib --fragments --json FILE
"""
import argparse
import json
import os
import statistics
import subprocess

SIZES = (8, 4096, 65536, 1048576, 4194304)
#         name                 provider        domain  rails     peer
ROWS = (("net", "net", "lo", None, None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", "lo", None, None),
        ("holdfast over tcp", "holdfast", None, "tcp@lo", "tcp;ofi_rxm"),
        ("udp;ofi_rxd", "udp;ofi_rxd", "lo", None, None),
        ("holdfast over udp", "holdfast", None, "udp@lo", "udp;ofi_rxd"),
        ("shm", "shm", None, None, None),
        ("holdfast over shm", "holdfast", None, "shm", "shm"))
FRAGMENTS = (1024, 4096, 16384, 65536, 262144)


def measure(program, libraries, provider, domain=None, rails=None, options=()):
    """Microseconds of CPU time by size; without those that did not end well."""
    environment = {**os.environ, **dict(options)}
    if rails:
        environment.update(FI_PROVIDER_PATH=libraries, HOLDFAST_RAILS_USE=rails)
    words = [program, "--provider", provider] + (["--domain", domain] if domain else [])
    try:
        ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
        lines = ended.stdout.splitlines()
    except subprocess.TimeoutExpired as late:
        lines = (late.stdout or b"").decode().splitlines()
    return {row["bytes"]: row["cpu_us"] for row in map(json.loads, lines)}


def table(rows, sizes, times):
    print(f"{'CPU us a message':<24}" + "".join(f"{size:>18}" for size in sizes))
    for name, peer in rows:
        line = f"{name:<24}"
        for size in sizes:
            values = times.get((name, size))
            if not values:
                line += f"{'-':>18}"
                continue
            median = statistics.median(values)
            text = f"{median:.2f}"
            if peer and times.get((peer, size)):
                text += f" ({median / statistics.median(times[peer, size]):.2f})"
            line += f"{text:>18}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="provider_bench")
    parser.add_argument("libraries", help="the folder of libholdfast-fi.so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fragments", action="store_true", help="also by the length of a fragment")
    parser.add_argument("--json", help="file for the result")
    args = parser.parse_args()
    times = {}
    for _ in range(args.rounds):
        for name, provider, domain, rails, _ in ROWS:
            for size, value in measure(args.program, args.libraries, provider, domain, rails).items():
                times.setdefault((name, size), []).append(value)
        for rails in ("tcp@lo", "udp@lo", "shm") if args.fragments else ():
            for bytes_ in FRAGMENTS:
                options = {"HOLDFAST_TRANSPORT_FRAGMENT_BYTES": str(bytes_)}
                for size, value in measure(args.program, args.libraries, "holdfast", None, rails, options).items():
                    times.setdefault((f"{rails} fragment {bytes_}", size), []).append(value)
    table([(row[0], row[4]) for row in ROWS], SIZES, times)
    if args.fragments:
        print()
        table([(f"{rails} fragment {bytes_}", None) for rails in ("tcp@lo", "udp@lo", "shm") for bytes_ in FRAGMENTS],
              SIZES[2:], times)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({f"{name} {size}": values for (name, size), values in times.items()}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
