#!/usr/bin/env python3
"""Writes small folders of tokenizers of every kind, and the ids that Hugging Face transformers
compute for them.

    python make_folders.py --out ../files/tokenizers            # trains tokenizers, writes folders
                                                                # and golden.json; transformers 5.24
    python make_folders.py --out ../files/tokenizers --check    # compares with golden.json, under
                                                                # another version such as 4.57

Nothing is downloaded: the tokenizers are trained on the sentences below, with `tokenizers` and
`sentencepiece`. golden.json holds texts, their ids, and the text that the ids decode to without
special tokens. pairs.json holds pairs of texts with their ids and types, cut to `most` ids. A
folder whose name ends in _5 follows transformers 5 if 4 differs; --check leaves it out. Folders
named cleaned_... also hold texts with spaces before punctuation.
"""
import argparse
import json
import os
import tempfile
from pathlib import Path

import sentencepiece
import transformers as hf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = ["The cat doesn't like 12 boats.", "Naïve cafés, 你好 world", "they're counting: 3.14 and 007!", "the cat counts boats",
          "they like cafés; they are counting", "an end is an end", "hello world of models, hello plan"] * 3
TEXTS = ["The cat doesn't like 12 boats.", "  Naïve café, 你好\n\nend ", "they're counting: 3.14 and 007!", "Übergroß <pad> x", "",
         " ", "a", "hello<x>world", "hello <x> world", "a<y>b <y>c", "the<mask> cat <mask>.", "cat<z>cat <z> <z>s", "\tone\u00a0two\u3000three  ",
         "ﬁnd ﬁ\u0301 e\u0301 ｆｕｌｌ \u1e9b\u0323", "\U0001f600\u200d\U0001f468 emoji \U0001f1e9\U0001f1ea", "x\u0001y\u0007z\u0085w",
         "</s>end<s>", "<|endoftext|>hello<|endoftext|>", "[MASK] Café [SEP]x", "ÀÉÎ 한국어 \u1112\u1161\u11ab ｶﾞ", "\r\nline\rline",
         "unknown \u0416\u0417 \u2603\u2603 runs\u2603", "ĲﬀΩ①½ ㍿", "\ufeffmark \u200bzero", "don't <x", "THE CAT", "  <x>  <y>  "]
SPACED = ["it ' s they ' re . a ? b ! c , d n't e 'm f 's g 've h 're do not . .  ?", " , ' .' ! '  ' n ' t", "end . ' ' s ' ."]


def trained(t, trainer, corpus=CORPUS):
    t.train_from_iterator(corpus, trainer)
    return t


def byte_level(specials, prefix=False, size=300):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    t.decoder = decoders.ByteLevel()
    return trained(t, trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False,
                                          initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))


