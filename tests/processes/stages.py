#!/usr/bin/env python3
"""Checks trainings whose pipeline stages, or ranks with parts of sequences, are processes.

    stages.py PROGRAM --work FOLDER [--mpirun PROGRAM] CHECK...

    losses    losses and gradient norms of several meshes equal those of one rank
    verify    --verify compares the stages with one rank
    large     stages send activations of 1 MiB
    parts     stages on different machines send parts, to the same bits as whole tensors
    peaks     the peak of each rank's tensors is at most 3 % below the plan and 1 % above
    overlap   gradients that are summed during backward give the same bits as after it
    shares    replicas that keep shares of the optimizer's state train as one rank does
    context   ranks that divide sequences train as one rank does
    experts   ranks that hold different experts train as one rank does
    killed    a killed process ends all others, with its rank and the call that waits for it
    memory    a model that one process may not hold trains on four stages

    preempted a run saves after SIGTERM and ends with exit code 75
"""
import argparse
import array
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import agreement
from strangers import free_port

BASE = ["--threads", "1", "--quiet", "--resume", "none"]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}


class Launcher:
    """Starts the program as processes that TCP joins, or that mpirun starts."""

    def __init__(self, program, work, mpirun=None):
        self.program, self.work, self.mpirun = program, work, mpirun
        self.name = "MPI" if mpirun else "TCP"

    def folder_of(self, processes, arguments):
        return self.work / "_".join([self.name, str(processes), *arguments]).replace("/", "_").replace("--", "")

    def start(self, processes, arguments):
        folder = self.folder_of(processes, arguments)
        shutil.rmtree(folder, ignore_errors=True)
        command = [self.program, *BASE, *arguments, "--workdir", folder]
        pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if self.mpirun and processes > 1:
            return folder, [subprocess.Popen([self.mpirun, "-n", str(processes), *command], env={**os.environ, **MPI}, **pipes)]
        joined = {"REDCO_PROCESSES": str(processes), "REDCO_PROCESSES_HERE": str(processes), "REDCO_MEET": f"127.0.0.1:{free_port()}"}
        return folder, [subprocess.Popen(command, env={**os.environ, **({**joined, "REDCO_PROCESS": str(process)} if processes > 1 else {})},
                                         **pipes) for process in range(processes)]

    def ended(self, processes, arguments):
        """Returns the work folder, the exit codes, and the text of all processes."""
        folder, started = self.start(processes, arguments)
        began = time.monotonic()
        codes, text = agreement.ended(started)
        print(f"{self.name}, {processes} processes {' '.join(arguments)}: {codes} after {time.monotonic() - began:.1f} s", flush=True)
        return folder, codes, text

    def trained(self, processes, arguments):
        """Returns steps, losses and gradient norms of a run, which must end well, and its text."""
        folder, codes, text = self.ended(processes, arguments)
        assert not any(codes), f"{self.name}, {arguments}: {codes}: {text}"
        steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        return [(one["step"], one["loss"], one["grad_norm"]) for one in steps if "grad_norm" in one], text


def near(name, expected, found):
    assert len(expected) == len(found) > 1, f"{name}: steps {found} instead of {expected}"
    for (step, *wanted), (at, *values) in zip(expected, found):
        assert step == at and all(abs(a - b) <= 1e-12 * abs(a) for a, b in zip(wanted, values)), \
            f"{name}, step {step}: {values} instead of {wanted}"


def losses(start):
    one, _ = start.trained(1, ["--dtype", "f64"])
    for processes, mesh, more in [(4, "pp=2,tp=2", []), (4, "pp=4", ["--schedule", "gpipe"]), (2, "pp=2,dp=2", ["--recompute", "all"])]:
        found, _ = start.trained(processes, ["--dtype", "f64", "--mesh", mesh, *more])
        near(f"{start.name}, {processes} processes as {mesh}", one, found)


