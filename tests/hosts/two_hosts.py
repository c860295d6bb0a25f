"""Two hosts on this machine: node1 (10.7.0.1) and node2 (10.7.0.2), each with a network, a name and mounts of its own, joined by a
link of 1 Gbit/s or of `rate`. They are namespaces of a process that this module starts: nothing outside sees them, and they and all that
runs in them end with it, however it ends.

    two_hosts.run(work, test, rate)    calls test(hosts) and ends as it does; `work` is a folder for files, emptied first
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

# More processes than cores, by root too, that meet on the link. Names are those of Open MPI 4, then of 5.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "10.7.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.7.0.0/24",
       "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_hwloc_default_binding_policy": "none",
       "PRTE_MCA_prte_if_include": "10.7.0.0/24"}


def skip(why):
    """As cmake/Skip.cmake: shown by ctest with its reason, and a failure in CI."""
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
    """A program on a host; what it prints is in a file."""

    def __init__(self, command, out, environment):
        self.out = out
        with out.open("wb") as file:
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment)

    @property
    def text(self):
        return self.out.read_text(errors="replace")

    def end(self, seconds):
        """The exit code, negative for a signal. Fails where it does not come in time."""
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
        self.before = []  # of each program's words, such as ["taskset", "--cpu-list", "0"]
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
        """What it prints goes to the file `name`."""
        return Process(self.inside(*command), self.work / name, {**os.environ, "TMPDIR": str(self.work), **environment})

    def own_folder(self, path):
        """From now on this host sees a folder of its own there."""
        path.mkdir(parents=True, exist_ok=True)
        tool(*self.inside("mount", "-t", "tmpfs", "none", path))


class Hosts:
    def __init__(self, work, names, rate):
        self.work, self.names = work, names  # the file /etc/hosts
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
        """`each` processes on each host."""
        agent = {f"{prefix}_MCA_{what}": str(self.agent) for prefix, what in (("OMPI", "plm_rsh_agent"), ("PRTE", "plm_ssh_agent"))}
        places = ",".join(f"{host.name}:{each}" for host in self.all)
        own = self.work / name[0]  # two launchers that begin at once would race for one folder; paths of sockets are short
        own.mkdir(exist_ok=True)
        return self.first.start(name, [mpirun, "-n", 2 * each, "--host", places, *command], **MPI, **agent, TMPDIR=str(own))

    def places(self, each):
        """Of `each` processes on each host: number of the host, and of the process."""
        return [(number, process) for number in (0, 1) for process in range(number * each, (number + 1) * each)]

    def processes(self, name, each, command, environment):
        """`each` processes on each host; environment(host's number, process, processes, port) says what a launcher would."""
        port = next(self.ports)
        return [self.all[number].start(f"{name}.{process}", command, **environment(number, process, 2 * each, port))
                for number, process in self.places(each)]

    def said_by_hand(self, each, process, port):
        return {"REDCO_PROCESSES": str(2 * each), "REDCO_PROCESS": str(process), "REDCO_PROCESSES_HERE": str(each),
                "REDCO_MEET": f"{self.all[0].name}:{port}"}

    def by_hand(self, name, each, command):
        return self.processes(name, each, command, lambda _, process, __, port: self.said_by_hand(each, process, port))

    def cut(self):
        """Nothing goes over the link any more; no connection is told."""
        tool(*self.first.inside("ip", "link", "set", "link1", "down"))


def within(work, test, rate):
    """In namespaces of its own, with the process number 1: what it starts ends with it."""
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
