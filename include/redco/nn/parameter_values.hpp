#pragma once

#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace redco {

/// The tensors that a network's modules read in a call: its own, the leaves of autograd, or others in their place
/// (meta-learning, target copies). Copied in constant time.
class parameter_values {
 public:
  explicit parameter_values(std::vector<at::Tensor> all, bool own = false)
      : all_(std::make_shared<std::vector<at::Tensor> const>(std::move(all))), own_(own) {}

  at::Tensor const& operator[](parameter p) const {
    static at::Tensor const none;
    return p ? (*all_)[static_cast<std::size_t>(p.place)] : none;
  }

  std::vector<at::Tensor> const& all() const { return *all_; }
  /// The same values as constants, which get no gradients.
  parameter_values detached() const {
    std::vector<at::Tensor> constants;
    for (at::Tensor const& one : *all_) constants.push_back(one.detach());
    return parameter_values(std::move(constants));
  }
  /// Those of a block, as `builder::taken` counted them.
  std::span<at::Tensor const> range(std::size_t first, std::size_t last) const {
    return std::span(*all_).subspan(first, last - first);
  }
  /// Whether they are the network's own.
  bool own() const { return own_; }

 private:
  std::shared_ptr<std::vector<at::Tensor> const> all_;
  bool own_;
};

}  // namespace redco
