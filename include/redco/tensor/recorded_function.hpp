#pragma once

#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::tensors {

using recorded_backward = torch::autograd::variable_list (*)(torch::autograd::AutogradContext*,
                                                             torch::autograd::variable_list const&);

/// Arguments of a differentiable function. `tensors` holds the defined tensors. `is_tensor` has one
/// flag per argument, or per element of a list argument: true if it is a defined tensor.
struct recorded_arguments {
  torch::autograd::variable_list tensors;
  std::vector<bool> is_tensor;

  void add(at::Tensor const& x) {
    is_tensor.push_back(x.defined());
    if (x.defined()) tensors.push_back(x);
  }
  void add(std::optional<at::Tensor> const& x) { add(x.value_or(at::Tensor())); }
  void add(at::TensorList list) {
    for (at::Tensor const& x : list) add(x);
  }
  template <class Other>
  void add(Other const&) {
    is_tensor.push_back(false);
  }
};

/// The only torch::autograd::Function of this library. Each instantiation of
/// torch::autograd::Function compiles to some 12 KB of code, most of it for torch.compile. All
/// differentiable functions of redco therefore share this node type, which calls them through
/// pointers.
struct recorded_call : torch::autograd::Function<recorded_call> {
  struct callee : torch::CustomClassHolder {
    callee(recorded_backward b, std::vector<bool> i) : backward(b), is_tensor(std::move(i)) {}
    recorded_backward backward;
    std::vector<bool> is_tensor;
  };

  using recorded_forward = function_ref<torch::autograd::variable_list(torch::autograd::AutogradContext*)>;

  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, at::TensorList,
                                                recorded_forward run, c10::intrusive_ptr<callee> const& called) {
    ctx->saved_data["redco.callee"] = c10::IValue::make_capsule(called);
    return run(ctx);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const called = c10::static_intrusive_pointer_cast<callee>(ctx->saved_data.at("redco.callee").toCapsule());
    auto const all = called->backward(ctx, gradients);
    TORCH_INTERNAL_ASSERT(all.size() == called->is_tensor.size());
    torch::autograd::variable_list result;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (called->is_tensor[i]) result.push_back(all[i]);
    // Two undefined gradients for the last two arguments of `forward`, which are no tensors.
    result.resize(result.size() + 2);
    return result;
  }

  static torch::autograd::variable_list record(recorded_arguments arguments, recorded_backward backward,
                                               recorded_forward run) {
    return apply(at::TensorList(arguments.tensors), run,
                 c10::make_intrusive<callee>(backward, std::move(arguments.is_tensor)));
  }
};

/// A replacement for torch::autograd::Function<T>. `T::apply(arguments...)` calls
/// T::forward(context, arguments...) without recording its operators; T::forward returns one tensor
/// or a list.
///
/// Backward calls T::backward(context, gradients). T::backward returns one gradient per argument
/// (per tensor of a list), undefined for arguments that are no tensors.
template <class T>
struct recorded_function {
  template <class... Args>
  static auto apply(Args const&... args) {
    using node = torch::autograd::AutogradContext*;
    using torch::autograd::variable_list;
    constexpr bool one = std::is_same_v<decltype(T::forward(node(), args...)), at::Tensor>;
    recorded_arguments arguments;
    (arguments.add(args), ...);
    variable_list all = recorded_call::record(std::move(arguments), &T::backward, [&](node ctx) {
      if constexpr (one) return variable_list{T::forward(ctx, args...)};
      else return T::forward(ctx, args...);
    });
    if constexpr (one) return at::Tensor(std::move(all.front()));
    else return all;
  }
};

}  // namespace redco::tensors
