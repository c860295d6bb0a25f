#include "parity/reference.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"
#include "walls/training.hpp"

#include <redco/run/load_weights.hpp>
#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/plan/with_lora.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

// Adapters of a frozen model on every mesh: PEFT's numbers, merged weights, saved files.

namespace lora_test {

using namespace redco;

std::vector<mesh> const all_meshes{{}, {.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}};

/// The largest difference that any rank finds, for each kind of comparison.
class worst {
 public:
  void note(std::string const& name, at::Tensor const& found, at::Tensor const& expected) {
    double const off = sharded::distance(found.to(at::kDouble), expected.to(at::kDouble));
    std::lock_guard const lock(mutex_);
    all_[name] = std::max(all_[name], off);
  }
  void check(double tolerance) const {
    for (auto const& [name, off] : all_) {
      INFO(name);
      CHECK(off < tolerance);
    }
  }
  std::size_t size() const { return all_.size(); }

 private:
  std::mutex mutex_;
  std::map<std::string, double> all_;
};

/// Returns this rank's part of an unsharded tensor.
at::Tensor part_of(at::Tensor x, safetensors::box const& box) {
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    x = x.narrow(static_cast<std::int64_t>(d), box.offset[d], box.shape[d]);
  return x;
}

template <class M, class Frozen>
void check_peft(pretrained_folder const& folder, adapter_folder const& adapter, parity::tensors const& expected,
                M const& model, mesh const& on) {
  using names = redco::models::stored_names<Frozen>;
  worst found;
  temporary_folder const saved;
  at::Tensor const ids = expected.at("input_ids");
  redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
    redco::run::trained_network<M> state(model, plan_of(model, on), adamw{}, dtype::f64, 5, rank.rank, {});
    run::load_weights(state, folder.weights(), redco::models::stored_table_of(Frozen{model.config}), rank);
    walls::share const mine = walls::share_of(ids.size(0), rank);
    auto const own = [&](char const* name) { return expected.at(name).slice(0, mine.begin, mine.end); };
    auto const logits = [&] {
      at::NoGradGuard const quiet;
      pass const quiet_pass = walls::pass_of(rank, mine, 0, false);
      return bound_network<M>(state.net, quiet_pass)(own("input_ids")).tensor();
    };
    state.store.publish();
    found.note("logits before adapters are loaded", logits(), own("frozen_logits"));
    run::load_adapters(state, adapter.weights(), names::names, rank);
    state.store.publish();
    found.note("logits", logits(), own("logits"));
    redco::adapt::save_adapter(saved / "adapter", names::names, model.config.lora, state.adapter_parts(), rank.world,
                               {.base = "b"});

    pass const in = walls::pass_of(rank, mine, 0);
    redco::run::training_step update(state, rank);
    update.add(
        cross_entropy(bound_network<M>(state.net, in)(own("input_ids").slice(1, 0, -1)), own("input_ids").slice(1, 1)));
    redco::run::step_result const done = update.finish(0, 1, false);
    found.note("loss", at::full({}, done.loss, at::kDouble), expected.at("loss"));
    for (ckpt::state_part const& p : state.adapter_parts()) {
      at::Tensor const gradient = state.store.find(p.name)->gradient / done.weight;
      std::int64_t expert = 0;
      for (ckpt::state_part const& part : redco::adapt::adapter_parts_of(names::names, std::span(&p, 1)).parts) {
        std::string const name = "grad." + part.name;
        found.note(name, p.shape.size() == 3 ? gradient.select(0, expert++) : gradient,
                   part_of(expected.at(name), part.box));
      }
    }
  });
  CHECK(found.size() > 10);
  found.check(2e-6);
  auto const kept = parity::read_all(saved / "adapter" / "adapter_model.safetensors");
  auto const theirs = parity::read_all(folder.folder() / "adapter" / "adapter_model.safetensors");
  REQUIRE(kept.size() == theirs.size());
  for (auto const& [name, value] : theirs) {
    INFO(name);
    REQUIRE(kept.contains(name));
    CHECK(kept.at(name).equal(value.to(at::kDouble)));
  }
  CHECK(adapter_folder(saved / "adapter").options(names::names) == model.config.lora);
}

