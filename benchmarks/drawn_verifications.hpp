#pragma once

// Correct training runs, drawn at random over model families, dtypes, optimizers, meshes, levels of
// ZeRO, micro-batches and seeds, which --verify must not call mistakes.

#include "short_sequences.hpp"

#include <redco/run/trainer.hpp>
#include <redco/run/verify.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/log/text.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace drawn_verifications {

using namespace redco;
using short_sequences::language;

/// A small decoder whose feed-forward layers are experts.
struct expert_decoder {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, redco::layers::rotary<>>;
  using experts =
      redco::layers::moe<redco::layers::experts<4, 12, 8>, redco::layers::top<2>, redco::layers::dispatch::cdac,
                         redco::layers::routing::auxiliary_loss<redco::layers::real{0.02}>>;
  using block = sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>,
                           residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", experts>>>>;
  using net = sequential<named<"wte", embedding<11, width>>, named<"h", repeat<2, block>>,
                         named<"norm", rms_norm<width>>, named<"head", redco::layers::language_head<11, width>>>;
  no_config config;
};

/// Numbers drawn from a seed.
class draws {
 public:
  explicit draws(std::uint64_t seed) : seed_(seed) {}

  /// Returns a number from 0 to `count` - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(random::seed_of(seed_, std::to_string(++drawn_)) %
                                     static_cast<std::uint64_t>(count));
  }
  template <class T, std::size_t Count>
  T one_of(std::array<T, Count> const& all) {
    return all[static_cast<std::size_t>(below(std::ssize(all)))];
  }

 private:
  std::uint64_t seed_;
  int drawn_ = 0;
};

/// A drawn run: its description, and what --verify says about it.
struct verified_run {
  std::string text;
  run::verify_result result;
};

template <class Model>
run::verify_result verified(Model const& model, deployer_options const& where, training_flags const& flags) {
  auto const pipeline = language();
  deployer deployer(where);
  trainer one(deployer, model, pipeline, flags);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(flags.global_batch + 3));
  std::iota(numbers.begin(), numbers.end(), flags.global_batch * 5);
  return run::verify(one, numbers);
}

/// Verifies the run with the number `number`. `folder`: an empty folder for the workdir.
inline verified_run verified(std::uint64_t number, std::filesystem::path const& folder) {
  draws draw(number);
  deployer_options where;
  where.workdir = folder;
  where.resume = "none";
  where.threads = 1;
  where.quiet = true;
  where.seed = number;
  where.dtype = draw.one_of(std::array{dtype::bf16, dtype::bf16, dtype::f32, dtype::f64});
  std::int64_t const family = draw.below(3);
  training_flags flags;
  flags.rule = static_cast<optimizer::rule_kind>(draw.below(7));
  flags.lr = draw.one_of(std::array{1e-3, 1e-2, 5e-2});
  flags.clip_norm = draw.one_of(std::array{0.0, 0.1, 1.0});
  flags.weight_decay = draw.one_of(std::array{0.0, 0.1});
  flags.micro_batch = draw.below(3);
  flags.global_batch = draw.one_of(std::array<std::int64_t, 3>{5, 8, 16});
  std::vector<mesh> meshes{{.dp = 2}, {.dp = 3}, {.tp = 2}, {.dp = 2, .tp = 2}};
  if (family == 2) {
    meshes.push_back({.ep = 2});
    meshes.push_back({.dp = 2, .ep = 2});
  } else {
    meshes.push_back({.pp = 2});
    meshes.push_back({.cp = 2});
    meshes.push_back({.dp = 2, .cp = 2});
  }
  where.mesh = meshes[static_cast<std::size_t>(draw.below(std::ssize(meshes)))];
  bool const is_whole = flags.rule == optimizer::rule_kind::muon || flags.rule == optimizer::rule_kind::adafactor;
  if (where.mesh->dp > 1 && !is_whole) where.zero = static_cast<int>(draw.below(4));
  std::array const names{"gpt2", "llama", "experts"};
  verified_run found;
  found.text = "draw " + std::to_string(number) + ": " + names[static_cast<std::size_t>(family)] + ", " +
               options::to_text(*where.mesh) + ", zero " + std::to_string(where.zero) + ", " +
               std::string(name_of(*where.dtype)) + ", " + std::string(name_of(flags.rule)) + ", lr " +
               log::short_text(flags.lr, 3) + ", clip " + log::short_text(flags.clip_norm, 3) + ", decay " +
               log::short_text(flags.weight_decay, 3) + ", micro " + std::to_string(flags.micro_batch) + " of " +
               std::to_string(flags.global_batch);
  // The two families with dropout or shared key-value heads.
  gpt2 const tied{{.vocab = 11, .context = 16, .width = 12, .heads = 6, .layers = 2, .dropout = 0.1}};
  llama const shared{{.vocab = 11, .context = 16, .width = 12, .ffn = 16, .heads = 2, .kv_heads = 1, .layers = 2}};
  found.result = family == 0   ? verified(tied, where, flags)
                 : family == 1 ? verified(shared, where, flags)
                               : verified(expert_decoder{}, where, flags);
  return found;
}

}  // namespace drawn_verifications
