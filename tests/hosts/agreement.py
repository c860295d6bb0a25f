#!/usr/bin/env python3
"""Checks that hosts whose processes have different options or data, or different folders under one
name, report this on both hosts.

    agreement.py --work FOLDER --program PROGRAM        the program of tests/processes/agreement.cpp
"""
import argparse
import re
import shutil
from pathlib import Path

import two_hosts

LIMIT = 120  # seconds; an idle machine takes three
USAGE, DATA = 64, 65
BOTH = r"rank 0 on node1 \(10\.7\.0\.1\).* and rank 1 on node2 \(10\.7\.0\.2\).* have different "

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "work", "program":
        parser.add_argument(f"--{name}", type=lambda name: Path(name).resolve(), required=True)
    settings = parser.parse_args()

    def test(hosts):
        base = [settings.program, "--threads", "1", "--dtype", "f32", "--quiet", "--workdir", hosts.work / "run"]

        def end_with(name, code, words, arguments, second, first=None):
            started = hosts.processes(name, 1, [*base, *arguments], lambda number, process, _, port:
                                      hosts.said_by_hand(1, process, port) | (second if number else first or {}))
            codes, text = [one.end(LIMIT) for one in started], "".join(one.text for one in started)
            assert codes == [code, code], f"{codes} instead of {code}: {text}"
            assert len(re.findall(words, text)) == 1, f"not once '{words}' in: {text}"

        end_with("rate", USAGE, BOTH + "settings or data: optimizer.lr is .*0.001 and .*0.25: start", [], {"OWN_LR": "0.25"})
        model = hosts.work / "model"
        saved = hosts.first.start("save", [*base, "--how", "save"], OWN_FOLDER=str(model))
        saved.done(LIMIT)
        (model / "config.json").write_text('{"layers": 12}')
        shutil.copytree(model, hosts.work / "kept")
        hosts.second.own_folder(model)
        copied = hosts.second.start("copy", ["sh", "-c", f"cp {hosts.work}/kept/* {model} && echo '{{\"layers\": 6}}' > {model}/config.json"])
        copied.done(LIMIT)
        where = {"OWN_FOLDER": str(model)}
        end_with("folder", DATA, BOTH + "model folders: config.json layers is 12 and 6: copy one", ["--how", "predict"], where, where)

    two_hosts.run(settings.work, test)