template <class M>
void check_peft(std::string const& name, std::string const& targets, std::vector<mesh> const& meshes = all_meshes) {
  std::filesystem::path const path = test_files() / "adapters" / name;
  pretrained_folder const folder(path);
  adapter_folder const adapter(path / "adapter");
  auto const model = adapter.model(folder.model<M>());
  CHECK(model.config.lora.targets.view() == targets);
  auto const expected = parity::read_all(path / "expected.safetensors");
  for (mesh const& on : meshes) {
    INFO("mesh " << walls::name_of(on));
    check_peft<with_lora<M>, M>(folder, adapter, expected, model, on);
  }
  check_peft<redco::models::sequence_parallel<with_lora<M>>, M>(folder, adapter, expected, {model.config}, {.tp = 2});
}

/// Calls a network in the way of its kind and returns unsharded logits.
template <class Net>
at::Tensor whole_logits(Net const& net, at::Tensor const& ids) {
  if constexpr (redco::models::has_encoder<typename std::remove_cvref_t<decltype(net.base().model())>::net>) {
    return net(ids, encoder_input{ids.flip(1)}).tensor();
  } else {
    return net(ids).tensor();
  }
}

/// Checks that a model with adapters of any values computes the same as the model with the adapters
/// merged into its weights.
template <class M>
void check_merged(M const& plain, lora_options const& options, std::vector<mesh> const& meshes) {
  with_lora<M> const tuned{{plain.config, options}};
  at::Tensor const ids = (at::arange(18, at::kLong) * 5).remainder(7).view({3, 6});
  at::Tensor first;
  for (mesh const& on : meshes) {
    INFO("mesh " << walls::name_of(on));
    worst found;
    redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
      at::NoGradGuard const quiet;
      redco::run::trained_network<with_lora<M>> const state(tuned, plan_of(tuned, on), adamw{}, dtype::f64, 5,
                                                            rank.rank, {});
      redco::run::trained_network<M> const merged(plain, plan_of(plain, on), adamw{}, dtype::f64, 6, rank.rank, {});
      sharded::fill(state.store, rank.rank);
      for (ckpt::state_part const& p : state.merged_parts()) merged.store.find(p.name)->value.copy_(p.local);
      pass const in = walls::pass_of(rank, {0, 3}, 0, false), other = walls::pass_of(rank, {0, 3}, 0, false);
      at::Tensor const y = whole_logits(bound_network<with_lora<M>>(state.net, in), ids);
      found.note("logits", y, whole_logits(bound_network<M>(merged.net, other), ids));
      if (rank.rank == 0 && !first.defined()) first = y;
      if (rank.rank == 0) found.note("logits on one rank", y, first);
      if constexpr (!redco::models::has_encoder<typename M::net>) {
        pass const a = walls::pass_of(rank, {0, 3}, 0, false), b = walls::pass_of(rank, {0, 3}, 0, false);
        found.note("generated ids", generate(bound_network<with_lora<M>>(state.net, a), ids, {.max_new_tokens = 5}),
                   generate(bound_network<M>(merged.net, b), ids, {.max_new_tokens = 5}));
      }
    });
    found.check(1e-12);
  }
}

gpt2 const small_gpt2{{.vocab = 7, .context = 16, .width = 12, .heads = 2, .layers = 2}};
llama const small_llama{{.vocab = 7,
                         .context = 16,
                         .width = 16,
                         .ffn = 12,
                         .heads = 4,
                         .kv_heads = 2,
                         .layers = 2,
                         .query_key_norm = true}};
redco::models::mixtral const small_mixtral{{.vocab = 7,
                                            .context = 16,
                                            .width = 16,
                                            .ffn = 6,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .layers = 2,
                                            .experts = 4,
                                            .experts_per_token = 3}};
std::vector<mesh> const of_experts{{.ep = 2}, {.ep = 4}, {.ep = 2, .tp = 2}};

