#pragma once

#include <redco/nn/token_parts.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string>

namespace redco::nn::detail {

/// Returns `x` [B, T, ...] with tokens of value `padding` appended up to `length` tokens.
inline at::Tensor padded_to(at::Tensor const& x, std::int64_t length, std::int64_t padding) {
  if (x.size(1) == length) return x;
  std::vector<std::int64_t> sides(static_cast<std::size_t>(2 * (x.dim() - 1)), 0);
  sides.back() = length - x.size(1);
  return at::constant_pad_nd(x, sides, padding);
}

/// Returns the sequences [B, T, ...] in order, without padding, whose parts are `x` [B, ranks, t,
/// ...]: two runs of tokens of each rank.
inline at::Tensor in_order(at::Tensor const& x, shape::sequence_part const& part) {
  at::Tensor const runs = x.unflatten(2, {2, part.of_run()});
  std::int64_t const low = std::min(part.all, part.ranks * part.of_run());
  return at::cat({runs.select(2, 0).flatten(1, 2).narrow(1, 0, low),
                  runs.select(2, 1).flip(1).flatten(1, 2).narrow(1, 0, part.all - low)},
                 1);
}

/// Reverses in_order(). Padding tokens are 0.
inline at::Tensor by_ranks(at::Tensor const& x, shape::sequence_part const& part) {
  at::Tensor const runs = padded_to(x, part.ranks * part.count(), 0).unflatten(1, {2, part.ranks, part.of_run()});
  return at::stack({runs.select(1, 0), runs.select(1, 1).flip(1)}, 2).flatten(2, 3);
}

REDCO_INLINE at::Tensor own_tokens(at::Tensor const& x, pass const& in, std::int64_t padding) {
  if (in.cp == nullptr) return x;
  std::int64_t const each = in.tokens.of_run();
  at::Tensor const padded = padded_to(x, in.tokens.ranks * in.tokens.count(), padding);
  auto const [low, high] = in.tokens.runs();
  return at::cat({padded.narrow(1, low.first, each), padded.narrow(1, high.first, each)}, 1);
}

REDCO_INLINE at::Tensor all_tokens(at::Tensor const& x, comm::group* cp, shape::sequence_part const& tokens) {
  if (cp == nullptr) return x;
  return in_order(comm::detail::gather_parts(x, *cp, 1).unflatten(1, {tokens.ranks, tokens.count()}), tokens);
}

REDCO_INLINE at::Tensor heads_of_all_tokens(at::Tensor const& x, std::vector<std::int64_t> const& sizes,
                                            pass const& in) {
  std::vector<at::Tensor> blocks;
  for (at::Tensor const& one : x.split_with_sizes(sizes, -1))
    blocks.push_back(one.unflatten(-1, {in.tokens.ranks, -1}));
  at::Tensor const by_rank = at::cat(blocks, -1).permute({2, 0, 1, 3}).contiguous();
  at::Tensor const arrived = comm::exchange(by_rank, *in.cp);  // [ranks, B, t, features / ranks]
  return in_order(arrived.transpose(0, 1), in.tokens);
}

REDCO_INLINE at::Tensor all_heads_of_tokens(at::Tensor const& x, pass const& in) {
  at::Tensor const arrived = comm::exchange(by_ranks(x, in.tokens).transpose(0, 1).contiguous(), *in.cp);
  return arrived.permute({1, 2, 0, 3}).flatten(2, 3);
}

REDCO_INLINE at::Tensor begin_tokens(pass& in, at::Tensor const& x, at::Tensor const& positions, bool divides) {
  if (in.cp == nullptr) return x;
  auto const refuse = [&](std::string const& why) {
    throw error(exit_code::usage,
                "the mesh axis cp has " + std::to_string(in.cp->size()) + " ranks, and " + why + "; give cp=1");
  };
  if (!divides) refuse("the model has a layer that needs whole sequences");
  if (x.dim() != 2 || x.scalar_type() != at::kLong)
    refuse("the network is called with " + tensors::describe(x) + " in place of token ids [examples, tokens]");
  in.tokens = {in.cp->rank(), in.cp->size(), x.size(1)};
  in.positions = own_tokens(positions.defined() ? positions : at::arange(x.size(1), x.options()).unsqueeze(0), in);
  return own_tokens(x, in);
}

}  // namespace redco::nn::detail
