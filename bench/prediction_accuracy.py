#!/usr/bin/env python3
"""How far predictions of recorded programs are from the truth. Hosts are network namespaces joined by a bridge, whose links are
limited to rates at which the two cores of a small machine are not the bottleneck. Each program is recorded once, on the rate
RECORDED; from that recording 'holdfast simulate' tells its time on other rates, with two ranks a host, and with one link that is
four times slower, and the real program runs there. Nothing is fitted on what is judged: the MPI is measured once, by
'holdfast calibrate' between two of the hosts over links without a limit, with the latency that a ping-pong of one byte shows.

Whether the cores are the bottleneck is measured, too: each program runs over links without a limit, where what it takes beyond
what is told, for want of a core a rank, is no link's. A case of which that is more than CORES judges the test machine's cores
and not the prediction; the tables keep it apart.

The times of runs are those of their own recordings. Every one is written to the file at once; a run that was interrupted goes
on where it ended. Needs root, ip and tc.

    ninja -C build/release holdfast holdfast-record-openmpi examples-openmpi
    nice -n -15 bench/prediction_accuracy.py build/release --json docs/results/prediction-accuracy.json
    bench/prediction_accuracy.py build/release --json docs/results/prediction-accuracy.json --tables
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from ledger import Ledger

RECORDED = 20  # Mbit/s
RATES = (5, 10, 40)
QDR = 32000  # Mbit/s of data that the simulated links have at 'link_slowdown 1'
# A frame has 1,448 bytes of the message and 66 of Ethernet, IP and TCP; a simulated packet 26 more than its payload.
PAYLOAD, ON_LINK, SIMULATED = 1448, 1448 + 66, 1448 + 26
# One frame, and what makes up for a timer that was late. A larger bucket lets more than the first frame of a message pass at once.
BUCKET = 1700
# A datagram of IP with TCP's acknowledgement and no data: 20 bytes of IP, 20 of TCP, 12 of its time stamps.
ACKNOWLEDGEMENT = ("match", "u16", "0x0034", "0xfffc", "at", "2")
UNLIMITED = 20000  # Mbit/s for the simulator where links have no limit
CORES = 0.15  # of a case's time
BRIDGE = ("--simulate.input-queues", "output")  # a bridge has a queue for each port
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {0} 0 {0} 0 {0}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run {1}
"""


def sh(*words, check=True):
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done


class Hosts:
    """Namespaces with a link each to two bridges in one more namespace: hc for what mpirun says, hd for what MPI says."""

    def __init__(self, count):
        self.names = [f"hp-{os.getpid()}-{host}" for host in range(count)]
        self.middle = f"hp-{os.getpid()}-middle"

    def __enter__(self):
        sh("ip", "netns", "add", self.middle)
        for link in "cd":
            self.at(self.middle, "ip", "link", "add", f"bridge-{link}", "type", "bridge")
            self.at(self.middle, "ip", "link", "set", f"bridge-{link}", "up")
        for host, name in enumerate(self.names):
            sh("ip", "netns", "add", name)
            self.at(name, "ip", "link", "set", "lo", "up")
            # An adapter holds few packets of a socket, so that an acknowledgement does not wait for megabytes, and a link
            # that was idle is as fast as before.
            self.at(name, "sysctl", "-q", "net.ipv4.tcp_limit_output_bytes=16384", "net.ipv4.tcp_slow_start_after_idle=0")
            for net, link in enumerate("cd"):
                sh("ip", "link", "add", f"h{link}", "netns", name, "type", "veth", "peer", "name", f"p{link}{host}",
                   "netns", self.middle)
                self.at(self.middle, "ip", "link", "set", f"p{link}{host}", "master", f"bridge-{link}", "up")
                self.at(name, "ip", "addr", "add", f"10.78.{net}.{host + 1}/24", "dev", f"h{link}")
                self.at(name, "ip", "link", "set", f"h{link}", "up")
        return self

    def __exit__(self, *_):
        for name in (*self.names, self.middle):
            for pid in sh("ip", "netns", "pids", name, check=False).stdout.split():
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            sh("ip", "netns", "del", name, check=False)

    def at(self, name, *words, check=True):
        return sh("ip", "netns", "exec", name, *words, check=check)

    def shape(self, megabits, slow_host=None, slow_megabits=None):
        """Each link carries so much in each direction, whole frames one after the other, and keeps what waits; no limit for
        UNLIMITED. TCP's acknowledgements of the other direction's data do not wait behind data, nor take of the rate: the
        simulated fabric has none."""
        for host, name in enumerate(self.names):
            rate = slow_megabits if host == slow_host else megabits
            for where, link in ((name, "hd"), (self.middle, f"pd{host}")):
                self.at(where, "ip", "link", "set", link, "gso_max_segs", "1")
                self.at(where, "tc", "qdisc", "del", "dev", link, "root", check=False)
                if megabits != UNLIMITED:
                    self.limit(where, link, rate)

    def limit(self, where, link, megabits):
        tc = lambda kind, *words: self.at(where, "tc", kind, "add", "dev", link, *words)
        tc("qdisc", "root", "handle", "1:", "htb", "default", "20")
        for minor, rate in ((10, "1gbit"), (20, f"{megabits}mbit")):
            tc("class", "parent", "1:", "classid", f"1:{minor}", "htb", "rate", rate, "ceil", rate, "burst", str(BUCKET),
               "cburst", str(BUCKET), "quantum", "1514")
            tc("qdisc", "parent", f"1:{minor}", "handle", f"{minor}:", "bfifo", "limit", "64mb")
        tc("filter", "parent", "1:", "protocol", "ip", "u32", *ACKNOWLEDGEMENT, "flowid", "1:10")


