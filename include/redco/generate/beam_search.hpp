#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/generate/detail/beams.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/beam_options.hpp>

namespace redco {

/// The best hypotheses of each prompt after beam search. Rows of one prompt are consecutive, the
/// best first.
struct beam_result {
  /// Ids, int64 [B * results, T + longest continuation]: prompt, continuation, padding.
  at::Tensor ids;
  at::Tensor scores;  ///< length-normalised scores, f64 [B * results]
};

/// Continues prompts [B, T] by beam search with Hugging Face's semantics. A step considers max(2, 1
/// + number of stop ids) candidates per beam; only its best `beams` candidates can finish. A prompt
/// ends when its best running hypothesis scores no better than its worst finished one, at the
/// length that options.stop chooses. Results are equal on every mesh. Throws `error` with exit code
/// 64 for options out of range or if prompt and continuation exceed the model's context; 79 if
/// logits are NaN, +inf or all -inf.
template <model M, class... Items>
beam_result beam_search(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                        beam_options const& options = {}) {
  at::NoGradGuard const no_grad;
  detail::beams hypotheses(prompts, options, net.pass().first_row(prompts.size(0)));
  decoding<M, Items...> decoder(net, prompts.size(1), options.max_new_tokens, options.beams);
  hypotheses.extend(decoder.next(prompts));
  decoder.select_rows(at::arange(prompts.size(0), at::kLong).repeat_interleave(options.beams));
  while (hypotheses.unfinished()) {
    decoder.select_rows(hypotheses.origins());
    hypotheses.extend(decoder.next(hypotheses.last_tokens()));
  }
  return {hypotheses.ids(), hypotheses.scores()};
}

}  // namespace redco
