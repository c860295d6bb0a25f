#pragma once

#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace redco {

/// The parameter tensors that a network's modules read in a call: the network's own leaves, or
/// substitutes (meta-learning, target copies). Copies take constant time.
class parameter_values {
 public:
  explicit parameter_values(std::vector<at::Tensor> all, bool own = false)
      : all_(std::make_shared<std::vector<at::Tensor> const>(std::move(all))), own_(own) {}

  at::Tensor const& operator[](parameter p) const {
    static at::Tensor const none;
    return p ? (*all_)[static_cast<std::size_t>(p.place)] : none;
  }

  std::vector<at::Tensor> const& all() const { return *all_; }
  /// Returns the same values as constants, which get no gradients.
  parameter_values detached() const {
    std::vector<at::Tensor> constants;
    for (at::Tensor const& one : *all_) constants.push_back(one.detach());
    return parameter_values(std::move(constants));
  }
  /// Returns the tensors with indices [first, last), such as those of one block.
  std::span<at::Tensor const> range(std::size_t first, std::size_t last) const {
    return std::span(*all_).subspan(first, last - first);
  }
  /// Returns true if the tensors are the network's own leaves, not substitutes.
  bool own() const { return own_; }

 private:
  std::shared_ptr<std::vector<at::Tensor> const> all_;
  bool own_;
};

}  // namespace redco
