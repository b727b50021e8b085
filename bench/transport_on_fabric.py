#!/usr/bin/env python3
"""The transport's engine on a simulated fabric: goodput over a noisy link and time lost by a dead one.

The engine as the sender in `holdfast simulate --transport`, against the closed form of `holdfast plan` and against
InfiniBand's own reliable connections (go-back-N) in the same simulator.

    ninja -C build/release holdfast
    bench/transport_on_fabric.py build/release/bin/holdfast --json docs/results/transport-on-fabric.json --figures docs/results

With --figures alone the plots are drawn from the file, and its tables printed.
"""
import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import tempfile

import svg_lines

RATES = (0, 1e-8, 1e-7, 1e-6, 3e-6, 6e-6, 1e-5, 2e-5, 3e-5)
FRAGMENTS = (256, 1024, 2048)
SEEDS = (1, 2, 3, 4, 5)
MESSAGE = 65536
LINK = 3.6e9            # bytes a second that PCI Express 2.0 x8 moves with its pauses, less than the link's 4 GB/s
HEADERS = 56 + 64 + 8 + 26  # packet and data frame (docs/spec/wire.md), DETH, LRH BTH ICRC VCRC
FREE = ["--datagram.send-overhead", "0ns", "--datagram.receive-overhead", "0ns", "--datagram.send-byte", "0",
        "--datagram.receive-byte", "0"]


def schedule(folder, messages, target):
    """All of rank 0's messages are ready at once."""
    path = pathlib.Path(folder, f"stream-{messages}-{target}.goal")
    sends = "\n".join(f"s{i}: send {MESSAGE}b to {target} tag 1" for i in range(messages))
    receives = "\n".join(f"r{i}: recv {MESSAGE}b from 0 tag 1" for i in range(messages))
    others = "".join(f"rank {rank} {{\n}}\n" for rank in range(1, target))
    path.write_text(f"num_ranks {target + 1}\nrank 0 {{\n{sends}\n}}\n{others}rank {target} {{\n{receives}\n}}\n")
    return path


