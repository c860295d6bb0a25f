#!/usr/bin/env python3
"""Checks ranks on two hosts that are started as users start them: the laws of groups hold, and the
demo has the losses of threads.

    launchers.py mpirun|torchrun|by_hand|pods --work FOLDER --laws PROGRAM --threads FOLDER
                 [--mpirun PROGRAM] --demo PROGRAM ARGUMENTS...

--threads: the workdir of the demo's run on threads.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import two_hosts

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120  # seconds; an idle machine takes three


def python_with_torch():
    probe = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
    for python in os.environ.get("REDCO_TEST_PYTHON"), ROOT / ".deps/peers/bin/python", "/usr/bin/python3", "python3":
        if python and shutil.which(python) and subprocess.run([python, "-c", probe], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return two_hosts.skip("no python with torch, for torchrun: scripts/setup --tests installs python3-torch")


def torchrun(hosts, name, each, command):
    python, port = python_with_torch(), next(hosts.ports)
    return [host.start(f"{name}.{host.name}", [
        python, "-m", "torch.distributed.run", "--nnodes=2", f"--nproc_per_node={each}", "--rdzv_backend=c10d",
        f"--rdzv_endpoint=node1:{port}", f"--rdzv_id={name}", f"--log_dir={hosts.work}", "--redirects=1",
        "--tee=1",  # Debian's torch 1.13 needs it under Python 3.11
        "--no_python", *command]) for host in hosts.all]


def starter(how, hosts, mpirun):
    """Returns start(name, processes on each host, command), which returns the started processes."""
    if how == "mpirun":
        if not mpirun:
            two_hosts.skip("no MPI: install libopenmpi-dev and openmpi-bin, configure again")
        return lambda name, each, command: [hosts.mpirun(name, mpirun, each, command)]
    if how == "torchrun":
        return lambda *what: torchrun(hosts, *what)
    return hosts.by_hand


def laws_hold(start, name, program, each, runs=1):
    """Starts the laws and returns a function that waits for their end. With runs=0 the processes
    only meet."""
    started = start(name, each, [program, "--runs", runs])

    def hold():
        for one in started:
            one.done(LIMIT)
        text = "".join(one.text for one in started)
        for words in ["shown once", *(f"process {process}: all holds" for process in range(2 * each))]:
            assert text.count(words) == 1, f"{text.count(words)} times '{words}' in: {text}"

    return hold


def losses(folder):
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if not key.endswith("per_second")} for row in rows]


def demo_is_that_of_threads(start, command, work, threads):
    started = start("demo", 1, [*command, "--workdir", work / "run"])

    def equal():
        for one in started:
            one.done(LIMIT)
        expected, found = losses(threads), losses(work / "run")
        assert len(expected) == 3 and expected == found, f"threads have {expected}, processes on two hosts {found}"

    return equal


def store_of_an_agent_is_used(hosts, program):
    """Uses the store that an agent of torchrun keeps, as torchrun does since 2.4."""
    port = next(hosts.ports)
    hosts.first.start("agent_store", [program, "--store", port])
    return laws_hold(lambda name, each, command: hosts.processes(name, each, command, lambda host, process, processes, _: {
        "WORLD_SIZE": str(processes), "RANK": str(process), "MASTER_ADDR": "node1", "MASTER_PORT": str(port), "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1", "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "id",
        "TORCHELASTIC_RESTART_COUNT": "0"}), "of_agent", program, 1, runs=0)


def pods_join(hosts, program):
    """Starts the pods of the manifests of deploy/, two on each host, and those of an operator that
    sets no PET_*."""
    try:
        import yaml
    except ImportError as e:
        two_hosts.skip(f"{e}: scripts/setup --tests installs python3-yaml")
    sys.path.insert(0, str(ROOT / "tests/deploy"))
    from operators import pods_of
    jobs = {name: pods_of(yaml.safe_load((ROOT / f"deploy/{name}.yaml").read_text())) for name in ("pytorchjob", "trainjob")}
    jobs["pytorchjob_without_pet"] = [
        {**{name: value for name, value in pod.items() if not name.startswith("PET_")}, "MASTER_PORT": "23457"}
        for pod in jobs["pytorchjob"]]
    with hosts.names.open("a") as names:
        names.write("".join(f"10.7.0.1 {pods[0].get('PET_MASTER_ADDR', '')}\n" for pods in jobs.values()))
    return [laws_hold(lambda *what, pods=pods: hosts.processes(*what, lambda host, process, *_: pods[process]), name, program, 2, runs=0)
            for name, pods in jobs.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=["mpirun", "torchrun", "by_hand", "pods"])
    for name in "work", "laws", "threads":
        parser.add_argument(f"--{name}", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--mpirun")
    parser.add_argument("--demo", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    def test(hosts):
        if options.how == "pods":
            checks = [*pods_join(hosts, options.laws), store_of_an_agent_is_used(hosts, options.laws)]
        else:
            start = starter(options.how, hosts, options.mpirun)
            checks = [laws_hold(start, "laws_of_4", options.laws, 2),
                      demo_is_that_of_threads(start, options.demo, hosts.work, options.threads)]
        for check in checks:
            check()

    two_hosts.run(options.work, test)
