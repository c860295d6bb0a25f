#pragma once

#include <redco/nn/value_source.hpp>

#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::nn::detail {

/// An autograd function that returns its input, and gathers values at the begin of its backward.
struct gathering_function : tensors::recorded_function<gathering_function> {
  struct place : torch::CustomClassHolder {
    place(value_source& s, std::int64_t b) : source(s), block(b) {}
    value_source& source;
    std::int64_t block;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* ctx, c10::intrusive_ptr<place> const& at,
                            at::Tensor const& x) {
    ctx->saved_data["at"] = c10::IValue::make_capsule(at);
    return x.view_as(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    auto const at = c10::static_intrusive_pointer_cast<place>(ctx->saved_data["at"].toCapsule());
    at->source.enter_backward(at->block);
    return {at::Tensor(), gradient[0]};
  }
};

REDCO_INLINE at::Tensor with_values_in_backward(at::Tensor const& x, value_source& source, std::int64_t block) {
  return gathering_function::apply(c10::make_intrusive<gathering_function::place>(source, block), x);
}

REDCO_INLINE value_source* begin_values(parameter_store const& store) {
  value_source* const source = store.source();
  if (source != nullptr) source->begin_call();
  if (source == nullptr && !store.has_whole_values())
    throw error(exit_code::usage,
                "--zero 3 and a call of a network outside of its own loss function: the parameters are gathered only "
                "there, in evaluations and in predictions; give --zero 2");
  return source;
}

REDCO_INLINE void check_values(parameter_store const& store) {
  if (!store.has_whole_values())
    throw error(exit_code::usage,
                "--zero 3 and net.parameters(): a rank has the parameters of one block at a time; give --zero 2");
}

}  // namespace redco::nn::detail
