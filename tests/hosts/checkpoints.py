#!/usr/bin/env python3
"""Checks hosts without a common folder: ranks on both hosts save, and other numbers of ranks resume
as if all ranks had been on one host.

    checkpoints.py --work FOLDER --demo PROGRAM ARGUMENTS...
"""
import argparse
import re
from pathlib import Path

import two_hosts
from launchers import LIMIT, losses

DATA = 65


def done(*started):
    for one in started:
        one.done(LIMIT)


def seen_by(host, folder):
    """Returns the files that only this host sees."""
    ls = host.start("ls", ["find", folder, "-name", "*.safetensors"])
    ls.done(20)
    return ls.text.split()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--demo", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    def test(hosts):
        together, apart = hosts.work / "together", hosts.work / "apart" / "run"
        for host in hosts.all:
            host.own_folder(apart.parent)

        def up_to(step, mesh, workdir):
            return [*options.demo, "--mesh", mesh, "--max-steps", step, "--workdir", workdir]

        def on_threads(step, mesh, workdir):
            return hosts.first.start(f"{workdir.name}_{step}", up_to(step, mesh, workdir))

        def on_hosts(step, mesh, each):
            return hosts.by_hand(f"apart_{step}", each, up_to(step, mesh, apart))

        done(on_threads(1, "2x2", together), *on_hosts(1, "2x2", 2))
        files = seen_by(hosts.first, apart.parent)
        assert any("parameters-1of2" in name for name in files), f"node1 has {files}"
        assert not seen_by(hosts.second, apart.parent), "node2 has files of a run that writes on node1"
        # Fewer processes, then threads alone, resume from the checkpoint of more processes.
        done(on_threads(2, "1x2", together), *on_hosts(2, "1x2", 1))
        done(on_threads(3, "2x1", together), on_threads(3, "2x1", apart))
        copy = hosts.first.start("copy", ["cp", apart / "metrics.jsonl", hosts.work / "metrics.jsonl"])
        copy.done(20)
        expected, found = losses(together), losses(hosts.work)
        assert [row["step"] for row in expected if "loss" in row] == [1, 2, 3], f"threads have {expected}"
        assert expected == found, f"threads have {expected}, hosts without a common folder {found}"
        # With the first process on the other host, the run would start from the beginning.
        hosts.all = hosts.all[::-1]
        turned = on_hosts(4, "2x1", 1)
        assert [one.end(LIMIT) for one in turned] == [DATA, DATA], f"turned hosts: {turned[0].text}"
        words = r"no checkpoint in \S+ on node2 \(10.7.0.2\), where rank 0 looks, but one on node1 \(10.7.0.1\), where rank 1 looks"
        assert re.search(words, turned[0].text), f"no '{words}' in {turned[0].text}"

    two_hosts.run(options.work, test)
