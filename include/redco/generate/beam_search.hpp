#pragma once

#include <redco/generate/decoding.hpp>
#include <redco/generate/detail/beams.hpp>
#include <redco/nn/network.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/beam_options.hpp>

namespace redco::generation {

/// The result of beam search: the best hypotheses (token sequences) of each prompt. Rows of one
/// prompt are consecutive, the best first.
struct beam_result {
  /// Token ids, int64 [B * results, T + longest continuation]: prompt, continuation, padding.
  at::Tensor ids;
  at::Tensor scores;  ///< length-normalised scores of the rows, f64 [B * results]
};

}  // namespace redco::generation

namespace redco {

/// Continues prompts [B, T] by beam search, as Hugging Face does. A step considers max(2, 1 +
/// number of stop ids) candidates per beam; only its best `beams` candidates can finish. A prompt
/// is done when none of its running hypotheses can still beat its worst finished one; options.stop
/// selects the length for this comparison. Results are equal on every mesh. Throws `error` with
/// exit code 64 for invalid options or if prompt and continuation exceed the model's context.
/// Throws it with 79 if logits are NaN, +inf or all -inf.
template <model M, class... Items>
generation::beam_result beam_search(bound_network<M, Items...> const& net, at::Tensor const& prompts,
                                    beam_options const& options = {}) {
  at::NoGradGuard const no_grad;
  generation::detail::beams hypotheses(prompts, options, net.pass().first_row(prompts.size(0)));
  generation::decoding<M, Items...> decoder(net, prompts.size(1), options.max_new_tokens, options.beams);
  hypotheses.extend(decoder.next(prompts));
  decoder.select_rows(at::arange(prompts.size(0), at::kLong).repeat_interleave(options.beams));
  while (hypotheses.unfinished()) {
    decoder.select_rows(hypotheses.origins());
    hypotheses.extend(decoder.next(hypotheses.last_tokens()));
  }
  return {hypotheses.ids(), hypotheses.scores()};
}

}  // namespace redco
