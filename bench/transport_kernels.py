#!/usr/bin/env python3
"""What the transport costs kernels like those of the NAS benchmarks: the examples cg, fft, sort and sweep under Open MPI on one
host, over the holdfast provider with a tcp rail, over net, the provider that the rail is (the control: what the protocol
costs), and over libfabric's own tcp;ofi_rxm. Runs alternate, so that what else the machine does falls on all alike. Measured are the processor time of all processes together and the time that passed;
waiting processes poll, so that the first is about the second times their number where the machine is idle. Printed are medians
of the rounds' ratios, with their quartiles.

    bench/transport_kernels.py build/release --json docs/results/transport-kernels.json
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

from ledger import Ledger

KERNELS = {"cg": ["--size", "48", "--iterations", "60"], "fft": ["--size", "64", "--repetitions", "6"],
           "sort": ["--keys", "4000000"], "sweep": ["--size", "48", "--sweeps", "10"]}
PROVIDERS = ("net", "tcp;ofi_rxm", "holdfast")


def run(args, kernel, provider):
    """Seconds of processor time and of the clock, or None."""
    environment = {**os.environ, "FI_PROVIDER_PATH": str(args.build / "lib"), "HOLDFAST_RAILS_USE": "tcp@lo",
                   "FI_TCP_IFACE": "lo"}
    words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np",
             str(args.ranks), "--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", provider,
             str(args.build / "examples/openmpi" / kernel), *KERNELS[kernel]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    try:
        code = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=args.limit, check=False).returncode
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def key(args, kernel, provider):
    return f"{kernel} {args.ranks} {provider}"


def ratio(seconds, control, which):
    """Ours over the control's, round by round: median, quartiles, how many."""
    found = [ours[which] / plain[which] for plain, ours in zip(seconds[control], seconds["holdfast"]) if plain and ours]
    if len(found) < 3:
        return f"{statistics.median(found):.2f}" if found else "no round ended"
    low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default %(default)s)")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run (default %(default)s)")
    parser.add_argument("--json", help="the file of measurements")
    args = parser.parse_args()
    args.build = args.build.resolve()
    ledger = Ledger(args.json)
    for one in range(1, args.rounds + 1):
        for kernel in KERNELS:
            for provider in PROVIDERS:
                if ledger.wants(key(args, kernel, provider), one):
                    print(kernel, provider, file=sys.stderr, flush=True)
                    ledger.add(key(args, kernel, provider), run(args, kernel, provider))
    print(f"| kernel, {args.ranks} ranks | net, s | ours, s | processor time over net | over tcp;ofi_rxm | time passed over net |\n"
          "|---|---|---|---|---|---|")
    for kernel in KERNELS:
        seconds = {provider: ledger.values.get(key(args, kernel, provider), []) for provider in PROVIDERS}
        cells = [statistics.median(value[0] for value in seconds[provider] if value) for provider in ("net", "holdfast")]
        print(f"| {kernel} | {cells[0]:.2f} | {cells[1]:.2f} | {ratio(seconds, 'net', 0)} | {ratio(seconds, 'tcp;ofi_rxm', 0)} | "
              f"{ratio(seconds, 'net', 1)} |")


if __name__ == "__main__":
    main()
