#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <functional>

namespace redco::kernel {

/// An observer of the operations that read parameters on this thread. Computes the norms of the
/// gradients of single examples without these gradients, which would need the memory of one model
/// for each example (ghost norms, Li et al. 2021). The first dimension of each activation counts
/// the examples. The functions linear, lookup, layer_norm, rms_norm and per_example report their
/// parameters. All other operations report none.
class parameter_uses {
 public:
  /// A function of the gradient of an operation's result. Returns, for each example, the square of
  /// the norm of the example's gradient of the parameter, [examples].
  using squares = std::function<at::Tensor(at::Tensor const& gradient)>;

  /// A scope during which `observer` sees the operations of this thread. Throws `error` with exit
  /// code 70 if the thread has an observer already.
  class scope {
   public:
    explicit scope(parameter_uses& observer);
    ~scope();
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;
  };

  /// Returns the observer of this thread; null if there is none.
  static parameter_uses* current();

  /// Called after an operation has read `parameter` and returned `result`, which autograd records.
  virtual void used(at::Tensor const& parameter, at::Tensor const& result, squares of) = 0;

 protected:
  parameter_uses() = default;
  ~parameter_uses() = default;
};

/// Reports that linear has computed `y` = x W^T + b. Returns `y`.
at::Tensor reported_linear(at::Tensor const& y, at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias);

/// Reports that `y` are the rows `rows` [B, T] of a table. Negative rows and `left_out` have no
/// gradient. Returns `y`.
at::Tensor reported_lookup(at::Tensor const& y, at::Tensor const& table, at::Tensor const& rows, std::int64_t left_out);

/// Reports that a norm has computed `y`, which is x normalised, times weight, plus bias.
/// `normalised` returns the normalised x. Returns `y`.
at::Tensor reported_norm(at::Tensor const& y, at::Tensor const& weight, at::Tensor const& bias,
                         std::function<at::Tensor()> normalised);

/// Returns `part`, a parameter or a view of some rows of it, to be added to an activation of `dims`
/// dimensions, the first of which counts `examples`. If the thread has an observer, the result has
/// this first dimension too, so that its gradient is that of each example.
at::Tensor per_example(at::Tensor const& parameter, at::Tensor const& part, std::int64_t examples, std::int64_t dims);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/parameter_uses.inl.hpp>
#endif
