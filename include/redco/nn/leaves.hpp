#pragma once

#include <redco/nn/parameter_store.hpp>

#include <redco/diag/error.hpp>
#include <redco/tensor/torch.hpp>

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco {

/// Where modules take their parameters from: the leaves of autograd that read a rank's flat buffers, or tensors that
/// the caller puts in their place (functional use: meta-learning, target copies).
///
/// A leaf covers one parameter, or neighbours that a module reads as one matrix (q, k, v). Its `.grad` is the matching
/// view of the flat gradient.
class leaves {
 public:
  explicit leaves(parameter_store const& store) : store_(store) {}
  leaves(parameter_store const& store, std::span<at::Tensor const> substitutes)
      : store_(store), substitutes_(substitutes) {}

  /// The leaf that covers `names`, in the order given, [sum of rows, ...].
  at::Tensor take(std::vector<std::string> const& names) {
    at::Tensor leaf;
    if (substituted()) {
      if (taken_.size() >= substitutes_.size())
        throw error(exit_code::internal, "the network takes more parameters than the " +
                                             std::to_string(substitutes_.size()) +
                                             " given; pass one for each of parameters()");
      leaf = substitutes_[taken_.size()];
    } else {
      leaf = leaf_of(names);
    }
    for (std::string const& name : names) by_name_[name] = taken_.size();
    taken_.push_back(leaf);
    return leaf;
  }

  /// The leaf taken before under `name`, for tied parameters.
  at::Tensor tied(std::string const& name) const {
    auto const at = by_name_.find(name);
    if (at == by_name_.end())
      throw error(exit_code::internal,
                  "no layer before the tied one owns the parameter '" + name + "'; name its full path");
    return taken_[at->second];
  }

  std::vector<at::Tensor> const& taken() const { return taken_; }

  /// Whether the caller gave the tensors.
  bool substituted() const { return substitutes_.data() != nullptr; }

 private:
  stored_parameter const& stored(std::string const& name) const {
    if (stored_parameter const* const p = store_.find(name)) return *p;
    throw error(exit_code::internal, "a module takes '" + name + "', which its layer's facts do not state");
  }

  at::Tensor leaf_of(std::vector<std::string> const& names) const {
    stored_parameter const& first = stored(names.front());
    std::int64_t rows = 0, end = first.offset;
    for (std::string const& name : names) {
      stored_parameter const& p = stored(name);
      if (p.offset != end || p.trainable != first.trainable)
        throw error(exit_code::usage,
                    "'" + names.front() + "' and '" + name + "' are read as one matrix: freeze both or neither");
      rows += p.value.size(0);
      end += p.value.numel();
    }
    auto sizes = first.value.sizes().vec();
    sizes[0] = rows;
    at::Tensor leaf = store_.values().narrow(0, first.offset, end - first.offset).view(sizes).detach();
    if (first.trainable) {
      leaf.requires_grad_();
      leaf.mutable_grad() = store_.gradients().narrow(0, first.offset, end - first.offset).view(sizes);
    }
    return leaf;
  }

  parameter_store const& store_;
  std::span<at::Tensor const> substitutes_;
  std::vector<at::Tensor> taken_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace redco
