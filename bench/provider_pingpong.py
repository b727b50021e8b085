#!/usr/bin/env python3
"""Latency and bandwidth of the holdfast provider against the providers that it competes with, by libfabric's own
fi_pingpong (reliable datagrams, on the loopback). Each round runs every provider at every size, so that what else the machine
does falls on all alike; printed are medians over the rounds, and the ratio of each holdfast row to its peer's.

With --secret: each rail without a secret of the job and with one, in turn; the peer is the rail without.
"""
import argparse
import json
import os
import secrets
import statistics
import subprocess
import tempfile
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

SECRET_ROWS = tuple(row for kind, rail in (("tcp", "tcp@lo"), ("udp", "udp@lo"), ("shm", "shm")) for row in (
    (kind, "holdfast", rail, None, None), (f"{kind}, secret", "holdfast", rail, None, kind)))


def microseconds(libraries, provider, rails, domain, size, port, secret=None):
    """Time of one transfer, or None when fi_pingpong did not end well."""
    environment = {**os.environ, "FI_PROVIDER_PATH": libraries}
    if rails:
        environment["HOLDFAST_RAILS_USE"] = rails
    environment.pop("HOLDFAST_TRANSPORT_SECRET_FILE", None)
    if secret:
        environment["HOLDFAST_TRANSPORT_SECRET_FILE"] = secret
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
    parser.add_argument("--secret", action="store_true", help="what authentication costs, instead")
    parser.add_argument("--json", help="file for the result")
    args = parser.parse_args()
    rows = SECRET_ROWS if args.secret else ROWS
    folder = tempfile.TemporaryDirectory()
    secret = os.path.join(folder.name, "secret")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    times = {}
    port = 48000
    for _ in range(args.rounds):
        for size in SIZES:
            for name, provider, rails, domain, _ in rows:
                port += 1
                one = microseconds(args.libraries, provider, rails, domain, size, port,
                                   secret if name.endswith("secret") else None)
                if one:
                    times.setdefault((name, size), []).append(one)
    medians = {key: statistics.median(values) for key, values in times.items()}
    print(f"{'':<20}{'8 B, us':>10}" + "".join(f"{size // 1024:>10} KiB" for size in SIZES[1:]) + "   (MB/s; ratios to the peer)")
    for name, _, _, _, peer in rows:
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
