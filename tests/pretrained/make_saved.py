#!/usr/bin/env python3
"""Writes small folders of models and their tokenizers, as one version of Hugging Face transformers
saves them.

    python make_saved.py --out ../files/saved

Run it once with each version. It writes OUT/VERSION/FAMILY. Nothing is downloaded: the tokenizers
are trained on the sentences below. Each folder holds the files that save_pretrained writes of the
config, the generation config and the tokenizer. Its golden.json holds the number of parameters that
the weights would have, texts, and their ids.
"""
import argparse
import json
from pathlib import Path

import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = ["The cat doesn't like 12 boats.", "  Naïve café, 你好\n\nend ", "they're counting: 3.14 and 007!", "Übergroß <pad> x", "a"]
CORPUS = TEXTS + ["the cat counts boats and the boats count the cat", "they like cafés; they are counting", "an end is an end"] * 4


def byte_level(specials):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=300, special_tokens=specials, show_progress=False,
                                                      initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    return t


def byte_fallback():
    """Returns a tokenizer like LLaMA-2's, whose vocabulary has all bytes and in which a space is a
    letter."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator([line.replace(" ", " ▁") for line in CORPUS],
                          trainers.BpeTrainer(vocab_size=320, special_tokens=specials, show_progress=False))
    data = json.loads(t.to_str())
    # Bytes are tokens of the model, not added tokens
    data["added_tokens"] = data["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(data))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def word_pieces():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=90, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def families():
    sizes = dict(hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=64)
    decoder = sizes | dict(num_key_value_heads=1)
    gpt2 = byte_level(["<|endoftext|>"])
    yield "gpt2", hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=gpt2.get_vocab_size(), n_positions=64, n_embd=8, n_head=2, n_layer=1,
                                                   bos_token_id=0, eos_token_id=0)), hf.GPT2TokenizerFast(
        tokenizer_object=gpt2, bos_token="<|endoftext|>", eos_token="<|endoftext|>", unk_token="<|endoftext|>")
    llama = byte_fallback()
    yield "llama", hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=llama.get_vocab_size(), rope_theta=5000.0, **decoder)), hf.PreTrainedTokenizerFast(
        tokenizer_object=llama, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    qwen = byte_level(["<|endoftext|>", "<|im_end|>"])
    yield "qwen2", hf.Qwen2ForCausalLM(hf.Qwen2Config(vocab_size=qwen.get_vocab_size(), bos_token_id=0, eos_token_id=1, **decoder)), \
        hf.PreTrainedTokenizerFast(tokenizer_object=qwen, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    bart = byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    bart.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    yield "bart", hf.BartForConditionalGeneration(hf.BartConfig(
        vocab_size=bart.get_vocab_size(), d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=12, decoder_ffn_dim=12, max_position_embeddings=64)), hf.PreTrainedTokenizerFast(
        tokenizer_object=bart, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
    bert = word_pieces()
    yield "bert", hf.BertForSequenceClassification(hf.BertConfig(vocab_size=bert.get_vocab_size(), num_labels=3, **sizes)), hf.PreTrainedTokenizerFast(
        tokenizer_object=bert, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--out", type=Path, required=True)
    args = args.parse_args()
    hf.logging.set_verbosity_error()
    for name, model, tokenizer in families():
        folder = args.out / hf.__version__.rsplit(".", 1)[0] / name
        model.config.architectures = [type(model).__name__]  # as the model's save_pretrained does
        model.config.save_pretrained(folder)
        if model.can_generate():
            model.generation_config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        rows = [{"text": text, "ids": tokenizer(text)["input_ids"]} for text in TEXTS]
        # Counts a tied weight once
        stored = {t.data_ptr(): t.numel() for t in model.state_dict().values()}
        golden = {"transformers": hf.__version__, "numbers": sum(stored.values()), "rows": rows}
        (folder / "golden.json").write_text(json.dumps(golden, ensure_ascii=False) + "\n")
        print(folder, sum(f.stat().st_size for f in folder.iterdir()), "bytes")


if __name__ == "__main__":
    main()
