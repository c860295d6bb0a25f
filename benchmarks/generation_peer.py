"""Measures transformers' generate on GPT-2 small: eager attention, KV cache, f32. Prints the same
JSON line as benchmarks/generation.cpp.

With --paced it decodes once for each line on standard input and answers with the seconds.
"""
import argparse
import json
import resource
import statistics
import sys
import time


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mesh", default="1x1", help="ignored: the peer is one process with all threads")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--paced", action="store_true")
    return parser.parse_args()


def main():
    settings = options()
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.set_num_threads(settings.threads)
    torch.manual_seed(42)
    config = GPT2Config()
    config._attn_implementation = "eager"
    model = GPT2LMHeadModel(config).eval()
    model.generation_config.eos_token_id = None
    ids = ((torch.arange(settings.batch * settings.prompt) * 7919 + 13) % config.vocab_size).view(settings.batch, settings.prompt)
    mask = torch.ones_like(ids)

    seconds, cpu = [], []
    for _ in range(settings.rounds):
        if settings.paced and not sys.stdin.readline():
            break
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        with torch.no_grad():
            result = model.generate(ids, attention_mask=mask, do_sample=False, num_beams=settings.beams, use_cache=True,
                                    min_new_tokens=settings.tokens, max_new_tokens=settings.tokens, pad_token_id=0)
        assert result.shape == (settings.batch, settings.prompt + settings.tokens)
        seconds.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if settings.paced:
            print(seconds[-1], cpu[-1], flush=True)

    typical = statistics.median(seconds[1:] or seconds)
    print(json.dumps({
        "program": "transformers", "batch": settings.batch, "beams": settings.beams, "prompt": settings.prompt, "tokens": settings.tokens,
        "threads": settings.threads, "seconds": round(typical, 4), "tok_s": round(settings.batch * settings.tokens / typical, 1),
        "peak_rss_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
    }))


if __name__ == "__main__":
    main()
