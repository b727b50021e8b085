#!/usr/bin/env python3
"""What the network does to the transport: bandwidth between two network namespaces whose links drop packets, of holdfast and
of the providers that it competes with, and over two links of limited bandwidth against one. Needs root, ip, nft and tc; uses the network of tests/transport/network_test.py.

    bench/transport_network.py build/release/lib --json FILE
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import time

spec = importlib.util.spec_from_file_location(
    "network_test", pathlib.Path(__file__).resolve().parents[1] / "tests/transport/network_test.py")
network_test = importlib.util.module_from_spec(spec)
spec.loader.exec_module(network_test)

#        name                        provider       interface  rails
ROWS = (("udp;ofi_rxd", "udp;ofi_rxd", "hf1", None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", "hf1", None),
        ("holdfast, one udp rail", "holdfast", None, "udp@hf1"),
        ("holdfast, two udp rails", "holdfast", None, "udp@hf1,udp@hf2"),
        ("holdfast, one tcp rail", "holdfast", None, "tcp@hf1"))


def bandwidth(network, libraries, row, size, rounds, limit):
    """MB/s of fi_pingpong between the namespaces, or None when it did not end in time or in an error."""
    _, provider, interface, rails = row
    variables = {**os.environ, "FI_PROVIDER_PATH": libraries}
    if rails:
        variables["HOLDFAST_RAILS_USE"] = rails
    words = ["fi_pingpong", "-p", provider, "-e", "rdm", "-I", str(rounds), "-S", str(size)]
    words += ["-d", interface] if interface else []
    enter = [["ip", "netns", "exec", name] for name in network.names]
    quiet = dict(env=variables, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = subprocess.Popen([*enter[0], *words, "-B", "47778"], stdout=subprocess.DEVNULL, **quiet)
    try:
        time.sleep(0.3)
        client = subprocess.run([*enter[1], *words, "-P", "47778", "10.77.0.1" if rails else "10.77.1.1"], timeout=limit,
                                stdout=subprocess.PIPE, text=True, check=False, **quiet)
        return size / float(client.stdout.splitlines()[-1].split()[-2])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None
    finally:
        server.kill()
        server.wait()


def shape(network, megabits):
    """Both rails' links carry so much in each direction; None: as much as they can."""
    for side in range(2):
        for link in ("hf1", "hf2"):
            if megabits:
                network.inside(side, "tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate", f"{megabits}mbit",
                               "burst", "128kb", "latency", "20ms")
            else:
                network.inside(side, "tc", "qdisc", "del", "dev", link, "root", check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", help="the folder of libholdfast-fi.so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20, help="seconds for one measurement")
    parser.add_argument("--json", help="file for the result")
    args = parser.parse_args()
    args.libraries = str(pathlib.Path(args.libraries).resolve())
    result = {}

    def measured(key, value):
        result.setdefault(key, []).append(value)

    for _ in range(args.rounds):
        for percent in (0, 0.1, 1, 5):
            with network_test.Network() as network:
                if percent:
                    network.drop(percent)
                for row in ROWS:
                    measured(f"{row[0]}, {percent} % loss", bandwidth(network, args.libraries, row, 1 << 20, 30, args.limit))
        with network_test.Network() as network:
            shape(network, 1000)
            for row in ROWS:
                measured(f"{row[0]}, links of 1000 Mbit/s", bandwidth(network, args.libraries, row, 4 << 20, 20, args.limit))
    for key, values in result.items():
        good = [value for value in values if value is not None]
        text = f"{statistics.median(good):8.1f} MB/s" if good else "       -"
        if len(good) < len(values):
            text += f"   ({len(values) - len(good)} of {len(values)} did not end within {args.limit:.0f} s)"
        print(f"{key:<50}{text}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
