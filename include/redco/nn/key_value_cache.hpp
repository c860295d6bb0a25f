#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco {

/// Keys and values of earlier positions, one slot per attention layer, allocated once for `capacity` positions. Sharded
/// by heads like the layers that fill it. An encoder and the cross-attention that reads it have a slot each: they run
/// once.
class key_value_cache {
 public:
  key_value_cache(std::size_t slots, std::int64_t capacity) : slots_(slots), capacity_(capacity) {}

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }

  /// Appends k and v [B, T, features] of the current positions and returns all so far [B, length + T, features], as
  /// views.
  std::pair<at::Tensor, at::Tensor> append(std::size_t slot, at::Tensor const& k, at::Tensor const& v);

  /// What `make()` gave the first time for this slot: what all positions share (encoder states and their projections).
  template <class Make>
  at::Tensor const& once(std::size_t slot, Make&& make) {
    at::Tensor& kept = slots_[slot].first;
    if (!kept.defined()) kept = make();
    return kept;
  }

  /// Makes row i the former row rows[i] (int64 [n], on the CPU), in every slot; what all positions share is moved only where
  /// their number changes: beams of one example share it.
  void select_rows(at::Tensor const& rows);

  /// Moves past the positions that the network has just seen.
  void advance(std::int64_t positions) { length_ += positions; }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> slots_;
  std::int64_t capacity_;
  std::int64_t length_ = 0;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/impl/key_value_cache.hpp>
#endif
