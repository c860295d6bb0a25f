#pragma once

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/cpu/vocabulary_rows.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
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

/// Computes target [n, d] = a^T b, or adds the product to `target` if `add`. `target` is f32, or
/// f64 for f64 operands.
template <class T>
void outer(at::Tensor const& target, at::Tensor const& a, at::Tensor const& b, bool add) {
  using sum = sum_of<T>;
  gemm(a.size(1), b.size(1), a.size(0), sum(1), matrix<T>{a.const_data_ptr<T>(), row_step(a), true},
       matrix<T>{b.const_data_ptr<T>(), row_step(b)}, sum(add ? 1 : 0), target.mutable_data_ptr<sum>(), target.size(1));
}

/// Returns the stride in elements between rows of `columns` logits. Large rows are padded to a
/// multiple of 16 elements, because products are a third slower if many rows begin at odd
/// addresses.
inline std::int64_t logits_stride(std::int64_t columns) { return columns < 4096 ? columns : (columns + 15) / 16 * 16; }

/// Computes the matrix product c = a b. Rows of a and c may be strided.
inline void product(at::Tensor& c, at::Tensor const& a, at::Tensor const& b) {
  if (a.scalar_type() == at::kBFloat16) {
    bf16_product(c, a, b);
  } else {
    at::mm_out(c, a, b);
  }
}

/// Computes logits = h W^T + bias, where W is this rank's shard of the head. Rows of `logits` may
/// be strided.
inline void product(at::Tensor& logits, at::Tensor const& h, vocabulary_shard const& head) {
  if (h.scalar_type() == at::kBFloat16) {
    bf16_product(logits, h, head.weight.t(), head.bias);
  } else if (head.bias.defined()) {
    at::addmm_out(logits, head.bias, h, head.weight.t());
  } else {
    at::mm_out(logits, h, head.weight.t());
  }
}

/// Returns the summed loss and computes the requested gradients of it. All tensors must be
/// contiguous.
template <class T>
at::Tensor cross_entropy_pass(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              cross_entropy_state const& s, head_gradients& gradients) {
  using sum = sum_of<T>;
  auto const type = c10::CppTypeToScalarType<sum>::value;
  auto const n = hidden.size(0), columns = head.weight.size(0),
             chunk = std::clamp<std::int64_t>(s.chunk_rows, 1, std::max<std::int64_t>(n, 1));
  if (s.wants.hidden) gradients.hidden = at::empty_like(hidden);
  if (s.wants.weight) {
    gradients.weight = at::empty(head.weight.sizes(), hidden.options().dtype(type));
    if (n == 0) gradients.weight.zero_();
  }
  if (s.wants.bias) gradients.bias = at::zeros({columns}, hidden.options().dtype(type));
  auto const workspace = at::empty({chunk, logits_stride(columns)}, hidden.options()).narrow(1, 0, columns);
  auto const statistics = at::empty({3 * chunk}, hidden.options().dtype(type));
  double loss = 0;
  for (std::int64_t r0 = 0; r0 < n; r0 += chunk) {
    auto const rows = std::min(chunk, n - r0);
    auto const h = hidden.narrow(0, r0, rows);
    auto logits = workspace.narrow(0, 0, rows);
    product(logits, h, head);
    auto const top = statistics.narrow(0, 0, rows), stats = statistics.narrow(0, rows, 2 * rows);
    logit_chunk<T> const c{.logits = logits.template mutable_data_ptr<T>(),
                           .rows = rows,
                           .columns = columns,
                           .stride = workspace.stride(0),
                           .valid = head.valid(),
                           .labels = labels.const_data_ptr<std::int64_t>() + r0,
                           .first = head.first,
                           .targets = typed_targets<sum>(s.targets),
                           .soft_cap = static_cast<sum>(head.soft_cap),
                           .top = top.template mutable_data_ptr<sum>(),
                           .stats = stats.template mutable_data_ptr<sum>()};
    over_rows<top_of_rows>(c);
    s.ranks->all_reduce(top, comm::reduce_op::max);
    over_rows<sums_of_rows>(c);
    s.ranks->all_reduce(stats, comm::reduce_op::sum);
    for (std::int64_t r = 0; r < rows; ++r) {
      if (c.labels[r] != s.targets.ignored)
        loss += static_cast<double>(c.all_targets(r) * std::log(c.stats[r]) - c.stats[rows + r]);
    }
    if (!s.wants.any()) continue;
    over_rows<gradient_of_rows>(c);
    if (s.wants.hidden) {
      auto part = gradients.hidden.narrow(0, r0, rows);
      product(part, logits, head.weight);
    }
    if (s.wants.weight) outer<T>(gradients.weight, logits, h, r0 > 0);
    if (s.wants.bias) gradients.bias.add_(logits.sum(at::IntArrayRef{0}, false, type));
  }
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
