#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/layer/norms.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>

namespace redco::nn::detail {

/// Moves the running statistic `running` towards the new value `now`: running += momentum * (now -
/// running). Writes both the master copy, which checkpoints save, and the value that forward reads.
/// Bypasses autograd's version counter, because the statistic shares a buffer with weights that
/// autograd has saved.
inline void follow(stored_parameter const& running, at::Tensor const& now, double momentum) {
  at::NoGradGuard const no_grad;
  running.master.variable_data().lerp_(now, momentum);
  if (!running.value.is_alias_of(running.master)) running.value.variable_data().copy_(running.master);
}

}  // namespace redco::nn::detail

namespace redco {

template <auto Width, auto Epsilon, class X>
struct module<layer_norm<Width, Epsilon>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::layer_norm(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()),
                                     nn::shared_parameter<X>(ctx[bias], ctx.tp()), epsilon));
  }

  parameter weight, bias;
  double epsilon;
};

template <auto Width, auto Epsilon, int Offset, class X>
struct module<rms_norm<Width, Epsilon, Offset>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")), epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::rms_norm(x.local(), nn::shared_parameter<X>(ctx[weight], ctx.tp()), epsilon, Offset));
  }

  parameter weight;
  double epsilon;
};

}  // namespace redco

namespace redco::nn::detail {

/// A linear function of the condition, the encoder's output [B, features]: the part of a layer that
/// depends on it. The layer's input has layout X.
template <shape::layout X>
struct of_condition {
  template <class Config>
  explicit of_condition(builder<Config>& b) : weight(b.parameter("weight")), bias(b.parameter("bias")) {}

  /// Returns the function's value [B, 1, outputs].
  template <class Context>
  at::Tensor operator()(Context const& ctx) const {
    if constexpr (Context::template require<encoder_states>()) {
      at::Tensor const product = kernel::linear(ctx.template get<encoder_states>().local(), ctx[weight], ctx[bias]);
      return shared_parameter<X>(product, ctx.tp()).unsqueeze(1);
    } else {
      return {};
    }
  }

  parameter weight, bias;
};

}  // namespace redco::nn::detail

namespace redco {

template <auto Width, auto Condition, auto Epsilon, class X>
struct module<layers::adaptive_layer_norm<Width, Condition, Epsilon>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : modulation(b), epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::modulated_layer_norm(x.local(), modulation(ctx), epsilon));
  }

  nn::detail::of_condition<X> modulation;
  double epsilon;
};

template <auto Width, auto Condition, class X>
struct module<layers::adaptive_gate<Width, Condition>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) : gate(b) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(kernel::gated(x.local(), gate(ctx)));
  }

  nn::detail::of_condition<X> gate;
};

template <auto Groups, auto Channels, auto Epsilon, class X>
struct module<group_norm<Groups, Channels, Epsilon>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        groups(b.template extent<Groups>()),
        epsilon(static_cast<double>(b.template extent<Epsilon>())) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    return at::group_norm(x.local(), groups, ctx[weight], ctx[bias], epsilon, false);
  }

  parameter weight, bias;
  std::int64_t groups;
  double epsilon;
};

/// A module that computes batch normalisation. Training normalises by the statistics of all
/// micro-batches that the replicas compute concurrently. Evaluation normalises by the running
/// statistics. In training, throws `error` with exit code 64 if the concurrent micro-batches of all
/// replicas have only one element per channel in total, because one element has no variance.
template <auto Channels, auto Epsilon, auto Momentum, class X>
struct module<batch_norm<Channels, Epsilon, Momentum>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : weight(b.parameter("weight")),
        bias(b.parameter("bias")),
        running_mean(b.statistics("running_mean")),
        running_variance(b.statistics("running_variance")),
        epsilon(static_cast<double>(b.template extent<Epsilon>())),
        momentum(static_cast<double>(b.template extent<Momentum>())) {}

  template <class Context>
  tensor<shape::replicated> operator()(tensor<X> const& x, Context const& ctx) const {
    if (!ctx.pass().training)
      return kernel::batch_norm_with(x.local(), ctx[weight], ctx[bias], running_mean.master, running_variance.master,
                                     epsilon);
    auto const& round = ctx.pass().round;
    auto const now = kernel::batch_statistics_of(x.local(), round);
    if (now.count < 2)
      throw error(
          exit_code::usage,
          "batch norm has a single number per channel in this round of micro-batches; choose a global batch that "
          "leaves no single example at the end of an epoch");
    // A block that runs again in backward must not update the running statistics again.
    bool const again = torch::autograd::get_current_graph_task_id() >= 0;
    if (!again) {
      nn::detail::follow(running_mean, now.mean, momentum);
      nn::detail::follow(running_variance, now.variance * (now.count / (now.count - 1)), momentum);
    }
    return kernel::batch_norm(x.local(), ctx[weight], ctx[bias], now, round, epsilon);
  }

  parameter weight, bias;
  nn::stored_parameter running_mean, running_variance;
  double epsilon, momentum;
};

}  // namespace redco
