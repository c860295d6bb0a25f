#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::nn {

class parameter_store;

/// An object that gathers the values of parameters before layers read them, if each replica keeps
/// only a share of the values (ZeRO level 3). Networks call it in each call.
class value_source {
 public:
  value_source() = default;
  value_source(value_source const&) = delete;
  value_source& operator=(value_source const&) = delete;
  virtual ~value_source() = default;

  /// Begins a call of the network. Layers outside blocks have their values.
  virtual void begin_call() = 0;
  /// Gathers the values of the block with index `block`, counted over all outermost `repeat`s.
  /// Called before forward of the block.
  virtual void enter(std::int64_t block) = 0;
  /// Gathers the values of a block whose backward begins now. Backward of later blocks is complete.
  virtual void enter_backward(std::int64_t block) = 0;
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns `x`, the output of the block with index `block`. Its backward calls
/// source.enter_backward(block) first.
at::Tensor with_values_in_backward(at::Tensor const& x, value_source& source, std::int64_t block);

/// Begins a call of a network over `store`. Returns the object that gathers values during the call,
/// or null if all values are in memory. Throws `error` with exit code 64 if they are not in memory
/// and nothing gathers them.
value_source* begin_values(parameter_store const& store);

/// Throws `error` with exit code 64 unless all values are in memory.
void check_values(parameter_store const& store);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/value_source.inl.hpp>
#endif
