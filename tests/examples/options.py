"""Changes the options of the example programs, one at a time. Each change must show in the result,
the log or a refusal, so that no option is accepted and ignored.

    options.py PROGRAMS MAKE_MODELS WORK all|drawn

PROGRAMS: folder of the example programs. `all` changes each option of each program. `drawn` changes
half of the own options of fast programs, and each shared option of one program, by their hashes.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS, MAKE_MODELS, WORK, PART = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3]).resolve(), sys.argv[4]
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
MODELS = WORK / "models"
subprocess.run([MAKE_MODELS, MODELS], check=True, capture_output=True)
TEXT, CHATS = WORK / "text.jsonl", WORK / "chats.jsonl"
TEXT.write_text("".join(json.dumps({"text": f"line {i} of {i * i}", "other": f"{i} it is"}) + "\n" for i in range(12)))
CHATS.write_text("".join(json.dumps({"prompt": f"is {i}?", "completion": " it is"}) + "\n" for i in range(4)))
BAD = WORK / "bad.txt"
BAD.write_bytes(b"good \xff text \xfe of a few words " * 8)
BAD_PAIRS, BAD_SOURCES = WORK / "bad_pairs.jsonl", WORK / "bad_sources.jsonl"
BAD_PAIRS.write_bytes(b'{"prompt": "is it \xff\xfe?", "chosen": " yes", "rejected": " no"}\n' * 4)
BAD_SOURCES.write_bytes(b'{"document": "say \xff\xfe", "summary": "ok"}\n' * 4)
PAIRS = WORK / "pairs.jsonl"
PAIRS.write_text("".join(json.dumps({"prompt": f"is {i}?", "chosen": " yes", "rejected": " no"}) + "\n" for i in range(4)))
SENTENCES = WORK / "sentences.tsv"
SENTENCES.write_text("a\tb\tlabel\tother\n" + "".join(
    f"word{i % 3} then word{i % 2}\tit is {i}\t{i % 2}\t{i % 3}\n" for i in range(40)))
SOURCES = WORK / "sources.jsonl"
SOURCES.write_text("".join(json.dumps({"document": f"say {i}", "summary": f"{i} ok", "text": f"text {i * i}"}) + "\n" for i in range(6)))

# Options that several programs share: the value to try, and the arguments of both runs.
COMMON = {
    "ranks": ("2", []),
    "n-model-shards": ("2", []),
    "n-pipeline-stages": ("2", []),
    "stages": ("1,1", []),
    "schedule": ("gpipe", []),
    "chunks-per-stage": ("2", []),
    "zero": ("1", ["--mesh", "2x1"]),
    "zero-owner": ("whole", []),
    "zero-within": ("host", []),
    "zero-keep": ("1", []),
    "mesh": ("1x2", []),
    "workdir": (str(WORK / "elsewhere"), []),
    "seed": ("1", []),
    "device": ("cuda:9", []),
    "dtype": ("f64", []),
    "tf32": (None, []),
    "cuda-graph": (None, ["--device", "cpu"]),
    "recompute": (None, []),
    "resume": ("nowhere", []),
    "overlap": (None, ["--mesh", "2x1"]),
    "gradient-bucket": ("1", ["--mesh", "2x1", "--overlap"]),
    "check-saved": (None, []),
    "verify": (None, []),
    "verify-steps": ("1", ["--verify"]),
    "epochs": ("3", ["--max-steps", "0"]),
    "max-steps": ("1", []),
    "global-batch": ("3", []),
    "micro-batch": ("1", ["--dtype", "f32"]),
    "lr": ("0.05", []),
    "warmup": ("5", []),
    "optimizer": ("lion", []),
    "momentum": ("0.5", ["--optimizer", "sgd"]),
    "beta1": ("0.5", []),
    "beta2": ("0.5", []),
    "weight-decay": ("0.5", []),
    "clip-norm": ("0.001", []),
    "clip-kind": ("inf", ["--clip-norm", "0.001"]),
    "invalid-utf8": ("1", []),
}
# Options on which neither a result nor a line of the log depends. Their own tests are elsewhere;
# here a wrong value must be refused.
UNSEEN = {"threads": "-1", "deadline": "0", "collate-threads": "0", "disk-deadline": "0", "save-patience": "-1"}
# Without processes, sums have one order. Without a terminal there is no progress bar. A run that is
# not resumed has nothing to be strict about.
WITHOUT_VALUE = {"deterministic", "quiet", "strict-resume"}
# Private steps see each example alone, a loop without updates is verified whole, and predictions do
# not depend on their mesh.
UNSEEN_OF = {"dp_sgd": {"micro-batch": "0"}, "fedavg": {"verify-steps": "0"},
             "generate": {"global-batch": "0", "ranks": "0", "n-model-shards": "0", "n-pipeline-stages": "0", "mesh": "0x1",
                          "dtype": "f16"}}

SMALL = {
    "ddpg": ["--steps", "14", "--warmup", "6", "--batch", "4"],
    "dp_sgd": ["--examples", "60", "--batch", "2", "--steps", "3"],
    "own_layer": ["--epochs", "1"],
    "ppo": ["--env", "cartpole", "--updates", "1", "--epochs", "1"],
    "maml": ["--steps", "2", "--batch", "2"],
    "fedavg": ["--split", "non-iid", "--rounds", "1", "--examples", "1000"],
    "mnist": ["--images", "48", "--epochs", "1", "--global-batch", "20"],
    "classification": ["--data", SENTENCES, "--text", "a", "--epochs", "1", "--global-batch", "4", "--warmup", "0"],
    "seq2seq": ["--examples", "12", "--held-out", "2", "--global-batch", "4", "--warmup", "0", "--max-target", "6"],
    "captioning": ["--examples", "8", "--held-out", "2", "--global-batch", "4", "--warmup", "0", "--max-caption", "6"],
    "text_to_image": ["--scenes", "6", "--held-out", "2", "--steps", "1", "--judge-scenes", "4", "--global-batch", "4",
                      "--warmup", "0"],
    "dpo": ["--pairs", "8", "--held-out", "2", "--global-batch", "4", "--warmup", "0"],
    "fine_tune": ["--model", MODELS / "llama", "--text", TEXT, "--context", "12", "--global-batch", "4", "--warmup", "0",
                  "--hold-out", "0"],
    "lora": ["--model", MODELS / "llama", "--text", TEXT, "--context", "12", "--global-batch", "4", "--warmup", "0",
             "--hold-out", "4"],
    "generate": ["--model", MODELS / "llama", "--prompt", "To be", "--max-new-tokens", "4"],
    "language_modeling": ["--text", CHATS, "--max-steps", "1", "--global-batch", "2", "--warmup", "0"],
}
SLOW = {"language_modeling", "text_to_image", "maml", "mnist", "captioning"}
PICTURES = WORK / "pictures"
ROOT = Path(__file__).parents[2]
subprocess.run([sys.executable, ROOT / "tests/examples/make_pictures.py", PICTURES, ROOT / "tests/files/parity/vit-gpt2"],
               check=True)
PICTURED = ["--data", PICTURES / "good.tsv", "--eval", PICTURES / "good.tsv"]
DATES = ["--data", SOURCES, "--eval", SOURCES, "--max-target", "12"]
LEARNT = [*PICTURED, "--model", PICTURES / "model", "--lr", "0"]

# Options of one program: the value to try, and the arguments of both runs. `None`: no value. They
# replace those of COMMON.
OWN = {
    "ddpg": {"steps": ("15", []), "warmup": ("8", []), "batch": ("5", []), "actor-lr": ("0.1", []), "critic-lr": ("0.1", []),
             "discount": ("0.5", []), "follow": ("0.5", []), "noise": ("1", [])},
    "dp_sgd": {"examples": ("70", []), "steps": ("4", []), "batch": ("3", []), "warmup": ("2", []),
               "epsilon": ("4", []), "delta": ("1e-4", []), "clip": ("0.5", []), "lr": ("0.01", [])},
    "fedavg": {"split": ("iid", []), "rounds": ("2", []), "epochs": ("2", []), "batch": ("3", []), "examples": ("1200", []),
               "lr": ("0.2", [])},
    "maml": {"tasks": ("glyphs", []), "steps": ("3", []), "batch": ("3", []), "lr": ("0.1", []), "inner-lr": ("0.5", [])},
    "ppo": {"env": ("acrobot", []), "updates": ("2", []), "epochs": ("2", []), "lr": ("0.1", []), "clip": ("0.01", []),
            "entropy": ("0.5", []), "verify-steps": ("1", ["--verify", "--updates", "2"])},
    "own_layer": {"epochs": ("2", [])},
    "mnist": {"data": ("nowhere", []), "images": ("60", [])},
    "classification": {"task": ("regression", []), "data": ("nowhere.tsv", []), "eval": (SENTENCES, []), "text": ("b", []),
                       "pair": ("b", []), "label": ("other", []), "max-tokens": ("8", []), "pairs": ("9", ["--data", ""]),
                       "model": (MODELS / "roberta", []), "new-head": (None, ["--model", MODELS / "roberta"])},
    "seq2seq": {"model": (MODELS / "bart", DATES), "data": (SOURCES, ["--eval", SOURCES]), "eval": (SOURCES, ["--data", SOURCES]),
                "source": ("text", DATES), "target": ("text", DATES), "invalid-utf8": ("1", ["--data", BAD_SOURCES, "--eval", SOURCES]),
                "examples": ("13", []), "held-out": ("3", []), "prefix": ("say: ", []), "max-source": ("3", []),
                "max-target": ("5", []), "beams": ("3", []), "length-penalty": ("-9", ["--beams", "9"])},
    "captioning": {"model": (PICTURES / "model", PICTURED), "data": (PICTURES / "good.tsv", ["--eval", PICTURES / "good.tsv"]),
                   "eval": (PICTURES / "good.tsv", ["--data", PICTURES / "good.tsv"]), "image": ("path", PICTURED),
                   "caption": ("image", PICTURED), "examples": ("9", []), "held-out": ("3", []), "max-caption": ("5", []),
                   "beams": ("3", LEARNT), "length-penalty": ("-9", [*LEARNT, "--beams", "20"])},
    "text_to_image": {"scenes": ("7", []), "judge-scenes": ("6", []), "held-out": ("3", []), "dropped": ("1", []),
                      "guidance": ("5", []), "steps": ("2", [])},
    "dpo": {"model": (MODELS / "gpt2", ["--data", PAIRS, "--eval", PAIRS]), "data": (PAIRS, ["--eval", PAIRS]),
            "eval": (PAIRS, ["--data", PAIRS]), "beta": ("0.5", []), "context": ("14", []), "pairs": ("9", []),
            "held-out": ("3", []), "invalid-utf8": ("1", ["--data", BAD_PAIRS, "--eval", PAIRS])},
    "fine_tune": {"model": (MODELS / "gpt2", []), "text": (CHATS, []), "conversations": (CHATS, ["--text", ""]),
                  "key": ("other", []), "invalid-utf8": ("1", ["--text", BAD]), "context": ("10", []), "pack": (None, []),
                  "hold-out": ("2", [])},
    "lora": {"model": (MODELS / "gpt2", []), "text": (CHATS, []), "conversations": (CHATS, ["--text", ""]), "key": ("other", []), "invalid-utf8": ("1", ["--text", BAD]),
             "context": ("10", []), "hold-out": ("2", []), "rank": ("2", []), "alpha": ("3", []), "dropout": ("0.5", []),
             "targets": ("q", []), "bound": ("0", [])},
    "generate": {"model": (MODELS / "gpt2", []), "prompt": ("or not", []), "chat": (None, []), "system": ("be", []),
                 "max-new-tokens": ("5", []), "temperature": ("5", []), "top-k": ("1", ["--temperature", "5"]),
                 "top-p": ("0.01", ["--temperature", "5"]), "min-p": ("0.99", ["--temperature", "5"]),
                 "repetition-penalty": ("9", ["--temperature", "1", "--max-new-tokens", "24"]), "beams": ("4", ["--max-new-tokens", "12"]),
                 "length-penalty": ("-9", []), "seed": ("1", ["--temperature", "5"])},
    "language_modeling": {"width": ("96", []), "layers": ("2", []), "max-steps": ("2", []), "verify-steps": ("1", ["--verify", "--max-steps", "2", "--epochs", "9"]), "text": (TEXT, []), "dropout": ("0.5", []), "sparse-block": ("8", []),
                          "invalid-utf8": ("1", ["--text", BAD])},
}


def words_of(words):
    return [str(word) for word in words]


def hash_of(text):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def options_of(program):
    text = subprocess.run([PROGRAMS / program, "--help"], capture_output=True, text=True, check=True).stdout
    return [name for name in re.findall(r"^  --([a-z][a-z0-9-]*)", text, re.M) if name not in ("help", "config")]


def plain(text, workdir):
    """Returns the text without what differs between two equal runs, and without the echo of the
    command line."""
    text = text.replace(str(workdir), "WORKDIR")
    text = re.sub(r"^\d{4}-\d\d-\d\dT\S+Z ", "", text, flags=re.M)
    lines = [line for line in text.splitlines() if not re.match(
        r"options|config |command|other work wants the cores|\s+--[a-z].*(default|file|flag)\s*$|.*--resume auto|  started|.*seconds", line)]
    text = "\n".join(lines)
    for words in (r"[0-9.]+(e[+-]?\d+)?[kMG]? ?[a-z]+/s", r"[0-9.e+-]+ [a-z]+ per second", r"(took|time) +[0-9:]+",
                  r"events\.out\.tfevents\.[^\s,]+", r"\b[0-9.]+ ?(s|ms|min|h)\b"):
        text = re.sub(words, "~", text)
    return text


def result_of(program, words, workdir):
    """Runs a program. Returns everything that the run shows: exit code, output, log, metrics,
    results and weights."""
    offered = OPTIONS[program]
    common = ["--threads", "1"]
    if "dtype" in offered:
        common += ["--dtype", "f32"]
    if "quiet" in offered:
        common += ["--quiet"]
    if "workdir" in offered:
        common += ["--workdir", workdir]
    done = subprocess.run(words_of([PROGRAMS / program, *common, *SMALL[program], *words]), capture_output=True, text=True,
                          errors="replace", cwd=WORK)
    shown = {"exit code": done.returncode, "output": plain(done.stdout, workdir), "messages": plain(done.stderr, workdir)}
    for path in sorted(workdir.rglob("*")) if workdir.exists() else []:
        name = str(path.relative_to(workdir))
        if not path.is_file() or path.name in ("config.json", "manifest.json", "report.html", ".lock"):
            continue
        if path.name == "log.txt":
            shown[name] = plain(path.read_text(errors="replace"), workdir)
        elif path.name == "metrics.jsonl":
            shown[name] = re.sub(r'"[a-z_]*_per_second":[^,}]*', "", path.read_text())
        elif path.suffix in (".json", ".safetensors", ".svg", ".png"):
            shown[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return done, shown


OPTIONS = {program: options_of(program) for program in SMALL}
wrong, jobs, dealt = [], [], set()
fast = [program for program in SMALL if program not in SLOW]
for program, offered in OPTIONS.items():
    own = OWN[program]
    wrong += [f"{program} has no option --{name}" for name in own if name not in offered]
    for name in offered:
        if name in own:
            if PART == "drawn" and (program in SLOW or hash_of(program + name) % 2 == 1):
                continue
            jobs.append((program, name, *own[name]))
        elif name in WITHOUT_VALUE:
            continue
        elif name in UNSEEN_OF.get(program, {}):
            jobs.append((program, name, UNSEEN_OF[program][name], []))
        elif name in UNSEEN or name in COMMON:
            offers = [one for one in fast if name in OPTIONS[one] and name not in {**OWN[one], **UNSEEN_OF.get(one, {})}]
            offers = offers or [program]
            if PART == "drawn" and program != offers[hash_of(name) % len(offers)]:
                continue
            jobs.append((program, name, *((UNSEEN[name], []) if name in UNSEEN else COMMON[name])))
        else:
            wrong.append(f"{program} --{name} has no value in the table of options.py")

standards = {}
for program, name, value, extra in jobs:
    standards.setdefault((program, *words_of(extra)), len(standards))


def standard(key):
    program, *extra = key
    return key, result_of(program, extra, WORK / "runs" / f"standard_{standards[key]}")[1]


def changed(job):
    program, name, value, extra = job
    flag = [f"--{name}"] if value is None else [str(value)] if str(value).startswith("--") else [f"--{name}={value}"]
    return job, result_of(program, [*extra, *flag], WORK / "runs" / f"{program}_{name}")


with ThreadPoolExecutor(os.cpu_count()) as pool:
    expected = dict(pool.map(standard, standards))
    for (program, name, value, extra), (done, shown) in pool.map(changed, jobs):
        here = f"{program} {' '.join(words_of(extra))} --{name} {'' if value is None else value}"
        if name in {**UNSEEN, **UNSEEN_OF.get(program, {})} and done.returncode != 64:
            wrong.append(f"{here} is not refused: exit code {done.returncode}")
        if done.returncode not in (0, 1, 64, 65):
            wrong.append(f"{here} ends with exit code {done.returncode}: {done.stderr[-300:]}")
        if done.returncode == 64 and "unknown option" in done.stderr:
            wrong.append(f"{here}: {done.stderr}")
        if shown == expected[(program, *words_of(extra))]:
            wrong.append(f"{here} changes neither the result nor the log, and is not refused")
    # Two equal runs must show the same, or any option would seem to have an effect.
    for key in list(standards)[:8]:
        again = result_of(key[0], key[1:], WORK / "runs" / f"again_{standards[key]}")[1]
        for part in set(again) | set(expected[key]):
            if again.get(part) != expected[key].get(part):
                wrong.append(f"two equal runs of {' '.join(key)} differ in {part}: {expected[key].get(part)!r}, {again.get(part)!r}")
print(f"{len(jobs)} options of {len({job[0] for job in jobs})} programs, {len(standards)} runs to compare with")
if wrong:
    sys.exit("\n".join(wrong))
