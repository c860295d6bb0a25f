#include "catch.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"

#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vit.hpp>

#include <redco/shard/plan.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

// Compares the parameters of small models, as Hugging Face transformers store them, with those that
// the descriptions state.

namespace families_test {

using parameters = std::map<std::string, redco::extents>;
using renames = std::vector<std::pair<std::string, std::string>>;

/// Returns the extents without leading ones.
redco::extents plain(redco::extents const& shape) {
  redco::extents result;
  for (int d = 0; d < shape.rank; ++d)
    if (result.rank > 0 || shape[d] != 1) result.push(shape[d]);
  return result;
}

/// Returns the tensors of a safetensors file from its header: 8 bytes of length, then JSON.
parameters stored(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t length = 0;
  for (int byte = 0; byte < 8; ++byte) length |= static_cast<std::uint64_t>(file.get()) << (8 * byte);
  std::string text(length, ' ');
  file.read(text.data(), static_cast<std::streamsize>(length));
  redco::json::json_value const header = redco::json::parse_json(text, path.string());
  parameters result;
  for (auto const& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    redco::extents shape;
    for (auto const& size : tensor.at("shape")) shape.push(size.get<std::int64_t>());
    result[name] = plain(shape);
  }
  return result;
}

template <class Model>
parameters described(Model const& model) {
  parameters result;
  for (redco::shard::placed_parameter const& p : redco::shard::placed_parameters(redco::plan_of(model, {.dp = 1})))
    CHECK(result.emplace(p.name, plain(p.plan.fact.shape)).second);
  return result;
}

parameters renamed(parameters const& from, renames const& rules) {
  parameters result;
  for (auto const& [name, shape] : from) {
    std::string now = name;
    for (auto const& [pattern, text] : rules) now = std::regex_replace(now, std::regex(pattern), text);
    CHECK(result.emplace(now, shape).second);
  }
  return result;
}

/// Returns the path of the reference data, or an empty path if there is none.
std::filesystem::path model_file(std::string const& folder) {
  auto const path = shared_folder() / "parity" / folder / "model.safetensors";
  if (std::filesystem::exists(path)) return path;
  skip("no reference model at " + path.string());
  return {};
}

template <class Model>
void check(std::string const& folder, Model const& model, renames const& rules) {
  auto const path = model_file(folder);
  if (path.empty()) return;
  parameters const theirs = renamed(stored(path), rules), ours = described(model);
  CHECK(theirs.size() == ours.size());
  for (auto const& [name, shape] : theirs) {
    CAPTURE(folder, name);
    auto const found = ours.find(name);
    REQUIRE(found != ours.end());
    CHECK(found->second == shape);
  }
}

renames const llama_names = {{"^model\\.", ""}, {"_proj\\.", "."}};
renames const opt_names = {{"^model\\.decoder\\.", ""}, {"\\.out_proj\\.", ".o."}, {"_proj\\.", "."}};
renames const bert_names = {{"^(ro)?berta?\\.", ""},
                            {"attention\\.output\\.LayerNorm", "attention.LayerNorm"},
                            {"attention\\.output\\.dense", "attention.o"},
                            {"attention\\.self\\.([qkv])[a-z]*", "attention.$1"},
                            {"(layer\\.\\d+\\.(intermediate|output))\\.dense", "$1"}};
renames const t5_names = {{"^shared", "encoder.embed_tokens"},
                          {"block\\.0\\.layer\\.0\\.SelfAttention\\.relative", "relative"},
                          {"layer\\.0\\.layer_norm", "SelfAttention.layer_norm"},
                          {"decoder(.*)layer\\.1\\.layer_norm", "decoder$1EncDecAttention.layer_norm"},
                          {"layer\\.[12]\\.layer_norm", "DenseReluDense.layer_norm"},
                          {"layer\\.\\d\\.", ""},
                          {"wi_0", "gate"},
                          {"wi_1", "up"}};

TEST_CASE("GPT-2 has as many parameters as its reference, which stores q, k and v as one matrix", "[outside]") {
  auto const path = model_file("gpt2-tied");
  if (path.empty()) return;
  std::int64_t theirs = 0, ours = 0;
  for (auto const& [name, shape] : stored(path)) theirs += shape.count();
  for (auto const& [name, shape] :
       described(redco::gpt2{{.vocab = 97, .context = 48, .width = 48, .heads = 4, .layers = 2}}))
    ours += shape.count();
  CHECK(ours == theirs);
}

TEST_CASE("decoders have the parameters of their references", "[outside]") {
  redco::llama llama{{.vocab = 96, .context = 128, .width = 48, .ffn = 80, .heads = 4, .kv_heads = 2, .layers = 2}};
  check("llama-gqa", llama, llama_names);
  llama.config.tied = true;
  check("llama-tied", llama, llama_names);
  check("gptj-rotary8",
        redco::gptj{{.vocab = 97, .context = 48, .width = 48, .heads = 4, .rotary_dim = 8, .layers = 2}},
        {{"^transformer\\.", ""}, {"\\.out_proj\\.", ".o."}, {"_proj\\.", "."}});
  check("opt-prenorm", redco::opt{{.vocab = 97, .context = 48, .width = 48, .ffn = 96, .heads = 4, .layers = 2}},
        opt_names);
  check("opt-postnorm",
        redco::models::opt_post_norm{
            {.vocab = 97, .context = 48, .embedding_width = 24, .width = 48, .ffn = 96, .heads = 4, .layers = 2}},
        opt_names);
}

TEST_CASE("classifiers have the parameters of their references", "[outside]") {
  check("bert-classify",
        redco::bert{{.vocab = 97, .context = 32, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 3}},
        bert_names);
  check("roberta-classify",
        redco::roberta{{.vocab = 97, .context = 30, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 3}},
        bert_names);
  check("vit-classify", redco::vit{{.image = 32, .width = 48, .ffn = 96, .heads = 4, .layers = 2, .classes = 10}},
        {{"^vit\\.", ""},
         {"encoder\\.layer", "layer"},
         {"attention\\.attention\\.([qkv])[a-z]*", "attention.$1"},
         {"attention\\.output\\.dense", "attention.o"},
         {"(intermediate|output)\\.dense", "$1"},
         {"\\.projection", ""},
         {"(cls_token|position_embeddings)$", "$1.weight"}});
}

TEST_CASE("encoder-decoders have the parameters of their references", "[outside]") {
  check("t5-relu",
        redco::t5{{.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 2}},
        t5_names);
  check("t5-gated",
        redco::models::t5_gated{
            {.vocab = 96, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 2}},
        t5_names);
  check("bart-base",
        redco::bart{{.vocab = 97,
                     .context = 48,
                     .width = 48,
                     .ffn = 96,
                     .decoder_ffn = 96,
                     .heads = 4,
                     .decoder_heads = 4,
                     .layers = 2,
                     .decoder_layers = 2}},
        {{"^model\\.shared", "encoder.embed_tokens"},
         {"^model\\.", ""},
         {"\\.out_proj\\.", ".o."},
         {"_proj\\.", "."},
         {"final_logits_bias", "final_logits.bias"}});
}

}  // namespace families_test
