#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <redco/meta/fixed_string.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redco::layers {

/// A tag for the output of a language head, in place of a layout. The output is a handle to hidden
/// states and head, from which logits are computed only on request.
struct as_logits {};

/// Returns the number of rows (positions) whose logits are in memory at once in a language model's
/// cross entropy. The rows have about 2^20 logits in total, but there are at least 1024 rows,
/// because products of fewer rows are slow.
constexpr std::int64_t loss_chunk_rows(std::int64_t vocabulary) {
  std::int64_t const rows = (std::int64_t{1} << 20) / vocabulary;
  return rows > 1024 ? rows : 1024;
}

/// Kinds of bias of a language head: no bias, a trained bias, or a bias fixed at its loaded value.
enum class head_bias : unsigned char { none, trained, fixed };

/// A head of a language model, which maps hidden states [B, T, Width] to logits over the
/// vocabulary. Each rank holds a part of the vocabulary. If `When` is true, the head uses (is tied
/// to) the embedding table with full name `Tied`, such as "wte.weight". Otherwise it owns "weight"
/// [Vocabulary, Width]. `Bias` adds "bias" [Vocabulary]. If `SoftCap` is not 0, the logits z become
/// SoftCap * tanh(z / SoftCap) (Gemma 2).
template <auto Vocabulary, auto Width, meta::fixed_string Tied = "", head_bias Bias = head_bias::none, auto When = true,
          auto SoftCap = 0>
struct language_head {
  using layer_concept = leaf_tag;
  static constexpr bool by_token = true;
  static constexpr bool always_tied = !Tied.view().empty() && std::is_same_v<std::remove_const_t<decltype(When)>, bool>;
  static constexpr bool unnamed = !always_tied || Bias != head_bias::none;
  static constexpr bool enters = true;

  /// Returns true if the head uses the table of an embedding, for a model's config.
  template <class Config>
  static constexpr bool is_tied(Config const& config) {
    return !Tied.view().empty() && extent_of<When>(config);
  }

  template <class X>
  using out = typename detail::takes<detail::needs::features, X, as_logits>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const rows = w.size("rows", extent_of<Vocabulary>(config)),
                       width = w.size("features", extent_of<Width>(config));
    w.expect_features(width);
    fact::parameter_fact weight;
    weight.shape = {rows, width};
    weight.split(shape::axis::tp, 0, rows, shape::remainder::padded);
    weight.start = {fact::initial::kind::normal, fan_in_deviation(width)};
    weight.why = fact::reason::vocabulary;
    fact::detail::enter_facts<X>(w);
    if (is_tied(config)) w.read_parameter(Tied.view());
    else w.parameter("weight", weight);
    if constexpr (Bias != head_bias::none) {
      fact::parameter_fact bias = weight;
      bias.shape = {rows};
      bias.start = {};
      bias.trained = Bias == head_bias::trained;
      bias.decay = false;
      w.parameter("bias", bias);
    }
    w.save("hidden");
    w.multiply(w.activation.shape.count() / width, width, rows);
    w.hand_to_loss();
    state_loss(w, rows, width);
  }

 private:
  /// Declares to the recorder `w` the memory and work of the cross entropy over `rows` positions.
  /// The cross entropy computes gradients already in forward, one chunk of rows at a time.
  static constexpr void state_loss(fact::recorder& w, std::int64_t rows, std::int64_t width) {
    extents const hidden = w.activation.shape;
    std::int64_t const n = hidden.count() / width, most = loss_chunk_rows(rows), chunk = n < most ? n : most;
    using fact::event_kind;
    w.save_batch("labels", {n}, fact::width_kind::index);
    w.loss(fact::event_kind::loss, "hidden_gradient", hidden, -1, 0);
    w.loss(fact::event_kind::loss, "weight_gradient", {rows, width}, 0, rows);
    if constexpr (Bias == head_bias::trained) w.loss(fact::event_kind::loss, "bias_gradient", {rows}, 0, rows);
    w.loss(fact::event_kind::loss_workspace, "logits", {chunk, rows}, 1, rows);
    w.loss(fact::event_kind::loss_workspace, "statistics", {3 * chunk}, -1, 0, fact::width_kind::accumulate);
    w.loss(fact::event_kind::loss_sum, "weight_gradient_sum", {rows, width}, 0, rows, fact::width_kind::accumulate);
    if constexpr (Bias == head_bias::trained)
      w.loss(fact::event_kind::loss_sum, "bias_gradient_sum", {rows}, 0, rows, fact::width_kind::accumulate);
    for (auto const& [length, times] :
         {std::pair{chunk, n / chunk}, std::pair{n % chunk, std::int64_t{n % chunk > 0}}}) {
      w.message(shape::collective::all_reduce, false, {length}, fact::width_kind::accumulate, times);
      w.message(shape::collective::all_reduce, false, {2 * length}, fact::width_kind::accumulate, times);
    }
    // The sum of the loss over the parts of the sequences.
    if (w.sequences.parts > 1)
      w.message(shape::collective::all_reduce, false, {1}, fact::width_kind::accumulate, 1, shape::axis::cp);
  }
};

}  // namespace redco::layers
