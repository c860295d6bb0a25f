#!/usr/bin/env python3
"""Writes beams.json: results of beam search and greedy decoding by Hugging Face transformers for a
table of logits.

    python make_beams.py --out ../files/beams.json        # transformers 4.57, f64

The model is a table of logits that a test computes too. After t tokens, of which a is the last,
token b has the logit 3 sin(1.3 a + 0.7 b b + 0.61 t + phase).
"""
import argparse
import json
import random

import torch
import transformers as hf
from transformers.modeling_outputs import CausalLMOutput


class Table(hf.PreTrainedModel, hf.GenerationMixin):
    """A language model that depends only on the last token and its position."""
    config_class = hf.PretrainedConfig
    main_input_name = "input_ids"

    def __init__(self, config, words, phase):
        super().__init__(config)
        at = torch.arange(words, dtype=torch.float64)
        self.table = torch.nn.Parameter(1.3 * at[:, None] + 0.7 * at[None] * at[None] + phase)

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **more):
        return {"input_ids": input_ids}

    def forward(self, input_ids, **more):
        return CausalLMOutput(logits=3 * torch.sin(self.table[input_ids] + 0.61 * input_ids.shape[1]))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--out", required=True)
    o = options.parse_args()
    cases = []
    # Few end tokens among many tokens, and many among few
    few, many = random.Random(5), random.Random(7)
    for number in range(145):
        pick, ends, least = (few, [[4], [4, 2], [5, 1, 3]], 1) if number < 90 else (many, [[5, 1, 3], [0, 1, 2, 3]], 2)
        words = pick.choice([7, 9, 12])
        beams = pick.choice(range(least, 5))
        how = dict(max_new_tokens=pick.choice([5, 8]), num_beams=beams, repetition_penalty=pick.choice([1.0, 1.0, 1.4]),
                   no_repeat_ngram_size=pick.choice([0, 0, 2]), min_new_tokens=pick.choice([0, 0, 3]),
                   eos_token_id=pick.choice(ends))
        if beams > 1:
            how |= dict(num_return_sequences=pick.choice([1, beams]), length_penalty=pick.choice([-1.5, 0.0, 0.6, 1.0, 2.0]),
                        early_stopping=pick.choice([True, False, "never"] if pick is few else [True, "never"]))
        phase = number * 0.37
        model = Table(hf.PretrainedConfig(vocab_size=words, num_hidden_layers=1), words, phase)
        prompts = torch.tensor([[1, 5, 2], [6, 0, 3], [2, 2, 6]])
        found = model.generate(prompts, attention_mask=torch.ones_like(prompts), pad_token_id=6, do_sample=False,
                               return_dict_in_generate=True, output_scores=True, **how)
        cases.append(dict(words=words, phase=phase, **how, ids=found.sequences.tolist()) |
                     (dict(scores=found.sequences_scores.tolist()) if beams > 1 else {}))
    with open(o.out, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
