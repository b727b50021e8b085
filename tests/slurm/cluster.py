"""A Slurm cluster of its own for a test: two nodes with eight processors each, all of them this host, on free loopback ports, with
its own key, state and logs in a temporary folder. Debian's slurmctld, slurmd and munged; needs root, as slurmd does."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

DAEMONS = ["munged", "slurmctld", "slurmd", "srun", "salloc"]

CONFIGURATION = """
ClusterName=holdfast
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldTimeout=600
SlurmdTimeout=600
InactiveLimit=0
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def slurm_version():
    """The major one of slurmd: 22, 24."""
    said = subprocess.run(["slurmd", "-V"], capture_output=True, text=True, check=True).stdout
    return int(said.split()[1].split(".")[0])


def missing():
    """What keeps a cluster from being started here, or nothing."""
    if os.geteuid() != 0:
        return "slurmd must run as root"
    absent = [name for name in DAEMONS if not shutil.which(name)]
    return f"not installed: {', '.join(absent)}" if absent else ""


def free_ports(count):
    """Below those that the kernel gives to whoever asks for any, of which one may be gone before a daemon has it."""
    ports = []
    for port in random.sample(range(20000, 30000), 1000):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise RuntimeError("no free ports from 20000 to 29999")


class Cluster:
    """Use with `with`; all daemons are gone afterwards."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-slurm-"))
        self.folder.chmod(0o755)
        self.daemons = []
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        host = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(host=host, folder=self.folder, ports=free_ports(3)))
        self.environment = {**os.environ, "SLURM_CONF": str(configuration)}
        if slurm_version() >= 23:  # it would want a hierarchy of control groups of its own; older ones have no such word
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        for name in ("state", "spool-one", "spool-two", "tmp-one", "tmp-two"):
            (self.folder / name).mkdir()
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munge.seed")
        self.until("munged answers", lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        for node in ("one", "two"):
            self.daemon("slurmd", "-D", "-N", node)
        self.until("two nodes are idle", lambda: self.run("sinfo", "-h", "-N", "-o", "%N %t").stdout == "one idle\ntwo idle\n")

    def daemon(self, *words):
        log = open(self.folder / f"{words[0]}.out", "ab")
        self.daemons.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, start_new_session=True))
        log.close()

    def until(self, what, condition):
        limit = time.monotonic() + 120
        while not condition():
            if time.monotonic() > limit or any(daemon.poll() is not None for daemon in self.daemons):
                logs = "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))
                raise RuntimeError(f"Slurm, waiting until {what}\n{logs}")
            time.sleep(0.1)

    def run(self, *words, **options):
        options = {"env": self.environment, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL,
                   "timeout": 250, **options}
        return subprocess.run(words, **options)

    def still_here(self):
        """slurmstepd of steps whose processes were killed; they are no children of ours, but have our files open."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                files = [os.readlink(file) for file in (process / "fd").iterdir()]
                if any(file.startswith(f"{self.folder}/") for file in files):
                    yield int(process.name)

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()
        for pid in list(self.still_here()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
