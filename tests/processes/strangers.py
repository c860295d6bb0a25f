#!/usr/bin/env python3
"""Checks foreign connections to the port where processes of redco meet by TCP.

    strangers.py flood|forged|failure|second_job|wrong_secret|untrusted|one_host|store|ipv6 PROGRAM

PROGRAM is `processes` of this folder. This script implements the wire format independently, in
Python, with HMAC of its standard library.
"""
import hashlib
import hmac
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

USAGE, PEER_LOST, RENDEZVOUS = 64, 69, 76
MARK, PROTOCOL = b"redco\r\n\x1a", 1
HEAD_MARK = 0x6F636472
FAILED, ANSWERED = -1, -2  # in place of a rank in notices


def listening(process):
    """Returns the addresses and ports on which a process listens, in Linux's notation."""
    own, rows = set(), []
    for file in Path(f"/proc/{process}/fd").iterdir():
        try:
            own.add(os.readlink(file))
        except FileNotFoundError:
            pass
    for table in Path(f"/proc/{process}/net/tcp"), Path(f"/proc/{process}/net/tcp6"):
        rows += [line.split() for line in table.read_text().splitlines()[1:]] if table.exists() else []
    return [row[1].split(":") for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]


class Process:
    started = []

    def __init__(self, program, arguments, environment):
        self.popen = subprocess.Popen([program, *map(str, arguments)], env={**os.environ, **environment}, bufsize=0,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.set_blocking(self.popen.stdout.fileno(), False)
        self.text = ""
        Process.started.append(self)

    def read(self):
        self.text += (self.popen.stdout.read() or b"").decode(errors="replace")
        return self.text

    def await_text(self, words, seconds=60):
        end = time.monotonic() + seconds
        while words not in self.read():
            assert self.popen.poll() is None and time.monotonic() < end, f"no '{words}' in: {self.text}"
            time.sleep(0.02)

    def end(self, code, words="", seconds=60):
        end = time.monotonic() + seconds
        while self.popen.poll() is None:
            self.read()
            assert time.monotonic() < end, f"does not end: {self.text}"
            time.sleep(0.02)
        self.read()
        assert self.popen.returncode == code and words in self.text, f"{self.popen.returncode}, not {code} and '{words}': {self.text}"

    def doors(self):
        return listening(self.popen.pid)

    def await_door(self, seconds=20):
        end = time.monotonic() + seconds
        while not self.doors():
            assert self.popen.poll() is None and time.monotonic() < end, f"opens no door: {self.read()}"
            time.sleep(0.02)
        return self.doors()


class Job:
    """Processes that a user starts by hand, each at a chosen time."""

    def __init__(self, program, processes, arguments, host="127.0.0.1", port=None, **environment):
        self.program, self.arguments, self.port = program, arguments, port or free_port(host.strip("[]"))
        self.environment = {"REDCO_PROCESSES": str(processes), "REDCO_PROCESSES_HERE": str(processes),
                            "REDCO_MEET": f"{host}:{self.port}", **environment}
        self.all = []

    def start(self, process):
        self.all.append(Process(self.program, self.arguments, {**self.environment, "REDCO_PROCESS": str(process)}))
        return self.all[-1]


def free_port(host="127.0.0.1"):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as one:
        one.bind((host, 0))
        return one.getsockname()[1]


def greeting(process, processes, links=0, run=b"", version=PROTOCOL):
    return struct.pack("<8sIIii16s32s", MARK, version, links, process, processes, os.urandom(16), hashlib.sha256(run).digest())


def receive(line, size):
    all = b""
    while len(all) < size:
        piece = line.recv(size - len(all))
        if not piece:
            raise ConnectionError(f"the connection closed after {len(all)} of {size} bytes")
        all += piece
    return all


def await_answer(host, port, processes, seconds=20):
    """Waits until process 0 answers a greeting: then the addresses on which it listens do not
    change any more."""
    end = time.monotonic() + seconds
    while True:
        try:
            with socket.create_connection((host, port), timeout=5) as line:
                line.sendall(greeting(1, processes))
                if receive(line, len(MARK)) == MARK:
                    return
        except OSError:
            assert time.monotonic() < end, f"nobody answers at port {port}"
        time.sleep(0.02)


class Member:
    """A process of a run that implements joining only."""

    def __init__(self, port, process, processes, secret=b""):
        self.key = hmac.new(secret, b"", "sha256").digest()
        self.line = socket.create_connection(("127.0.0.1", port), timeout=20)
        own = greeting(process, processes)
        self.line.sendall(own)
        its = receive(self.line, len(own))
        assert its[:8] == MARK, its
        address = b"127.0.0.1 1 a_stranger"
        proof = hmac.new(self.key, b"caller" + own + its + address, "sha256").digest()
        self.line.sendall(proof + struct.pack("<I", len(address)) + address)
        proof = receive(self.line, 32)
        self.table = receive(self.line, struct.unpack("<I", receive(self.line, 4))[0])
        assert proof == hmac.new(self.key, b"door" + its + own + self.table, "sha256").digest(), "another proof of process 0"

    def send(self, tag, size, content=b"", mark=HEAD_MARK):
        self.line.sendall(struct.pack("<qiI", size, tag, mark) + content)


def nuisances(host, port, number):
    """Opens this number of connections that belong to no run. Returns those that stay open."""
    kept = []
    for one in range(number):
        line = socket.create_connection((host, port), timeout=20)
        kind = one % 7
        try:
            line.sendall([b"", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", random.randbytes(200), struct.pack("<i", 1), MARK[:5],
                          greeting(1, 3), greeting(2, 3) + bytes(36)][kind])
        except OSError:
            pass  # closed before everything was sent
        kept.append(line)
        if len(kept) > 600:
            kept.pop(random.randrange(len(kept))).close()
    return kept


def flood(program):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 4096, hard))
    job = Job(program, 3, ["--endless", "--deadline", 60])
    first = job.start(0)
    first.await_door()
    await_answer("127.0.0.1", job.port, 3)
    found = [door[0] for door in first.doors()]
    assert found == ["0100007F"], f"listens at {found}"
    kept = nuisances("127.0.0.1", job.port, 1000)
    second = job.start(1)
    for address, port in second.await_door():
        assert address == "0100007F", f"listens at {address}"
        kept += nuisances("127.0.0.1", int(port, 16), 300)
    kept += nuisances("127.0.0.1", job.port, 300)
    third = job.start(2)
    for one in job.all:
        one.await_text("sums\n")
    for one in job.all:
        assert not one.doors(), f"still listens at {one.doors()}"
    third.popen.kill()
    for one in (first, second):
        one.end(PEER_LOST)
    assert "rank 2: its process" in first.text, first.text


