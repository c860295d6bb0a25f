#pragma once

#include <redco/nn/logits.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/log_probabilities.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/language_head.hpp>

#include <cstdint>
#include <optional>

namespace redco::nn {

/// Options of cross_entropy, with the meaning that torch.nn.functional.cross_entropy gives them.
/// cross_entropy throws `error` with exit code 64 if `smoothing` or `weights` are wrong.
///
///   redco::cross_entropy(net(b.input_ids), b.labels, {.smoothing = 0.1});
struct label_options {
  std::int64_t ignored = -100;  ///< label that does not count
  /// Share of each target that is spread evenly over all classes, in [0, 1]
  double smoothing = 0;
  /// Finite weight of each class, at least 0: [classes] in a floating type. If defined, the weights
  /// of the labels are the count of the loss. If undefined, all weights are 1.
  at::Tensor weights = {};
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns the sum of the class weights of the int64 labels [examples, ...] other than the ignored
/// one. Throws `error` with exit code 65 if a label is outside [0, classes), with the label and its
/// example, or if the labels are not int64. Throws the errors of label_options.
double count_labels(at::Tensor const& labels, std::int64_t classes, label_options const& options);
/// Throws the errors of count_labels, in the name of log_probabilities.
void check_labels(at::Tensor const& labels, std::int64_t classes);

}  // namespace redco::nn::detail

namespace redco {

/// Returns the cross entropy of int64 labels [B, T] under a language model's logits, as `mean` (sum
/// and count). Ignores label -100, unless `options` names another. Label t belongs to position t,
/// so shift the labels before the call. Computes the logits chunk by chunk, so that they are never
/// all in memory. Throws `error` with exit code 65 and the example's number if a label is outside
/// the vocabulary, 64 if `options` are wrong.
inline mean cross_entropy(logits const& l, at::Tensor const& labels, nn::label_options const& options = {}) {
  double const count = nn::detail::count_labels(labels, l.vocabulary, options);
  at::Tensor const sum = nn::detail::of_last_stage(l.stages, l.device, [&] {
    at::Tensor const own =
        kernel::cross_entropy(
            l.hidden.local().flatten(0, -2), l.head(), l.own_tokens(labels, options.ignored).flatten(), *l.tp,
            {options.ignored, layers::loss_chunk_rows(l.vocabulary), options.smoothing, options.weights})
            .sum;
    return l.cp == nullptr ? own : comm::reduce(redco::tensor<shape::partial>(own), *l.cp).local();
  });
  return {sum, count};
}

/// Returns the cross entropy of int64 labels [N...] under unsharded logits `whole_logits` [N...,
/// classes], as `mean` (sum and count). Ignores label -100, unless `options` names another. Throws
/// `error` with exit code 65 and the example's number if another label is not in [0, classes), 64
/// if `options` are wrong.
inline mean cross_entropy(at::Tensor const& whole_logits, at::Tensor const& labels,
                          nn::label_options const& options = {}) {
  double const count = nn::detail::count_labels(labels, whole_logits.size(-1), options);
  std::optional<at::Tensor> weights;
  if (options.weights.defined()) weights = options.weights.to(whole_logits.options());
  at::Tensor const sum = at::cross_entropy_loss(whole_logits.flatten(0, -2), labels.flatten().to(whole_logits.device()),
                                                weights, at::Reduction::Sum, options.ignored, options.smoothing);
  return {sum, count};
}

}  // namespace redco

namespace redco::nn {

/// Returns the log-probability of each int64 label [B, T] under a language model's logits: [B, T]
/// in f32, or in f64 for f64 logits, and 0 for label -100. Label t belongs to position t. The sum
/// over a row is the log-probability of a text, as losses on preferences need it. Computes the
/// logits chunk by chunk, and again in backward. Throws `error` with exit code 65 and the example's
/// number if a label is outside the vocabulary.
inline at::Tensor log_probabilities(logits const& l, at::Tensor const& labels) {
  detail::check_labels(labels, l.vocabulary);
  return detail::of_last_stage(l.stages, l.device, [&] {
    at::Tensor const own = l.own_tokens(labels, -100);
    return l.all_tokens(kernel::log_probabilities(l.hidden.local().flatten(0, -2), l.head(), own.flatten(), *l.tp,
                                                  {.chunk_rows = layers::loss_chunk_rows(l.vocabulary)})
                            .view(own.sizes()));
  });
}

/// Returns the log-probability of each of `count` texts in packed rows, [count]. `texts`, int64 [B,
/// T], has the number of the text that each label belongs to (see text::text_numbers). Throws the
/// errors of the function above.
inline at::Tensor log_probabilities(logits const& l, at::Tensor const& labels, at::Tensor const& texts,
                                    std::int64_t count) {
  at::Tensor const each = log_probabilities(l, labels).flatten();
  return at::zeros({count}, each.options()).index_add(0, texts.flatten().to(each.device()), each);
}

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/cross_entropy.inl.hpp>
#endif