/// Checks that adapters begin as zero, learn equally on every mesh, and that no other parameter
/// changes.
template <class M>
void check_learning(M const& frozen, lora_options const& options, std::vector<mesh> const& meshes) {
  auto const loss = [](auto const& net, walls::share const& mine, int) {
    at::Tensor const at = at::arange(35, at::kLong);
    at::Tensor const ids = (at * at + 2 * at).remainder(7).view({5, 7}).slice(0, mine.begin, mine.end);
    return cross_entropy(net(ids.slice(1, 0, -1)), ids.slice(1, 1));
  };
  adamw const optimizer{.lr = 3e-2, .weight_decay = 0.1};
  with_lora<M> const tuned{{frozen.config, options}};
  auto const start = walls::trained(tuned, optimizer, mesh{}, {.steps = 0}, loss);
  auto const plain = walls::trained(frozen, optimizer, mesh{}, {.steps = 1}, loss);
  auto const end = walls::check_meshes(tuned, optimizer, {.steps = 8}, loss, meshes);
  CHECK(end.losses.front() == Approx(plain.losses.front()).epsilon(1e-12));
  CHECK(end.losses.back() < end.losses.front());
  for (auto const& [name, value] : end.parameters) {
    INFO(name);
    CHECK(value.equal(start.parameters.at(name)) == redco::adapt::adapted_path(name).empty());
    if (name.ends_with("lora_B.weight")) CHECK(start.parameters.at(name).eq(0).all().template item<bool>());
    if (name.ends_with("lora_A.weight")) {
      double const reach = start.parameters.at(name).abs().max().template item<double>() *
                           std::sqrt(static_cast<double>(value.size(-1)));
      CHECK((reach > 0.5 && reach <= 1));
    }
  }
}

/// Checks that gradients of adapters are equal with and without recomputed blocks, and that the
/// model saves what its layers declare. `count`: number of the adapters' parameters.
template <class M>
void check_recomputed(M const& frozen, lora_options const& options, std::size_t count) {
  with_lora<M> const tuned{{frozen.config, options}};
  at::Tensor const ids = at::arange(18, at::kLong).remainder(7).view({3, 6});
  for (mesh const& on : {mesh{}, mesh{.tp = 2}}) {
    INFO("mesh " << walls::name_of(on));
    worst found;
    redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
      redco::run::trained_network<with_lora<M>> state(tuned, plan_of(tuned, on), adamw{}, dtype::f64, 5, rank.rank, {});
      sharded::fill(state.store, rank.tp_index());
      std::map<std::string, at::Tensor> gradients;
      for (bool const again : {false, true}) {
        pass in = walls::pass_of(rank, {0, 3}, 0);
        in.check_saved = true;
        if (again) in.recompute = true;
        state.store.gradients().zero_();
        cross_entropy(bound_network<with_lora<M>>(state.net, in)(ids.slice(1, 0, -1)), ids.slice(1, 1)).sum.backward();
        for (redco::nn::stored_parameter const& p : state.store.parameters()) {
          if (!p.trainable) continue;
          if (again) found.note(p.name, p.gradient, gradients.at(p.name));
          else gradients[p.name] = p.gradient.clone();
        }
      }
    });
    CHECK(found.size() == count);
    found.check(1e-12);
  }
}

}  // namespace lora_test

TEST_CASE("adapters that PEFT saved give its logits, loss and gradients on every mesh, and are saved as they were") {
  using namespace lora_test;
  check_peft<llama>("llama", "down,gate,o,q,v");
  check_peft<gpt2>("gpt2", "down,qkv,up");
}

TEST_CASE("merged weights equal adapters for all adapted layers and all cuts") {
  using namespace lora_test;
  std::vector<mesh> const narrow{{}, {.tp = 2}};
  check_merged(small_gpt2, {.rank = 3, .alpha = 5, .targets = "qkv,o,up,down"}, narrow);
  check_merged(small_llama, {.rank = 2, .alpha = 3, .targets = "q,v,o,gate,down"}, {{}, {.tp = 2}, {.tp = 4}});
  check_merged(small_llama, {.rank = 2, .alpha = 3, .targets = "k,up"}, {{}, {.tp = 2}, {.tp = 4}});
  check_merged(small_llama, {.rank = 2, .alpha = 3, .targets = "qkv"}, {{}, {.tp = 2}, {.tp = 4}});
  bart const both{{.vocab = 7,
                   .context = 16,
                   .width = 12,
                   .ffn = 16,
                   .decoder_ffn = 20,
                   .heads = 2,
                   .decoder_heads = 2,
                   .layers = 1,
                   .decoder_layers = 2,
                   .padding = 0}};
  check_merged(both, {.rank = 2, .alpha = 3, .targets = "q,k,v,o"}, narrow);
}

