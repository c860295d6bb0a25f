"""Measures a training step of PyTorch's DDP or FSDP2 over gloo in f32, as one of several processes.
zero_rivals.py starts the processes.

Kinds: `ddp`; `kept`, FSDP2 that keeps parameters gathered between forward and backward; `again`,
FSDP2 that gathers them again. The weights and ids are those that `bench --write-start` wrote. As in
bench, AdamW has the rate 3e-4 and does not decay norms and biases.

Process 0 prints a JSON line. With --paced, a step waits for a line on standard input, and process 0
answers with its seconds and processor seconds. With --memory, PyTorch's profiler counts the bytes
of tensors from the start of the process, and the norms of the gradients are computed.
"""
import argparse
import json
import os
import resource
import statistics
import sys
import time

import torch
import torch.distributed as dist
from safetensors.torch import load_file

import peer
import plain_models

MEASURED = 2  # index of the step whose peak counts, as in bench


def resident(what):
    """Returns bytes of this process's memory by its name in /proc, such as VmRSS or VmHWM."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(what + ":"))


def started_model(workload, folder):
    """Returns the model with the weights in `folder`, which have Hugging Face's names."""
    model = plain_models.GPT2(**peer.GPT2[workload])
    stored = {name.removeprefix("transformer."): value for name, value in load_file(os.path.join(folder, "model.safetensors")).items()}
    own = {"attn.c_attn": "c_attn", "attn.c_proj": "c_proj", "mlp.c_fc": "c_fc", "mlp.c_proj": "c_out"}
    state = {}
    for name, value in stored.items():
        layer, _, leaf = name.rpartition(".")
        inner = next((stem for stem in own if layer.endswith(stem)), None)
        if inner:
            layer = layer.removesuffix(inner) + own[inner]
            value = value.t() if leaf == "weight" else value
        state[f"{layer}.{leaf}"] = value
    state.pop("lm_head.weight", None)
    model.load_state_dict(state)
    return model.train()


def spread(model, kind):
    if kind == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.h:
        fully_shard(block, mesh=mesh, reshard_after_forward=kind == "again")
    return fully_shard(model, mesh=mesh, reshard_after_forward=kind == "again")


def local(x):
    return x.to_local() if hasattr(x, "to_local") else x


def norm_of(parameters):
    norm = torch.nn.utils.get_total_norm([p.grad for p in parameters])
    return (norm.full_tensor() if hasattr(norm, "full_tensor") else norm).item()


def kept_bytes(parameters, optimizer):
    """Returns the bytes of this process's parameters, gradients and optimizer states."""
    all = [local(p) for p in parameters] + [local(p.grad) for p in parameters if p.grad is not None]
    all += [local(x) for state in optimizer.state.values() for x in state.values() if torch.is_tensor(x)]
    return sum(x.numel() * x.element_size() for x in all)


def peak_bytes(profile):
    """Returns the largest number of bytes of tensors during the measured step."""
    events = sorted(profile.profiler.kineto_results.events(), key=lambda e: e.start_ns())
    step = next(e for e in events if e.name() == "measured step")
    begin, end = step.start_ns(), step.start_ns() + step.duration_ns()
    now = most = 0
    for event in events:
        if event.name() != "[memory]":
            continue
        if event.start_ns() > end:
            break
        before, now = now, now + event.nbytes()
        if event.start_ns() >= begin:
            most = max(most, before, now)
    return most


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=list(peer.GPT2))
    parser.add_argument("--kind", choices=["ddp", "kept", "again"], required=True)
    parser.add_argument("--start", required=True, help="folder that bench --write-start wrote")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--paced", action="store_true")
    return parser.parse_args()


def train(settings, profile):
    process, processes = dist.get_rank(), dist.get_world_size()
    size = peer.GPT2[settings.workload]
    model = spread(started_model(settings.workload, settings.start), settings.kind)
    parameters = list(model.parameters())
    decayed = [p for p in parameters if p.dim() > 1]
    others = [p for p in parameters if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0.0}], lr=3e-4, fused=True)
    with open(os.path.join(settings.start, "ids.json")) as file:
        rows = torch.tensor(json.load(file))
    own = rows.chunk(processes)[process]
    seconds, cpu, losses, norms = [], [], [], []
    for step in range(settings.steps):
        if settings.paced and not sys.stdin.readline():
            break
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        with torch.profiler.record_function("measured step" if step == MEASURED else "step"):
            optimizer.zero_grad(set_to_none=True)
            logits = model(own[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), own[:, 1:].flatten())
            del logits
            loss.backward()
            if settings.memory:
                norms.append(norm_of(parameters))
            optimizer.step()
            losses.append(loss.item())
            del loss
        seconds.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if settings.paced and process == 0:
            print(seconds[-1], cpu[-1], flush=True)
    if settings.paced:
        sys.stdin.readline()  # waits, so that zero_rivals.py can read the process's memory
    mean = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(mean)
    bytes = [None] * processes
    dist.all_gather_object(bytes, kept_bytes(parameters, optimizer))
    step_s = statistics.median(seconds[3:] or seconds)
    return {"program": settings.kind, "torch": torch.__version__, "workload": settings.workload,
            "parameters": sum(p.numel() for p in parameters), "step_s": round(step_s, 4), "vocabulary": size["vocab"],
            "losses": (mean / processes).tolist()[:4], "norms": norms[:4], "kept_bytes": bytes}


def main():
    settings = options()
    torch.set_num_threads(settings.threads)
    at_import = resident("VmRSS")
    dist.init_process_group("gloo")
    profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, acc_events=True)
    if settings.memory:
        profile.start()
    line = train(settings, profile)
    most = 0
    if settings.memory:
        profile.stop()
        most = peak_bytes(profile)
    own = (most, resident("VmHWM"), at_import)
    all = [None] * dist.get_world_size()
    dist.all_gather_object(all, own)
    line["peak_bytes"], line["peak_rss"], line["rss_after_import"] = (list(column) for column in zip(*all))
    if dist.get_rank() == 0:
        print(json.dumps(line), flush=True)
    dist.barrier()
    os._exit(0)  # PyTorch sometimes aborts while it ends gloo's threads


if __name__ == "__main__":
    main()
