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

/// A factory of autograd leaves that read a rank's flat buffers. A leaf covers one parameter, or
/// adjacent parameters that a module reads as one matrix (q, k, v). The leaf's `.grad` is the
/// matching view of the flat gradient.
class leaves {
 public:
  explicit leaves(parameter_store const& store) : store_(store) {}

  /// Returns a handle to a new leaf that covers the parameters `names` in this order, [sum of rows,
  /// ...]. Throws `error` with exit code 64 if some of the parameters are frozen and others are
  /// not.
  parameter take(std::vector<std::string> const& names);

  /// Returns the handle of the leaf that was taken before under `name`, for tied parameters. Throws
  /// `error` with exit code 70 if there is none.
  parameter tied(std::string const& name) const;

  /// Sets the first value of a parameter that starts as its owner's tensor. Does nothing if the
  /// parameter has a value already.
  void start(std::string const& name, at::Tensor const& value) const;

  /// Returns the store's entry for `name`. Throws `error` with exit code 70 if there is none.
  stored_parameter const& stored(std::string const& name) const;

  bool has(std::string const& name) const { return store_.find(name) != nullptr; }

  /// Returns the seed for random numbers that the layer at `path` draws during its construction.
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
