"""Measures PyTorch's training step: sdpa, fused AdamW, f32 masters under bf16 autocast. Prints the
same JSON line as benchmarks/bench.cpp.

The model is transformers' on a CPU if transformers is installed, else that of plain_models.py. It
runs eagerly, or with --compile under torch.compile of the model and its loss. With --paced it runs
one step for each line on standard input and answers with the step's seconds.

If WORLD_SIZE, RANK, MASTER_ADDR and MASTER_PORT name several processes, they share the batch, and
DDP over gloo sums the gradients, in bf16 with --compress. Exit code 75: the device has too little
memory.
"""
import argparse
import importlib.util
import json
import os
import resource
import statistics
import sys
import time

GPT2 = {
    "W1": dict(vocab=256, context=256, width=384, heads=6, layers=6),
    "W2": dict(vocab=50257, context=1024, width=768, heads=12, layers=12),
}
LLAMA = {
    "W3": dict(vocab=4096, context=256, width=512, ffn=1376, heads=8, kv_heads=4, layers=6),
    "L1": dict(vocab=128256, context=2048, width=2048, ffn=8192, heads=32, kv_heads=8, layers=16, theta=500000.0, epsilon=1e-5,
               tied=True),
}
OLMOE = {"M1": dict(vocab=4096, context=256, width=512, ffn=256, heads=8, layers=4, experts=16, chosen=4)}
USUAL = {"W1": (16, 256), "W2": (4, 256), "W3": (8, 256), "L1": (8, 2048), "M1": (8, 256)}  # batch, length
OUT_OF_MEMORY = 75


def process_age():
    with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
        started = int(stat.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(uptime.read().split()[0]) - started


def options(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=list(USUAL))
    parser.add_argument("--mesh", default="1x1", help="ignored: the peer is one process with all threads")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto", help="auto: cuda where it is there")
    parser.add_argument("--compile", action="store_true", help="torch.compile of the model and its loss")
    parser.add_argument("--plain", action="store_true", help="uses the model of plain_models.py even if transformers is installed")
    parser.add_argument("--dtype", choices=["f32", "bf16", "f64"], default="f32")
    parser.add_argument("--tf32", action="store_true", help="f32 products on a CUDA device round their factors")
    parser.add_argument("--batch", type=int, default=0, help="0: the workload's")
    parser.add_argument("--micro-batch", type=int, default=0, help="0: all examples at once")
    parser.add_argument("--length", type=int, default=0, help="0: the workload's")
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores that this process may use")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--flops", type=float, default=0, help="operations of a step, as bench prints them; adds TFLOP/s to the output")
    parser.add_argument("--compress", action="store_true", help="processes send gradients in bf16, as we do with --dtype bf16")
    parser.add_argument("--paced", action="store_true")
    return parser.parse_args(arguments)


def plain_model(workload, drop):
    import plain_models

    if workload in GPT2:
        return plain_models.GPT2(**GPT2[workload], drop=drop)
    return plain_models.Llama(**LLAMA[workload])


def transformers_model(workload, drop):
    from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, OlmoeConfig

    if workload in GPT2:
        size = GPT2[workload]
        config = GPT2Config(vocab_size=size["vocab"], n_positions=size["context"], n_embd=size["width"], n_layer=size["layers"],
                            n_head=size["heads"], activation_function="gelu_new", resid_pdrop=drop, embd_pdrop=drop, attn_pdrop=drop,
                            bos_token_id=0, eos_token_id=0)
    elif workload in OLMOE:
        size = OLMOE[workload]
        config = OlmoeConfig(vocab_size=size["vocab"], hidden_size=size["width"], intermediate_size=size["ffn"],
                             num_hidden_layers=size["layers"], num_attention_heads=size["heads"], num_experts=size["experts"],
                             num_experts_per_tok=size["chosen"], max_position_embeddings=size["context"], pad_token_id=None)
    else:
        size = LLAMA[workload]
        config = LlamaConfig(vocab_size=size["vocab"], hidden_size=size["width"], intermediate_size=size["ffn"],
                             num_hidden_layers=size["layers"], num_attention_heads=size["heads"],
                             num_key_value_heads=size["kv_heads"], max_position_embeddings=size["context"],
                             rope_theta=size.get("theta", 10000.0), rms_norm_eps=size.get("epsilon", 1e-6),
                             tie_word_embeddings=size.get("tied", False))
    return AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")


