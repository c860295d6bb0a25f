#!/usr/bin/env python3
"""Writes the numbers of parameters that Hugging Face transformers give to the models of
config_shapes.json, into the same file.

    python config_shapes.py ../files/config_shapes.json

Models are built on torch's "meta" device, which has no memory. transformers does not know some of
the values (16.0, 0 for null), so `as_transformers` writes them as transformers does.
"""
import json
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageClassification, AutoModelForSeq2SeqLM
from transformers import AutoModelForSequenceClassification

HEADS = {"bert": AutoModelForSequenceClassification, "roberta": AutoModelForSequenceClassification,
         "vit": AutoModelForImageClassification, "t5": AutoModelForSeq2SeqLM, "bart": AutoModelForSeq2SeqLM}


def as_transformers(keys):
    keys = {k: int(v) if isinstance(v, float) and k.startswith("n_") else v for k, v in keys.items()}
    for key in ("sliding_window", "clip_qkv", "final_logit_softcapping"):
        if key in keys and not keys[key]:
            keys[key] = None
    for key in ("layer_types", "quantization_config", "rope_parameters", "rope_scaling", "compression_config", "architectures"):
        keys.pop(key, None)
    return {k: v for k, v in keys.items() if k not in ("id2label", "label2id") or v is not None}


def main():
    path = sys.argv[1]
    data = json.load(open(path))
    for shape in data["shapes"]:
        if "refused" in shape:
            continue
        keys = as_transformers({**data["bases"][shape["base"]], **shape["keys"]})
        family = keys.pop("model_type")
        with torch.device("meta"):
            model = HEADS.get(family, AutoModelForCausalLM).from_config(AutoConfig.for_model(family, **keys))
        shape["parameters"] = sum(p.numel() for p in model.parameters())
    rows = [",\n".join("  %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in data["bases"].items()),
            ",\n".join("  " + json.dumps(shape) for shape in data["shapes"])]
    open(path, "w").write('{\n "bases": {\n%s\n },\n "shapes": [\n%s\n ]\n}\n' % tuple(rows))


main()
