#!/usr/bin/env python3
"""What the network does to the transport, between two network namespaces joined by veth links: bandwidth while packets are
lost, over two links of limited bandwidth against one, with a link that dies, and how long messages stand still when it does.
The holdfast provider beside those that it competes with, in libfabric's fi_pingpong and in Open MPI. Needs root, ip, nft, tc.

Every measurement is bounded (--limit) and written to the file at once; a run that was interrupted goes on where it ended.
A measurement that does not end is written down as that. Tables are printed from the file, in Markdown.

    ninja -C build/release holdfast-fi transport-programs
    bench/transport_network.py build/release --json docs/results/transport-network.json
    bench/transport_network.py build/release --json docs/results/transport-network.json --tables
"""
import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ledger import Ledger

spec = importlib.util.spec_from_file_location(
    "network_test", pathlib.Path(__file__).resolve().parents[1] / "tests/transport/network_test.py")
network_test = importlib.util.module_from_spec(spec)
spec.loader.exec_module(network_test)

#        name                      provider       rails
ROWS = (("udp;ofi_rxd", "udp;ofi_rxd", None),
        ("tcp;ofi_rxm", "tcp;ofi_rxm", None),
        ("holdfast, one udp rail", "holdfast", "udp@hf1"),
        ("holdfast, two udp rails", "holdfast", "udp@hf1,udp@hf2"),
        ("holdfast, one tcp rail", "holdfast", "tcp@hf1"),
        ("holdfast, two tcp rails", "holdfast", "tcp@hf1,tcp@hf2"))
SIZES = {"64 KiB": 65536, "1 MiB": 1 << 20, "4 MiB": 4 << 20}
LOSSES = (0, 0.1, 1, 5)


