#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace redco {

/// A handle to one of a network's parameters. `ctx[weight]`, with a module's context `ctx`, returns
/// the parameter's tensor in the current call, or an undefined tensor for an empty handle.
struct parameter {
  std::int32_t index = -1;

  constexpr explicit operator bool() const { return index >= 0; }
};

}  // namespace redco

namespace redco::nn {

/// A list of the parameter tensors that a network's modules read in one call: the network's own
/// autograd leaves, or substitutes (for meta-learning or target copies). Copies of the list take
/// constant time.
class parameter_values {
 public:
  explicit parameter_values(std::vector<at::Tensor> all, bool own = false)
      : all_(std::make_shared<std::vector<at::Tensor> const>(std::move(all))), own_(own) {}

  at::Tensor const& operator[](parameter p) const {
    static at::Tensor const none;
    return p ? (*all_)[static_cast<std::size_t>(p.index)] : none;
  }

  std::vector<at::Tensor> const& all() const { return *all_; }
  /// Returns a list of the same tensors, detached from autograd, so that they get no gradients.
  parameter_values detached() const {
    std::vector<at::Tensor> constants;
    for (at::Tensor const& one : *all_) constants.push_back(one.detach());
    return parameter_values(std::move(constants));
  }
  /// Returns the parameter tensors with indices [first, last), such as the parameters of one block.
  std::span<at::Tensor const> range(std::size_t first, std::size_t last) const {
    return std::span(*all_).subspan(first, last - first);
  }
  /// Returns true if the tensors are the network's own autograd leaves, false if they are
  /// substitutes.
  bool own() const { return own_; }

 private:
  std::shared_ptr<std::vector<at::Tensor> const> all_;
  bool own_;
};

}  // namespace redco::nn
