#pragma once

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/cuda/cross_entropy_source.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace redco::kernel::cuda {

/// A chunk of logits as the argument of CUDA kernels. Its memory layout must equal that of
/// `logit_chunk` in cross_entropy_source.hpp.
struct kernel_logit_chunk {
  void* logits;
  std::int64_t rows, columns, stride, valid;
  void const* labels;
  std::int64_t first, ignored;
  void const* weights;
  float kept, spread, total;
  void* top;
  void* stats;
  float soft_cap;
};

/// Options of a cross-entropy call that backward needs in addition to the saved tensors.
struct cross_entropy_state : torch::CustomClassHolder {
  std::int64_t vocabulary = 0, first = 0, chunk_rows = 0;
  double soft_cap = 0;
  label_targets targets;
  comm::group* ranks = nullptr;
  bool wants_hidden = false, wants_weight = false, wants_bias = false;

  bool wants_any() const { return wants_hidden || wants_weight || wants_bias; }
};

struct head_gradients {
  at::Tensor hidden, weight, bias;
};

/// Returns the sum of the targets of each row over all entries, [rows] or a scalar; of no meaning
/// for ignored rows.
inline at::Tensor all_targets(label_targets const& t, at::Tensor const& labels) {
  double const spread = t.spread * t.total;
  if (!t.weights.defined()) return at::full({}, t.kept + spread, labels.options().dtype(at::kFloat));
  return t.own_of(labels) + spread;
}

/// Returns the summed loss and computes the requested gradients of it on a CUDA device. The host
/// never waits for the device.
inline at::Tensor cross_entropy_pass(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                                     cross_entropy_state const& s, head_gradients& made) {
  auto const n = hidden.size(0), columns = head.weight.size(0),
             chunk = std::clamp<std::int64_t>(s.chunk_rows, 1, std::max<std::int64_t>(n, 1));
  auto const f32 = hidden.options().dtype(at::kFloat);
  if (s.wants_hidden) made.hidden = at::empty_like(hidden);
  if (s.wants_weight) made.weight = at::zeros(head.weight.sizes(), f32);
  if (s.wants_bias) made.bias = at::zeros({columns}, f32);
  auto const workspace = at::empty({chunk, columns}, hidden.options());
  auto const statistics = at::empty({3 * chunk}, f32);
  at::Tensor loss = at::zeros({}, hidden.options().dtype(at::kDouble));
  for (std::int64_t r0 = 0; r0 < n; r0 += chunk) {
    auto const rows = std::min(chunk, n - r0);
    auto const h = hidden.narrow(0, r0, rows), here = labels.narrow(0, r0, rows);
    auto logits = workspace.narrow(0, 0, rows);
    if (head.bias.defined()) at::addmm_out(logits, head.bias, h, head.weight.t());
    else at::mm_out(logits, h, head.weight.t());
    auto const top = statistics.narrow(0, 0, rows), stats = statistics.narrow(0, rows, 2 * rows);
    kernel_logit_chunk const c{tensors::written_by_kernel(logits),
                               rows,
                               columns,
                               columns,
                               head.valid(),
                               tensors::read_by_kernel(here),
                               head.first,
                               s.targets.ignored,
                               s.targets.weights.defined() ? tensors::read_by_kernel(s.targets.weights) : nullptr,
                               static_cast<float>(s.targets.kept),
                               static_cast<float>(s.targets.spread),
                               static_cast<float>(s.targets.total),
                               tensors::written_by_kernel(top),
                               tensors::written_by_kernel(stats),
                               static_cast<float>(head.soft_cap)};
    tensors::launch_kernel(cross_entropy_source, "top_of_rows", logits, rows, c);
    s.ranks->all_reduce(top, comm::reduce_op::max);
    tensors::launch_kernel(cross_entropy_source, "sums_of_rows", logits, rows, c);
    s.ranks->all_reduce(stats, comm::reduce_op::sum);
    at::Tensor lse = stats.narrow(0, 0, rows).log();
    if (!s.targets.plain()) lse = lse * all_targets(s.targets, here);
    auto const each = lse - stats.narrow(0, rows, rows);
    loss += each.to(at::kDouble).masked_fill(here.eq(s.targets.ignored), 0).sum();
    if (!s.wants_any()) continue;
    tensors::launch_kernel(cross_entropy_source, "gradient_of_rows", logits, rows, c);
    if (s.wants_hidden) {
      auto part = made.hidden.narrow(0, r0, rows);
      at::mm_out(part, logits, head.weight);
    }
    if (s.wants_weight) made.weight.add_(at::mm(logits.t(), h));
    if (s.wants_bias) made.bias.add_(logits.sum(at::IntArrayRef{0}, false, at::kFloat));
  }
  if (s.wants_weight) made.weight = made.weight.to(head.weight.scalar_type());
  if (s.wants_bias) made.bias = made.bias.to(head.bias.scalar_type());
  return loss.to(at::kFloat);
}

/// The differentiable function of cross-entropy on CUDA. Forward already computes the gradients and
/// saves them. It also saves hidden, weight, bias and labels, for derivatives of higher order.
struct cross_entropy_function : tensors::recorded_function<cross_entropy_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& hidden, at::Tensor const& weight,
                            std::optional<at::Tensor> const& bias, at::Tensor const& labels,
                            c10::intrusive_ptr<cross_entropy_state> const& state) {
    vocabulary_shard const head{weight, bias.value_or(at::Tensor()), state->vocabulary, state->first, state->soft_cap};
    head_gradients made;
    at::Tensor const loss = cross_entropy_pass(hidden, head, labels, *state, made);
    if (state->wants_any()) {
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
    auto const times = [&](at::Tensor const& x) { return x.defined() ? x * grads[0] : x; };
    return {times(saved[4]), times(saved[5]), times(saved[6]), {}, {}};
  }
};

/// Returns the sum of the cross-entropy losses of all rows, computed on a CUDA device in chunks of
/// rows.
inline at::Tensor cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                                comm::group& ranks, label_targets const& targets, std::int64_t chunk_rows) {
  auto const wants = [](at::Tensor const& x) { return at::GradMode::is_enabled() && x.defined() && x.requires_grad(); };
  auto const state = c10::make_intrusive<cross_entropy_state>();
  state->vocabulary = head.vocabulary, state->first = head.first, state->soft_cap = head.soft_cap;
  state->targets = targets, state->chunk_rows = chunk_rows;
  state->ranks = &ranks;
  state->wants_hidden = wants(hidden), state->wants_weight = wants(head.weight), state->wants_bias = wants(head.bias);
  auto const bias = head.bias.defined() ? std::optional(head.bias) : std::nullopt;
  return cross_entropy_function::apply(hidden.contiguous(), head.weight.contiguous(), bias, labels, state);
}

}  // namespace redco::kernel::cuda