def forged(program):
    """A member that sends an impossible message is shut out. A process without the secret cannot
    become a member."""
    secret = "0123456789abcdef"
    for bytes_sent, words in ((lambda it: it.send(5, -5), "a message of kind 5 and -5 bytes"),
                              (lambda it: it.send(5, 1 << 61), f"a message of kind 5 and {1 << 61} bytes"),
                              (lambda it: it.send(-1, 3, b"abc"), "a message of kind -1 and 3 bytes"),
                              (lambda it: it.send(-1, 16, struct.pack("<Qii", 1, 63, 0)), "a notice that says nothing"),
                              (lambda it: it.send(-9, 0), "a message of the unknown kind -9"),
                              (lambda it: it.send(5, 0, mark=0), "bytes that are no message header")):
        job = Job(program, 2, ["--endless", "--deadline", 20], REDCO_SECRET=secret)
        first = job.start(0)
        first.await_door()
        for wrong in (b"", b"0123456789abcdeg"):
            try:
                Member(job.port, 1, 2, wrong)
                raise AssertionError("a stranger is let in")
            except ConnectionError:
                pass
        member = Member(job.port, 1, 2, secret.encode())
        assert member.table.count(b"\n") == 3 and b"127.0.0.1 1 a_stranger\n" in member.table, member.table
        bytes_sent(member)
        first.end(PEER_LOST, f"sent {words}, and is shut out")
    # A member cannot announce the end of another process's rank: the wait ends by the deadline, not
    # by the announcement.
    job = Job(program, 2, ["--endless", "--deadline", 3], REDCO_SECRET=secret)
    first = job.start(0)
    first.await_door()
    member = Member(job.port, 1, 2, secret.encode())
    for rank in 0, 2, 1 << 30:
        member.send(-1, 16, struct.pack("<Qii", 1, 0, rank))
    first.end(PEER_LOST, "for rank 1 on a_stranger (127.0.0.1), which did not come")


def failure(program):
    """A process that learns of another's failure answers at once that it lives."""
    job = Job(program, 2, ["--endless", "--deadline", 20])
    first = job.start(0)
    first.await_door()
    member = Member(job.port, 1, 2)
    member.send(-1, 16, struct.pack("<Qii", 1, 65, FAILED))
    notices, end = [], time.monotonic() + 10
    while ANSWERED not in notices:
        try:
            size, tag, _ = struct.unpack("<qiI", receive(member.line, 16))
            content = receive(member.line, size)
        except OSError as e:
            raise AssertionError(f"no answer to a failure: {e}")
        assert time.monotonic() < end, "no answer to a failure"
        notices += [struct.unpack("<Qii", content[:16])[2]] if tag == -1 else []
    first.end(65)


