#!/usr/bin/env python3
"""Real MPI programs over the holdfast provider between two "hosts" whose links really fail.

Each host is a network namespace with a host name of its own; three veth pairs join them: one for Open MPI's own control
traffic, and two for rails. Packets are dropped by nftables, links are taken down with ip(8). Nothing outside the namespaces
sees a packet.

Usage: network_test.py LIBRARY_FOLDER PROGRAM_FOLDER EXCHANGE_PROGRAM HOLDFAST CASE
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def sh(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Network:
    """Two namespaces with three links: hf0 for control, hf1 and hf2 for rails. Gone on exit, whatever happened."""

    def __init__(self):
        self.names = [f"hf-{os.getpid()}-{side}" for side in "ab"]

    def __enter__(self):
        for name in self.names:
            sh("ip", "netns", "add", name)
        for link in range(3):
            ends = [f"hf{link}a{os.getpid() % 100000}", f"hf{link}b{os.getpid() % 100000}"]
            sh("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for side, name in enumerate(self.names):
                sh("ip", "link", "set", ends[side], "netns", name, "name", f"hf{link}")
                self.inside(side, "ip", "addr", "add", f"10.77.{link}.{side + 1}/24", "dev", f"hf{link}")
                self.inside(side, "ip", "link", "set", f"hf{link}", "up")
        for side in range(2):
            self.inside(side, "ip", "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            pids = sh("ip", "netns", "pids", name, check=False).stdout.split()
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            sh("ip", "netns", "del", name, check=False)

    def inside(self, side, *words, check=True):
        return sh("ip", "netns", "exec", self.names[side], *words, check=check)

    def drop(self, percent):
        """Drops this part of the packets that arrive on the rails' links, on both sides. The sending kernel cuts what it
        was given as one piece before it reaches the link (gso_max_segs), so that each datagram has its own luck, as on a
        cable."""
        for side in range(2):
            for link in ("hf1", "hf2"):
                self.inside(side, "ip", "link", "set", link, "gso_max_segs", "1")
            rules = ("table inet loss { chain in { type filter hook input priority 0; "
                     f'iifname {{ "hf1", "hf2" }} numgen random mod 1000 < {int(percent * 10)} counter drop; }}; }}\n')
            path = pathlib.Path(tempfile.mkstemp(prefix="holdfast-nft-")[1])
            path.write_text(rules)
            self.inside(side, "nft", "-f", str(path))
            path.unlink()

    def drop_longer(self, number, udp_bytes):
        """Drops UDP datagrams longer than this that arrive on one link, on both sides: the hole of an MTU."""
        for side in range(2):
            self.inside(side, "ip", "link", "set", f"hf{number}", "gso_max_segs", "1")
            self.inside(side, "nft", f"table inet hole {{ chain in {{ type filter hook input priority 0; "
                                     f'iifname "hf{number}" udp length > {udp_bytes} counter drop; }}; }}')

    def drop_nothing(self):
        for side in range(2):
            self.inside(side, "nft", "flush", "ruleset")

    def dropped(self):
        return sum(int(line.split("packets")[1].split()[0]) for side in range(2)
                   for line in self.inside(side, "nft", "list", "ruleset").stdout.splitlines() if "packets" in line)

    def received_bytes(self):
        """What has come in on the first host's rails."""
        return sum(int(self.inside(0, "cat", f"/sys/class/net/hf{n}/statistics/rx_bytes").stdout) for n in (1, 2))

    def received_on(self, link):
        return int(self.inside(0, "cat", f"/sys/class/net/hf{link}/statistics/rx_bytes").stdout)

    def wait_for_traffic(self, child, more_bytes):
        """Until this many bytes have come in on the first host's rails since now. The child must not have ended."""
        start = self.received_bytes()
        wait_until(lambda: self.received_bytes() >= start + more_bytes or child.poll() is not None,
                   "the transfer goes on")
        expect(child.poll() is None, "the program still runs")

    def link(self, number, state):
        self.inside(0, "ip", "link", "set", f"hf{number}", state)


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


def wait_until(condition, what, limit=150):
    """Nothing here depends on how long something takes; the limit only ends a test that hangs."""
    until = time.monotonic() + limit
    while not condition():
        expect(time.monotonic() < until, f"within {limit} s: {what}")
        time.sleep(0.05)


