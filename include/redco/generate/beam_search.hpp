#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/generate/detail/beams.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/beam_options.hpp>

namespace redco {

/// Hypotheses, those of a prompt side by side, the best first.
struct beam_result {
  at::Tensor ids;     ///< int64 [B * results, T + longest]: prompt, continuation, padding
  at::Tensor scores;  ///< f64 [B * results]
};

/// Continues prompts [B, T] by beam search, with the semantics of Hugging Face's: 1 + the number of stop ids, at least two,
/// candidates for each beam; a candidate is finished only if it is among the best `beams` of its step; a prompt is done when
/// its best running hypothesis, at the length that options.stop says, scores no more than its worst finished one. Masks and
/// positions as in generate. The same hypotheses on every mesh. Errors: exit code 64 when prompt and continuation exceed
/// the model's context, or for options without sense; 79 when logits are NaN, +inf or all -inf.
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