def second_job(program):
    """Two jobs on one port: processes of different jobs never join."""
    arguments = ["--runs", 0, "--deadline", 20]
    job = Job(program, 3, arguments, REDCO_SECRET="the first job's secret")
    job.start(0).await_door()
    job.start(1)
    other = Job(program, 3, ["--runs", 0, "--deadline", 3], port=job.port, REDCO_SECRET="the second job's secret")
    other.start(0).end(RENDEZVOUS, "cannot listen at port")
    for process in 1, 2:
        other.start(process)
    for one in other.all[1:]:
        one.end(RENDEZVOUS, "knows another REDCO_SECRET, has this process already, or has ended")
    wrong = Job(program, 2, ["--runs", 0, "--deadline", 3], port=job.port)
    wrong.start(1).end(RENDEZVOUS, "a number of processes of 3, this process 2")
    job.start(2)
    for one in job.all:
        one.end(0, "all holds")


def wrong_secret(program):
    """Process 0 names a process that has another secret."""
    job = Job(program, 3, ["--runs", 0, "--deadline", 10], REDCO_SECRET="the first job's secret")
    job.start(0).await_door()
    job.start(1)
    other = Job(program, 3, ["--runs", 0, "--deadline", 2], port=job.port, REDCO_SECRET="the second job's secret")
    other.start(2).end(RENDEZVOUS, "knows another REDCO_SECRET")
    job.all[0].end(RENDEZVOUS, "0, 1 came, 2 did not within 10000 ms; with another REDCO_SECRET called process 2 (from 127.0.0.1)")


def untrusted(program):
    """Without a secret, processes meet only on loopback or on a trusted network."""
    for process, environment in (0, {}), (1, {}), (1, {"REDCO_TRUSTED_NETWORK": "0"}):
        job = Job(program, 2, ["--runs", 0, "--deadline", 1], port=29500, **{"REDCO_MEET": "192.0.2.1:29500", **environment})
        job.start(process).end(USAGE, "REDCO_SECRET is not set, so any program on the network that reaches 192.0.2.1:29500")
    for environment in {"REDCO_TRUSTED_NETWORK": "1"}, {"REDCO_SECRET": "0123456789abcdef"}:
        job = Job(program, 2, ["--runs", 0, "--deadline", 1], port=29500, **{"REDCO_MEET": "192.0.2.1:29500", **environment})
        job.start(1).end(RENDEZVOUS, "does not let it in within 1000 ms")


def one_host(program):
    """Processes that are all on one host meet on loopback although they were given a name."""
    job = Job(program, 2, ["--runs", 0, "--deadline", 20], host=socket.gethostname(), port=free_port())
    job.start(0).await_door()
    found = [door[0] for door in job.all[0].doors()]
    assert found == ["0100007F"], f"listens at {found}"
    job.start(1)
    for one in job.all:
        one.end(0, "all holds")


def store(program):
    """One agent of torchrun starts programs one after another, which use equal names in its store.
    """
    port = free_port()
    agent = Process(program, ["--store", port], {})
    agent.await_door()
    for turn in range(3):
        started = [Process(program, ["--runs", 0, "--deadline", 20], {
            "WORLD_SIZE": "2", "RANK": str(process), "LOCAL_RANK": str(process), "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "id",
            "TORCHELASTIC_RESTART_COUNT": "0"}) for process in ((1, 0) if turn else (0, 1))]
        for one in started:
            one.end(0, "all holds")
    agent.popen.kill()


def ipv6(program):
    try:
        free_port("::1")
    except OSError as e:
        print(f"skipped: this machine has no IPv6 ({e})")
        return
    job = Job(program, 2, ["--runs", 0, "--deadline", 20], host="[::1]")
    job.start(0).await_door()
    await_answer("::1", job.port, 2)
    found = [door[0] for door in job.all[0].doors()]
    assert found == ["00000000000000000000000001000000"], f"listens at {found}"
    job.start(1)
    for one in job.all:
        one.end(0, "all holds")


if __name__ == "__main__":
    check, where = sys.argv[1:]
    try:
        {"flood": flood, "forged": forged, "failure": failure, "second_job": second_job, "wrong_secret": wrong_secret,
         "untrusted": untrusted, "one_host": one_host, "store": store, "ipv6": ipv6}[check](where)
    finally:
        for process in Process.started:
            process.popen.kill()
            process.popen.wait()
