#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/generate/generate_options.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco {

namespace detail {

/// The next token of each row of whole logits [B, vocabulary]. A draw is keyed by (seed, step, position, global row),
/// so every mesh and every division into batches draws the same.
at::Tensor next_tokens(at::Tensor const& logits, generate_options const& options, pass const& in,
                       std::int64_t position);

}  // namespace detail

/// Continues prompts [B, T] (int64, all of one length; shorter ones padded in front and hidden by a `key_mask`) token by
/// token and returns [B, T + new tokens]: prompt and continuation. The same ids on every mesh. Errors: exit code 64 when
/// prompt and continuation exceed the model's context.
template <model M, class... Items>
at::Tensor generate(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                    generate_options const& options = {}) {
  at::NoGradGuard const no_grad;
  std::int64_t const length = prompts.size(1), total = length + options.max_new_tokens;
  decoding<M, Items...> decoder(net, length, options.max_new_tokens);
  at::Tensor const ids = at::full({prompts.size(0), total}, options.pad, at::kLong);
  ids.narrow(1, 0, length).copy_(prompts);
  at::Tensor running = at::ones({prompts.size(0)}, at::kBool), input = prompts;
  for (std::int64_t position = length; position < total; ++position) {
    at::Tensor next = detail::next_tokens(decoder.next(input), options, decoder.pass(), position);
    if (options.forced_end >= 0 && position + 1 == total) next.fill_(options.forced_end);
    next = at::where(running, next, options.pad);
    ids.select(1, position).copy_(next);
    for (std::int64_t const stop : options.stop_ids) running = running.logical_and(next != stop);
    if (!options.stop_ids.empty() && !running.any().item<bool>()) return ids.narrow(1, 0, position + 1);
    input = next.unsqueeze(1);
  }
  return ids;
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/generate/impl/generate.hpp>
#endif
