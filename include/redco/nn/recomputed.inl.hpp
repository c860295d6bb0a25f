#pragma once

#include <redco/nn/recomputed.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <utility>

namespace redco::nn::detail {

/// An autograd function that runs a block without recording its operations, and runs the block
/// again in backward. Its inputs are all tensors on which the block depends: activations, tensors
/// of the context, then parameters. Gradients of any order flow to all of them.
struct recompute_function : tensors::recorded_function<recompute_function> {
  struct holder : torch::CustomClassHolder {
    holder(std::function<at::Tensor(std::span<at::Tensor const>)> r, std::size_t n)
        : run(std::move(r)), activations(n) {}
    std::function<at::Tensor(std::span<at::Tensor const>)> run;
    std::size_t activations;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* ctx, c10::intrusive_ptr<holder> const& held,
                            at::TensorList inputs) {
    ctx->save_for_backward({inputs.begin(), inputs.end()});
    ctx->saved_data["held"] = c10::IValue::make_capsule(held);
    return held->run({inputs.data(), held->activations});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    auto inputs = ctx->get_saved_variables();
    auto const held = c10::static_intrusive_pointer_cast<holder>(ctx->saved_data["held"].toCapsule());
    bool const again = at::GradMode::is_enabled();  // True only under create_graph
    at::AutoGradMode const record(true);
    // Activations are detached: a gradient from one activation to another does not belong to this
    // block. For the next derivative, a view of each keeps the connection.
    for (std::size_t i = 0; i < held->activations; ++i)
      inputs[i] = again ? inputs[i].view_as(inputs[i]) : inputs[i].detach().requires_grad_(inputs[i].requires_grad());
    at::Tensor const output = held->run({inputs.data(), held->activations});
    std::vector<at::Tensor> wanted;
    for (at::Tensor const& input : inputs)
      if (input.requires_grad()) wanted.push_back(input);
    auto const found = torch::autograd::grad({output}, wanted, {gradient[0]}, again, again, true);
    torch::autograd::variable_list result{at::Tensor()};
    std::size_t next = 0;
    for (at::Tensor const& input : inputs) result.push_back(input.requires_grad() ? found[next++] : at::Tensor());
    return result;
  }
};

}  // namespace redco::nn::detail

namespace redco::nn {

REDCO_INLINE at::Tensor recomputed(std::function<at::Tensor(std::span<at::Tensor const>)> run,
                                   std::vector<at::Tensor> inputs, std::span<at::Tensor const> parameters) {
  std::size_t const activations = inputs.size();
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  return detail::recompute_function::apply(
      c10::make_intrusive<detail::recompute_function::holder>(std::move(run), activations), at::TensorList(inputs));
}

}  // namespace redco::nn
