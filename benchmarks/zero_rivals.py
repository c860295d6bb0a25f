#!/usr/bin/env python3
"""Compares ZeRO with PyTorch's DDP and FSDP2 over gloo, as two processes with one core each.

    zero_rivals.py [W1 W2] [--levels 0 1 2 3] [--rivals ddp kept again] [--steps 8] [--no-threads]
    zero_rivals.py --hosts [--rate 1gbit]    on two hosts: network namespaces that a link joins

All programs train the same model from the same weights on the same ids. The rivals are DDP (`ddp`)
and FSDP2, with reshard_after_forward False (`kept`) or True (`again`).

First each program runs alone for four steps. A table shows losses, gradient norms and memory. A
rival whose numbers differ from those of our level 0 is not timed. Then each rival takes turns with
our levels step by step; a program is stopped during the other programs' turns. If memory is short,
name one level and one rival. On one machine, our levels also run as two ranks that are threads of
one process, the default there (--no-threads leaves that out).

The allocator hooks of PyTorch count the bytes of tensors in all programs. The peak is that of the
third step, without the memory of libraries. Resident memory of a process includes PyTorch itself.

With --hosts, another table shows the share of the messages that overlaps compute, by
benchmarks/overlap. The exit code is 1 if a level trains otherwise than level 0, whatever the speed.
"""
import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/hosts"))
import two_hosts
from paced import Paced, SKIPPED

BUILD = ROOT / "build/release"
BENCH, OVERLAP = BUILD / "benchmarks/bench", BUILD / "benchmarks/overlap"
PYTHON, PEER = ROOT / ".deps/peers/bin/python", ROOT / "benchmarks/zero_peer.py"
NAMES = {"ddp": "DDP", "kept": "FSDP2, kept", "again": "FSDP2, gathered again"}
TOKENS = {"W1": 16 * 256, "W2": 4 * 256}
CHECKED_STEPS = 4
TOLERANCE = 1e-4  # of losses and norms in f32, relative
REFUSED = 64
MIB = 2**20


def free_ports():
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        yield port


class Core:
    """A core of this machine, with the interface of two_hosts.Host."""

    def __init__(self, number):
        self.number = number

    def inside(self, *command):
        return ["taskset", "--cpu-list", str(self.number), *map(str, command)]


class Machine:
    """Two cores of this machine, one for each process, with the interface of two_hosts.Hosts."""

    def __init__(self, work):
        self.work, self.ports = work, free_ports()
        self.cores = sorted(os.sched_getaffinity(0))[:2]
        if len(self.cores) < 2:
            sys.exit("zero: two processes need two cores")
        self.all = [Core(number) for number in self.cores]

    def process_numbers(self, each):
        return [(number, number) for number in (0, 1)] if each else []

    def said_by_hand(self, each, process, port):
        return {"REDCO_PROCESSES": "2", "REDCO_PROCESS": str(process), "REDCO_PROCESSES_HERE": "2", "REDCO_MEET": f"127.0.0.1:{port}"}

    def gloo(self, process, port):
        return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}

    def on_both(self, *command):
        return ["taskset", "--cpu-list", ",".join(map(str, self.cores)), *command]


def gloo_of(hosts, process, port):
    if isinstance(hosts, Machine):
        return hosts.gloo(process, port)
    return {"MASTER_ADDR": "node1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": f"link{process + 1}"}


class Program:
    """A level of our ZeRO (`kind` is the level), as two processes or as two threads, or a rival."""

    def __init__(self, hosts, workload, start, kind, threads=False):
        self.hosts, self.workload, self.kind, self.threads = hosts, workload, kind, threads
        self.is_ours = isinstance(kind, int)
        self.name = NAMES.get(kind) or f"redco --zero {kind}" + (", threads" if threads else "")
        self.start, self.facts = start, {}

    def command(self, steps, *more):
        if not self.is_ours:
            return [PYTHON, PEER, self.workload, "--kind", self.kind, "--start", self.start, "--threads", 1, "--steps", steps, *more]
        ours = [BENCH, self.workload, "--mesh", "2x1", "--zero", self.kind, "--threads", 1, "--steps", steps, *more]
        return self.hosts.on_both(*ours) if self.threads else ours

    def environment(self, processes, process, port):
        if self.threads:
            return {}
        if self.is_ours:
            return self.hosts.said_by_hand(1, process, port)
        return {"WORLD_SIZE": str(processes), "RANK": str(process), "OMP_NUM_THREADS": "1", **gloo_of(self.hosts, process, port)}

    def check(self):
        """Runs the first steps alone and keeps their JSON line. Returns the exit code and the last
        line of the error output."""
        port, each = next(self.hosts.ports), 0 if self.threads else 1
        numbers = self.hosts.process_numbers(each) or [(0, 0)]
        more = [] if self.is_ours else ["--memory"]
        out, error = self.hosts.work / "check.out", self.hosts.work / "check.error"
        with out.open("w") as said, error.open("w") as complaint:
            running = [subprocess.Popen(self.hosts.all[number].inside(*self.command(CHECKED_STEPS, *more)),
                                        stdout=said if process == 0 else subprocess.DEVNULL, stderr=complaint if process == 0 else subprocess.DEVNULL,
                                        env={**os.environ, **self.environment(len(numbers), process, port)})
                       for number, process in numbers]
            code = max([abs(one.wait()) for one in running])
        if code == 0:
            self.facts = json.loads(out.read_text().strip().splitlines()[-1])
            if self.is_ours:
                self.facts["kept_bytes"] = [self.facts["kept_bytes"]]
        return code, (error.read_text().strip().splitlines() or [""])[-1]

    def paced(self, steps):
        return Paced(self.hosts, self.name, 0 if self.threads else 1, self.command(steps, "--paced"), self.environment)


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= TOLERANCE * abs(x) for x, y in zip(a, b))


