#!/usr/bin/env python3
"""Checks that two processes with different options, data or folders end within seconds with exit
code 64 (model folders: 65) and name the difference and the hosts. Two processes with equal
settings must run.

    agreement.py PROGRAM --work FOLDER [--mpirun PROGRAM] GROUP...
                 groups: options, own, data, folders, mpi
"""
import argparse
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 60  # seconds; an idle machine takes two, and ranks would wait for each other for 300
BASE = ["--threads", "1", "--dtype", "f32", "--quiet"]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def by_tcp(work, program, sides):
    port = free_port()
    return [subprocess.Popen(
        [program, *BASE, "--workdir", work / "run", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "REDCO_PROCESSES": "2", "REDCO_PROCESS": str(process), "REDCO_MEET": f"127.0.0.1:{port}",
             "REDCO_PROCESSES_HERE": "2", **environment})
        for process, (arguments, environment) in enumerate(sides)]


def ended(started):
    end, texts = time.monotonic() + LIMIT, []
    for one in started:
        try:
            texts.append(one.communicate(timeout=max(0.1, end - time.monotonic()))[0])
        except subprocess.TimeoutExpired:
            for other in started:
                other.kill()
            raise AssertionError(f"no end within {LIMIT} seconds: {[o.communicate()[0] for o in started]}") from None
    return [one.returncode for one in started], "".join(texts)


HOST = r"[^ ]+ \(127\.0\.0\.1\)"


def check(name, work, program, first, second, code, words=()):
    shutil.rmtree(work / "run", ignore_errors=True)
    began = time.monotonic()
    codes, text = ended(by_tcp(work, program, [first, second]))
    print(f"{name}: {codes} after {time.monotonic() - began:.1f} s")
    assert codes == [code, code], f"{name}: {codes} instead of {code}: {text}"
    for word in words:
        assert len(re.findall(word, text)) == 1, f"{name}: not once '{word}' in: {text}"


def differ(name, work, program, first, second, words, code=64, member="rank", what=".*"):
    sentence = rf"error: {member} 0 on {HOST}.* and {member} 1 on {HOST}.* have different {what}: .*"
    if member == "worker":
        sentence = rf"error: rank \d: rank 0 on {HOST}.* and rank 1 on {HOST}.* have different {what}: .*"
    check(name, work, program, first, second, code, [sentence + words])


def options(work, program):
    def pair(name, first, second, words):
        differ(name, work, program, (first, {}), (second, {}), words, member="process", what="programs or options")

    check("alike", work, program, (["--mesh", "2x1"], {}), (["--mesh", "2x1", "--threads", "2", "--data", "/elsewhere"], {}), 0)
    for mesh in ["2x1", "1x2"]:
        both = ["--mesh", mesh]
        pair(f"lr, {mesh}", [*both, "--lr", "1e-3"], [*both, "--lr", "1e-2"], "--lr is 0.001 and 0.01: start all")
        pair(f"seed, {mesh}", [*both, "--seed", "7"], both, "--seed is 7 and 42: start")
        pair(f"overlap, {mesh}", [*both, "--overlap"], [*both, "--no-overlap"], "--overlap is true and false: start")
        pair(f"global batch, {mesh}", [*both, "--global-batch", "4"], [*both, "--global-batch", "6"],
             "--global-batch is 4 and 6: start")
    pair("clip and steps", ["--clip-norm", "0.5", "--max-steps", "2"], ["--clip-norm", "2", "--max-steps", "3"],
         "--clip-norm is 0.5 and 2.0; --max-steps is 2 and 3: start")
    pair("mesh", ["--mesh", "2x1"], ["--mesh", "1x2"], "--mesh is 2x1 and 1x2: start")
    pair("ranks", ["--ranks", "2"], ["--ranks", "4"], "--ranks is 2 and 4: start")
    pair("a mesh that no process can have", ["--mesh", "2x1"], ["--mesh", "3x1"], "--mesh is 2x1 and 3x1: start")
    pair("deterministic", ["--deterministic"], [], "--deterministic is true and false: start")
    pair("recompute", ["--recompute"], ["--recompute", "every:2"], "--recompute is .* and every:2: start")
    pair("gradient bucket", ["--gradient-bucket", "1"], ["--gradient-bucket", "2"], "--gradient-bucket is 1.0 and 2.0: start")
    pair("an option of the program's own", ["--smoothing", "0.1"], [], "--smoothing is 0.1 and 0.0: start")
    other = work / "other_program"
    shutil.copy(program, other)
    with open(other, "ab") as file:
        file.write(b"\0")
    port = free_port()
    started = [subprocess.Popen(
        [which, *BASE, "--workdir", work / "run"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "REDCO_PROCESSES": "2", "REDCO_PROCESS": str(process), "REDCO_MEET": f"127.0.0.1:{port}"})
        for process, which in enumerate([program, other])]
    codes, text = ended(started)
    assert codes == [64, 64] and re.search("the digest of the program's file is [0-9a-f]{16} and [0-9a-f]{16}: start", text), text


