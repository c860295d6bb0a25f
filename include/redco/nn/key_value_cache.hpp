#pragma once

#include <redco/kernel/gathered_attention.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco {

/// A cache of the keys and values of earlier positions during decoding, with one slot per attention
/// layer, each allocated once. Sharded by heads like the attention layers. A table gives the entry
/// of each row and position, so beams share common entries and select_rows moves no keys.
class key_value_cache {
 public:
  /// Constructs a cache for `capacity` positions. Each row of the first append() may become up to
  /// `copies` rows later.
  key_value_cache(std::size_t slots, std::int64_t capacity, std::int64_t copies = 1)
      : slots_(slots), capacity_(capacity), copies_(copies) {}

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }

  /// Appends k and v [R, T, features] of the current positions and returns the keys and values of
  /// all positions so far. Throws `error` with exit code 70 beyond the capacity.
  kernel::gathered_keys append(std::size_t slot, at::Tensor const& k, at::Tensor const& v);

  /// Returns the result of the first make() for this slot, such as encoder states or a bias. Later
  /// calls return the same tensor, whatever rows and positions they are for.
  template <class Make>
  at::Tensor const& once(std::size_t slot, Make&& make) {
    at::Tensor& kept = slots_[slot].keys;
    if (!kept.defined()) kept = make();
    return kept;
  }

  /// Returns keys and values that every position of a row attends to, as in cross-attention. The
  /// first call stores the result of make(): [rows of the first call, S, 2 features].
  template <class Make>
  kernel::gathered_keys shared(std::size_t slot, Make&& make) {
    return shared_rows(once(slot, make));
  }

  /// Replaces row i by the former row rows[i], for int64 `rows` [n].
  void select_rows(at::Tensor const& rows);

  /// Increments length() by the positions that the network has just processed.
  void advance(std::int64_t positions) { length_ += positions; }

 private:
  struct slot_memory {
    at::Tensor keys, values;  // Entries of one attention layer, [entries, features] each.
  };

  void place(std::int64_t rows, std::int64_t positions);
  kernel::gathered_keys shared_rows(at::Tensor const& both);

  std::vector<slot_memory> slots_;
  std::int64_t capacity_, copies_;
  std::int64_t length_ = 0;
  std::int64_t entries_ = 0;  // Number of entries given to positions so far
  std::int64_t placed_ = 0;   // Number of positions that have entries
  std::int64_t room_ = 0;     // Number of entries of one slot
  // Entry of each row and position, int32 [R, capacity], and a second buffer for select_rows
  at::Tensor places_, spare_;
  // Row of the first call that each row descends from, int64 [R]; undefined if select_rows was
  // never called
  at::Tensor sources_;
  at::Tensor shared_places_;  // Entries of the keys that `shared` returns, int32 [R, S]
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/key_value_cache.inl.hpp>
#endif
