#!/usr/bin/env python3
"""Routes large fabrics with engines of ours, on one thread and more, and prints one Markdown table: the time of the engine,
on the clock and of the calling thread's processor; the CPU time of the whole command, which also walks every pair and
looks for credit loops; its largest resident size; what became of it. With --fault a link fails as well, and the time of
mending, the entries that it changed and the fullest link after it are beside those of routing anew.

    bench/fabric_at_size.py --program build/release/bin/holdfast --fabric 'xgft(3;32,32,49;1,32,32) ports=64' \\
        --engines dmodc,ftree --threads 1,2 --fault 'fail-link link s-0-0/33'

How even the work is over threads: with t threads the calling thread does 1/t of what can be shared and all of what
cannot. If its CPU time is A on one thread and B on t, the shared part is (A - B) t / (t - 1).
"""

import argparse
import json
import os
import subprocess
import tempfile


def run(words):
    """The record that a command prints, its CPU seconds and its largest resident size in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(words, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        for stream in (out, err):
            stream.seek(0)
        text = out.read().decode()
        if child.returncode not in (0, 1) or not text.startswith("{"):
            return {"refused": err.read().decode().strip()}, 0, 0
        return json.loads(text), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def row(program, fabric, engine, threads, fault, seed):
    words = [program, "fabric", "route", fabric, "--engine", engine, "--threads", str(threads), "--json"]
    record, cpu, memory = run(words)
    if "refused" in record:
        return f"| {engine} | {threads} | {record['refused']} |"
    verdict = "good" if record["good"] else "lost pairs or credit loops"
    cells = [engine, threads, f"{record['routing_wall_ns'] / 1e9:.2f}", f"{record['routing_cpu_ns'] / 1e9:.2f}",
             f"{cpu:.1f}", f"{memory / 1e6:.0f}", record["edge_forwarding_index"]["max"], record["lanes"], verdict]
    if fault:
        record, _, _ = run(words + ["--faults", fault, "--seed", str(seed)])
        failure = record["failure"]
        mended, anew = failure["rerouted"], failure["routed_in_full"]
        cells += [f"{mended['routing_cpu_ns'] / 1e6:.0f}" + (" (anew)" if mended["routed_anew"] else ""),
                  mended["entries_changed"], failure["routes_cut"], failure["after"]["edge_forwarding_index"]["max"],
                  "good" if failure["after"]["good"] else "lost pairs or credit loops",
                  f"{anew['routing_cpu_ns'] / 1e6:.0f}", anew["entries_changed"]]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/holdfast")
    parser.add_argument("--fabric", action="append", required=True)
    parser.add_argument("--engines", default="dmodc,ftree,updn,sssp,dfsssp")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--fault", default="")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = ["engine", "threads", "engine, s on the clock", "CPU s of the calling thread", "CPU s of the command", "MB",
             "fullest link", "lanes", "verdict"]
    if arguments.fault:
        names += ["mended, CPU ms", "entries changed", "routes cut", "fullest link", "verdict", "anew, CPU ms",
                  "entries changed"]
    for fabric in arguments.fabric:
        print(f"\n`{fabric}`\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)
        for engine in arguments.engines.split(","):
            for threads in arguments.threads.split(","):
                print(row(arguments.program, fabric, engine, threads, arguments.fault, arguments.seed), flush=True)


if __name__ == "__main__":
    main()
