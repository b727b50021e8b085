#!/usr/bin/env python3
"""What the holdfast provider costs over the bare rail that it runs on, and how it compares with libfabric's own layers, by
fi_pingpong (on the loopback) at all lengths, with the checksum of payloads on and off, beside the numbers of the papers.

Each round runs every row at every length in turn, so that what else the machine does falls on all alike. Printed are
medians over the rounds, the quartiles, and for each holdfast row what it costs over its control: microseconds for short
messages, bandwidth for long ones. The control of a rail is the provider that carries it (Open MPI DR compares with the same
BTL without DR): net for tcp, datagrams without any reliability for udp, shm for shm. The load of the machine is said, and
kept in the JSON with every single value.

With --secret: each rail without a secret of the job and with one, in turn; the control is the rail without.
"""
import argparse
import collections
import json
import os
import secrets
import statistics
import subprocess
import tempfile
import time

LENGTHS = (1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
SHORT_BYTES = 1024   # up to here a message is a matter of latency
DATAGRAM_BYTES = 1024

Row = collections.namedtuple("Row", "name provider rails domain control checksum endpoint most secret")


def row(name, provider, rails=None, domain=None, control=None, checksum=None, endpoint="rdm", most=1 << 30, secret=False):
    return Row(name, provider, rails, domain, control, checksum, endpoint, most, secret)


ROWS = (row("net", "net", domain="lo"),
        row("tcp;ofi_rxm", "tcp;ofi_rxm", domain="lo", control="net"),
        row("holdfast, tcp", "holdfast", "tcp@lo", control="net"),
        row("holdfast, tcp, no checksum", "holdfast", "tcp@lo", control="net", checksum="none"),
        row("udp datagrams", "udp", domain="lo", endpoint="dgram", most=DATAGRAM_BYTES),
        row("udp;ofi_rxd", "udp;ofi_rxd", domain="lo", control="udp datagrams"),
        row("holdfast, udp", "holdfast", "udp@lo", control="udp datagrams"),
        row("holdfast, udp, no checksum", "holdfast", "udp@lo", control="udp datagrams", checksum="none"),
        row("shm", "shm"),
        row("holdfast, shm", "holdfast", "shm", control="shm"),
        row("holdfast, shm, no checksum", "holdfast", "shm", control="shm", checksum="none"))

SECRET_ROWS = tuple(one for kind, rail in (("tcp", "tcp@lo"), ("udp", "udp@lo"), ("shm", "shm")) for one in (
    row(f"holdfast, {kind}", "holdfast", rail),
    row(f"holdfast, {kind}, secret", "holdfast", rail, control=f"holdfast, {kind}", secret=True)))

PAPERS = """What the papers say of their own networks (no figure of another machine can be compared but as a ratio):
  Open MPI DR over its BTL          latency +1.3 us (measured in NewMadeleine 6.1, InfiniBand), bandwidth -20 to -30 %
  Open MPI csum (no retransmission) latency +0.1 us, bandwidth -20 % (InfiniBand), -30 % (Myrinet)
  NewMadeleine                      latency +0.5 us, bandwidth -7 % at 4 KiB, -10 % at 32 KiB (model, section 5.2),
                                    -20 % where the sum cannot be made while copying (Myrinet)
  Open MPI DR over TCP/IP           four times the bandwidth of TCP over the same InfiniBand"""


def microseconds(libraries, one, length, port, secret):
    """Time of one transfer, or None when fi_pingpong did not end well."""
    environment = {**os.environ, "FI_PROVIDER_PATH": libraries}
    for name in ("HOLDFAST_TRANSPORT_SECRET_FILE", "HOLDFAST_TRANSPORT_CHECKSUM", "HOLDFAST_RAILS_USE"):
        environment.pop(name, None)
    if one.rails:
        environment["HOLDFAST_RAILS_USE"] = one.rails + (f"/{one.checksum}" if one.checksum else "")
    if one.secret:
        environment["HOLDFAST_TRANSPORT_SECRET_FILE"] = secret
    times = "1000" if length <= 65536 else "100"
    words = ["fi_pingpong", "-p", one.provider, "-e", one.endpoint, "-I", times, "-S", str(length)]
    words += ["-d", one.domain] if one.domain else []
    server = subprocess.Popen(words + ["-B", str(port)], env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.15)
        client = subprocess.run(words + ["-P", str(port), "127.0.0.1"], env=environment, capture_output=True, text=True,
                                timeout=60, check=False)
        return float(client.stdout.splitlines()[-1].split()[-2])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return None
    finally:
        server.kill()
        server.wait()


def spread(values):
    """Median and quartiles."""
    if len(values) < 3:
        return statistics.median(values), min(values), max(values)
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def name_of(length):
    return f"{length} B" if length < 1024 else f"{length >> 10} KiB" if length < 1 << 20 else f"{length >> 20} MiB"


def show(rows, lengths, times):
    for length in lengths:
        short = length <= SHORT_BYTES
        print(f"\n{name_of(length)}, {'us' if short else 'MB/s'}: median [quartiles], cost over the control")
        for one in rows:
            values = times.get((one.name, length))
            if not values:
                if length <= one.most:
                    print(f"  {one.name:<28} did not end")
                continue
            shown = [time if short else length / time for time in spread(values)]
            line = f"  {one.name:<28} {shown[0]:>9.1f} [{min(shown):.1f}, {max(shown):.1f}]"
            control = times.get((one.control, length))
            if control:
                base = statistics.median(control)
                ours = statistics.median(values)
                line += f"   {ours - base:+.2f} us" if short else f"   {(base / ours - 1) * 100:+.0f} % of bandwidth"
                line += f" over {one.control}"
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", help="the folder of libholdfast-fi.so")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lengths", help="bytes, separated by commas; default: all of " + ",".join(map(str, LENGTHS)))
    parser.add_argument("--only", help="rows whose name contains this, and their controls")
    parser.add_argument("--secret", action="store_true", help="what authentication costs, instead")
    parser.add_argument("--json", help="file for the result")
    args = parser.parse_args()
    lengths = tuple(map(int, args.lengths.split(","))) if args.lengths else LENGTHS
    rows = SECRET_ROWS if args.secret else ROWS
    if args.only:
        chosen = [one for one in rows if args.only in one.name]
        rows = tuple(one for one in rows if one in chosen or one.name in {each.control for each in chosen})
    folder = tempfile.TemporaryDirectory()
    secret = os.path.join(folder.name, "secret")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    times = {}
    loads = [os.getloadavg()[0]]
    port = 48000
    for _ in range(args.rounds):
        for length in lengths:
            for one in rows:
                if length > one.most:
                    continue
                port = port + 1 if port < 60000 else 48000
                taken = microseconds(args.libraries, one, length, port, secret)
                if taken:
                    times.setdefault((one.name, length), []).append(taken)
        loads.append(os.getloadavg()[0])
    show(rows, lengths, times)
    print(f"\n{args.rounds} rounds; load of the machine's {os.cpu_count()} processors "
          f"{min(loads):.1f} to {max(loads):.1f} (with these programs)")
    if not args.secret:
        print(PAPERS)
    if args.json:
        result = {"rounds": args.rounds, "loads": loads, "processors": os.cpu_count(),
                  "us": {f"{name} {length}": values for (name, length), values in times.items()}}
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
