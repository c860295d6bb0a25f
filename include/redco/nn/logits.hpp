#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/nn/token_parts.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <cstdint>

namespace redco {

/// The result of a language model: hidden states and output head, from which logits can be
/// computed. cross_entropy and sampling compute the logits in chunks. `tensor()` computes all
/// logits at once.
struct logits {
  /// Hidden states [B, T, width]; undefined on pipeline stages before the last.
  redco::tensor<shape::entered> hidden;
  /// Weight of the output head, [rows of this shard, width]; padded on the last shard.
  at::Tensor weight;
  /// Bias of the output head, [rows of this shard]; undefined if the head has no bias.
  at::Tensor bias;
  std::int64_t vocabulary = 0;
  /// Token id of the first row of `weight` on this shard
  std::int64_t first_row = 0;
  comm::group* tp = nullptr;
  /// Bound of the logits z, which become soft_cap * tanh(z / soft_cap). 0: no bound.
  double soft_cap = 0;
  /// Group of the ranks that hold parts of the same sequences (mesh axis cp), with this rank's
  /// tokens; null if each rank holds whole sequences. `hidden` then has this rank's tokens only.
  comm::group* cp = nullptr;
  shape::sequence_part tokens = {};
  /// Group of the pipeline stages, which all get what the last one computes; null if this rank
  /// computes it itself.
  comm::group* stages = nullptr;
  at::Device device = tensors::cpu_device();  ///< Device of the network
  /// Dtype of the hidden states, and their numbers of rows B and positions T, on every stage if
  /// `stages` is set
  at::ScalarType dtype = at::kFloat;
  std::array<std::int64_t, 2> positions = {};

  /// Returns this rank's part of the output head.
  kernel::vocabulary_shard head() const { return {weight, bias, vocabulary, first_row, soft_cap}; }

  /// Returns the unsharded logits [B, T, vocabulary] on every rank. Unlike the other functions,
  /// holds all logits in memory. Pipeline stages exchange one message.
  at::Tensor tensor() const {
    auto const all = [&] {
      redco::tensor<shape::split<-1>> const part(head().capped(kernel::linear(hidden.local(), weight, bias)));
      return all_tokens(comm::gather<-1>(part, *tp).local().narrow(-1, 0, vocabulary));
    };
    if (stages == nullptr) return all();
    return nn::detail::of_last_stage(*stages, {positions[0], positions[1], vocabulary},
                                     at::TensorOptions(device).dtype(dtype), all);
  }

  /// Returns the k largest logits of each of the B * T positions, without holding all logits in
  /// memory. Pipeline stages exchange one message.
  kernel::largest_logits top(std::int64_t k) const {
    auto const best = [&] { return kernel::top_entries(all_tokens(hidden.local()).flatten(0, -2), head(), k, *tp); };
    if (stages == nullptr) return best();
    // A row has k logits, k vocabulary entries (exact in f64) and the log of the sum.
    at::Tensor const rows = nn::detail::of_last_stage(
        *stages, {positions[0] * positions[1], 2 * k + 1}, at::TensorOptions(device).dtype(at::kDouble), [&] {
          kernel::largest_logits const own = best();
          return at::cat({own.logits, own.entries.to(at::kDouble), own.log_sum.unsqueeze(1)}, 1);
        });
    return {rows.narrow(1, 0, k).contiguous(), rows.narrow(1, k, k).to(at::kLong).contiguous(),
            rows.select(1, 2 * k).contiguous()};
  }

  /// Returns the logits of the last position only, still uncomputed: hidden states [B, 1, width]
  /// with the same head.
  logits last() const {
    logits one = *this;
    one.positions[1] = 1;
    one.cp = nullptr;
    if (hidden.local().defined()) {
      at::Tensor const all = all_tokens(hidden.local());
      one.hidden = redco::tensor<shape::entered>(all.narrow(1, all.size(1) - 1, 1));
    }
    return one;
  }

  /// Returns this rank's tokens of `all` [B, T], with `padding` for padding tokens.
  at::Tensor own_tokens(at::Tensor const& all, std::int64_t padding) const {
    return nn::detail::own_tokens(all, {.cp = cp, .tokens = tokens}, padding);
  }
  /// Returns the values [B, T, ...] of all ranks for this rank's `x` [B, t, ...].
  at::Tensor all_tokens(at::Tensor const& x) const { return nn::detail::all_tokens(x, cp, tokens); }
};

}  // namespace redco

namespace redco::nn::detail {

/// Returns the logits `y`, which only the last pipeline stage can compute, with the group of all
/// stages to share them. `stages` is null if only the last stage returns to its user. `input` are
/// the token ids [B, T] of the call.
inline logits given_to_all(logits y, comm::group* stages, network_base const& net, at::Tensor const& input) {
  y.stages = stages;
  y.device = net.store().device();
  y.dtype = tensors::scalar_type_of(net.store().compute());
  y.positions = {input.size(0), input.size(1)};
  y.vocabulary = net.vocabulary();
  return y;
}

}  // namespace redco::nn::detail