def write_agent(network, folder):
    """mpirun's way to a host: the namespace with its control address."""
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\naddress=$1; shift\n"
                     f"case $address in 10.77.0.1|hosta) n={network.names[0]} h=hosta;; *) n={network.names[1]} h=hostb;; esac\n"
                     'exec ip netns exec $n unshare -u sh -c "hostname $h; $*"\n')
    agent.chmod(0o755)
    return agent


def between_hosts(agent):
    """What tells mpirun how it gets to the hosts: ORTE of Open MPI 4, PRRTE of Open MPI 5."""
    return {"OMPI_MCA_plm_rsh_agent": str(agent), "OMPI_MCA_oob_tcp_if_include": "hf0",
            "OMPI_MCA_orte_keep_fqdn_hostnames": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "PRTE_MCA_plm_ssh_agent": str(agent), "PRTE_MCA_prte_if_include": "hf0"}


def open_mpi_version():
    said = subprocess.run(["mpirun.openmpi", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return int(re.search(r"\) (\d+)", said.stdout).group(1))


class Job:
    """mpirun in the first namespace, with one process in each. Without rails over another provider, on hf1."""

    def __init__(self, network, libraries, folder, rails, program, variables=(), mca=("btl", "^openib,ofi"),
                 provider="holdfast", messages=("pml", "cm", "mtl", "ofi")):
        self.counters = folder / "counters"
        self.counters.mkdir(exist_ok=True)
        environment = {"FI_PROVIDER_PATH": libraries, "HOLDFAST_RAILS_USE": rails or "", "FI_TCP_IFACE": "hf1",
                       "FI_UDP_IFACE": "hf1",
                       "HOLDFAST_TRANSPORT_UNREACHABLE_AFTER": "150s",  # a busy host is none that is gone
                       "HOLDFAST_RAILS_COUNTERS": str(self.counters), **dict(variables)}
        words = ["ip", "netns", "exec", network.names[0], "unshare", "-u", "sh", "-c", 'hostname hosta; exec "$@"', "sh",
                 "mpirun.openmpi", "--allow-run-as-root", "--host", "hosta:1,hostb:1", "-np", "2",
                 "--mca", "mtl_ofi_provider_include", provider,
                 *(word for all in (messages, mca) for pair in zip(all[::2], all[1::2]) for word in ("--mca", *pair))]
        for name, value in environment.items():
            words += ["-x", f"{name}={value}"]
        self.child = subprocess.Popen(words + program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder,
                                      env={**os.environ, **between_hosts(write_agent(network, folder))})

    def wait(self, limit=200):
        try:
            out, err = self.child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            out, err = self.child.communicate()
            sys.exit(f"FAILED: still running after {limit} s\n{out[-2000:]}\n{err[-2000:]}")
        return self.child.returncode, out, err

    def sums(self):
        files = list(self.counters.glob("transport-*.json"))
        expect(len(files) >= 2, "each process leaves its counters, one file for each endpoint", str(files))
        return self.sums_now()

    def each(self):
        """The counters of each process, as it has written them last."""
        return [json.loads(file.read_text()) for file in self.counters.glob("transport-*.json")]

    def sums_now(self):
        total = {}
        for one in self.each():
            for name, value in one.items():
                total[name] = total.get(name, 0) + value
        return total


def finish(job, what):
    code, out, err = job.wait()
    expect(code == 0, f"{what}: the program ended with {code}", out[-2000:] + err[-3000:])
    expect("verified" in out and "WRONG" not in out, f"{what}: the program's own check passed", out[-2000:])
    return job.sums()


def ring(args):
    return [str(pathlib.Path(args.programs) / "ring")]


def exchange(args, rounds=5, all_to_all=20, longest=1048576):
    return [args.exchange, str(rounds), str(all_to_all), str(longest)]


class Endless:
    """An exchange over two udp rails that goes on until it is told to end, with counters to be read meanwhile."""

    def __init__(self, network, args, folder, variables=()):
        self.network = network
        self.sign = folder / "enough"
        self.job = Job(network, args.libraries, folder, "udp@hf1,udp@hf2", [*exchange(args), str(self.sign)],
                       {"HOLDFAST_RAILS_COUNTERS_EVERY": "50ms", **dict(variables)})
        network.wait_for_traffic(self.job.child, 1_000_000)

    def count(self, *names):
        return sum(self.job.sums_now().get(name, 0) for name in names)

    def end(self, what):
        """After some more traffic."""
        self.network.wait_for_traffic(self.job.child, 500_000)
        self.sign.touch()
        return finish(self.job, what)


def case_quiet(network, args, folder):
    """Without faults: everything works over tcp and over udp, and nothing is retransmitted for corruption."""
    for rails in ("tcp@hf1,tcp@hf2", "udp@hf1,udp@hf2", "tcp@hf1,udp@hf2"):
        sums = finish(Job(network, args.libraries, folder, rails, exchange(args)), rails)
        expect(sums["messages_received"] > 50, f"{rails}: messages went over the provider", sums)
        expect(sums["corrupt_fragments"] == 0 and sums["corrupt_headers"] == 0, f"{rails}: nothing was corrupt", sums)
        shutil.rmtree(folder / "counters")


def lossy(network, args, folder, percent):
    """At least 9,000 datagrams of data have each this chance to be lost."""
    network.drop(percent)
    sums = finish(Job(network, args.libraries, folder, "udp@hf1,udp@hf2", exchange(args)), f"{percent} % loss")
    expect(sums["fragments_sent"] > 9000, "there were as many as this counts on", sums)
    expect(network.dropped() > 0, "packets were dropped")
    expect(sums["fragments_retransmitted"] > 0, "fragments were sent again", sums)


def case_loss_1(network, args, folder):
    """One per cent of all packets vanish on both rails: a ping-pong and an all-to-all are right."""
    lossy(network, args, folder, 1)


def case_loss_5(network, args, folder):
    """Five per cent vanish."""
    lossy(network, args, folder, 5)


def case_corruption(network, args, folder):
    """One packet in fifty has a bit flipped in its payload or headers, which no checksum of UDP or TCP can see: the
    rails do it before the kernel sums the packet. Both kinds of rail at once."""
    job = Job(network, args.libraries, folder, "udp@hf1,tcp@hf2", exchange(args),
              {"HOLDFAST_RAILS_FAULTS": "flip any rate 1/50; corrupt-header any rate 1/200"})
    sums = finish(job, "corruption")
    expect(sums["fragments_sent"] > 9000, "there were so many that none being struck is out of the question", sums)
    expect(sums["corrupt_fragments"] > 0, "payloads were corrupt and it was noticed", sums)
    expect(sums["corrupt_headers"] > 0, "headers were corrupt and it was noticed", sums)
    expect(sums["fragments_retransmitted"] > 0, "fragments were sent again", sums)


def case_killed_peer(network, args, folder):
    """One of two processes is killed: the other's operations fail within the time that the options give, and it ends."""
    variables = {**os.environ, "FI_PROVIDER_PATH": args.libraries, "HOLDFAST_RAILS_USE": "udp@hf1,tcp@hf2",
                 "HOLDFAST_TRANSPORT_UNREACHABLE_AFTER": "2s"}
    words = ["fi_pingpong", "-p", "holdfast", "-e", "rdm", "-I", "100000000", "-S", "1048576"]
    enter = [["ip", "netns", "exec", name] for name in network.names]
    start = dict(env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    server = subprocess.Popen([*enter[0], *words, "-B", "47777"], **start)
    wait_until(lambda: ":47777" in network.inside(0, "ss", "-ltn").stdout, "the server listens")
    client = subprocess.Popen([*enter[1], *words, "-P", "47777", "10.77.1.1"], **start)
    try:
        network.wait_for_traffic(client, 5_000_000)
        server.kill()  # ip netns exec has become the program itself
        out, _ = client.communicate(timeout=60)
        expect(client.returncode not in (0, None), "the survivor says that its peer is gone", out)
        expect("Killed" not in out and client.returncode > 0, "and ends by itself", f"{client.returncode} {out}")
    except subprocess.TimeoutExpired:
        sys.exit("FAILED: the survivor hangs")
    finally:
        for child in (server, client):
            child.kill()
            child.wait()


def case_one_sided(network, args, folder):
    """MPI's one-sided communication straight on the provider's remote memory and atomic operations, at 1 % loss."""
    network.drop(1)
    program = [str(pathlib.Path(args.exchange).parent / "one_sided")]
    mca = ("osc", "rdma", "btl_ofi_provider_include", "holdfast")
    if open_mpi_version() < 5:
        job = Job(network, args.libraries, folder, "udp@hf1,udp@hf2", program, {}, (*mca, "btl", "self,ofi"))
    else:  # starts no btl under pml/cm, and windows need one: messages go over TCP, windows over the provider
        job = Job(network, args.libraries, folder, "udp@hf1,udp@hf2", program, {},
                  (*mca, "btl", "self,tcp,ofi", "btl_tcp_if_include", "hf1"), messages=("pml", "ob1"))
    sums = finish(job, "one-sided")
    expect(sums["fragments_sent"] > 400, "operations went over the provider", sums)


LAMMPS_INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run 100
"""


def thermodynamics(out):
    return re.findall(r"^ *\d+(?: +-?[\d.e+-]+){5} *$", out, re.MULTILINE)


def case_lammps(network, args, folder):
    """LAMMPS, as Debian builds it, gives over lossy, corrupting rails what it gives without: the melt of its bench."""
    if not shutil.which("lmp"):
        print("LAMMPS is not installed: not run")
        sys.exit(77)
    (folder / "in.melt").write_text(LAMMPS_INPUT)
    program = ["lmp", "-in", "in.melt"]
    native = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle",
                             "1", "-np", "2", *program], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=200, check=False)
    expect(native.returncode == 0, "the native run ended well", native.stdout[-1000:] + native.stderr[-1000:])
    right = thermodynamics(native.stdout)
    expect(len(right) == 11, "a line for each ten steps", native.stdout)
    network.drop(1)
    job = Job(network, args.libraries, folder, "udp@hf1,udp@hf2", program,
              {"HOLDFAST_RAILS_FAULTS": "flip any rate 1/200"})
    code, out, err = job.wait()
    expect(code == 0, f"the program ended with {code}", out[-2000:] + err[-2000:])
    expect(thermodynamics(out) == right, "the physics is the same", out)
    sums = job.sums()
    expect(sums["fragments_retransmitted"] > 0 and sums["corrupt_fragments"] + sums["corrupt_headers"] > 0,
           "packets were lost and corrupt", sums)


def case_live_counters(network, args, folder):
    """While a job runs its counters can be read, and they grow."""
    endless = Endless(network, args, folder)
    first = endless.count("bytes_received")
    wait_until(lambda: endless.count("bytes_received") > first, "the counters grow while it runs")
    second = endless.count("bytes_received")
    wait_until(lambda: endless.count("bytes_received") > second, "and go on growing")
    endless.end("live counters")


def case_dead_link(network, args, folder):
    """One of two links goes down in mid-transfer and stays down: its traffic moves to the other."""
    endless = Endless(network, args, folder)
    network.link(1, "down")
    wait_until(lambda: endless.count("rails_lost", "rails_suspected") > 0, "the dead link is noticed")
    endless.end("one dead link")


def computing_receivers(network, args, folder, rails, processes):
    """Sums of the counters of a job whose processes share one core and compute."""
    folder.mkdir()
    environment = {**os.environ, "FI_PROVIDER_PATH": args.libraries, "HOLDFAST_RAILS_USE": rails,
                   "HOLDFAST_RAILS_COUNTERS": str(folder)}
    words = ["ip", "netns", "exec", network.names[0], "taskset", "-c", str(min(os.sched_getaffinity(0))), "mpirun.openmpi",
             "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(processes),
             "--mca", "mpi_yield_when_idle", "1", "--mca", "pml", "cm", "--mca", "mtl", "ofi",
             "--mca", "mtl_ofi_provider_include", "holdfast", "--mca", "btl", "^openib,ofi",
             str(pathlib.Path(args.exchange).parent / "computing"), "6", "100"]
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
                          check=False)
    expect(done.returncode == 0 and "verified" in done.stdout, f"{rails}, {processes}", done.stdout + done.stderr)
    sums = {}
    for file in folder.glob("transport-*.json"):
        for name, value in json.loads(file.read_text()).items():
            sums[name] = sums.get(name, 0) + value
    print(rails, processes, done.stdout.strip().replace("\n", " "),
          {name: sums[name] for name in ("fragments_sent", "fragments_retransmitted", "duplicates", "rails_suspected",
                                         "rails_lost", "timeouts", "local_timeouts")}, flush=True)
    expect(sums["messages_received"] >= 6 * processes // 2, "messages went over the provider", sums)
    return sums


def case_computing_receivers(network, args, folder):
    """Receivers that compute, with two to eight processes on one core: no rail is suspected, since none is at fault."""
    for rails in ("tcp@lo", "udp@lo,tcp@lo"):
        for processes in (2, 4, 8):
            sums = computing_receivers(network, args, folder / f"{rails}-{processes}", rails, processes)
            what = f"{rails}, {processes} processes on a core"
            expect(sums["rails_suspected"] == 0, f"{what}: no rail is suspected", sums)
            expect(sums["rails_lost"] == 0, f"{what}: no rail is lost", sums)


def case_link_set_down(network, args, folder):
    """A link that is set down is left because the kernel says so, at both ends: with a tick of a second nothing else
    could find out without a suspicion. It is taken back when it is up again."""
    endless = Endless(network, args, folder, {"HOLDFAST_TRANSPORT_TICK": "1s"})
    before = endless.count("rails_suspected")
    network.link(1, "down")
    wait_until(lambda: all(each["rails_lost"] > 0 for each in endless.job.each()), "both ends leave the link")
    expect(endless.count("rails_suspected") == before, "nobody had to suspect it", endless.job.sums_now())
    network.wait_for_traffic(endless.job.child, 500_000)
    network.link(1, "up")
    wait_until(lambda: all(each["rails_regained"] > 0 for each in endless.job.each()), "both ends take it back")
    endless.end("a link that was set down")


def case_long_packets_lost(network, args, folder):
    """A link that loses all packets of more than 700 bytes, and answers short questions, is taken out and stays so. When
    it carries them again it is taken back."""
    endless = Endless(network, args, folder)
    network.drop_longer(1, 700)
    wait_until(lambda: endless.count("rails_lost") > 0, "the link is taken out")
    suspicions = endless.count("rails_suspected")
    network.wait_for_traffic(endless.job.child, 20_000_000)
    expect(endless.count("rails_regained") == 0, "short answers do not bring it back", endless.job.sums_now())
    expect(endless.count("rails_suspected") <= suspicions + 2, "it is not tried again and again", endless.job.sums_now())
    network.drop_nothing()
    wait_until(lambda: endless.count("rails_regained") > 0, "it is taken back when it carries them again")
    endless.end("a link that lost long packets")


def case_link_comes_back(network, args, folder):
    """One of two links goes down in mid-transfer, comes up again, and is used again."""
    endless = Endless(network, args, folder)
    network.link(1, "down")
    wait_until(lambda: endless.count("rails_lost") > 0, "the dead link is taken out")
    network.wait_for_traffic(endless.job.child, 500_000)
    network.link(1, "up")
    wait_until(lambda: endless.count("rails_regained") > 0, "and taken back")
    endless.end("a link that came back")


def case_dead_at_start(network, args, folder):
    """A link that is down from the start: the job runs on the other."""
    network.link(1, "down")
    finish(Job(network, args.libraries, folder, "udp@hf1,udp@hf2", ring(args)), "dead at the start")


def case_both_links_for_a_while(network, args, folder):
    """Both links are down for a second, and until that was noticed: everything waits and goes on."""
    endless = Endless(network, args, folder)
    for link in (1, 2):
        network.link(link, "down")
    time.sleep(1.0)
    wait_until(lambda: max(each["rails_lost"] for each in endless.job.each()) >= 2, "one side has lost both rails")
    for link in (1, 2):
        network.link(link, "up")
    sums = endless.end("both links down for a while")
    expect(sums["time_without_rail_ns"] > 0, "for some time there was no rail", sums)


def case_late_link(network, args, folder):
    """A link that is down from the start, and comes up later, is used then, by both sides."""
    for side in range(2):
        network.inside(side, "ip", "link", "set", "hf1", "down")
    endless = Endless(network, args, folder)
    expect(endless.count("rails_regained") == 0, "nothing was taken back yet")
    for side in range(2):
        network.inside(side, "ip", "link", "set", "hf1", "up")
    wait_until(lambda: all(each["rails_regained"] > 0 for each in endless.job.each()), "both sides take the rail in")
    before = network.received_on(1)
    wait_until(lambda: network.received_on(1) > before + 500_000, "the link that came up carries data")
    endless.end("a link that came up later")


class Outage:
    """`holdfast run` with one process in each namespace, whose ten messages are sent while both links are down."""

    def __init__(self, network, args, folder, receives, limit):
        (folder / "hosts").write_text("hosta slots=1\nhostb slots=1\n")
        self.folder, self.network = folder, network
        environment = {**os.environ, "HOLDFAST_TRANSPORT_UNREACHABLE_AFTER": limit, "TMPDIR": str(folder),
                       **between_hosts(write_agent(network, folder))}
        words = ["ip", "netns", "exec", network.names[0], "unshare", "-u", "sh", "-c", 'hostname hosta; exec "$@"', "sh",
                 args.holdfast, "run", "-n", "2", "--replicas", "1", "--hostfile", "hosts", "--transport", "--rails", "udp@hf1,udp@hf2",
                 "--output", str(folder / "run"), "--", str(pathlib.Path(args.exchange).parent / "outage"), receives,
                 str(folder / "sign"), str(folder / "done")]
        self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      text=True, start_new_session=True, cwd=folder, env=environment)

    def part(self, seconds):
        """Both links down, then ten messages that are reported as sent, then, after these seconds, both up."""
        wait_until(lambda: (self.folder / "ready").exists() or self.child.poll() is not None, "the job has begun")
        for link in (1, 2):
            self.network.link(link, "down")
        (self.folder / "sign").touch()
        wait_until(lambda: (self.folder / "done").exists() or self.child.poll() is not None, "the messages are sent")
        if self.child.poll() is None:
            time.sleep(seconds)
        for link in (1, 2):
            self.network.link(link, "up")

    def end(self):
        try:
            out, err = self.child.communicate(timeout=150)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            out, err = self.child.communicate()
            sys.exit(f"FAILED: the job hangs\n{out}\n{err}")
        expect("WRONG" not in out, "no message came in place of another", out + err)
        return self.child.returncode, out, err


def outage(network, args, folder, receives, limit, seconds):
    job = Outage(network, args, folder, receives, limit)
    job.part(seconds)
    return job.end()


def case_outage_within_limit(network, args, folder):
    """Both links are down for 16 s while ten messages are reported as sent: with the limit as it is, all arrive."""
    code, out, err = outage(network, args, folder, "directed", "60s", 16)
    expect(code == 0 and "verified" in out, f"the job goes on: {code}", out + err)


def case_outage_beyond_limit(network, args, folder):
    """The same for longer than the limit: the job ends, and says between whom."""
    for receives in ("directed", "wildcard"):
        code, out, err = outage(network, args, folder, receives, "3s", 8)
        expect("verified" not in out, f"{receives}: no result from what is left", out)
        expect(code == 8, f"{receives}: the exit code is that of a lost peer, not {code}", out + err)
        line = re.search(r"the network lost a peer: rank \d on \S+ has given up rank \d on \S+: .*"
                         r"rails: udp@hf1 .*udp@hf2 ", err)
        expect(line is not None, f"{receives}: the diagnosis names both, and the rails", err)
        for name in ("ready", "sign", "done"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "run")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries")
    parser.add_argument("programs")
    parser.add_argument("exchange")
    parser.add_argument("holdfast")
    parser.add_argument("case", choices=[name[5:] for name in globals() if name.startswith("case_")])
    args = parser.parse_args()
    args.libraries, args.programs, args.exchange, args.holdfast = (
        str(pathlib.Path(path).resolve()) for path in (args.libraries, args.programs, args.exchange, args.holdfast))
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in ("ip", "nft", "unshare")):
        print("network namespaces need root, ip and nft: not run")
        sys.exit(77)
    if sh("unshare", "-n", "true", check=False).returncode != 0:  # root of a container without that right
        print("this host does not let root make network namespaces: not run")
        sys.exit(77)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-test-"))
    try:
        with Network() as network:
            globals()["case_" + args.case](network, args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
