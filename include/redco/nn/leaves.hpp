#pragma once

#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redco {

/// Where modules take their parameters from: the leaves of autograd that read a rank's flat buffers. A leaf covers one
/// parameter, or neighbours that a module reads as one matrix (q, k, v). Its `.grad` is the matching view of the flat
/// gradient.
class leaves {
 public:
  explicit leaves(parameter_store const& store) : store_(store) {}

  /// The leaf that covers `names`, in the order given, [sum of rows, ...].
  parameter take(std::vector<std::string> const& names);

  /// The leaf taken before under `name`, for tied parameters.
  parameter tied(std::string const& name) const;

  /// Gives a parameter that starts as its owner's tensor this value, if nothing has given it one.
  void start(std::string const& name, at::Tensor const& value) const;

  /// The entry of the store under `name`.
  stored_parameter const& stored(std::string const& name) const;

  bool has(std::string const& name) const { return store_.find(name) != nullptr; }

  /// Keys what the layer under `path` draws while it is made.
  std::uint64_t seed_of(std::string_view path) const { return store_.seed_of(path); }

  std::vector<at::Tensor> const& taken() const { return taken_; }

 private:
  at::Tensor leaf_of(std::vector<std::string> const& names) const;

  parameter_store const& store_;
  std::vector<at::Tensor> taken_;
  std::unordered_map<std::string, parameter> by_name_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/leaves.inl.hpp>
#endif