def own(work, program):
    def pair(name, first, second, words, arguments=("--mesh", "2x1"), what="settings or data", member="rank"):
        differ(name, work, program, (list(arguments), first), (list(arguments), second), words, what=what, member=member)

    for mesh in ["2x1", "1x2"]:
        both = ["--mesh", mesh]
        pair(f"lr, {mesh}", {"OWN_LR": "0.5"}, {"OWN_LR": "0.25"},
             "optimizer.lr is linear_decay peak 0.5 and linear_decay peak 0.25: start", both)
        pair(f"dropout, {mesh}", {"OWN_DROPOUT": "0.5"}, {}, "model.dropout is 0.5 and 0.1: start", both)
        pair(f"width, {mesh}", {}, {"OWN_WIDTH": "8"}, "model.width is 12 and 8: start", both)
        pair(f"clip, {mesh}", {"OWN_CLIP": "0"}, {"OWN_CLIP": "0.5"}, "optimizer.clip_norm is 0 and 0.5: start", both)
        pair(f"batch, {mesh}", {"OWN_BATCH": "4"}, {"OWN_BATCH": "2"}, "global_batch is 4 and 2.*: start", both)
    pair("heads that the mesh cannot split", {}, {"OWN_HEADS": "3"}, "model.heads is 2 and 3: start", ["--mesh", "1x2"])
    pair("tokens that are split over the shards", {"OWN_SPLIT_TOKENS": "1"}, {}, r"model is redco::models::sequence_parallel<redco::gpt2> and redco::gpt2; network by .*: start", ["--mesh", "1x2"])
    pair("evaluations", {"OWN_EVAL_EVERY": "1"}, {}, "eval_every_steps is 1 and 0: start")
    pair("kernels", {"REDCO_KERNELS": "composed"}, {}, "REDCO_KERNELS is composed and fastest: start",
         what="machines or environments")
    shards = ["--mesh", "1x2"]
    pair("products of bf16, shards in two processes", {"REDCO_BF16_PRODUCTS": "blas"}, {"REDCO_BF16_PRODUCTS": "packed"},
         "REDCO_BF16_PRODUCTS is blas and packed: start", shards, what="machines or environments")
    pair("products of f32, shards in two processes", {"REDCO_F32_PRODUCTS": "blas"}, {"REDCO_F32_PRODUCTS": "packed"},
         "REDCO_F32_PRODUCTS is blas and packed: start", shards, what="machines or environments")
    pair("instruction sets, shards in two processes", {"ATEN_CPU_CAPABILITY": "default"}, {"ATEN_CPU_CAPABILITY": "avx2"},
         "instruction set is DEFAULT and AVX2: start", shards, what="machines or environments")
    differ("threads, shards in two processes", work, program, (shards, {}), ([*shards, "--threads", "2"], {}),
           r"threads of a rank \(--threads\) is 1 and 2: start", what="machines or environments")
    worker = ["--how", "worker"]
    check("alike, a worker", work, program, (worker, {}), (worker, {}), 0)
    pair("a worker's rate", {"OWN_LR": "0.5"}, {"OWN_LR": "0.25"}, "actor.optimizer.lr is 0.5 and 0.25: start", worker,
         what="settings of a worker", member="worker")
    pair("a worker's steps", {"OWN_STEPS": "2"}, {"OWN_STEPS": "3"}, "steps is 2 and 3: start", worker,
         what="settings of a worker", member="worker")


def data(work, program):
    def pair(name, first, second, words, arguments=()):
        differ(name, work, program, (list(arguments), first), (list(arguments), second), words, what="settings or data")

    digests = "[0-9a-f]{16} and [0-9a-f]{16}"
    for mesh in ["2x1", "1x2"]:
        both = ["--mesh", mesh]
        pair(f"length, {mesh}", {"OWN_EXAMPLES": "9"}, {"OWN_EXAMPLES": "11"}, "training examples is 9 and 11; .*: start", both)
        pair(f"content, {mesh}", {"OWN_EXAMPLES_FIRST": "!"}, {},
             f"the digest of the first and last training example is {digests}: start", both)
    pair("evaluation", {}, {"OWN_EVAL_FIRST": "!"}, f"the digest of the first and last evaluation example is {digests}: start")
    pair("no evaluation", {}, {"OWN_EVAL": "0"}, "evaluation examples is 3 and 0; .*: start")


def safetensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8:8 + length]), raw[8 + length:]


def write_safetensors(path, header, content):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


def folders(work, program):
    made, other = work / "model", work / "other"
    shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(work / "run", ignore_errors=True)
    subprocess.run([program, *BASE, "--workdir", work / "run", "--how", "save"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "OWN_FOLDER": str(made)})
    (made / "config.json").write_text('{"model_type": "gpt2", "scale": 1}')

    def pair(name, change, words, how="predict"):
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(made, other)
        change()
        differ(name, work, program, (["--how", how], {"OWN_FOLDER": str(made)}), (["--how", how], {"OWN_FOLDER": str(other)}),
               words, code=65, what="model folders", member="worker")

    def in_file(change):
        header, content = safetensors(other / "model.safetensors")
        write_safetensors(other / "model.safetensors", *change(header, bytearray(content)))

    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(made, other)
    for how in ["predict", "fit"]:
        check(f"alike, {how}", work, program, (["--how", how], {"OWN_FOLDER": str(made)}),
              (["--how", how], {"OWN_FOLDER": str(other)}), 0)
    pair("a key of config.json", lambda: (other / "config.json").write_text('{"model_type": "gpt2", "scale": 2}'),
         "config.json scale is 1 and 2: copy one folder")
    pair("no config.json", lambda: (other / "config.json").unlink(),
         'config.json model_type is "gpt2" and absent; config.json scale is 1 and absent: copy one', "fit")
    pair("a tokenizer", lambda: (other / "tokenizer.json").write_text("{}"),
         "tokenizer.json is absent and digest [0-9a-f]{16}: copy one")
    name = sorted(key for key in safetensors(made / "model.safetensors")[0] if key != "__metadata__")[0]

    def changed_value(header, content):
        content[header[name]["data_offsets"][0]] ^= 1
        return header, content

    def moved(header, content):
        begin = len(content)
        first, last = header[name]["data_offsets"]
        content += content[first:last]
        header["a tensor more"] = {**header[name], "data_offsets": [begin, len(content)]}
        return header, content

    pair("a value of a tensor", lambda: in_file(changed_value),
         rf"tensor {re.escape(name)} is \.\.\.[0-9a-f]{{16}} and \.\.\.[0-9a-f]{{16}}: copy one", "fit")
    pair("a tensor", lambda: in_file(moved), "tensor a tensor more is absent and .*: copy one")

    def predicted(name, first, second, words):
        where = {"OWN_FOLDER": str(made)}
        differ(name, work, program, (["--how", "predict"], {**where, **first}), (["--how", "predict"], {**where, **second}), words,
               what="settings or data")

    predicted("other prompts", {"OWN_EXAMPLES": "4"}, {}, "examples to predict is 4 and 5; .*: start")
    predicted("a prompt", {"OWN_EXAMPLES_FIRST": "?"}, {}, "the digest of the first and last example is .*: start")
    predicted("the batch of a prediction", {"OWN_BATCH": "2"}, {}, "global_batch is 2 and 4: start")
    predicted("the width of a prediction", {"OWN_WIDTH": "6"}, {}, "model.width is 6 and 12: start")


def mpi(work, program, mpirun):
    if not mpirun:
        print("skipped: no MPI: install libopenmpi-dev and openmpi-bin, configure again")
        return
    names = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
             "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
             "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    for first, second, code, words in [
            (["--lr", "0.5"], ["--lr", "0.25"], 64, "process 0 on [^ ]+ and process 1 on [^ ]+ have .*: --lr is 0.5 and 0.25: start"),
            (["--overlap"], ["--no-overlap"], 64, "--overlap is true and false: start"), ([], [], 0, "")]:
        shutil.rmtree(work / "run", ignore_errors=True)
        sides = [[program, *BASE, "--workdir", work / "run", *arguments] for arguments in (first, second)]
        started = subprocess.Popen([mpirun, "-n", "1", *sides[0], ":", "-n", "1", *sides[1]], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env={**os.environ, **names})
        codes, text = ended([started])
        print(f"mpirun {first}, {second}: {codes}")
        assert codes == [code] and re.search(words, text), f"{codes} instead of {code}, or no '{words}' in: {text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--mpirun")
    parser.add_argument("groups", nargs="+")
    parsed = parser.parse_args()
    parsed.work.mkdir(parents=True, exist_ok=True)
    for group in parsed.groups:
        if group == "mpi":
            mpi(parsed.work, parsed.program, parsed.mpirun)
        else:
            {"options": options, "own": own, "data": data, "folders": folders}[group](parsed.work, parsed.program)


if __name__ == "__main__":
    main()