def mebibytes(bytes):
    return f"{max(bytes) / MIB:.0f}" if bytes else ""


def resident_peaks(paced):
    """Returns the largest resident bytes of each process of a program so far."""
    return [next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{one.pid}/status").read_text().splitlines()
                 if line.startswith("VmHWM:")) for one in paced.processes]


def checked(all):
    """Checks all programs. Returns those that run and train alike, and whether our levels do."""
    print("| program | loss of steps 1 to 4 | norm of step 1 | state MiB | peak tensor MiB | verdict |\n|---|---|---|---|---|---|")
    reference, fit, alike = None, [], True
    for one in all:
        code, said = one.check()
        if code:
            print(f"| {one.name} | | | | | {'refused' if code == REFUSED else f'exit code {code}'}: {said[:150]} |", flush=True)
            alike = alike and (not one.is_ours or code == REFUSED)
            continue
        facts = one.facts
        reference = reference or facts
        right = close(reference["losses"], facts["losses"]) and close(reference["norms"], facts["norms"])
        alike = alike and (right or not one.is_ours)
        print(f"| {one.name} | {' '.join(f'{x:.5f}' for x in facts['losses'])} | {facts['norms'][0]:.5f} | {mebibytes(facts['kept_bytes'])} "
              f"| {mebibytes(facts['peak_bytes'])} | {'equal' if right else 'other numbers: not timed'} |", flush=True)
        if right:
            fit.append(one)
    return fit, alike


def timed(rival, ours, steps):
    """Runs a rival and our programs in turns, and prints one table row each."""
    running = [(one, one.paced(steps)) for one in (rival, *ours)]
    for step in range(steps):
        for _, one in running if step % 2 == 0 else reversed(running):
            one.turn()
    peaks = [resident_peaks(one) for _, one in running]
    for _, one in running:
        one.line()
    base = running[0][1]
    for (program, one), peak in zip(running, peaks):
        rounds = statistics.median(b / a for a, b in zip(one.seconds[SKIPPED:], base.seconds[SKIPPED:]))
        cells = [program.name, f"{TOKENS[program.workload] / one.typical():.0f}", f"{base.typical() / one.typical():.2f}", f"{rounds:.2f}",
                 f"{base.typical_cpu() / (one.typical_cpu() / (2 if program.threads else 1)):.2f}",
                 mebibytes(program.facts["peak_bytes"]), " + ".join(f"{x / MIB:.0f}" for x in peak)]
        print("| " + " | ".join(cells) + " |", flush=True)


def compare(hosts, workload, options):
    start = hosts.work / f"start_{workload}"
    subprocess.run([BENCH, workload, "--write-start", start, "--threads", "1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    levels = [Program(hosts, workload, start, level) for level in options.levels]
    if options.threads and isinstance(hosts, Machine):
        levels += [Program(hosts, workload, start, level, threads=True) for level in options.levels]
    rivals = [Program(hosts, workload, start, kind) for kind in options.rivals]
    print(f"\n{workload}, two replicas, f32\n")
    fit, alike = checked(levels + rivals)
    ours = [one for one in fit if one.is_ours]
    print("\n| program | tok/s | to the rival | by rounds | processor time | peak tensor MiB | peak resident MiB |\n|---|---|---|---|---|---|---|")
    for rival in fit:
        if not rival.is_ours:
            timed(rival, ours, options.steps)
    return alike


def hidden(hosts, options):
    print("\n| messages of W1 | after compute s | overlapped s | alone s | hidden |\n|---|---|---|---|---|")
    for level in options.levels:
        started = hosts.by_hand(f"overlap.{level}", 1, [OVERLAP, "--threads", 1, "--quiet", "--mesh", "2x1", "--zero", level, "--steps", options.steps])
        if any([one.end(3600) for one in started]):
            print(f"| redco --zero {level} | | | | {started[0].text.strip().splitlines()[-1][:150]} |", flush=True)
            continue
        line = json.loads(next(line for line in started[0].text.splitlines() if line.startswith("{")))
        print(f"| redco --zero {level} | {line['step_s_sequential']:.3f} | {line['step_s_overlapped']:.3f} | {line['messages_s']:.3f} "
              f"| {100 * line['hidden']:.0f} % |", flush=True)


def on_hosts(hosts, options):
    cores = sorted(os.sched_getaffinity(0))
    for host, core in zip(hosts.all, cores[:2]):
        host.before = ["taskset", "--cpu-list", str(core)]
    hidden(hosts, options)
    if not all([compare(hosts, workload, options) for workload in options.workloads]):
        sys.exit("zero: a level trains otherwise than level 0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=[])
    parser.add_argument("--levels", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--rivals", nargs="*", choices=list(NAMES), default=list(NAMES))
    parser.add_argument("--steps", type=int, default=8, help="of which the median leaves out three")
    parser.add_argument("--no-threads", dest="threads", action="store_false")
    parser.add_argument("--hosts", action="store_true")
    parser.add_argument("--rate", default="1gbit", help="rate of the link, in the notation of tc")
    options = parser.parse_args()
    options.workloads = options.workloads or (["W1"] if options.hosts else ["W1", "W2"])
    if options.rivals and not (ROOT / ".deps/peers/.redco").exists():
        sys.exit("zero: no PyTorch to compare with: scripts/bench --install-peers, or --rivals without names")
    if options.hosts:
        two_hosts.run(BUILD / "zero", lambda hosts: on_hosts(hosts, options), options.rate)
    work = BUILD / "zero"
    work.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not all([compare(Machine(work), workload, options) for workload in options.workloads]):
        sys.exit("zero: a level trains otherwise than level 0")