def word_pieces(corpus=CORPUS, **letters):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(**letters)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    trained(t, trainers.WordPieceTrainer(vocab_size=110, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                         show_progress=False), corpus)
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def charsmap():
    """Returns a small table of SentencePiece: ligatures, a composed letter, full-width letters,
    white space, a key that is part of a longer one."""
    rules = {"ﬁ": "fi", "e\u0301": "é", "\u0301": "", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\r": " ", "½": "1/2",
             "\u2603": "snow", "\u2603\u2603": "blizzard", "\u200b": "", "\u2126": "\u03a9"} | {chr(0xff41 + i): chr(97 + i) for i in range(26)}
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n" for a, b in rules.items())
        Path(folder, "rules.tsv").write_text(rows)
        Path(folder, "text.txt").write_text("\n".join(CORPUS))
        sentencepiece.SentencePieceTrainer.train(
            input=f"{folder}/text.txt", model_prefix=f"{folder}/m", vocab_size=60, hard_vocab_limit=False,
            normalization_rule_tsv=f"{folder}/rules.tsv", minloglevel=2)
        from sentencepiece import sentencepiece_model_pb2 as proto
        model = proto.ModelProto()
        model.ParseFromString(Path(folder, "m.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def unigram(normalizer, pre, fallback=False, size=110, corpus=CORPUS):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizer, pre
    t.decoder = decoders.Metaspace()
    specials = ["<pad>", "</s>", "<unk>"] + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
    trained(t, trainers.UnigramTrainer(vocab_size=size + 256 * fallback, special_tokens=specials, unk_token="<unk>", show_progress=False),
            corpus)
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    data = json.loads(t.to_str())
    if fallback:
        data["model"]["byte_fallback"] = True
        data["added_tokens"] = data["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(data))


def llama(specials=("<unk>", "<s>", "</s>")):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokens = list(specials) + [f"<0x{b:02X}>" for b in range(256)]
    trained(t, trainers.BpeTrainer(vocab_size=340, special_tokens=tokens, show_progress=False))
    data = json.loads(t.to_str())
    data["added_tokens"] = data["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(data))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return t


def gemma():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"] + [f"<0x{b:02X}>" for b in range(256)]
    trained(t, trainers.BpeTrainer(vocab_size=360, special_tokens=tokens, show_progress=False))
    data = json.loads(t.to_str())
    data["added_tokens"] = data["added_tokens"][:5]
    t = Tokenizer.from_str(json.dumps(data))
    t.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return t


def token(content, **flags):
    return dict(content=content, lstrip=False, normalized=False, rstrip=False, single_word=False, special=False) | flags


def folders():
    """Yields name, model_type and files: a Tokenizer, a JSON value or a text."""
    end = "<|endoftext|>"
    gpt2 = byte_level([end])
    n = gpt2.get_vocab_size()
    plain = {"tokenizer_class": "GPT2Tokenizer", "bos_token": end, "eos_token": end, "unk_token": end}
    yield "added_decoder", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain | {"added_tokens_decoder": {
        "0": token(end, special=True), str(n): token("<x>"), str(n + 1): token("<y>", lstrip=True, rstrip=True),
        str(n + 2): token("<z>", single_word=True), str(n + 3): token("<pad>", special=True)}, "pad_token": "<pad>"}}
    yield "added_map", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain,
                                "special_tokens_map.json": {"bos_token": end, "eos_token": end, "unk_token": end, "pad_token": token("<pad>"),
                                                            "additional_special_tokens": ["<x>", "<y>"]}}
    yield "added_json", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain | {"pad_token": "<pad>"},
                                 "added_tokens.json": {"<z>": n + 1, "<x>": n, "<pad>": n + 2}}
    yield "flags_over", "gpt2", {"tokenizer.json": byte_level([end, "<mask>"]), "tokenizer_config.json": plain | {"added_tokens_decoder": {
        "0": token(end, special=True), "1": token("<mask>", lstrip=True, special=True)}}}
    yield "prefix_given", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain | {"add_prefix_space": True}}
    yield "prefix_default", "gpt2", {"tokenizer.json": byte_level([end], prefix=True), "tokenizer_config.json": plain}
    roberta = byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    roberta.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    names = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>", "unk_token": "<unk>", "pad_token": "<pad>",
             "mask_token": token("<mask>", lstrip=True, special=True) | {"__type": "AddedToken"}}
    yield "roberta_prefix", "roberta", {"tokenizer.json": roberta, "tokenizer_config.json": names | {
        "tokenizer_class": "RobertaTokenizer", "add_prefix_space": True, "mask_token": "<mask>"}}
    yield "bert_cased", "bert", {"tokenizer.json": word_pieces(lowercase=True),
                                 "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": False}}
    yield "bert_accents", "bert", {"tokenizer.json": word_pieces(lowercase=False), "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer", "do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False}}
    yield "bert_default", "bert", {"tokenizer.json": word_pieces(lowercase=False, strip_accents=False), "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer"}}
    yield "llama_no_prefix_5", "llama", {"tokenizer.json": llama(), "tokenizer_config.json": {
        "tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "add_prefix_space": False,
        "legacy": False}}
    prepends = llama()
    prepends.pre_tokenizer = None
    prepends.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    named = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    yield "llama_first_5", "llama", {"tokenizer.json": prepends, "tokenizer_config.json": named}
    yield "llama_legacy_5", "llama", {"tokenizer.json": prepends, "tokenizer_config.json": named | {"legacy": True}}
    yield "llama_as_filed", "mistral", {"tokenizer.json": prepends, "tokenizer_config.json": named | {"legacy": False}}
    t5 = {"tokenizer_class": "T5Tokenizer", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "extra_ids": 0}
    pieces = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    table = charsmap()
    yield "unigram_5", "t5", {"tokenizer.json": unigram(normalizers.Precompiled(table), pieces), "tokenizer_config.json": t5}
    spm = normalizers.Sequence([normalizers.Precompiled(table), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    generic = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    yield "unigram_stripped", "t5", {"tokenizer.json": unigram(spm, pre_tokenizers.Metaspace(prepend_scheme="always")),
                                     "tokenizer_config.json": generic | {"additional_special_tokens": ["<x>"]}}
    nmt = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    yield "unigram_bytes", "t5", {"tokenizer.json": unigram(nmt, pre_tokenizers.Metaspace(prepend_scheme="first"), fallback=True),
                                  "tokenizer_config.json": generic}
    nfkd = normalizers.Sequence([normalizers.NFKD(), normalizers.Strip(left=True, right=False)])
    yield "unigram_unsplit", "t5", {"tokenizer.json": unigram(nfkd, pre_tokenizers.Metaspace(prepend_scheme="never", split=False)),
                                    "tokenizer_config.json": generic}

    def pair_files(t):
        model = json.loads(t.to_str())["model"]
        merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
        return {"vocab.json": model["vocab"], "merges.txt": "#version: 0.2\n" + "\n".join(merges) + "\n"}
    yield "files_gpt2", "gpt2", pair_files(gpt2) | {"tokenizer_config.json": plain}
    opt = byte_level(["<s>", "<pad>", "</s>", "<unk>"])
    yield "files_opt", "opt", pair_files(opt) | {"tokenizer_config.json": {
        "tokenizer_class": "GPT2Tokenizer", "bos_token": "</s>", "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>", "add_bos_token": True}}
    yield "files_roberta", "roberta", pair_files(roberta) | {"tokenizer_config.json": names | {"tokenizer_class": "RobertaTokenizer"}}
    yield "files_bart", "bart", pair_files(roberta) | {"tokenizer_config.json": names | {"tokenizer_class": "BartTokenizer", "add_prefix_space": True}}
    qwen = byte_level([])
    yield "files_qwen2", "qwen2", pair_files(qwen) | {"tokenizer_config.json": {
        "tokenizer_class": "Qwen2Tokenizer", "eos_token": end, "pad_token": end, "unk_token": end,
        "added_tokens_decoder": {str(qwen.get_vocab_size()): token(end, special=True)}}}
    bert = word_pieces()
    words = sorted(bert.get_vocab(), key=bert.get_vocab().get)
    yield "files_bert", "bert", {"vocab.txt": "\n".join(words) + "\n", "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer", "do_lower_case": True, "clean_up_tokenization_spaces": False}}

    yield "gemma", "gemma2", {"tokenizer.json": gemma(), "tokenizer.model": "not read beside tokenizer.json", "tokenizer_config.json": {
        "tokenizer_class": "GemmaTokenizer", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>",
        "add_bos_token": True, "add_eos_token": False, "clean_up_tokenization_spaces": False, "sp_model_kwargs": {}}}
    cleaned = {"clean_up_tokenization_spaces": True}
    forced = {"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True}
    spaced = word_pieces(CORPUS + SPACED * 3)
    yield "cleaned_bert", "bert", {"tokenizer.json": spaced, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer"} | cleaned}
    words = sorted(spaced.get_vocab(), key=spaced.get_vocab().get)
    yield "cleaned_default_5", "bert", {"vocab.txt": "\n".join(words) + "\n", "tokenizer_config.json": {"tokenizer_class": "BertTokenizer"}}
    yield "cleaned_unigram", "t5", {"tokenizer.json": unigram(spm, pre_tokenizers.Metaspace(prepend_scheme="always"), corpus=CORPUS + SPACED * 3),
                                    "tokenizer_config.json": generic | cleaned}
    yield "cleaned_bpe_5", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain | cleaned}
    yield "cleaned_bpe_forced", "gpt2", {"tokenizer.json": gpt2, "tokenizer_config.json": plain | cleaned | forced}


PAIRED = ["files_bert", "files_roberta", "files_bart", "roberta_prefix"]


def pairs(folder):
    t = hf.AutoTokenizer.from_pretrained(folder)
    rows = []
    for first, second in (TEXTS[0], TEXTS[2]), ("a", TEXTS[1]), (TEXTS[0], "a"), ("[SEP] </s>", "hello world"), ("the cat", "the cat"):
        for most in 0, 12, 9, 8, 7, 5, 4:
            cut = dict(truncation="longest_first", max_length=most) if most else {}
            found = t(first, second, return_token_type_ids=True, **cut)
            rows.append({"first": first, "second": second, "most": most, "ids": found["input_ids"], "types": found["token_type_ids"]})
    return rows


def written(rows):
    return "[\n" + ",\n".join(json.dumps(r, ensure_ascii=True) for r in rows) + "\n]\n"


def golden(folder):
    t = hf.AutoTokenizer.from_pretrained(folder)
    return [{"text": text, "ids": (ids := t(text)["input_ids"]), "decoded": t.decode(ids, skip_special_tokens=True)}
            for text in TEXTS + SPACED * folder.name.startswith("cleaned_")]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--check", action="store_true")
    o = options.parse_args()
    if o.check:
        for folder in sorted(o.out.iterdir()):
            if folder.name.endswith("_5"):
                continue
            try:
                found = golden(folder)
            except Exception as e:
                print(folder.name, "fails:", repr(e)[:200])
                continue
            expected = json.loads((folder / "golden.json").read_text())
            if folder.name in PAIRED:
                found += pairs(folder)
                expected += json.loads((folder / "pairs.json").read_text())
            for a, b in zip(found, expected):
                if a != b:
                    print(folder.name, a, b, sep="\n  ")
        return
    for name, model_type, files in folders():
        folder = o.out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
        for file, content in files.items():
            if isinstance(content, Tokenizer):
                content = json.loads(content.to_str())
            (folder / file).write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
        (folder / "golden.json").write_text(written(golden(folder)))
        if name in PAIRED:
            (folder / "pairs.json").write_text(written(pairs(folder)))


if __name__ == "__main__":
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    main()
