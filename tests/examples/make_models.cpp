// Writes two small decoders, a small encoder-decoder and a small encoder as Hugging Face folders,
// with a tokenizer whose tokens are bytes: `make_models FOLDER`.
#include <redco/run/trained_network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/pretrained/stored_names/bart.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/pretrained/stored_names/roberta.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

/// Returns the vocabulary with one character for each byte, as byte-level tokenizers write it:
/// printable Latin-1 unchanged, all other bytes from U+0100 on.
std::string byte_vocabulary() {
  std::string text;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bool const printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    int const shown = printable ? byte : next++;
    std::string utf8(1, static_cast<char>(shown));
    if (shown > 127) utf8 = {static_cast<char>(0xC0 | shown >> 6), static_cast<char>(0x80 | (shown & 63))};
    if (shown == '"' || shown == '\\') utf8.insert(0, "\\");
    text += (byte == 0 ? "\"" : ", \"") + utf8 + "\": " + std::to_string(byte);
  }
  return text;
}

template <class Model>
void write(Model const& model, std::filesystem::path const& folder, std::string const& config,
           std::string const& around = "null") {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << config;
  std::ofstream(folder / "tokenizer.json")
      << R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": )" << around
      << R"(,
 "added_tokens": [{"id": 256, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false,
                   "normalized": false, "special": true}],
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
 "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
 "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null, "end_of_word_suffix": null,
           "fuse_unk": false, "byte_fallback": false, "merges": [], "vocab": {)"
      << byte_vocabulary() << "}}}";
  redco::mesh const one{.dp = 1};
  redco::comm::run_ranks(one, {}, [&](redco::rank_context& rank) {
    redco::run::trained_network<Model> const state(model, redco::plan_of(model, one), redco::sgd{}, redco::dtype::f32,
                                                   3, rank.rank, {});
    redco::ckpt::save_model(folder, redco::models::stored_names<Model>::names, state.master_parts(), rank.world);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  std::filesystem::path const folder = argv[1];
  redco::llama llama{{.vocab = 257, .context = 64, .width = 24, .ffn = 40, .heads = 4, .kv_heads = 2, .layers = 2}};
  llama.config.deviation = 0.3;
  write(llama, folder / "llama",
        R"({"model_type": "llama", "vocab_size": 257, "max_position_embeddings": 64, "hidden_size": 24,
 "intermediate_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "eos_token_id": 256})");
  redco::gpt2 gpt2{{.vocab = 257, .context = 64, .width = 24, .heads = 4, .layers = 2, .deviation = 0.3}};
  write(gpt2, folder / "gpt2",
        R"({"model_type": "gpt2", "vocab_size": 257, "n_positions": 64, "n_embd": 24, "n_layer": 2, "n_head": 4,
 "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "eos_token_id": 256})");
  redco::bart bart{{.vocab = 257,
                    .context = 64,
                    .width = 24,
                    .ffn = 40,
                    .decoder_ffn = 48,
                    .heads = 4,
                    .decoder_heads = 4,
                    .layers = 1,
                    .decoder_layers = 2,
                    .padding = 0}};
  write(
      bart, folder / "bart",
      R"({"model_type": "bart", "vocab_size": 257, "max_position_embeddings": 64, "d_model": 24, "encoder_ffn_dim": 40,
 "decoder_ffn_dim": 48, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_layers": 1, "decoder_layers": 2,
 "is_encoder_decoder": true, "pad_token_id": 0, "eos_token_id": 256, "decoder_start_token_id": 256, "forced_eos_token_id": 256})");
  redco::roberta const roberta{{.vocab = 257, .context = 62, .width = 24, .ffn = 40, .heads = 4, .layers = 1}};
  write(roberta, folder / "roberta",
        R"({"model_type": "roberta", "vocab_size": 257, "max_position_embeddings": 64, "hidden_size": 24,
 "intermediate_size": 40, "num_attention_heads": 4, "num_hidden_layers": 1, "pad_token_id": 1, "type_vocab_size": 1})",
        R"({"type": "RobertaProcessing", "cls": ["<end>", 256], "sep": ["<end>", 256]})");
  return 0;
}