def write_agent(hosts, folder):
    """The launcher's way to a host, in place of ssh: the namespace with its control address, or of its name."""
    agent = folder / "agent"
    cases = " ".join(f"10.78.0.{host + 1}|host{host}) n={name} h=host{host};;" for host, name in enumerate(hosts.names))
    agent.write_text("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\n"  # ssh's own flags
                     f"address=$1; shift\ncase $address in {cases} esac\n"
                     'exec ip netns exec $n unshare -u sh -c "hostname $h; $*"\n')
    agent.chmod(0o755)
    return agent


def environment(hosts, folder, mpi, processes):
    # Ranks of MPICH poll without end, so that there may be no more of them than cores: one on each host. UCX knows a machine
    # by its hardware, and would go from namespace to namespace through shared memory.
    if mpi == "mpich":
        return {**os.environ, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(write_agent(hosts, folder)), "HYDRA_IFACE": "hc",
                "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "hd", "UCX_TCP_SNDBUF": "128k", "UCX_TCP_RCVBUF": "128k"}
    crowded = processes > len(os.sched_getaffinity(0))  # then a process that polls has to let others go on
    return {**os.environ, "OMPI_MCA_plm_rsh_agent": str(write_agent(hosts, folder)), "OMPI_MCA_oob_tcp_if_include": "hc",
            "OMPI_MCA_orte_keep_fqdn_hostnames": "1", "OMPI_MCA_mpi_yield_when_idle": str(int(crowded)),
            "OMPI_MCA_btl": "tcp,vader,self",
            "OMPI_MCA_btl_tcp_if_include": "hd", "OMPI_MCA_pml": "ob1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            # Send and receive alone. With its "put" the word that ends a message waits behind others' bytes in the socket.
            "OMPI_MCA_btl_tcp_flags": "1",
            # Windows of one size. One that grows as it likes fills the queue before a slow link, and what comes back waits
            # for its acknowledgements there; InfiniBand's credits, which are simulated, keep the packets at the sender.
            "OMPI_MCA_btl_tcp_sndbuf": "131072", "OMPI_MCA_btl_tcp_rcvbuf": "131072"}


def inside(hosts, *words):
    return ["ip", "netns", "exec", hosts.names[0], "unshare", "-u", "sh", "-c", 'hostname host0; exec "$@"', "sh", *words]


def host_list(count, each):
    return ",".join(f"host{host}:{each}" for host in range(count))


class Program:
    """What runs: its name, ranks, command, and the files that it reads."""

    def __init__(self, name, ranks, command, files=()):
        self.name, self.ranks, self.command, self.files = name, ranks, command, dict(files)


def programs(build, mpi):
    example = lambda name: str(build / "examples" / mpi / name)
    found = []
    for ranks in (2, 4) if mpi == "openmpi" else (2,):
        found += [
            Program("fft", ranks, [example("fft"), "--size", "64", "--repetitions", "2"]),
            Program("cg", ranks, [example("cg"), "--size", "64", "--iterations", "60"]),
            Program("sweep", ranks, [example("sweep"), "--size", "96", "--sweeps", "2"]),
            Program("sort", ranks, [example("sort"), "--keys", "1000000"]),
            Program("halo", ranks, [example("halo"), "--smallest", "65536", "--largest", "1048576", "--samples", "2", "--rounds",
                                    "2", "--timing", "0"]),
            Program("allreduce", ranks, [example("allreduce"), "--largest", "1048576", "--samples", "2", "--rounds", "2",
                                         "--timing", "0"]),
            Program("lammps", ranks, ["lmp", "-in", "melt", "-log", "none", "-screen", "none"],
                    {"melt": MELT.format(16, 40)}),
        ]
    return [program for program in found if mpi == "openmpi" or program.name != "lammps"]  # Debian builds it for Open MPI


def record(hosts, args, program, folder, used, each):
    """Seconds of the job, on the first `used` hosts, by its own recording, which is left in folder/trace."""
    for name, text in program.files.items():
        (folder / name).write_text(text)
    trace, host_file = folder / "trace", folder / "hosts"
    shutil.rmtree(trace, ignore_errors=True)
    host_file.write_text("".join(f"host{host} slots={each}\n" for host in range(used)))
    words = inside(hosts, str(args.build / "bin/holdfast"), "run", "-n", str(program.ranks), "--replicas", "1", "--record",
                   str(trace), "--hostfile", str(host_file), "--", *program.command)
    child = subprocess.Popen(words, cwd=folder, env=environment(hosts, folder, args.mpi, program.ranks), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = child.communicate(timeout=args.limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
    if child.returncode != 0:
        sys.exit(f"{program.name} with {program.ranks} ranks ended with {child.returncode}:\n{said[-3000:]}")
    shown = json.loads(sh(str(args.build / "bin/holdfast"), "trace", "show", str(trace), "--json", "-").stdout)
    # MPI_Finalize takes connections down, which is no part of a replay.
    return shown["seconds"] - shown["functions"]["MPI_Finalize"]["seconds"] / program.ranks


def fabric(args, folder, count, slow_host):
    """One switch, as ibnetdiscover writes it; the slow host's cable has one lane of four."""
    path = folder / "star"
    sh(str(args.build / "bin/holdfast"), "fabric", "generate", f"tree({count},1)", "-o", str(path))
    if slow_host is not None:
        parts = path.read_text().split("\n\n")  # one for each node; the adapter's has the host's name, as its line at the switch
        name = f'"host-{slow_host}"'
        own = [part.replace("4xQDR", "1xQDR") if part.lstrip().startswith("vendid") and "\nCa" in part and name in part else
               "\n".join(line.replace("4xQDR", "1xQDR") if name in line else line for line in part.split("\n")) for part in parts]
        path.write_text("\n\n".join(own))
    return path


def predict(args, trace, folder, machine, latency_ns, megabits, used, each, slow_host=None):
    """Seconds that the simulator tells."""
    slowdown = QDR / (megabits * SIMULATED / ON_LINK)
    words = [str(args.build / "bin/holdfast"), "simulate", "--fabric", str(fabric(args, folder, used, slow_host)), "--engine",
             "minhop", "--trace", str(trace), "--ranks-per-host", str(each), "--config", str(machine), "--json", "-",
             "--simulate.mtu", str(PAYLOAD), "--simulate.link-slowdown", f"{slowdown:.4f}", "--simulate.hiccup", "0ns",
             "--simulate.switch-latency", f"{latency_ns}ns", "--simulate.crossbar-speedup", "1000", *BRIDGE,
             "--mpi.segment", str(3 * PAYLOAD)]
    return json.loads(sh(*words).stdout)


def settings(ranks):
    """(name, Mbit/s, hosts, ranks a host, the slow host)."""
    found = [("no limit", UNLIMITED, ranks, 1, None)]
    found += [(f"{rate} Mbit/s", rate, ranks, 1, None) for rate in RATES]
    found.append((f"{RECORDED} Mbit/s, one link at {RECORDED // 4}", RECORDED, ranks, 1, 1))
    if ranks >= 4:
        found.append(("no limit, two ranks a host", UNLIMITED, ranks // 2, 2, None))
        found.append((f"{RECORDED} Mbit/s, two ranks a host", RECORDED, ranks // 2, 2, None))
    return found


def want_of_cores(ledger, name, setting):
    """Seconds that the program takes over links without a limit beyond what is told of that: what its cores cost."""
    free = f"{name}|no limit" + (", two ranks a host" if setting.endswith("two ranks a host") else "")
    return max(0.0, ledger.median(f"{free}|real") - ledger.median(f"{free}|told"))


def calibrate(hosts, args, folder):
    """The MPI between two hosts, and inside one, as a configuration file; and the network's latency in ns."""
    tables = []
    for where in (host_list(2, 1), host_list(1, 2)):
        words = inside(hosts, str(args.build / "bin/holdfast"), "calibrate", "--mpi", args.mpi, "--",
                       "--host" if args.mpi == "openmpi" else "-hosts", where)
        tables.append(subprocess.run(words, cwd=folder, env=environment(hosts, folder, args.mpi, 2), stdin=subprocess.DEVNULL, check=True,
                                     capture_output=True, text=True).stdout)
    inside_hosts = [line for line in tables[1].splitlines() if line.startswith("shared_")]
    beyond = next(line for line in tables[0].splitlines() if line.startswith("# Beyond"))
    return tables[0] + "\n".join(inside_hosts) + "\n", int(beyond.split("took ")[1].split()[0])


def measure(args, ledger):
    chosen = [program for program in programs(args.build, args.mpi) if not args.only or program.name in args.only.split(",")]
    with tempfile.TemporaryDirectory(prefix="holdfast-accuracy-") as place, Hosts(4) as hosts:
        folder = pathlib.Path(place)
        if "machine" not in ledger.values:
            ledger.add("machine", calibrate(hosts, args, folder))
            print(ledger.values["machine"][-1][0], flush=True)
        text, latency = ledger.values["machine"][-1]
        machine = folder / "machine.toml"
        machine.write_text(text)
        for program in chosen:
            key = f"{program.name} {program.ranks}"
            if all(not ledger.wants(f"{key}|{name}|real", args.runs) for name, *_ in settings(program.ranks)):
                continue
            hosts.shape(RECORDED)
            ledger.add(f"{key}|recorded", record(hosts, args, program, folder, program.ranks, 1))
            kept = folder / "recorded"
            shutil.rmtree(kept, ignore_errors=True)
            (folder / "trace").rename(kept)
            told = predict(args, kept, folder, machine, latency, RECORDED, program.ranks, 1)["jobs"][0]
            ledger.add(f"{key}|itself", told["time_ps"] / 1e12)
            for name, rate, used, each, slow in settings(program.ranks):
                told = predict(args, kept, folder, machine, latency, rate, used, each, slow)["jobs"][0]
                ledger.values[f"{key}|{name}|told"] = []
                ledger.add(f"{key}|{name}|told", told["time_ps"] / 1e12)
                hosts.shape(rate, slow, rate // 4 if slow is not None else None)
                while ledger.wants(f"{key}|{name}|real", args.runs):
                    ledger.add(f"{key}|{name}|real", record(hosts, args, program, folder, used, each))
                real = ledger.median(f"{key}|{name}|real")
                print(f"{key}, {name}: {told['time_ps'] / 1e12:.3f} s told, {real:.3f} s real", flush=True)


def tables(ledger):
    print("| program, ranks | setting | predicted, s | measured, s (least to most) | error | cores |\n|---|---|---|---|---|---|")
    errors, crowded = [], []
    for key in ledger.values:
        if not key.endswith("|told"):
            continue
        name, setting, _ = key.split("|")
        told, real = ledger.median(key), ledger.good(f"{name}|{setting}|real")
        if not real or setting.startswith("no limit"):
            continue
        middle = statistics.median(real)
        cores = want_of_cores(ledger, name, setting) / middle
        (crowded if cores > CORES else errors).append(abs(told / middle - 1))
        print(f"| {name} | {setting} | {told:.3f} | {middle:.3f} ({min(real):.3f} to {max(real):.3f}) | "
              f"{100 * (told / middle - 1):+.1f} % | {100 * cores:.0f} % |")
    for what, found in ((f"cores cost at most {100 * CORES:.0f} %", errors), ("cores cost more", crowded), ("all", errors + crowded)):
        if found:
            print(f"\n{what}: {len(found)} cases, median error {100 * statistics.median(found):.1f} %, worst {100 * max(found):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder, as build/release")
    parser.add_argument("--json", required=True, help="where measurements are kept")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"), help="whose programs (default: openmpi)")
    parser.add_argument("--runs", type=int, default=3, help="of each real case (default: 3)")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a run may take (default: 300)")
    parser.add_argument("--only", help="programs, separated by commas")
    parser.add_argument("--tables", action="store_true", help="print the tables of what was measured")
    args = parser.parse_args()
    args.build = args.build.resolve()
    ledger = Ledger(args.json)
    if args.tables:
        tables(ledger)
    else:
        measure(args, ledger)


if __name__ == "__main__":
    main()