TEST_CASE("adapters begin as zero, learn equally on every mesh, and no other parameter changes") {
  using namespace lora_test;
  for (double const dropout : {0.0, 0.2}) {
    INFO("dropout " << dropout);
    check_learning(small_llama, {.rank = 2, .alpha = 4, .dropout = dropout, .targets = "q,v,o,gate,down"},
                   {{.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}, {.tp = 4}, {.cp = 2}, {.cp = 3}, {.cp = 2, .tp = 2}});
  }
}

TEST_CASE("dropout of adapters is keyed by positions in whole sequences, with experts, too") {
  using namespace lora_test;
  check_learning(small_mixtral, {.rank = 2, .alpha = 4, .dropout = 0.2, .targets = "q,v,o"},
                 {{.ep = 2}, {.cp = 2}, {.cp = 3}});
}

TEST_CASE("adapters of recomputed blocks give equal gradients and pass --check-saved") {
  using namespace lora_test;
  check_recomputed(small_llama, {.rank = 2, .dropout = 0.1, .targets = "q,v,o,gate,down"}, 20);
  check_recomputed(small_mixtral, {.rank = 2, .targets = "q,experts.gate,up,down"}, 16);
}

TEST_CASE("adapters of experts that PEFT saved give its results where ep and tp divide the experts") {
  using namespace lora_test;
  check_peft<redco::models::mixtral>("mixtral", "down,experts.gate,q",
                                     {{}, {.ep = 2}, {.tp = 2}, {.ep = 4}, {.ep = 2, .tp = 2}});
}

TEST_CASE("adapters of experts learn equally on meshes that divide the experts, and can be merged") {
  using namespace lora_test;
  std::vector<mesh> meshes = of_experts;
  meshes.insert(meshes.end(), {{.dp = 2}, {.tp = 2}, {.dp = 2, .ep = 2}});
  check_learning(small_mixtral, {.rank = 2, .alpha = 4, .targets = "v,experts.gate,up,down"}, meshes);
  meshes.push_back({});
  check_merged(small_mixtral, {.rank = 2, .alpha = 3, .targets = "q,experts.gate,up,down"}, meshes);
  check_merged(small_mixtral, {.rank = 3, .alpha = 2, .targets = "experts.up"}, of_experts);
}

TEST_CASE("a missing target and adapters that PEFT cannot store are refused by name with exit code 64") {
  using namespace lora_test;
  auto const made = [](auto const& model) {
    redco::run::trained_network const state(model, plan_of(model, {}), adamw{}, dtype::f32, 5, 0, {});
    return redco::adapt::adapter_parts_of(redco::models::stored_names<std::remove_cvref_t<decltype(model)>>::names,
                                          state.adapter_parts());
  };
  auto const with = [](auto const& plain, char const* targets) {
    return with_lora<std::remove_cvref_t<decltype(plain)>>{{plain.config, {.targets = targets}}};
  };
  CHECK(refused([&] { made(with(small_llama, "q,proj")); }).starts_with("64 no weight 'proj' takes an adapter"));
  CHECK(refused([&] { made(with(small_llama, "lm_head")); }).starts_with("64 no weight 'lm_head'"));
  CHECK(refused([&] { made(with(small_llama, "")); }).starts_with("64 a model with adapters adapts nothing"));
  CHECK(
      refused([&] { made(with(small_gpt2, "q,v")); }).starts_with("64 the files of this model keep q, k and v as one"));
  CHECK(
      refused([&] { made(with(small_llama, "qkv")); }).starts_with("64 the files of this model keep q, k and v apart"));
  CHECK(refused([&] { made(with(small_llama, "q,k,down")); }).empty());
  CHECK(refused([&] { made(with(small_mixtral, "router")); }).starts_with("64 no weight 'router'"));
  with_lora<redco::models::mixtral> dropping = with(small_mixtral, "q,up");
  dropping.config.lora.dropout = 0.1;
  CHECK(refused([&] {
          made(dropping);
        }).starts_with("64 the adapters of 'layers.0.mlp.experts.up' are those of experts, which take no dropout"));
}
