#include "walls/training.hpp"

#include "parity/reference.hpp"
#include "test_files.hpp"

#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/pretrained/stored_names/llama.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/olmoe.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace redco;

/// Compares logits and greedy ids of a folder of reference values, on one rank and two shards.
template <class M>
void check_folder(std::string const& name, std::vector<mesh> const& meshes = {{.dp = 1}, {.tp = 2}}) {
  INFO(name);
  std::filesystem::path const path = test_files() / "parity" / name;
  parity::tensors const inputs = parity::read_all(path / "inputs.safetensors"),
                        expected = parity::read_all(path / "expected.safetensors");
  pretrained_folder const folder(path);
  M const& model = folder.model<M>();
  at::Tensor const seen = inputs.at("attention_mask").to(at::kBool), prompts = expected.at("prompt_ids");
  for (mesh const& shape : meshes)
    redco::comm::run_ranks(shape, {}, [&](rank_context& rank) {
      redco::run::trained_network<M> state(model, plan_of(model, shape), adamw{}, dtype::f64, 5, rank.rank, {});
      load_model(folder.weights(), redco::models::stored_table_of(model), state.master_parts(), rank);
      state.store.publish();
      at::NoGradGuard const quiet;
      pass const in = redco::nn::evaluation_pass(rank);
      bound_network<M> const net(state.net, in);
      at::Tensor const off = net(inputs.at("input_ids"), key_mask{seen}).tensor() - expected.at("logits");
      double const worst = off.abs().masked_fill(seen.logical_not().unsqueeze(-1), 0).max().template item<double>();
      sharded::must(worst < 1e-4, "logits of transformers");
      at::Tensor const found = generate(net.with(key_mask{expected.at("prompt_mask").to(at::kBool)}), prompts,
                                        {.max_new_tokens = 12, .stop_ids = {2}, .pad = 0});
      sharded::must(found.equal(expected.at("greedy")), "greedy ids of transformers");
    });
}

// Decodes token by token, where positions, windows and distances count from the cache. Reference
// numbers do not cover this.

template <class M, class Prepare>
void check_decoding(M const& model, Prepare const& prepare) {
  std::vector<at::Tensor> of_mesh;
  for (mesh const& shape : {mesh{.dp = 1}, {.tp = 2}}) {
    at::Tensor ids;
    redco::comm::run_ranks(shape, {}, [&](rank_context& rank) {
      redco::run::trained_network<M> const state(model, plan_of(model, shape), adamw{}, dtype::f64, 5, rank.rank, {});
      sharded::fill(state.store, rank.tp_index());
      pass const in = walls::pass_of(rank, {0, 3}, 0, false);
      auto const net = prepare(bound_network<M>(state.net, in));
      at::NoGradGuard const quiet;
      at::Tensor whole = (at::arange(12, at::kLong) * 5 + 3).remainder(model.config.vocab).view({3, 4});
      at::Tensor const found = generate(net, whole, {.max_new_tokens = 6});
      for (int i = 0; i < 6; ++i) whole = at::cat({whole, net(whole).last().tensor().argmax(-1)}, 1);
      sharded::must(found.equal(whole), "the cache changes no token");
      if (rank.rank == 0) ids = found;
    });
    of_mesh.push_back(ids);
  }
  CHECK(of_mesh[0].equal(of_mesh[1]));
  CHECK(at::amax(of_mesh[0].slice(1, 4), {1}).ne(at::amin(of_mesh[0].slice(1, 4), {1})).any().item<bool>());
}

}  // namespace

TEST_CASE("decoders with each kind of rotary positions, blocks and norms compute like transformers") {
  for (char const* name : {"llama-dynamic", "llama-yarn", "smollm3", "phi3"}) check_folder<llama>(name);
  for (char const* name : {"gpt-neox", "gpt-neox-sequential"}) check_folder<models::gpt_neox>(name);
  check_folder<models::olmo2>("olmo2");
}

TEST_CASE("rotary positions and a sliding window, shorter or longer than the prompt, count from the cache") {
  for (std::int64_t const window : {3, 7, 40}) {
    llama const model{
        {.vocab = 23, .context = 32, .width = 24, .ffn = 20, .heads = 4, .kv_heads = 2, .layers = 2, .window = window}};
    check_decoding(model, [](auto const& net) { return net; });
  }
}

TEST_CASE("a bias by distance counts from the cache, on both sides") {
  t5 const model{{.vocab = 23,
                  .width = 24,
                  .ffn = 20,
                  .heads = 4,
                  .head_dim = 6,
                  .layers = 2,
                  .decoder_layers = 2,
                  .buckets = 6,
                  .farthest = 8}};
  check_decoding(model, [](auto const& net) {
    return net.with(encoder_input{(at::arange(21, at::kLong) * 7 + 1).remainder(23).view({3, 7})});
  });
}

TEST_CASE("a family learns the same on every mesh, with dropout and shared key-value heads") {
  llama const model{{.vocab = 23,
                     .context = 32,
                     .width = 24,
                     .ffn = 20,
                     .heads = 4,
                     .kv_heads = 2,
                     .layers = 2,
                     .attention_dropout = 0.1,
                     .window = 3}};
  walls::check_meshes(
      model, adamw{.lr = 1e-2}, {.steps = 4},
      [](auto const& net, walls::share const& mine, int) {
        at::Tensor const ids =
            (at::arange(45, at::kLong) * 7 + 2).remainder(23).view({5, 9}).slice(0, mine.begin, mine.end);
        return cross_entropy(net(ids.slice(1, 0, 8)), ids.slice(1, 1, 9));
      },
      {{.dp = 2}, {.tp = 2}, {.tp = 4}, {.dp = 2, .tp = 2}});
}

TEST_CASE("folders of experts load on meshes that divide the experts, with the logits of transformers") {
  check_folder<models::olmoe>("olmoe", {{.dp = 1}, {.tp = 2}, {.ep = 2}, {.ep = 3, .tp = 2}});
  check_folder<models::mixtral>("mixtral", {{.ep = 5}, {.dp = 2, .tp = 2}});
  check_folder<models::mixtral>("mixtral-stacked", {{.dp = 1}, {.ep = 2}, {.ep = 4}, {.ep = 2, .tp = 2}});
  check_folder<models::mixtral>("qwen3-moe", {{.dp = 1}, {.ep = 7}});
  check_folder<models::mixtral>("qwen3-moe-normalised", {{.ep = 2}, {.ep = 3, .tp = 2}});
}
