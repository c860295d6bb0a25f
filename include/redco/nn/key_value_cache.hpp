#pragma once

#include <redco/kernel/gathered_attention.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco {

/// Keys and values of earlier positions, one slot per attention layer, allocated once. Sharded by heads like the layers that
/// fill it. A table says where the key of each row and position lies, so that beams share what they have in common and
/// choosing among them moves no keys.
class key_value_cache {
 public:
  /// For `capacity` positions. Each row of the first append may become `copies` rows behind it.
  key_value_cache(std::size_t slots, std::int64_t capacity, std::int64_t copies = 1)
      : slots_(slots), capacity_(capacity), copies_(copies) {}

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }

  /// Appends k and v [R, T, features] of the current positions and returns all so far. Errors: exit code 70 beyond the
  /// capacity.
  kernel::gathered_keys append(std::size_t slot, at::Tensor const& k, at::Tensor const& v);

  /// What `make()` gave the first time for this slot, whatever rows and positions are asked for: encoder states, a bias.
  template <class Make>
  at::Tensor const& once(std::size_t slot, Make&& make) {
    at::Tensor& kept = slots_[slot].keys;
    if (!kept.defined()) kept = make();
    return kept;
  }

  /// Keys and values that each row has in all positions, from what `make()` gave once: [rows of the first call, S,
  /// 2 features].
  template <class Make>
  kernel::gathered_keys shared(std::size_t slot, Make&& make) {
    return shared_rows(once(slot, make));
  }

  /// Makes row i the former row rows[i] (int64 [n], on the CPU).
  void select_rows(at::Tensor const& rows);

  /// Moves past the positions that the network has just seen.
  void advance(std::int64_t positions) { length_ += positions; }

 private:
  struct slot_memory {
    at::Tensor keys, values;  // [entries, features]
  };

  void place(std::int64_t rows, std::int64_t positions);
  kernel::gathered_keys shared_rows(at::Tensor const& both);

  std::vector<slot_memory> slots_;
  std::int64_t capacity_, copies_;
  std::int64_t length_ = 0;
  std::int64_t entries_ = 0;   // given to positions so far
  std::int64_t placed_ = 0;    // positions that have entries
  std::int64_t room_ = 0;      // entries of a slot
  at::Tensor places_, spare_;  // int32 [R, capacity]
  at::Tensor sources_;         // int64 [R]: the row of the first call that this row was; undefined: itself
  at::Tensor shared_places_;   // int32 [R, S]
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/key_value_cache.inl.hpp>
#endif
