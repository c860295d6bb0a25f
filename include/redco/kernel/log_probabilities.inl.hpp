#pragma once

#include <redco/kernel/log_probabilities.hpp>

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/log_probabilities.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/detail/vocabulary_checks.hpp>
#include <redco/kernel/product.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace redco::kernel::detail {

/// Options of a call of log_probabilities that backward needs in addition to the saved tensors.
struct log_probability_state : torch::CustomClassHolder {
  std::int64_t vocabulary = 0, first = 0;
  double soft_cap = 0;
  cross_entropy_options options;
  comm::group* ranks = nullptr;
};

/// The logits of some rows on this rank after the soft cap: [rows, columns] in f32 or f64,
/// -infinity in the padding. `slope` holds the derivatives of the soft cap, if there is one.
/// `column` [rows, 1] is the column of each row's label; `here` [rows, 1] is true if this rank has
/// that column.
struct label_logits {
  at::Tensor logits, slope, column, here;

  label_logits(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels) {
    std::int64_t const columns = head.weight.size(0), valid = head.valid();
    at::Tensor const raw = at::empty({hidden.size(0), columns}, hidden.options());
    product_into(raw, hidden, head.weight.t(), head.bias);
    logits = head.capped(composed::widened(raw));
    if (head.soft_cap > 0) slope = 1 - (logits / head.soft_cap).square();
    logits.narrow(1, valid, columns - valid).fill_(-std::numeric_limits<double>::infinity());
    at::Tensor const own = labels.unsqueeze(1) - head.first;
    here = own.ge(0).logical_and(own.lt(valid));
    column = own.clamp(0, columns - 1);
  }
};

/// Calls f(begin, rows) for each chunk of the rows.
template <class F>
void each_chunk(std::int64_t rows, std::int64_t most, F const& f) {
  std::int64_t const chunk = std::max<std::int64_t>(most, 1);
  for (std::int64_t begin = 0; begin < rows; begin += chunk) f(begin, std::min(chunk, rows - begin));
}

/// Computes log_probabilities with ATen's operators, chunk by chunk.
inline void chunked_log_probabilities(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                                      log_probability_state const& s, at::Tensor const& result,
                                      at::Tensor const& normaliser) {
  each_chunk(hidden.size(0), s.options.chunk_rows, [&](std::int64_t begin, std::int64_t rows) {
    label_logits const c(hidden.narrow(0, begin, rows), head, labels.narrow(0, begin, rows));
    at::Tensor const top = s.ranks->all_reduced(c.logits.amax(1), comm::reduce_op::max);
    at::Tensor const of_label = c.logits.gather(1, c.column).masked_fill(c.here.logical_not(), 0).squeeze(1);
    at::Tensor const exponentials = c.logits.sub_(top.unsqueeze(1)).exp_().sum(1);
    at::Tensor const sums = s.ranks->all_reduced(at::stack({exponentials, of_label}), comm::reduce_op::sum);
    at::Tensor const log_sum = top + sums[0].log();
    normaliser.narrow(0, begin, rows).copy_(log_sum);
    result.narrow(0, begin, rows).copy_(sums[1] - log_sum);
  });
  result.masked_fill_(labels.eq(s.options.ignored), 0);
}

/// Computes the backward of log_probabilities with ATen's operators, given the gradient `g` [N] of
/// the result. Returns the gradient of `hidden`, undefined if it needs none. Adds the gradients of
/// weight and bias, which have the dtype of sums, unless these are undefined.
inline at::Tensor chunked_log_probabilities_backward(at::Tensor const& hidden, vocabulary_shard const& head,
                                                     at::Tensor const& labels, log_probability_state const& s,
                                                     at::Tensor const& normaliser, at::Tensor const& g,
                                                     at::Tensor const& of_weight, at::Tensor const& of_bias) {
  at::Tensor const of_hidden = hidden.requires_grad() ? at::empty_like(hidden) : at::Tensor();
  at::Tensor const factor = g.masked_fill(labels.eq(s.options.ignored), 0).unsqueeze(1);
  each_chunk(hidden.size(0), s.options.chunk_rows, [&](std::int64_t begin, std::int64_t rows) {
    at::Tensor const h = hidden.narrow(0, begin, rows);
    label_logits const c(h, head, labels.narrow(0, begin, rows));
    at::Tensor const d = c.logits.sub_(normaliser.narrow(0, begin, rows).unsqueeze(1)).exp_().neg_();
    d.scatter_add_(1, c.column, c.here.to(d.scalar_type())).mul_(factor.narrow(0, begin, rows));
    if (c.slope.defined()) d.mul_(c.slope);
    if (of_bias.defined()) of_bias.add_(d.sum(0));
    at::Tensor const narrow = d.to(hidden.scalar_type());
    if (of_hidden.defined()) product_into(of_hidden.narrow(0, begin, rows), narrow, head.weight);
    if (of_weight.defined()) of_weight.add_(product(narrow.t(), h));
  });
  return of_hidden;
}

