#pragma once

#include <redco/generate/generate_options.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco {

namespace detail {

/// The next token of each row of whole logits [B, vocabulary]. A draw is keyed by (seed, step, position, global row),
/// so every mesh and every division into batches draws the same.
at::Tensor next_tokens(at::Tensor const& logits, generate_options const& options, pass const& in,
                       std::int64_t position);

}  // namespace detail

/// Continues prompts [B, T] (int64, all of one length) token by token and returns [B, T + new tokens]: prompt and
/// continuation. Keys and values of earlier positions are kept, so a token costs one position. The same ids on every
/// mesh. Errors: exit code 64 when prompt and continuation exceed the model's context.
template <model M, class... Items>
at::Tensor generate(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                    generate_options const& options = {}) {
  at::NoGradGuard const no_grad;
  std::int64_t const length = prompts.size(1), total = length + options.max_new_tokens;
  if constexpr (requires { net.base().model().config.context; }) {
    if (total > net.base().model().config.context)
      throw error(exit_code::usage, "a prompt of " + std::to_string(length) + " and " +
                                        std::to_string(options.max_new_tokens) + " new tokens exceed the context of " +
                                        std::to_string(net.base().model().config.context) + ": ask for fewer");
  }
  key_value_cache cache(net.base().cache_slots(), total);
  pass decoding = net.pass();
  decoding.training = false;
  decoding.cache = &cache;
  auto const decoder = net.in(decoding);
  at::Tensor const ids = at::full({prompts.size(0), total}, options.pad, at::kLong);
  ids.narrow(1, 0, length).copy_(prompts);
  at::Tensor running = at::ones({prompts.size(0)}, at::kBool), input = prompts;
  for (std::int64_t position = length; position < total; ++position) {
    at::Tensor const logits = decoder(input).last().tensor().squeeze(1);
    cache.advance(input.size(1));
    at::Tensor const next = at::where(running, detail::next_tokens(logits, options, decoding, position), options.pad);
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
