#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/generate/detail/check_options.hpp>
#include <redco/generate/detail/scores.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cstdint>
#include <span>

namespace redco::generation::detail {

/// Returns the next token of each row, int64 [B]. `from`: logits [B, 1] of the new token with index
/// `step`; `seen`: all tokens before it [B, T]. Random numbers depend only on (seed, update, step,
/// global row), so the mesh and the division into batches do not change the tokens.
at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options, pass const& in,
                       std::int64_t step);

/// Returns the next token of each row, int64 [B], drawn from the unsharded logits `whole` [B,
/// vocabulary].
at::Tensor drawn_tokens(at::Tensor const& whole, at::Tensor const& seen, generate_options const& options,
                        pass const& in, std::int64_t step);

/// Calls the option `on_tokens` with the new ids [B], on the first rank of a replica. Returns its
/// result on all ranks of the replica: false ends decoding. Returns true if the option is not set.
bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in);

inline at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options,
                              pass const& in, std::int64_t step) {
  if (options.temperature > 0 || has_rules(options, step))
    return drawn_tokens(from.tensor().squeeze(1), seen, options, in, step);
  kernel::largest_logits const best = from.top(1);
  at::Tensor const largest = tensors::to_cpu(best.logits);
  for (std::int64_t row = 0; row < largest.size(0); ++row)
    check_finite(largest.const_data_ptr<double>()[row], in.first_row(largest.size(0)) + row, step, seen.size(1));
  return tensors::to_cpu(best.entries.squeeze(1));
}

inline bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in) {
  if (!options.on_tokens) return true;
  comm::group& replica = in.rank != nullptr ? in.rank->group(shape::replica_axes) : *in.tp;
  at::Tensor const answer = at::ones({1}, at::kByte);
  if (replica.rank() == 0) {
    std::span const all(ids.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(ids.size(0)));
    answer.fill_(options.on_tokens(all) ? 1 : 0);
  }
  replica.broadcast(answer, 0);
  return answer.item<std::uint8_t>() != 0;
}

}  // namespace redco::generation::detail

namespace redco {

/// Continues prompts token by token: int64 [B, T] to [B, T + new tokens], including the prompt. All
/// prompts have one length: left-pad shorter ones and mask the padding by a `key_mask`. The ids are
/// equal on every mesh. Throws `error` with exit code 64 for an option out of range, or if prompt
/// and continuation exceed the model's context. Throws it with 79, prompt and position if logits
/// are NaN, +inf or all -inf.
template <model M, class... Items>
at::Tensor generate(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                    generate_options const& options = {}) {
  at::NoGradGuard const no_grad;
  generation::detail::check_options(options);
  std::int64_t const length = prompts.size(1), total = length + options.max_new_tokens;
  generation::decoding<M, Items...> decoder(net, length, options.max_new_tokens);
  at::Tensor const ids = at::full({prompts.size(0), total}, options.pad, at::kLong);
  ids.narrow(1, 0, length).copy_(prompts);
  at::Tensor running = at::ones({prompts.size(0)}, at::kBool), input = prompts;
  for (std::int64_t position = length; position < total; ++position) {
    at::Tensor const next = generation::detail::next_tokens(decoder.next(input), ids.narrow(1, 0, position), options,
                                                            decoder.pass(), position - length);
    if (auto const forced = generation::detail::forced_id(options, length, position - length)) next.fill_(*forced);
    at::Tensor const shown = at::where(running, next, options.pad);
    ids.select(1, position).copy_(shown);
    for (std::int64_t const stop : options.stop_ids) running = running.logical_and(next != stop);
    bool const wanted = generation::detail::goes_on(shown, options, decoder.pass());
    if (!wanted || (!options.stop_ids.empty() && !running.any().item<bool>())) return ids.narrow(1, 0, position + 1);
    input = next.unsqueeze(1);
  }
  return ids;
}

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/generate.inl.hpp>
#endif