def simulate(holdfast, fabric, trace, *words):
    done = subprocess.run([holdfast, "simulate", "--fabric", fabric, "--engine", "updn", "--trace", trace, "--json", "-",
                           *words], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def ratio(rate):
    """A bit error rate as the notation has it."""
    return f"{round(rate * 10 ** 9)}/{10 ** 9}"


def noise(rate):
    return ["--fault", f'noisy-link {ratio(rate)} link host-1/1'] if rate > 0 else []


def engine_run(holdfast, trace, fragment, rate, seed, costs):
    record = simulate(holdfast, "tree(2,1)", trace, *noise(rate), "--fault-seed", str(seed), "--seed", str(seed),
                      "--transport", "--transport.fragment-bytes", str(fragment), "--simulate.mtu", "4096",
                      *([] if costs else FREE))
    transport = record["transport"]
    engines = transport["engines"]
    return {"goodput": transport["goodput_bytes_per_s"] if record["ending"] == "complete" else 0,
            "ending": record["ending"],
            **{name: engines[name] for name in ("fragments_sent", "fragments_retransmitted", "timeouts", "duplicates",
                                                "acks_sent", "bytes_received")},
            "lost": transport["rails"][0]["lost_packets"]}


def connection_run(holdfast, trace, payload, rate, seed, exponent):
    record = simulate(holdfast, "tree(2,1)", trace, *noise(rate), "--fault-seed", str(seed), "--simulate.mtu",
                      str(payload), "--simulate.ack-timeout", str(exponent))
    ended = record["ending"] == "complete"
    return {"goodput": record["throughput_bytes_per_s"] if ended else 0, "ending": record["ending"]}


def closed_form(holdfast, folder, rate):
    """The closed form of docs/design/plan.md in bytes a second, by length; `holdfast plan` says the same where its table
    has the length."""
    forms = {size: LINK * size / (size + HEADERS) * (1 - rate) ** (8 * (size + HEADERS)) for size in FRAGMENTS}
    if rate == 0:
        return forms  # plan's table has longer fragments then
    path = pathlib.Path(folder, f"machine-{rate}.toml")
    path.write_text(f'[machine]\nname = "two hosts"\nnodes = 2\n[transport]\nbandwidth = "{LINK * 8 / 1e9} Gbit/s"\n'
                    f'round_trip = "3us"\nbit_error_rate = {rate}\nheader = "{HEADERS} B"\nfragment_cost = "0s"\n')
    done = subprocess.run([holdfast, "plan", path, "--json"], capture_output=True, text=True, check=True)
    tables = [table for section in json.loads(done.stdout)["sections"] for table in section["tables"]]
    for row in next(table["rows"] for table in tables if table["title"] == "Fragment lengths"):
        size = int(row[0]["value"])
        if size in forms and abs(row[1]["value"] / 8 / forms[size] - 1) > 1e-9:
            raise SystemExit(f"plan has {row[1]['value'] / 8} for {size} bytes at {rate}, the formula {forms[size]}")
    return forms


def dead_link(holdfast, trace, rails, lasts_ms, begin_us, reliable):
    """Seconds until the last message is there."""
    fault = [] if lasts_ms == 0 else ["--fault", f'fail-hca hca "host-0 mlx5_0" time {begin_us}us for {lasts_ms}ms',
                                      "--critical"]
    words = fault + ["--not-rerouted"]
    if not reliable:
        words += ["--transport", "--datagram.rails", str(rails), *FREE]
    record = simulate(holdfast, "rails(2,2,1,1)", trace, *words)
    return record["completion_ps"] / 1e12 if record["ending"] == "complete" else None


def measure(holdfast):
    result = {"noise": {}, "closed_form": {}, "connection": {}, "costs": {}, "outage": []}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        trace = schedule(folder, 300, 1)
        for rate in RATES:
            forms = closed_form(holdfast, folder, rate)
            result["closed_form"][str(rate)] = {str(size): forms[size] for size in FRAGMENTS}
            for size in FRAGMENTS:
                result["noise"][f"{size} {rate}"] = list(
                    pool.map(lambda seed: engine_run(holdfast, trace, size, rate, seed, False), SEEDS))
            result["costs"][str(rate)] = list(
                pool.map(lambda seed: engine_run(holdfast, trace, 1024, rate, seed, True), SEEDS))
            for exponent in (8, 14):
                result["connection"][f"{exponent} {rate}"] = list(
                    pool.map(lambda seed: connection_run(holdfast, trace, 1024, rate, seed, exponent), SEEDS))
        far = schedule(folder, 1000, 1)  # adapters 0 and 1 are the first of both hosts
        for name, rails, reliable in (("transport, two rails", 16, False), ("transport, one rail", 1, False),
                                      ("InfiniBand, one link", 1, True)):
            for lasts in (0, 1, 10, 100):
                times = list(pool.map(lambda seed: dead_link(holdfast, far, rails, lasts, 2000 + 777 * seed, reliable),
                                      SEEDS if lasts else SEEDS[:1]))
                result["outage"].append({"who": name, "lasts_ms": lasts, "seconds": times})
    return result


def spread(values, scale, digits):
    low, middle, high = min(values) * scale, statistics.median(values) * scale, max(values) * scale
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def show(result):
    print("| bit error rate | S_max | closed form, GB/s | engine, GB/s | ratio | sent again | closed form | timeouts |")
    print("|---|---|---|---|---|---|---|---|")
    for rate in RATES:
        for size in FRAGMENTS:
            runs = result["noise"][f"{size} {rate}"]
            form = result["closed_form"][str(rate)][str(size)]
            good = [run["goodput"] for run in runs]
            again = [run["fragments_retransmitted"] / run["fragments_sent"] for run in runs]
            chance = 1 - (1 - rate) ** (8 * (size + HEADERS))
            print(f"| {rate:g} | {size} | {form / 1e9:.3f} | {spread(good, 1e-9, 3)} | "
                  f"{statistics.median(good) / form:.3f} | {spread(again, 100, 2)} % | {100 * chance / (1 - chance):.2f} % | "
                  f"{spread([run['timeouts'] for run in runs], 1, 0)} |")
    print("\n| bit error rate | transport | with its processor | connection, 1 ms | connection, 67 ms |")
    print("|---|---|---|---|---|")
    for rate in RATES:
        cells = [spread([run["goodput"] for run in runs], 1e-9, 3)
                 for runs in (result["noise"][f"1024 {rate}"], result["costs"][str(rate)],
                              result["connection"][f"8 {rate}"], result["connection"][f"14 {rate}"])]
        print(f"| {rate:g} | {' | '.join(cells)} |")
    print("\n| who | without | 1 ms | 10 ms | 100 ms |")
    print("|---|---|---|---|---|")
    whole = {}
    for row in result["outage"]:
        if row["lasts_ms"] == 0:
            whole[row["who"]] = row["seconds"][0]
            print(f"| {row['who']} | {row['seconds'][0] * 1e3:.2f} ms |", end="")
        else:
            print(" broken |" if None in row["seconds"] else
                  f" {spread([s - whole[row['who']] for s in row['seconds']], 1e3, 2)} |", end="")
            if row["lasts_ms"] == 100:
                print()


def draw(result, folder):
    rates = [rate for rate in RATES if rate > 0]

    def line(key, runs):
        return [(rate, statistics.median(run["goodput"] for run in runs[key(rate)]) / 1e9) for rate in rates]

    series = [("closed form", [(rate, result["closed_form"][str(rate)]["1024"] / 1e9) for rate in rates]),
              ("transport", line(lambda rate: f"1024 {rate}", result["noise"])),
              ("with its processor", line(str, result["costs"])),
              ("connection, 1 ms", line(lambda rate: f"8 {rate}", result["connection"])),
              ("connection, 67 ms", line(lambda rate: f"14 {rate}", result["connection"]))]
    svg_lines.write(folder / "transport-on-fabric.svg", "Goodput of one stream over a noisy link, 1,024 bytes a packet", "bit error rate", "GB/s",
                    series, [(rate, f"{rate:g}") for rate in rates if rate != 2e-5], x_log=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("holdfast", nargs="?", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("docs/results/transport-on-fabric.json"))
    parser.add_argument("--figures", type=pathlib.Path)
    args = parser.parse_args()
    if args.holdfast:
        args.json.write_text(json.dumps(measure(args.holdfast), indent=1) + "\n")
    result = json.loads(args.json.read_text())
    show(result)
    if args.figures:
        draw(result, args.figures)


main()