def context(start):
    for processes, mesh, dropout in [(2, "cp=2", "0.1"), (2, "dp=2,cp=2", "0.1"), (4, "cp=4", "0.1"), (3, "cp=3", "0")]:
        one, _ = start.trained(1, ["--dtype", "f64", "--dropout", dropout])
        found, _ = start.trained(processes, ["--dtype", "f64", "--dropout", dropout, "--mesh", mesh])
        near(f"{start.name}, {processes} processes as {mesh}", one, found)
    for processes, mesh in [(2, "cp=2"), (3, "cp=3")]:
        _, codes, text = start.ended(processes, ["--verify", "--mesh", mesh, "--dropout", "0"])
        assert not any(codes) and re.search("verify: .* and one rank agree in 2 updates", text), f"{start.name}, {mesh}: {codes}: {text}"


def parameters(folder):
    """Returns the tensors of a saved model in f64, by name."""
    data = (folder / "model" / "model.safetensors").read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = {name: facts for name, facts in json.loads(data[8:begin]).items() if name != "__metadata__"}
    assert all(facts["dtype"] == "F64" for facts in tensors.values()), tensors
    return {name: array.array("d", data[begin + facts["data_offsets"][0]:begin + facts["data_offsets"][1]])
            for name, facts in tensors.items()}


def alike(name, expected, found):
    assert expected.keys() == found.keys() and len(expected) > 10, f"{name}: {found.keys()} instead of {expected.keys()}"
    for tensor, values in expected.items():
        worst = max(map(lambda a, b: abs(a - b), values, found[tensor]))
        assert len(values) == len(found[tensor]) and worst < 1e-10, f"{name}, {tensor}: differs by {worst}"


def experts(start):
    # Six examples in the first two steps and five in the last: the ranks have different numbers of
    # micro-batches.
    arguments = ["--dtype", "f64", "--experts", "4", "--save"]
    one, _ = start.trained(1, arguments)
    whole = parameters(start.folder_of(1, arguments))
    buckets = ["--gradient-bucket", "0.00390625"]
    for processes, mesh, more in [(2, "ep=2", []), (4, "dp=2,ep=2", []), (2, "dp=2,ep=2", ["--no-overlap"]), (4, "pp=2,ep=2", []),
                                  (2, "ep=2", ["--zero", "1", *buckets]), (4, "dp=2,ep=2", ["--zero", "2", *buckets]),
                                  (2, "ep=2", ["--zero", "3", "--no-overlap"]), (4, "pp=2,ep=2", ["--zero", "3"])]:
        own = [*arguments, "--mesh", mesh, *more]
        found, _ = start.trained(processes, own)
        name = f"{start.name}, {processes} processes as {mesh} {more}"
        near(name, one, found)
        alike(name, whole, parameters(start.folder_of(processes, own)))
    for processes, mesh, more in [(2, "ep=2", ["--zero", "2"]), (4, "pp=2,ep=2", [])]:
        _, codes, text = start.ended(processes, ["--verify", "--experts", "4", "--mesh", mesh, *more])
        assert not any(codes) and re.search("verify: .* and one rank agree in 2 updates", text), f"{start.name}, {mesh}: {codes}: {text}"


def verify(start):
    for processes, mesh in [(2, "pp=2"), (2, "pp=2,tp=2")]:
        _, codes, text = start.ended(processes, ["--verify", "--mesh", mesh])
        assert not any(codes) and re.search("verify: .* and one rank agree in 2 updates", text), f"{start.name}, {mesh}: {codes}: {text}"


def large(start):
    # [2, 256, 256] in f64 is 1 MiB
    arguments = ["--dtype", "f64", "--width", "256", "--length", "256", "--layers", "2", "--micro-batch", "2", "--max-steps", "2"]
    one, _ = start.trained(1, arguments)
    found, _ = start.trained(2, [*arguments, "--mesh", "pp=2"])
    near(f"{start.name}, messages of 1 MiB", one, found)


