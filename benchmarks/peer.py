"""The eager PyTorch peer of benchmarks/bench.cpp: transformers' models, sdpa, fused AdamW; the same JSON line.

With --paced it does one step for each line on standard input and answers with the step's seconds. Where WORLD_SIZE, RANK, MASTER_ADDR
and MASTER_PORT say that it is one of several processes, they share the batch and DDP over gloo sums the gradients, in bf16 with
--compress.
"""
import argparse
import json
import os
import resource
import statistics
import sys
import time


def process_age():
    with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
        started = int(stat.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(uptime.read().split()[0]) - started


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=["W1", "W2", "W3"])
    parser.add_argument("--mesh", default="1x1", help="ignored: the peer is one process with all threads")
    parser.add_argument("--dtype", choices=["f32", "bf16", "f64"], default="f32")
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores that this process may use")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--compress", action="store_true", help="processes send gradients in bf16, as we do with --dtype bf16")
    parser.add_argument("--paced", action="store_true")
    return parser.parse_args()


def model_and_batch(workload, drop):
    from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig

    def gpt2(vocabulary, context, width, heads, layers):
        return GPT2Config(vocab_size=vocabulary, n_positions=context, n_embd=width, n_layer=layers, n_head=heads,
                          activation_function="gelu_new", resid_pdrop=drop, embd_pdrop=drop, attn_pdrop=drop,
                          bos_token_id=0, eos_token_id=0)

    config, batch = {
        "W1": (gpt2(256, 256, 384, 6, 6), 16),
        "W2": (gpt2(50257, 1024, 768, 12, 12), 4),
        "W3": (LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1376, num_hidden_layers=6,
                           num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=256), 8),
    }[workload]
    return AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").train(), batch


def main():
    given = options()
    import torch

    given.threads = given.threads or len(os.sched_getaffinity(0))
    torch.set_num_threads(given.threads)
    torch.manual_seed(42)
    model, batch = model_and_batch(given.workload, given.dropout)
    if given.dtype == "f64":
        model.double()
    processes, process = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    trained = model
    if processes > 1:
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(trained)
        if given.compress:
            model.register_comm_hook(None, bf16_compress_hook)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    data = torch.randint(trained.config.vocab_size, (batch, 257), generator=torch.Generator().manual_seed(42))
    tokens, data = batch * 256, data.chunk(processes)[process]
    ids, labels = data[:, :-1].contiguous(), data[:, 1:].contiguous()

    seconds, cpu, losses, first = [], [], [], 0.0
    for step in range(given.steps):
        if given.paced and not sys.stdin.readline():
            break
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=given.dtype == "bf16"):
            logits = model(ids, use_cache=False).logits
        wide = logits if given.dtype == "f64" else logits.float()
        loss = torch.nn.functional.cross_entropy(wide.flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if step == 0:
            first = process_age()
        if given.paced and process == 0:
            print(seconds[-1], cpu[-1], flush=True)

    if process > 0:
        return
    timed = seconds[3:] or seconds
    print(json.dumps({
        "program": "eager", "workload": given.workload, "mesh": f"{processes}x1", "processes": processes, "dtype": given.dtype, "dropout": given.dropout,
        "threads": given.threads, "steps": len(seconds), "tok_s": round(tokens / statistics.median(timed), 1),
        "step_s": round(statistics.median(timed), 4), "step_cpu_s": round(statistics.median(cpu[3:] or cpu), 4),
        "first_step_s": round(first, 3),
        "peak_rss_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
        "loss_step10": round(losses[9], 5) if len(losses) > 9 else None,
    }))


if __name__ == "__main__":
    main()