/// The differentiable function of log_probabilities. Forward saves the logarithm of each row's sum
/// of exponentials, so that backward sends no message.
struct log_probability_function : tensors::recorded_function<log_probability_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& hidden, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias, at::Tensor const& labels,
                            c10::intrusive_ptr<log_probability_state> const& state) {
    vocabulary_shard const head{weight, bias.value_or(at::Tensor()), state->vocabulary, state->first, state->soft_cap};
    auto const type = hidden.options().dtype(composed::sum_type(hidden.scalar_type()));
    at::Tensor const result = at::zeros({hidden.size(0)}, type), normaliser = at::zeros({hidden.size(0)}, type);
    dispatch(
        hidden,
        [&] {
          cpu::log_probabilities(hidden, head, labels, {state->options.ignored}, state->options.chunk_rows,
                                 *state->ranks, result, normaliser);
        },
        [&] { chunked_log_probabilities(hidden, head, labels, *state, result, normaliser); });
    ctx->save_for_backward({hidden, weight, head.bias, labels, normaliser});
    ctx->saved_data["state"] = c10::IValue::make_capsule(state);
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& s = static_cast<log_probability_state const&>(*ctx->saved_data.at("state").toCapsule());
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) {
        return -composed::row_losses(in[0], {in[1], in[2], s.vocabulary, s.first, s.soft_cap}, saved[3],
                                     label_targets{s.options.ignored}, *s.ranks);
      };
      auto all = composed::gradients_of(f, {saved[0], saved[1], saved[2]}, grads[0]);
      all.resize(5);
      return all;
    }
    at::Tensor const &hidden = saved[0], &labels = saved[3];
    vocabulary_shard const head{saved[1], saved[2], s.vocabulary, s.first, s.soft_cap};
    auto const sum_of = [&](at::Tensor const& x) {
      return x.defined() && x.requires_grad() ? at::zeros(x.sizes(), grads[0].options()) : at::Tensor();
    };
    at::Tensor const of_weight = sum_of(head.weight), of_bias = sum_of(head.bias);
    at::Tensor const of_hidden = dispatch(
        hidden,
        [&] {
          return cpu::log_probabilities_backward(hidden, head, labels, {s.options.ignored}, s.options.chunk_rows,
                                                 saved[4], grads[0].contiguous(), of_weight, of_bias);
        },
        [&] {
          return chunked_log_probabilities_backward(hidden, head, labels, s, saved[4], grads[0], of_weight, of_bias);
        });
    auto const like = [](at::Tensor const& x, at::Tensor const& of) {
      return x.defined() ? x.to(of.scalar_type()) : x;
    };
    return {of_hidden, like(of_weight, head.weight), like(of_bias, head.bias), {}, {}};
  }
};

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor log_probabilities(at::Tensor const& hidden, vocabulary_shard const& head,
                                          at::Tensor const& labels, comm::group& ranks,
                                          cross_entropy_options const& options) {
  TORCH_INTERNAL_ASSERT(options.smoothing == 0 && !options.weights.defined());
  detail::check_head("log_probabilities", hidden, head, labels);
  tensors::check_on_cpu(labels, [vocabulary = head.vocabulary, ignored = options.ignored](at::Tensor const& all) {
    detail::count_labels("log_probabilities", all, vocabulary, ignored);
  });
  auto const state = c10::make_intrusive<detail::log_probability_state>();
  state->vocabulary = head.vocabulary, state->first = head.first, state->soft_cap = head.soft_cap;
  state->options = options, state->ranks = &ranks;
  auto const bias = head.bias.defined() ? std::optional(head.bias) : std::nullopt;
  return detail::log_probability_function::apply(hidden.contiguous(), head.weight.contiguous(), bias,
                                                 labels.to(hidden.device()).contiguous(), state);
}

}  // namespace redco::kernel