def pingpong(network, args, row, size, rounds):
    """MB/s of fi_pingpong, or None."""
    _, provider, rails = row
    variables = {**os.environ, "FI_PROVIDER_PATH": str(args.build / "lib")}
    if rails:
        variables["HOLDFAST_RAILS_USE"] = rails
    words = ["fi_pingpong", "-p", provider, "-e", "rdm", "-I", str(rounds), "-S", str(size)]
    words += [] if rails else ["-d", "hf1"]
    enter = [["ip", "netns", "exec", name] for name in network.names]
    quiet = dict(env=variables, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = subprocess.Popen([*enter[0], *words, "-B", "47778"], stdout=subprocess.DEVNULL, **quiet)
    try:
        network_test.wait_until(lambda: ":47778" in network.inside(0, "ss", "-ltn").stdout, "the server listens", 20)
        client = subprocess.run([*enter[1], *words, "-P", "47778", "10.77.0.1" if rails else "10.77.1.1"], timeout=args.limit,
                                stdout=subprocess.PIPE, text=True, check=False, **quiet)
        return size / float(client.stdout.splitlines()[-1].split()[-2])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None
    finally:
        server.kill()
        server.wait()


def start_job(network, args, row, folder, program):
    """A program under Open MPI, one process in each namespace."""
    _, provider, rails = row
    return network_test.Job(network, str(args.build / "lib"), folder, rails, program, provider=provider)


def end_job(job, limit):
    """Whether it ended well within its time, and what it had printed."""
    try:
        out, _ = job.child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(job.child.pid, signal.SIGKILL)
        out, _ = job.child.communicate()
        return False, out
    return job.child.returncode == 0, out


def exchange(network, args, row, folder):
    """MB/s by size of the ping-pong in tests/transport/exchange.c, the best of ten turns; None where it did not come to it."""
    program = [str(args.build / "tests/transport/exchange"), "10", "0", str(4 << 20)]
    _, out = end_job(start_job(network, args, row, folder, program), args.limit)
    found = {}
    for line in out.splitlines():
        if line.startswith("{"):
            one = json.loads(line)
            found[one["bytes"]] = one["mb_per_s"]
    return found


def shape(network, megabits):
    """Both rails' links carry so much in each direction."""
    for side in range(2):
        for link in ("hf1", "hf2"):
            network.inside(side, "tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate", f"{megabits}mbit",
                           "burst", "128kb", "latency", "20ms")


def silence(network, link):
    """The link carries nothing any more, and says so to nobody."""
    for side in range(2):
        network.inside(side, "nft", "add", "table", "inet", "dead")
        network.inside(side, "nft", "add", "chain", "inet", "dead", "in", "{ type filter hook input priority -1 ; }")
        network.inside(side, "nft", "add", "rule", "inet", "dead", "in", "iifname", f"hf{link}", "drop")


def busier_link(network):
    """The link that messages come over to the first host: short ones may all take the same."""
    def received():
        return [int(network.inside(0, "cat", f"/sys/class/net/hf{n}/statistics/rx_bytes").stdout) for n in (1, 2)]
    before = received()
    network_test.wait_until(lambda: sum(received()) > sum(before) + 5_000_000, "the transfer goes on")
    first, second = (after - start for after, start in zip(received(), before))
    return 1 if first >= second else 2


def gap(network, args, folder, loud):
    """Milliseconds of the longest turn before the busier link of two dies, and after."""
    job = start_job(network, args, ROWS[3], folder,
                    [str(args.build / "tests/transport/gaps"), str(folder / "failed"), str(folder / "enough")])
    try:
        network.wait_for_traffic(job.child, 20_000_000)
        link = busier_link(network)
        (folder / "failed").touch()
        network.link(link, "down") if loud else silence(network, link)
        network.wait_for_traffic(job.child, 20_000_000)
        (folder / "enough").touch()
        _, out = end_job(job, args.limit)
        found = json.loads(out)
        return found["before"]["longest_us"] / 1000, found["after"]["longest_us"] / 1000
    except (SystemExit, TypeError, ValueError):
        os.killpg(job.child.pid, signal.SIGKILL)
        job.child.communicate()
        return None, None


def with_network(prepare, measure):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        with network_test.Network() as network:
            prepare(network)
            return measure(network, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prepare_loss(percent):
    return (lambda network: network.drop(percent)) if percent else (lambda network: None)


def measure_pingpong(args, ledger):
    for percent in LOSSES:
        for row in ROWS:
            for name, size in SIZES.items():
                key = f"fi_pingpong, {percent} % loss, {row[0]}, {name}"
                if ledger.wants(key, args.rounds):
                    args.say(key)
                    ledger.add(key, with_network(prepare_loss(percent),
                                                 lambda network, _: pingpong(network, args, row, size, 50)))


def measure_openmpi(args, ledger):
    for percent in LOSSES:
        for row in ROWS:
            first = f"Open MPI, {percent} % loss, {row[0]}, "
            if not ledger.wants(first + "1 MiB", args.rounds):
                continue
            args.say(first)
            found = with_network(prepare_loss(percent), lambda network, folder: exchange(network, args, row, folder))
            for name, size in SIZES.items():
                ledger.add(first + name, found.get(size))


def measure_links(args, ledger):
    for row in ROWS:
        key = f"links of 1000 Mbit/s, {row[0]}"
        if ledger.wants(key, args.rounds):
            args.say(key)
            ledger.add(key, with_network(lambda network: shape(network, 1000),
                                         lambda network, _: pingpong(network, args, row, 4 << 20, 20)))


def measure_dead(args, ledger):
    """A ping-pong whose first link falls silent after a while: whether it ends, and how many MB/s it has made until then."""
    def measure(network, folder, row):
        sign = folder / "enough"
        job = start_job(network, args, row, folder,
                        [str(args.build / "tests/transport/exchange"), "1", "1", "65536", str(sign)])
        try:
            network.wait_for_traffic(job.child, 2_000_000)
            silence(network, busier_link(network) if row[0].startswith("holdfast, two") else 1)
            sign.touch()
            start = time.monotonic()
            ended, out = end_job(job, args.limit)
            return time.monotonic() - start if ended and "verified" in out else None
        except SystemExit:
            os.killpg(job.child.pid, signal.SIGKILL)
            job.child.communicate()
            return None
    for percent in (0, 5):
        for row in ROWS:
            key = f"a dead link, {percent} % loss, {row[0]}"
            if ledger.wants(key, args.rounds):
                args.say(key)
                ledger.add(key, with_network(prepare_loss(percent),
                                             lambda network, folder: measure(network, folder, row)))


def measure_gaps(args, ledger):
    for loud in (True, False):
        way = "taken down" if loud else "silent"
        while ledger.wants(f"longest turn after, link {way}", 5 * args.rounds):
            args.say(f"link {way}")
            before, after = with_network(lambda network: None,
                                         lambda network, folder: gap(network, args, folder, loud))
            ledger.add(f"longest turn before, link {way}", before)
            ledger.add(f"longest turn after, link {way}", after)


def table(title, columns, rows):
    rows = [(name, cells) for name, cells in rows if any(cells)]
    if not rows:
        return
    print(f"\n{title}\n\n| | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |")


def tables(ledger):
    for what in ("fi_pingpong", "Open MPI"):
        for name in SIZES:
            table(f"{what}, {name}, MB/s", [f"{percent} % loss" for percent in LOSSES],
                  [(row[0], [ledger.cell(f"{what}, {percent} % loss, {row[0]}, {name}", "{:.1f}") for percent in LOSSES])
                   for row in ROWS])
    table("Links of 1000 Mbit/s, fi_pingpong, 4 MiB, MB/s", ["MB/s"],
          [(row[0], [ledger.cell(f"links of 1000 Mbit/s, {row[0]}", "{:.1f}")]) for row in ROWS])
    table("The first link falls silent in mid-transfer: seconds until the program ended well", ["no loss", "5 % loss"],
          [(row[0], [ledger.cell(f"a dead link, {percent} % loss, {row[0]}", "{:.2f}") for percent in (0, 5)]) for row in ROWS])
    print("\nLongest turn of a ping-pong of 64 KiB over two udp rails, milliseconds\n\n| | median | longest | runs |\n|---|---|---|---|")
    for way in ("taken down", "silent"):
        for when in ("before", "after"):
            values = ledger.good(f"longest turn {when}, link {way}")
            if values:
                print(f"| {when}, link {way} | {ledger.median(f'longest turn {when}, link {way}'):.1f} | {max(values):.1f} | "
                      f"{len(values)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each kind (default %(default)s)")
    parser.add_argument("--limit", type=float, default=10, help="seconds for one measurement (default %(default)s)")
    parser.add_argument("--json", help="the file of measurements")
    parser.add_argument("--only", choices=["pingpong", "openmpi", "links", "dead", "gaps"], nargs="+")
    parser.add_argument("--tables", action="store_true", help="print the tables of the file and measure nothing")
    args = parser.parse_args()
    args.build = args.build.resolve()
    ledger = Ledger(args.json)
    terminal = sys.stderr.isatty()
    args.say = lambda text: print(("\r\033[K" if terminal else "") + text, end="" if terminal else "\n", file=sys.stderr, flush=True)
    if not args.tables:
        measures = dict(gaps=measure_gaps, dead=measure_dead, links=measure_links, pingpong=measure_pingpong,
                        openmpi=measure_openmpi)
        most = args.rounds
        for args.rounds in range(1, most + 1):  # a first value of everything before a second of anything
            for name, measure in measures.items():
                if not args.only or name in args.only:
                    measure(args, ledger)
    tables(ledger)


if __name__ == "__main__":
    main()
