#!/usr/bin/env python3
"""Checks that PEFT reads adapters that redco saved.

    check_peft.py BASE ADAPTER MERGED    folders of a frozen decoder, which may have experts, of
                                         adapters for it, and of the model with the adapters merged

PEFT must read every tensor of the adapters and no other. With BASE and ADAPTER it must compute the
logits that transformers compute with MERGED, to 1e-5 of the largest, and not those of BASE alone.
If torch, transformers or peft is missing, the Python of scripts/setup --peers is used, or that of
--tests. Without them the exit code is 77, in CI 1.
"""
import os
import sys
from pathlib import Path

try:
    import peft
    import torch
    import transformers as hf
    from safetensors import safe_open
except ImportError as absent:
    pythons = [Path(__file__).resolve().parents[2] / f".deps/{name}/bin/python" for name in ("peers", "peft")]
    tried = pythons.index(Path(sys.executable)) + 1 if Path(sys.executable) in pythons else 0
    for python in pythons[tried:]:
        if python.exists():
            os.execv(python, [python, *sys.argv])
    if os.environ.get("CI") == "true":
        sys.exit(f"CI lacks what this test needs: {absent}")
    print(f"skipped: {absent} (scripts/setup --tests)")
    sys.exit(77)


def logits_of(model, ids):
    with torch.no_grad():
        return model.eval()(ids).logits


def main(base, adapter, merged):
    read = lambda path: hf.AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.float32)
    ids = torch.randint(0, read(base).config.vocab_size, (3, 16), generator=torch.Generator().manual_seed(1))
    frozen = logits_of(read(base), ids)
    adapted = peft.PeftModel.from_pretrained(read(base), adapter)
    own = {name.replace(".default", ""): value for name, value in adapted.named_parameters() if ".lora_" in name}
    with safe_open(Path(adapter) / "adapter_model.safetensors", "pt") as file:
        assert set(file.keys()) == set(own), set(file.keys()) ^ set(own)
        assert all(torch.equal(own[name], file.get_tensor(name).float()) for name in own)
    found, expected = logits_of(adapted, ids), logits_of(read(merged), ids)
    largest = expected.abs().max().item()
    off, moved = (found - expected).abs().max().item() / largest, (found - frozen).abs().max().item() / largest
    print(f"peft {peft.__version__} reads {len(own)} tensors; its logits differ by {off:.1e} of the largest from the merged model's, by "
          f"{moved:.1e} from the frozen one's")
    assert off <= 1e-5 < moved


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
