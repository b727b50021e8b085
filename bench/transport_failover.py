#!/usr/bin/env python3
"""Bandwidth over time while a rail of each pair dies and comes back: Figure 7 of the Open MPI DR paper.

A stream of messages of 256 KiB under Open MPI (tests/transport/stream.c). The pairs: udp and tcp, udp and udp over two
links of 1,000 Mbit/s between two network namespaces; tcp and shm between two processes of one. The first rail falls
silent (its packets are dropped, nobody is told), as the paper's Myrinet, and comes back; then the second one's link is
taken down, which the kernel tells as the paper's InfiniBand does, and comes up again (shm cannot be taken away). Needs
root, ip, nft, tc.

    ninja -C build/release holdfast-fi transport-programs
    bench/transport_failover.py build/release --json docs/results/transport-failover.json --figures docs/results

With --figures alone the plots are drawn from the file, and its table printed.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import svg_lines

spec = importlib.util.spec_from_file_location(
    "network_test", pathlib.Path(__file__).resolve().parents[1] / "tests/transport/network_test.py")
network_test = importlib.util.module_from_spec(spec)
spec.loader.exec_module(network_test)

PAIRS = {"udp-tcp": "udp@hf1,tcp@hf2", "udp-udp": "udp@hf1,udp@hf2", "tcp-shm": "tcp@hf1,shm"}
PART_S = 2.5   # between two events
MEGABITS = 1000


def on_one_host(network, args, folder, rails, program):
    """Both processes in the first namespace."""
    environment = {**os.environ, "FI_PROVIDER_PATH": str(args.build / "lib"), "HOLDFAST_RAILS_USE": rails}
    words = ["ip", "netns", "exec", network.names[0], "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "2",
             "--mca", "mpi_yield_when_idle", "1", "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca",
             "mtl_ofi_provider_include", "holdfast", "--mca", "btl", "^openib,ofi", *program]
    return subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder)


def shape(network, link):
    for side in range(2):
        network.inside(side, "tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate", f"{MEGABITS}mbit", "burst",
                       "128kb", "latency", "20ms")


def silence(network, both):
    """What comes to the first link's addresses is dropped; on one host it comes over lo."""
    for side in range(2 if both else 1):
        network.inside(side, "nft", "table inet dead { chain in { type filter hook input priority -1; "
                                    f"ip daddr 10.77.1.{side + 1} drop; }}; }}")


def measure(args, pair):
    """Events [(s, what)] since the stream began, and MB/s by period."""
    apart = pair != "tcp-shm"
    with tempfile.TemporaryDirectory() as name, network_test.Network() as network:
        folder = pathlib.Path(name)
        end = folder / "end"
        program = [str(args.build / "tests/transport/stream"), str(end)]
        for link in ("hf1", "hf2") if apart else ("lo",):
            shape(network, link)
        if apart:
            child = network_test.Job(network, str(args.build / "lib"), folder, PAIRS[pair], program).child
        else:
            child = on_one_host(network, args, folder, PAIRS[pair], program)
        events = []

        def happen(what, action):
            time.sleep(PART_S)
            action()
            events.append([time.monotonic(), what])

        try:
            if apart:
                network.wait_for_traffic(child, 50_000_000)
            else:
                time.sleep(3)
            happen("silent", lambda: silence(network, apart))
            happen("well", network.drop_nothing)
            if apart:
                happen("down", lambda: network.link(2, "down"))
                happen("up", lambda: network.link(2, "up"))
            time.sleep(PART_S)
            end.touch()
            out, err = child.communicate(timeout=60)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
        found = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
        if child.returncode != 0 or found["wrong"] != 0:
            sys.exit(f"{pair}: ended with {child.returncode}, {found['wrong']} messages wrong\n{err}")
    period = found["period_ms"] / 1000
    return {"rails": PAIRS[pair], "megabits": MEGABITS, "period_s": period,
            "events": [[round(at - found["start_s"], 3), what] for at, what in events],
            "mb_per_s": [round(bytes_ / period / 1e6, 1) for bytes_ in found["bytes"]]}


def parts(one):
    """(from, to, after what): the times between events; the first second and the first period after an event, in which
    what is on its way is still counted, are left out of the medians."""
    edges = [[0.0, "both"], *one["events"], [len(one["mb_per_s"]) * one["period_s"], ""]]
    return [(start, stop, what) for (start, what), (stop, _) in zip(edges, edges[1:])]


def show(found, folder):
    print("| pair | | MB/s at the median | still for, ms |\n|---|---|---|---|")
    for pair, one in found.items():
        period = one["period_s"]
        names = {"both": "both rails", "silent": "the first is silent", "well": "it carries again", "down":
                 "the second one's link is down", "up": "it is up again"}
        for start, stop, what in parts(one):
            values = one["mb_per_s"][int(start / period) + 1:int(stop / period)]
            still = longest = 0
            for value in values:
                still = still + 1 if value == 0 else 0
                longest = max(longest, still)
            print(f"| {pair} | {names[what]} | {statistics.median(values):.0f} | {longest * period * 1000:.0f} |")
        svg_lines.write(pathlib.Path(folder) / f"transport-failover-{pair}.svg", f"Rails {one['rails']}", "s", "MB/s",
                        [("received", [(n * period, value) for n, value in enumerate(one["mb_per_s"])])],
                        marks=[(at, what) for at, what in one["events"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", help="the build folder; without it nothing is measured")
    parser.add_argument("--only", nargs="*", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--json", required=True, help="the file of measurements")
    parser.add_argument("--figures", help="folder for the plots")
    args = parser.parse_args()
    path = pathlib.Path(args.json)
    found = json.loads(path.read_text()) if path.exists() else {}
    if args.build:
        args.build = args.build.resolve()
        for pair in args.only:
            print(pair, file=sys.stderr, flush=True)
            found[pair] = measure(args, pair)
            path.write_text(json.dumps(found) + "\n")
    if args.figures:
        show(found, args.figures)


if __name__ == "__main__":
    main()
