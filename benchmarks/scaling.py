#!/usr/bin/env python3
"""Trains W1 as one, two and four processes on two hosts. The hosts are network namespaces of this
machine with half of its cores each, joined by a link.

    scaling.py [--steps 13] [--dtype f32] [--rate 1gbit] [--machine MACHINE.json] [--no-peer]

Measures the hosts' cores and their link (redco-calibrate) unless a file is given. Then runs all
programs step by step in turns; a program is stopped during the others' turns. The programs: ours as
1, 2 and 4 processes, ours as 2 processes that sum gradients after backward (no overlap), and
PyTorch's DDP over gloo as 2 processes (with .deps/peers). With bf16, DDP runs also with gradients
sent in bf16.

Then benchmarks/overlap measures which share of the messages overlaps compute: between two replicas,
without and with --zero 1 to 3, two shards, and two shards that split tokens. Prints tables. Exit
code 1 if a prediction is off by more than 15 % or DDP is faster.
"""
import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/hosts"))
import two_hosts
from paced import Paced

BUILD = ROOT / "build/release"
BENCH, CALIBRATE, OVERLAP = BUILD / "benchmarks/bench", BUILD / "tools/redco-calibrate", BUILD / "benchmarks/overlap"
PEERS = ROOT / ".deps/peers"
LIMIT = 900  # seconds of one calibration


def share_cores(hosts):
    """Binds the programs of each host to half of the cores that this process may use. Returns the
    number of cores of a host."""
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if half == 0:
        sys.exit("scaling: two hosts need two cores")
    for host, own in zip(hosts.all, (cores[:half], cores[half:2 * half])):
        host.before = ["taskset", "--cpu-list", ",".join(map(str, own))]
    return half


def done(started):
    for one in started:
        one.done(LIMIT)


def calibrated(hosts):
    machine = hosts.work / "machine.json"
    command = [CALIBRATE, "--machine", machine]
    done([hosts.first.start("alone", command)])
    for each in 1, 2:
        done(hosts.by_hand(f"links.{2 * each}", each, command))
    return machine


def programs(hosts, cores, options, machine):
    words = ["W1", "--dtype", options.dtype, "--steps", options.steps, "--threads"]

    def ours(name, each, *more):
        processes = max(1, 2 * each)
        threads = max(1, cores // max(1, each))
        return Paced(hosts, name, each, [BENCH, *words, threads, "--mesh", f"{processes}x1", "--machine", machine, "--paced", *more],
                     lambda _, process, port: hosts.said_by_hand(each, process, port) if each else {})

    def ddp(name, *more):
        python = PEERS / "bin/python"
        return Paced(hosts, name, 1, [python, ROOT / "benchmarks/peer.py", *words, cores, "--paced", *more],
                     lambda processes, process, port: {"WORLD_SIZE": str(processes), "RANK": str(process), "MASTER_ADDR": "node1",
                                                       "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": f"link{process + 1}"})

    all = [ours("redco, 1 process", 0), ours("redco, 2 processes", 1), ours("redco, 4 processes", 2),
           ours("redco, 2 processes, no overlap", 1, "--no-overlap")]
    if options.peer:
        all.append(ddp("DDP, 2 processes"))
        if options.dtype == "bf16":
            all.append(ddp("DDP, 2 processes, bf16 gradients", "--compress"))
    return all


def overlapped(hosts, cores, dtype, machine, name, words):
    """Prints a table row with the share of the messages that overlaps compute. Returns the largest
    error of the predictions."""
    started = hosts.by_hand("overlap." + "".join(words), 1,
                            [OVERLAP, "--dtype", dtype, "--machine", machine, "--threads", cores, "--quiet", "--mesh", *words])
    done(started)
    line = json.loads(next(line for line in started[0].text.splitlines() if line.startswith("{")))
    cells, worst = "", 0
    for how in "sequential", "overlapped":
        measured, predicted = line[f"step_s_{how}"], line[f"predicted_s_{how}"]
        worst = max(worst, abs(predicted / measured - 1))
        cells += f"| {measured:.3f} | {predicted:.3f} | {100 * (predicted / measured - 1):+.0f} % "
    print(f"| {name} {cells}| {100 * line['hidden']:.0f} % of {line['messages_s']:.3f} s |")
    return worst


def compare(hosts, options):
    cores = share_cores(hosts)
    machine = options.machine or calibrated(hosts)
    all = programs(hosts, cores, options, machine)
    for step in range(options.steps):
        for one in all if step % 2 == 0 else reversed(all):
            one.turn()
    lines = [one.line() for one in all]
    for line in lines:
        print(json.dumps(line))
    one_process, two = all[0].typical(), all[1].typical()
    print("\n| program | tok/s | step ms | predicted ms | error | speedup |\n|---|---|---|---|---|---|")
    worst, slower = 0, []
    for one, line in zip(all, lines):
        step, cells = one.typical(), "| | "
        if "predicted_s" in line:
            error = line["predicted_s"] / step - 1
            worst = max(worst, abs(error))
            cells = f"| {1e3 * line['predicted_s']:.0f} | {100 * error:+.0f} % "
        elif step < two:
            slower.append(one.name)
        print(f"| {one.name} | {16 * 256 / step:.0f} | {1e3 * step:.0f} {cells}| {one_process / step:.2f} |")
    print("\n| messages of | sequential s | predicted | error | overlapped s | predicted | error | hidden |\n|---|---|---|---|---|---|---|---|")
    zero = [(f"two replicas, --zero {level}", ["2x1", "--zero", str(level)]) for level in (1, 2, 3)]
    for name, words in ("two replicas", ["2x1"]), *zero, ("two shards", ["1x2"]), ("two shards, split tokens", ["1x2", "--split-tokens"]):
        worst = max(worst, overlapped(hosts, cores, options.dtype, machine, name, words))
    if slower or worst > 0.15:
        sys.exit(f"scaling: largest error {100 * worst:.0f} %; faster than ours: {', '.join(slower) or 'none'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--rate", default="1gbit", help="rate of the link, in the notation of tc")
    parser.add_argument("--machine", type=lambda name: Path(name).resolve(), help="file that redco-calibrate wrote on these hosts")
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    options = parser.parse_args()
    if options.peer and not (PEERS / ".redco").exists():
        sys.exit("scaling: no PyTorch to compare with: scripts/bench --install-peers, or --no-peer")
    two_hosts.run(BUILD / "scaling", lambda hosts: compare(hosts, options), options.rate)
