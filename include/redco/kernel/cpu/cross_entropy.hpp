#pragma once

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cpu/head_chunks.hpp>
#include <redco/kernel/cpu/vocabulary_rows.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace redco::kernel::cpu {

struct head_gradients {
  at::Tensor hidden, weight, bias;
};

struct cross_entropy_wants {
  bool hidden = false, weight = false, bias = false;

  bool any() const { return hidden || weight || bias; }
};

/// Options of a cross-entropy call that backward needs in addition to the saved tensors.
struct cross_entropy_state : torch::CustomClassHolder {
  std::int64_t vocabulary = 0, first = 0, chunk_rows = 0;
  double soft_cap = 0;
  label_targets targets;
  comm::group* ranks = nullptr;
  cross_entropy_wants wants;
};

/// Returns the summed loss and computes the requested gradients of it. All tensors must be
/// contiguous.
template <class T>
at::Tensor cross_entropy_pass(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              cross_entropy_state const& s, head_gradients& gradients) {
  using sum = sum_of<T>;
  auto const type = c10::CppTypeToScalarType<sum>::value;
  head_chunks<T> const chunks(hidden, head, labels, s.targets, s.chunk_rows);
  if (s.wants.hidden) gradients.hidden = chunks.empty_gradient();
  if (s.wants.weight) {
    gradients.weight = at::empty(head.weight.sizes(), hidden.options().dtype(type));
    if (chunks.rows() == 0) gradients.weight.zero_();
  }
  if (s.wants.bias) gradients.bias = at::zeros({head.weight.size(0)}, hidden.options().dtype(type));
  double loss = 0;
  chunks.each([&](auto const& chunk) {
    logit_chunk<T> const& c = chunk.rows;
    chunks.count_exponentials(chunk, *s.ranks);
    for (std::int64_t r = 0; r < c.rows; ++r)
      if (c.labels[r] != s.targets.ignored)
        loss += static_cast<double>(c.all_targets(r) * std::log(c.stats[r]) - c.stats[c.rows + r]);
    if (!s.wants.any()) return;
    over_rows<gradient_of_rows>(c);
    if (s.wants.hidden) chunks.write_gradient(gradients.hidden, chunk);
    if (s.wants.weight) outer<T>(gradients.weight, chunk.logits, chunk.hidden, chunk.begin > 0);
    if (s.wants.bias) gradients.bias.add_(chunk.logits.sum(at::IntArrayRef{0}, false, type));
  });
  chunks.send_rest(*s.ranks);
  if (s.wants.weight) gradients.weight = gradients.weight.to(head.weight.scalar_type());
  if (s.wants.bias) gradients.bias = gradients.bias.to(head.bias.scalar_type());
  return at::full({}, loss, hidden.options().dtype(type));
}

/// The differentiable function of cross-entropy on the CPU. Forward already computes the gradients
/// and saves them. It also saves hidden, weight, bias and labels, for derivatives of higher order.
struct cross_entropy_function : tensors::recorded_function<cross_entropy_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& hidden, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias, at::Tensor const& labels,
                            c10::intrusive_ptr<cross_entropy_state> const& state) {
    vocabulary_shard const head{weight, bias.value_or(at::Tensor()), state->vocabulary, state->first, state->soft_cap};
    head_gradients made;
    at::Tensor loss;
    auto const type = hidden.scalar_type();
    if (type == at::kDouble) {
      loss = cross_entropy_pass<double>(hidden, head, labels, *state, made);
    } else if (type == at::kFloat) {
      loss = cross_entropy_pass<float>(hidden, head, labels, *state, made);
    } else {
      loss = cross_entropy_pass<at::BFloat16>(hidden, head, labels, *state, made);
    }
    if (state->wants.any()) {
      ctx->save_for_backward({hidden, weight, head.bias, labels, made.hidden, made.weight, made.bias});
      ctx->saved_data["state"] = c10::IValue::make_capsule(state);
    }
    return loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& s = static_cast<cross_entropy_state const&>(*ctx->saved_data.at("state").toCapsule());
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) {
        return composed::cross_entropy(in[0], {in[1], in[2], s.vocabulary, s.first, s.soft_cap}, saved[3], s.targets,
                                       *s.ranks);
      };
      auto all = composed::gradients_of(f, {saved[0], saved[1], saved[2]}, grads[0]);
      all.resize(5);
      return all;
    }
    auto const factor = grads[0].item<double>();
    auto const times = [&](at::Tensor const& x) { return x.defined() && factor != 1 ? x * factor : x; };
    return {times(saved[4]), times(saved[5]), times(saved[6]), {}, {}};
  }
};

/// Returns the sum of the cross-entropy losses of all rows, computed on the CPU in chunks of rows.
inline at::Tensor cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                                comm::group& ranks, label_targets const& targets, std::int64_t chunk_rows) {
  auto const wants = [](at::Tensor const& x) { return at::GradMode::is_enabled() && x.defined() && x.requires_grad(); };
  auto const state = c10::make_intrusive<cross_entropy_state>();
  state->vocabulary = head.vocabulary, state->first = head.first, state->soft_cap = head.soft_cap;
  state->targets = targets, state->chunk_rows = chunk_rows;
  state->ranks = &ranks;
  state->wants = {wants(hidden), wants(head.weight), wants(head.bias)};
  auto const bias = head.bias.defined() ? std::optional(head.bias) : std::nullopt;
  return cross_entropy_function::apply(hidden.contiguous(), head.weight.contiguous(), bias, labels, state);
}

}  // namespace redco::kernel::cpu