def parts(start):
    # [2, 128, 64] in f64 is 128 KiB
    arguments = ["--dtype", "f64", "--width", "64", "--length", "128", "--micro-batch", "2", "--mesh", "pp=2,tp=2"]
    for processes in (2, 4):
        found, exchanged = [], []
        for machines in ("1", "2"):
            found.append(start.trained(processes, [*arguments, "--machines", machines])[0])
            _, codes, text = start.ended(processes, [*arguments, "--machines", machines, "--verify"])
            assert not any(codes) and "and one rank agree in 2 updates" in text and "not as planned" not in text, f"{start.name}: {codes}: {text}"
            exchanged.append(int(re.search(r"\n *pp +\d+ +\d+ +\d+ +(\d+)", text)[1]))
        assert found[0] == found[1], f"{start.name}, {processes} processes: {found[1]} instead of {found[0]}"
        assert exchanged[1] < 0.8 * exchanged[0], f"{start.name}, {processes} processes: {exchanged[1]} bytes instead of {exchanged[0]}"


def peaks(start):
    # Five steps of 16 and 1 examples; the third one is measured. The length makes activations the
    # larger part.
    arguments = ["--dtype", "f32", "--width", "64", "--length", "128", "--layers", "8", "--global-batch", "16", "--micro-batch", "4",
                 "--max-steps", "5", "--epochs", "5", "--peaks"]
    for processes, mesh, more in [(2, "pp=2", []), (2, "pp=2,tp=2", []), (4, "pp=2,tp=2", ["--machines", "2"]), (4, "pp=4", []),
                                  (2, "pp=2", ["--schedule", "gpipe"]), (2, "pp=2", ["--recompute", "all"])]:
        _, text = start.trained(processes, [*arguments, "--mesh", mesh, *more])
        found = re.findall(r"rank (\d+): planned (\d+), of which (\d+) throughout, measured (\d+)", text)
        print(*(f"rank {rank}: {int(measured) / int(planned) - 1:+.2%}" for rank, planned, _, measured in found), flush=True)
        assert len(found) > 1, text
        for rank, planned, persistent, measured in found:
            assert 0.97 <= int(measured) / int(planned) <= 1.01, f"{start.name}, {mesh} {more}, rank {rank}: measured {measured}, planned {planned}"
            assert 2 * int(persistent) < int(planned), f"{start.name}, {mesh}: parameters hide errors: {persistent} of {planned}"


def overlap(start):
    # Buckets of 4 KiB: several per stage
    arguments = ["--dtype", "f64", "--mesh", "pp=2,dp=2", "--gradient-bucket", "0.00390625"]
    after, text = start.trained(2, [*arguments, "--no-overlap"])
    assert "while backward runs" not in text, text
    during, text = start.trained(2, [*arguments, "--overlap"])
    assert after == during, f"{start.name}: {during} instead of {after}"


def shares(start):
    one, _ = start.trained(1, ["--dtype", "f64"])
    buckets, groups = ["--gradient-bucket", "0.00390625"], ["--zero-owner", "whole", "--zero-within", "2"]
    for processes, mesh, level, more in [(2, "dp=2", "1", buckets), (3, "dp=3", "1", ["--no-overlap"]), (2, "dp=2,tp=2", "1", buckets),
                                         (4, "pp=2,dp=2", "1", []), (4, "pp=2,dp=2", "2", []), (2, "dp=2", "2", buckets), (3, "dp=3", "2", ["--no-overlap"]),
                                         (3, "dp=3", "3", buckets), (2, "dp=2,tp=2", "3", ["--no-overlap"]),
                                         (4, "dp=4", "1", groups), (4, "dp=4", "3", [*groups, *buckets])]:
        found, text = start.trained(processes, ["--dtype", "f64", "--mesh", mesh, "--zero", level, *more])
        near(f"{start.name}, {processes} processes as {mesh} with --zero {level}", one, found)
        assert "replicas keeps a share of the optimizer's state" in text, text
        assert ("and of the gradients" in text) == (level == "2" and "pp" not in mesh), text
        assert ("a pipeline stage keeps all its gradients" in text) == (level == "2" and "pp" in mesh), text
        assert ("and of the parameters" in text) == (level == "3"), text
        assert ("in whole matrices; 2 groups of replicas keep equal shares" in text) == ("--zero-within" in more), text
    for level in ("1", "2"):
        _, codes, text = start.ended(2, ["--verify", "--mesh", "dp=2", "--zero", level])
        assert not any(codes) and "and one rank agree in 2 updates" in text, f"{start.name}: {codes}: {text}"


