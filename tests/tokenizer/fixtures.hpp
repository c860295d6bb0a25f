#pragma once

#include <cstdio>
#include <initializer_list>
#include <string>

// Small tokenizer.json files of each kind. The Python library `tokenizers` 0.22 computed the ids
// that the tests expect.

/// Flags of a token of "added_tokens", as `tokenizers` writes them.
struct added_flags {
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};
inline std::string added(int id, std::string const& content, added_flags const& is = {.special = true}) {
  auto const flag = [](char const* name, bool value) {
    return std::string(", \"") + name + "\": " + (value ? "true" : "false");
  };
  return "    {\"id\": " + std::to_string(id) + ", \"content\": \"" + content + "\"" +
         flag("single_word", is.single_word) + flag("lstrip", is.lstrip) + flag("rstrip", is.rstrip) +
         flag("normalized", is.normalized) + flag("special", is.special) + "}";
}

/// Returns the beginning of every file.
inline std::string head(std::initializer_list<std::string> tokens) {
  std::string text =
      "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": [\n";
  for (std::string const& token : tokens) text += (&token == tokens.begin() ? "" : ",\n") + token;
  return text + "\n  ],\n";
}

/// A tokenizer like LLaMA-3's: its split pattern, ignore_merges, merges as pairs, a token before
/// each text.
inline std::string const llama3_file =
    head({added(50, "<|begin_of_text|>"), added(51, "<|end_of_text|>")}) + R"json(  "normalizer": null,
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
      "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
  "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
      {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}},
      {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [50],
      "tokens": ["<|begin_of_text|>"]}}}]},
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": null,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": false,
    "byte_fallback": false,
    "ignore_merges": true,
    "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "h": 5, "l": 6, "o": 7, "r": 8, "s": 9, "t": 10, "w": 11, "E":
      12, "1": 13, "2": 14, "3": 15, "4": 16, "5": 17, "6": 18, "7": 19, "'": 20, "!": 21, ",": 22, "Ġ": 23, "Ċ":
      24, "č": 25, "Ã": 26, "¤": 27, "©": 28, "Ì": 29, "ģ": 30, "ł": 31, "Å": 32, "he": 33, "ll": 34, "hell": 35,
      "hello": 36, "Ġw": 37, "or": 38, "Ġwor": 39, "Ġworl": 40, "12": 41, "123": 42, "ĠĠ": 43, "'s": 44, "Ã¤": 45,
      "ĊĊ": 46, "Ġworld": 47, "4567": 48, "ab": 49},
    "merges": [["h", "e"], ["l", "l"], ["he", "ll"], ["hell", "o"], ["Ġ", "w"], ["o", "r"], ["Ġw", "or"], ["Ġwor",
      "l"], ["1", "2"], ["12", "3"], ["Ġ", "Ġ"], ["'", "s"], ["Ã", "¤"], ["Ċ", "Ċ"]]
  }
})json";

/// A tokenizer like Qwen2's: its split pattern, NFC, and added tokens of every kind.
inline std::string const qwen2_file =
    head({added(37, "<|endoftext|>"), added(38, "<|im_start|>"), added(39, "<mask>", {.lstrip = true, .rstrip = true}),
          added(40, "cab", {.single_word = true}), added(41, "é!", {.normalized = true})}) +
    R"json(  "normalizer": {"type": "NFC"},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
      "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
  "post_processor": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": null,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": false,
    "byte_fallback": false,
    "ignore_merges": false,
    "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "h": 5, "l": 6, "o": 7, "r": 8, "s": 9, "t": 10, "w": 11, "E":
      12, "1": 13, "2": 14, "3": 15, "4": 16, "5": 17, "6": 18, "7": 19, "'": 20, "!": 21, ",": 22, "Ġ": 23, "Ċ":
      24, "č": 25, "Ã": 26, "¤": 27, "©": 28, "Ì": 29, "ģ": 30, "ł": 31, "Å": 32, "12": 33, "Ã©": 34, "ab": 35,
      "abc": 36},
    "merges": ["1 2", "Ã ©", "a b", "ab c"]
  }
})json";

/// A tokenizer like BERT's: WordPiece, lower case, [CLS] and [SEP].
inline std::string const bert_file =
    head({added(0, "[PAD]"), added(1, "[UNK]"), added(2, "[CLS]"), added(3, "[SEP]"), added(4, "[MASK]")}) +
    R"json(  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
      "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
      "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 12,
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "un": 5, "##aff": 6, "##able": 7, "runn":
      8, "##ing": 9, "the": 10, "cafe": 11, ",": 12, "!": 13, "##s": 14, "中": 15, "文": 16, "don": 17, "'": 18, "t":
      19, "o": 20, "##e": 21, "##f": 22, ".": 23, "##a": 24}
  }
})json";

/// Returns a tokenizer like LLaMA-2's: BPE over code points with byte fallback.
inline std::string llama2_file() {
  std::string bytes;
  for (int b = 0; b < 256; ++b) {
    char token[24];
    std::snprintf(token, sizeof token, "\"<0x%02X>\": %d, ", static_cast<unsigned>(b), b + 3);
    bytes += token;
  }
  return head({added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")}) +
         R"json(  "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "pre_tokenizer": null,
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1],
      "tokens": ["<s>"]}}},
  "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": "<unk>",
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": true,
    "byte_fallback": true,
    "ignore_merges": false,
    "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, )json" +
         bytes + R"json("▁": 259, "a": 260,
      "b": 261, "c": 262, "▁a": 263, "ab": 264, "▁ab": 265, "▁▁": 266},
    "merges": ["▁ a", "a b", "▁a b", "▁ ▁"]
  }
})json";
}
