#pragma once

#include <redco/layer/attention_traits.hpp>
#include <redco/layer/block_set.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/bytes.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A trait (option) of causal attention with the "fixed" pattern of blocks (Child et al. 2019). A
/// query sees its window of `Local` blocks of `Block` tokens (0: no pattern), and `Global` blocks
/// of each earlier window. Heads have `Patterns` sets of global blocks. Blocks of the stack in
/// `Dense`, a `block_set`, see all earlier keys. Tokens are counted from the start of a row,
/// padding included. Compile error: redco[L009] unless `Global` * `Patterns` divides `Local`.
///   using attention = redco::causal_attention<width, heads, sparse_causal<16, 8, 1, 8>>;
template <auto Block, auto Local, auto Global = 1, auto Patterns = 1, auto Dense = block_set{}>
struct sparse_causal {
  static constexpr std::string_view trait_name = "block_pattern";
  static constexpr bool of_causal_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.pattern = {extent_of<Block>(config), extent_of<Local>(config), extent_of<Global>(config),
                      extent_of<Patterns>(config)};
    scores.dense_blocks = extent_of<Dense>(config);
  }
};

/// A trait (option) of causal attention with a sliding band of blocks: a query in block i of
/// `Block` tokens sees the blocks i - Local + 1 to i. Blocks of the stack in `Dense`, a
/// `block_set`, attend to all earlier keys. Unlike `sliding_window`, it sees whole blocks. `Block`
/// 0: no pattern.
template <auto Block, auto Local, auto Dense = block_set{}>
struct sliding_band {
  static constexpr std::string_view trait_name = "block_pattern";
  static constexpr bool of_causal_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.pattern = {.block = extent_of<Block>(config), .local = extent_of<Local>(config), .sliding = true};
    scores.dense_blocks = extent_of<Dense>(config);
  }
};

/// A trait (option) of self-attention that gives each head a sink (Xiao et al. 2024; gpt-oss): a
/// trained score without a value, the parameter "sinks" [heads]. The output of a query is
/// multiplied by sigmoid(log-sum-exp of its scores - sink). No effect if `Enabled` is false.
template <auto Enabled = true>
struct attention_sinks {
  static constexpr std::string_view trait_name = "attention_sinks";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.sinks = extent_of<Enabled>(config);
  }
};

}  // namespace redco::layers

namespace redco::layers::detail {

/// Declares to the recorder `w` the parameter of attention sinks, one per head.
constexpr void sink_facts(fact::recorder& w, std::int64_t heads) {
  fact::parameter_fact sinks;
  sinks.shape = {heads};
  sinks.split(shape::axis::tp, 0, heads);
  sinks.decay = false;
  sinks.why = fact::reason::heads;
  sinks.start = {fact::initial::kind::normal, 0.02};
  w.parameter("sinks", sinks);
}

/// Checks the numbers of a pattern of blocks. Returns false if there is no pattern, or a mistake in
/// it.
constexpr bool pattern_facts(fact::recorder& w, block_pattern const& pattern) {
  if (pattern.block == 0) return false;
  bool good = w.size("tokens of a block", pattern.block) == pattern.block;
  good = w.size("blocks of a window", pattern.local) == pattern.local && good;
  good = w.size("patterns of global blocks", pattern.patterns) == pattern.patterns && good;
  good = w.size("global blocks", pattern.global, 0) == pattern.global && good;
  if (!good || pattern.global == 0) return good;
  std::int64_t const all = shape::saturating_multiply(pattern.global, pattern.patterns);
  w.multiple("blocks of a window", pattern.local, "global blocks of all patterns", all);
  return pattern.local % all == 0;
}

/// Returns the number of scores that `heads` heads compute for `length` tokens: the mean over the
/// blocks of a slice, some of which may be dense, rounded down. In dense blocks, a query has
/// `dense_keys` scores.
constexpr std::int64_t live_scores(attention_scores const& s, fact::block_slice const& slice, std::int64_t heads,
                                   std::int64_t length, std::int64_t dense_keys) {
  std::int64_t const sparse = s.pattern.live_scores(heads, length), dense = heads * length * dense_keys;
  if (slice.count() < 1) return sparse;
  std::int64_t without = 0;
  for (std::int64_t i = slice.first; i < slice.times; i += slice.step) without += s.dense_blocks.has(slice.base + i);
  return sparse + (dense - sparse) / slice.count() * without +
         (dense - sparse) % slice.count() * without / slice.count();
}

}  // namespace redco::layers::detail