def killed(start):
    for victim in (0, 2):
        began = time.monotonic()
        _, codes, text = start.ended(4, ["--mesh", "pp=4", "--killed", str(victim), "--deadline", "5", "--max-steps", "1000", "--epochs", "500"])
        took = time.monotonic() - began
        assert took < 5 + 10 + 10, f"{start.name}: {took:.1f} s"
        if start.mpirun:
            assert codes == [137] and re.search(
                r"rank \d waits in step \d+, in recv of .* for 'pipeline stages', call \d+ of group pp on .*, and SIGTERM ends it", text), f"{codes}: {text}"
        else:
            assert sorted(codes) == [-9, 69, 69, 69], f"{codes}: {text}"
            assert re.search(rf"rank {victim}: its process on [^ ]+ \(127.0.0.1\) is gone without a word", text), text


def preempted(start):
    # Steps of more than a second: the run must not end before its save.
    arguments = ["--mesh", "pp=2", "--max-steps", "1000", "--epochs", "500", "--width", "256", "--length", "256", "--layers", "8",
                 "--global-batch", "48"]
    folder, started = start.start(2, arguments)
    rows, end = folder / "metrics.jsonl", time.monotonic() + 120
    while not (rows.exists() and rows.read_text()):
        assert time.monotonic() < end and all(one.poll() is None for one in started), f"{start.name}: no step"
        time.sleep(0.02)
    ranks = [one.pid for one in started]
    if start.mpirun:
        ranks = list(map(int, Path(f"/proc/{started[0].pid}/task/{started[0].pid}/children").read_text().split()))
    assert len(ranks) == 2, ranks
    for rank in ranks:
        os.kill(rank, signal.SIGTERM)
    codes, text = agreement.ended(started)
    assert set(codes) == {75} and "stopped by SIGTERM after step" in text, f"{start.name}: {codes}: {text}"
    assert (folder / "ckpts" / "last" / "manifest.json").exists(), f"{start.name}: nothing is saved: {text}"


def memory(start):
    # 71 million parameters in f32 with gradients and two moments take 1.1 GB. A stage has a
    # quarter. Libraries and threads take 450 MiB. At each limit, the run fails somewhere else.
    arguments = ["--dtype", "f32", "--width", "768", "--layers", "10", "--max-steps", "1"]
    for limit in (50, 300, 600, 650, 700, 750, 900):
        _, codes, text = start.ended(1, [*arguments, "--limit", str(limit)])
        assert codes == [70], f"one rank with {limit} MiB: {codes}: {text}"
        sentences = re.findall(r"^error: .*(?:can't allocate memory|is exhausted|cannot be started|exit\(\) was called)", text, re.M)
        assert len(sentences) == 1, f"one rank with {limit} MiB: {sentences}: {text}"
    # The threads of a run end in order, also if malloc returns their memory at once.
    _, codes, text = start.ended(1, [*arguments, "--limit", "1400"])
    assert codes in ([0], [70]), f"one rank: {codes}: {text}"
    start.trained(4, [*arguments, "--limit", "900", "--mesh", "pp=4"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--mpirun", help="starts processes by this program; empty if there is none")
    parser.add_argument("check", nargs="+")
    given = parser.parse_args()
    if given.mpirun == "":
        print("skipped: no MPI: install libopenmpi-dev and openmpi-bin, configure again")
        sys.exit()
    for check in given.check:
        globals()[check](Launcher(given.program, given.work, given.mpirun))
