#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace redco {

namespace detail {

/// Runs a block without recording it, and again in backward. Its parameters are inputs, so that their gradients flow to
/// whoever asks, at any order.
struct recompute_function : torch::autograd::Function<recompute_function> {
  using block = std::function<at::Tensor(at::Tensor const&)>;

  struct holder : torch::CustomClassHolder {
    explicit holder(block b) : run(std::move(b)) {}
    block run;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* ctx, c10::intrusive_ptr<holder> const& run,
                            at::TensorList inputs) {
    ctx->save_for_backward({inputs.begin(), inputs.end()});
    ctx->saved_data["run"] = c10::IValue::make_capsule(run);
    return run->run(inputs[0]);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    auto inputs = ctx->get_saved_variables();
    auto const run = c10::static_intrusive_pointer_cast<holder>(ctx->saved_data["run"].toCapsule());
    bool const again = at::GradMode::is_enabled();  // true exactly under create_graph
    at::AutoGradMode const record(true);
    if (!again) inputs[0] = inputs[0].detach().requires_grad_(inputs[0].requires_grad());
    at::Tensor const output = run->run(inputs[0]);
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

}  // namespace detail

/// run(x), keeping only x: the block is run again in backward (Chen et al. 2016). `parameters` are the leaves that it reads.
inline at::Tensor recomputed(detail::recompute_function::block run, at::Tensor const& x,
                             std::vector<at::Tensor> const& parameters) {
  std::vector<at::Tensor> inputs{x};
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  return detail::recompute_function::apply(
      c10::make_intrusive<detail::recompute_function::holder>(std::move(run)), at::TensorList(inputs));
}

}  // namespace redco
