#!/usr/bin/env python3
"""Latency and bandwidth of the holdfast provider against the providers that it competes with, by libfabric's own
fi_pingpong (reliable datagrams, on the loopback). Each round runs every provider at every size, so that what else the machine
does falls on all alike; printed are medians over the rounds, and the ratio of each holdfast row to its peer's.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

SIZES = (8, 65536, 1048576, 4194304)
#         name                 provider        rails      fi_pingpong's -d   peer
ROWS = (("net", "net", None, "lo", None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", None, "lo", None),
        ("holdfast over tcp", "holdfast", "tcp@lo", None, "tcp;ofi_rxm"),
        ("udp;ofi_rxd", "udp;ofi_rxd", None, "lo", None),
        ("holdfast over udp", "holdfast", "udp@lo", None, "udp;ofi_rxd"),
        ("shm", "shm", None, None, None),
        ("holdfast over shm", "holdfast", "shm", None, "shm"))


def microseconds(libraries, provider, rails, domain, size, port):
    """Time of one transfer, or None when fi_pingpong did not end well."""
    environment = {**os.environ, "FI_PROVIDER_PATH": libraries}
    if rails:
        environment["HOLDFAST_RAILS_USE"] = rails
    words = ["fi_pingpong", "-p", provider, "-e", "rdm", "-I", "1000" if size <= 65536 else "100", "-S", str(size)]
    words += ["-d", domain] if domain else []
    server = subprocess.Popen(words + ["-B", str(port)], env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.15)
        client = subprocess.run(words + ["-P", str(port), "127.0.0.1"], env=environment, capture_output=True, text=True,
                                timeout=30, check=False)
        return float(client.stdout.splitlines()[-1].split()[-2])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", help="the folder of libholdfast-fi.so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="file for the result")
    args = parser.parse_args()
    times = {}
    port = 48000
    for _ in range(args.rounds):
        for name, provider, rails, domain, _ in ROWS:
            for size in SIZES:
                port += 1
                one = microseconds(args.libraries, provider, rails, domain, size, port)
                if one:
                    times.setdefault((name, size), []).append(one)
    medians = {key: statistics.median(values) for key, values in times.items()}
    print(f"{'':<20}{'8 B, us':>10}" + "".join(f"{size // 1024:>10} KiB" for size in SIZES[1:]) + "   (MB/s; ratios to the peer)")
    for name, _, _, _, peer in ROWS:
        line = f"{name:<20}"
        for size in SIZES:
            median = medians.get((name, size))
            value = "-" if median is None else f"{median:.1f}" if size == 8 else f"{size / median:.0f}"
            if peer and median and medians.get((peer, size)):
                ratio = median / medians[peer, size] if size == 8 else medians[peer, size] / median
                value += f" ({ratio:.2f})"
            line += f"{value:>14}"
        print(line)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({f"{name} {size}": values for (name, size), values in times.items()}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
