#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>

#include <redco/meta/fixed_string.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers::detail {

template <class X>
struct ids_out {
  using type = shape::partial;
  static_assert(std::is_same_v<X, shape::replicated>,
                "redco[S008]: token ids are replicated; an embedding comes first");
};

}  // namespace redco::layers::detail

namespace redco {

/// A layer that looks up rows of a [Vocabulary, Width] table by int64 ids [B, T] and returns [B, T,
/// Width]. Each rank holds a part of the rows, so the result is a pending sum; the last part may be
/// padded. `Tied` is the full name of the table of another embedding to use; empty: the layer owns
/// its table "weight". The row of token id `Padding` gets no gradient.
template <auto Vocabulary, auto Width, meta::fixed_string Tied = "", auto Padding = -1>
struct embedding {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = Tied.view().empty();

  template <class X>
  using out = typename layers::detail::ids_out<X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const rows = w.size("rows", layers::of<Vocabulary>(config)),
                       width = w.size("features", layers::of<Width>(config));
    if (!w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {rows, width};
    weight.split(shape::axis::tp, 0, rows, shape::remainder::padded);
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::vocabulary;
    if constexpr (Tied.view().empty()) w.parameter("weight", weight);

    extents const ids = w.activation.shape;
    w.save_batch_or_local("local_ids", ids, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    w.backward({});
    w.weight_gradient(weight.shape, 0, rows);
  }
};

}  // namespace redco
