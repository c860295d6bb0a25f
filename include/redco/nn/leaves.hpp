#pragma once

#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redco::nn {

/// A factory of autograd leaves, which are views of one rank's flat parameter buffers. A leaf
/// covers one parameter, or adjacent parameters that a module reads as one matrix (q, k, v). The
/// leaf's `.grad` is a view of the flat gradient buffer.
class leaves {
 public:
  explicit leaves(parameter_store const& store) : store_(store) {}

  /// Returns a handle to a new autograd leaf that covers the parameters `names`, joined in this
  /// order along the first dimension. Throws `error` with exit code 64 if only some of the
  /// parameters are frozen.
  parameter take(std::vector<std::string> const& names);

  /// Returns the handle of the leaf that take() made for the parameter `name`, so that another
  /// layer can read the same (tied) parameter. Throws `error` with exit code 70 if there is no such
  /// leaf.
  parameter tied(std::string const& name) const;

  /// Sets the first value of the parameter `name`, which a layer initialises with the tensor of a
  /// user's module. Does nothing if the parameter has a value already (from a checkpoint).
  void start(std::string const& name, at::Tensor const& value) const;

  /// Returns the entry of the parameter `name` in the parameter store. Throws `error` with exit
  /// code 70 if the store has none.
  stored_parameter const& stored(std::string const& name) const;

  bool has(std::string const& name) const { return store_.find(name) != nullptr; }

  /// Returns the seed of the random numbers that the layer at `path` draws while it is constructed.
  std::uint64_t seed_of(std::string_view path) const { return store_.seed_of(path); }

  std::vector<at::Tensor> const& taken() const { return taken_; }

 private:
  at::Tensor leaf_of(std::vector<std::string> const& names) const;

  parameter_store const& store_;
  std::vector<at::Tensor> taken_;
  std::unordered_map<std::string, parameter> by_name_;
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/leaves.inl.hpp>
#endif
