"""Two hosts on this machine: node1 (10.7.0.1) and node2 (10.7.0.2). Each has a network, a host name
and mounts of its own; a link of 1 Gbit/s or of `rate` joins them. They are namespaces of a
process that this module starts. Nothing outside sees them, and they end with this process,
however it ends.

    two_hosts.run(work, test, rate)    calls test(hosts) and ends as the call does; `work` is a
                                       folder for files, which is emptied first
"""
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
MOUNTS, NAME, USERS, PROCESSES, NETWORK = 0x00020000, 0x04000000, 0x10000000, 0x20000000, 0x40000000
PARENT_DEATH_SIGNAL = 1
os.environ["PATH"] += ":/usr/sbin:/sbin"

# Allows more processes than cores, also for root, which meet on the link. Variables of Open MPI 4,
# then of Open MPI 5.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "10.7.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.7.0.0/24",
       "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_hwloc_default_binding_policy": "none",
       "PRTE_MCA_prte_if_include": "10.7.0.0/24"}


def skip(why):
    """Skips like cmake/Skip.cmake: ctest shows the reason, and in CI the test fails."""
    if os.environ.get("CI") == "true":
        sys.exit("CI lacks what this test needs: " + why)
    print("skipped: " + why)
    sys.exit(77)


def unshare(kinds):
    if LIBC.unshare(kinds) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def tool(*command, **how):
    subprocess.run(command, check=True, timeout=20, **how)


class Process:
    """A program on a host, whose output goes to a file."""

    def __init__(self, command, out, environment):
        self.out = out
        with out.open("wb") as file:
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment)

    @property
    def text(self):
        return self.out.read_text(errors="replace")

    def end(self, seconds):
        """Returns the exit code, negative for a signal. Fails if the program does not end in time.
        """
        try:
            return self.popen.wait(max(0.01, seconds))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.out.name} does not end: {self.text}") from None

    def done(self, seconds):
        code = self.end(seconds)
        assert code == 0, f"{self.out.name} ended with {code}: {self.text}"

    def await_text(self, words, seconds):
        end = time.monotonic() + seconds
        while not re.search(words, self.text):
            assert self.popen.poll() is None and time.monotonic() < end, f"no '{words}' of {self.out.name}: {self.text}"
            time.sleep(0.02)


class Host:
    def __init__(self, number, work):
        self.name, self.address, self.work = f"node{number}", f"10.7.0.{number}", work
        self.before = []  # words before each command, such as ["taskset", "--cpu-list", "0"]
        ready, tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            unshare(MOUNTS | NAME | NETWORK)
            socket.sethostname(self.name)
            os.write(tell, b".")
            while True:
                signal.pause()
        os.close(tell)
        if os.read(ready, 1) != b".":
            skip("this machine lets no process have a network of its own")

    def inside(self, *command):
        return ["nsenter", f"--target={self.pid}", "--mount", "--uts", "--net", *self.before, *map(str, command)]

    def start(self, name, command, **environment):
        """Starts a command, whose output goes to the file `name`."""
        return Process(self.inside(*command), self.work / name, {**os.environ, "TMPDIR": str(self.work), "REDCO_TRUSTED_NETWORK": "1", **environment})

    def own_folder(self, path):
        """Gives this host its own folder at this path, from now on."""
        path.mkdir(parents=True, exist_ok=True)
        tool(*self.inside("mount", "-t", "tmpfs", "none", path))


class Hosts:
    def __init__(self, work, names, rate):
        self.work, self.names = work, names  # names: the file /etc/hosts
        self.all = self.first, self.second = Host(1, work), Host(2, work)
        self.ports = iter(range(29400, 30000))
        tool("ip", "link", "add", "link1", "netns", str(self.first.pid), "type", "veth", "peer", "name", "link2", "netns",
             str(self.second.pid))
        for number, host in enumerate(self.all, 1):
            tool(*host.inside("ip", "-batch", "-"), text=True,
                 input=f"link set lo up\naddr add {host.address}/24 dev link{number}\nlink set link{number} up\n")
            tool(*host.inside("tc", "qdisc", "add", "dev", f"link{number}", "root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms"))
        self.agent = work / "agent"
        self.agent.write_text("#!/bin/sh\nhost=$1\nshift\ncase $host in\n" + "".join(
            f"  {host.name} | {host.address}) exec {' '.join(host.inside('sh', '-c'))} \"$*\" ;;\n" for host in self.all) + "esac\n")
        self.agent.chmod(0o755)

    def mpirun(self, name, mpirun, each, command):
        """Starts a command by mpirun, as `each` processes on each host."""
        agent = {f"{prefix}_MCA_{what}": str(self.agent) for prefix, what in (("OMPI", "plm_rsh_agent"), ("PRTE", "plm_ssh_agent"))}
        slots = ",".join(f"{host.name}:{each}" for host in self.all)
        # Two launchers must not share a folder; paths of sockets must be short
        own = self.work / name[0]
        own.mkdir(exist_ok=True)
        return self.first.start(name, [mpirun, "-n", 2 * each, "--host", slots, *command], **MPI, **agent, TMPDIR=str(own))

    def process_numbers(self, each):
        """Returns (number of the host, number of the process) for `each` processes on each host."""
        return [(number, process) for number in (0, 1) for process in range(number * each, (number + 1) * each)]

    def processes(self, name, each, command, environment):
        """Starts `each` processes on each host. environment(host's number, process, processes,
        port) returns the variables that a launcher would set."""
        port = next(self.ports)
        return [self.all[number].start(f"{name}.{process}", command, **environment(number, process, 2 * each, port))
                for number, process in self.process_numbers(each)]

    def said_by_hand(self, each, process, port):
        return {"REDCO_PROCESSES": str(2 * each), "REDCO_PROCESS": str(process), "REDCO_PROCESSES_HERE": str(each),
                "REDCO_MEET": f"{self.all[0].name}:{port}"}

    def by_hand(self, name, each, command):
        return self.processes(name, each, command, lambda _, process, __, port: self.said_by_hand(each, process, port))

    def cut(self):
        """Drops everything on the link from now on, without resetting connections."""
        tool(*self.first.inside("ip", "link", "set", "link1", "down"))


def within(work, test, rate):
    """Runs in its own namespaces as process number 1, so that all processes that it starts end with
    it."""
    LIBC.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    names = work / "etc_hosts"
    names.write_text("127.0.0.1 localhost\n10.7.0.1 node1\n10.7.0.2 node2\n")
    try:
        tool("mount", "--make-rprivate", "/")
        tool("mount", "-t", "proc", "proc", "/proc")
        tool("mount", "--bind", str(names), "/etc/hosts")
        hosts = Hosts(work, names, rate)
    except (OSError, subprocess.SubprocessError) as e:
        skip(f"this machine lets a test make no hosts ({e}): run it as root, with iproute2")
    test(hosts)


def run(work, test, rate="1gbit"):
    try:
        users = os.getuid(), os.getgid()
        unshare(MOUNTS | PROCESSES | NETWORK | (USERS if users[0] else 0))
        if users[0]:
            Path("/proc/self/setgroups").write_text("deny")
            for kind, number in zip("ug", users):
                Path(f"/proc/self/{kind}id_map").write_text(f"0 {number} 1")
    except OSError as e:
        skip(f"this machine lets a test have no namespaces ({e}): run it as root")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            within(Path(work).resolve(), test, rate)
            code = 0
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else print(e.code, file=sys.stderr) or 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)
    for one in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        signal.signal(one, lambda *_: os.kill(child, signal.SIGKILL))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