def measured(settings):
    import torch

    settings.threads = settings.threads or len(os.sched_getaffinity(0))
    torch.set_num_threads(settings.threads)
    torch.manual_seed(42)
    torch.backends.cuda.matmul.allow_tf32 = settings.tf32
    if settings.device == "auto":
        settings.device = "cuda" if torch.cuda.is_available() else "cpu"
    if settings.workload in OLMOE and importlib.util.find_spec("transformers") is None:
        sys.exit("peer: M1 needs transformers: run scripts/bench --install-peers first")
    plain = settings.workload not in OLMOE and (settings.plain or settings.device == "cuda" or importlib.util.find_spec("transformers") is None)
    with torch.device(settings.device):
        model = (plain_model if plain else transformers_model)(settings.workload, settings.dropout).train()
    vocabulary = (GPT2 | LLAMA | OLMOE)[settings.workload]["vocab"]
    batch, length = settings.batch or USUAL[settings.workload][0], settings.length or USUAL[settings.workload][1]
    if settings.dtype == "f64":
        model.double()
    if plain:
        model.compute = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}[settings.dtype]
    processes, process = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if processes > 1:
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
        if settings.compress:
            model.register_comm_hook(None, bf16_compress_hook)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    data = torch.randint(vocabulary, (batch, length + 1), generator=torch.Generator().manual_seed(42))
    own = data.chunk(processes)[process].to(settings.device)
    parts = own.split(settings.micro_batch or len(own))

    def loss_of(ids, labels):
        logits = model(ids) if plain else model(ids, use_cache=False).logits
        wide = logits if settings.dtype == "f64" else logits.float()
        return torch.nn.functional.cross_entropy(wide.flatten(0, 1), labels.flatten())

    if settings.compile:
        loss_of = torch.compile(loss_of)
    seconds, cpu, losses, first = [], [], [], 0.0
    for step in range(settings.steps):
        if settings.paced and not sys.stdin.readline():
            break
        if step == 2 and settings.device == "cuda":  # bench measures the peak of this step too
            torch.cuda.reset_peak_memory_stats()
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        optimizer.zero_grad(set_to_none=True)
        sums = []
        for part in parts:
            with torch.autocast(settings.device, dtype=torch.bfloat16, enabled=settings.dtype == "bf16"):
                loss = loss_of(part[:, :-1], part[:, 1:]) * (len(part) / len(own))
            loss.backward()
            sums.append(loss.detach())
        optimizer.step()
        losses.append(torch.stack(sums).sum().item())
        if settings.device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if step == 0:
            first = process_age()
        if settings.paced and process == 0:
            print(seconds[-1], cpu[-1], flush=True)

    if process > 0:
        return
    step_s = statistics.median(seconds[3:] or seconds)
    line = {
        "program": "compiled" if settings.compile else "eager", "model": "plain" if plain else "transformers",
        "workload": settings.workload, "mesh": f"{processes}x1", "processes": processes, "dtype": settings.dtype,
        "batch": batch, "length": length, "dropout": settings.dropout,
        "threads": settings.threads, "steps": len(seconds), "tok_s": round(batch * length / step_s, 1),
        "step_s": round(step_s, 4), "step_cpu_s": round(statistics.median(cpu[3:] or cpu), 4),
        "first_step_s": round(first, 3),
        "peak_rss_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
        "loss_step10": round(losses[9], 5) if len(losses) > 9 else None, "device": settings.device,
    }
    if settings.device == "cuda":
        line["peak_device_bytes"] = torch.cuda.max_memory_allocated()
    if settings.flops:
        line["tflop_s"] = round(settings.flops / step_s / 1e12, 4)
    print(json.dumps(line), flush=True)


def main():
    settings = options()
    try:
        measured(settings)
    except RuntimeError as error:  # torch.OutOfMemoryError is a RuntimeError
        if "out of memory" not in str(error):
            raise
        sys.stderr.write(f"peer: {error}\n")
        sys.exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
