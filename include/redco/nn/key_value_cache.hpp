#pragma once

#include <redco/kernel/attention.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::nn {

/// A cache of the keys and values of earlier positions during decoding, with one slot per attention
/// layer. Each slot is allocated once and sharded by heads, like the attention layer. A table maps
/// each row and position to a cache entry. Beams can therefore share entries, and select_rows()
/// copies no keys.
class key_value_cache {
 public:
  /// Constructs a cache for `slots` attention layers and `capacity` positions. `copies` is the
  /// maximum number of rows, such as beams, into which select_rows() multiplies one row of the
  /// first append().
  key_value_cache(std::size_t slots, std::int64_t capacity, std::int64_t copies = 1)
      : slots_(slots), capacity_(capacity), copies_(copies) {}

  std::int64_t length() const { return length_; }
  std::int64_t capacity() const { return capacity_; }

  /// Appends keys k and values v [R, T, features] of the current T positions to one slot. Returns
  /// the keys and values of all positions so far. Throws `error` with exit code 70 if they exceed
  /// the capacity.
  kernel::gathered_keys append(std::size_t slot, at::Tensor const& k, at::Tensor const& v);

  /// Returns the tensor that once() stored for this slot; undefined before.
  at::Tensor const& kept(std::size_t slot) const { return slots_[slot].keys; }

  /// Calls make() at the first call for this slot, stores its result (such as a distance bias) and
  /// returns it. Later calls return the stored tensor, even if rows and positions have changed.
  template <class Make>
  at::Tensor const& once(std::size_t slot, Make&& make) {
    at::Tensor& kept = slots_[slot].keys;
    if (!kept.defined()) kept = make();
    return kept;
  }

  /// Returns the keys and values of a slot that are equal for all positions of a row, such as the
  /// encoder's in cross-attention. The first call for the slot calls make() and stores its result
  /// [rows of the first call, S, 2 features]: keys, then values.
  template <class Make>
  kernel::gathered_keys shared(std::size_t slot, Make&& make) {
    return shared_rows(once(slot, make));
  }

  /// Reorders the rows of the cache: new row i continues old row rows[i]. `rows` is int64 [n].
  void select_rows(at::Tensor const& rows);

  /// Adds `positions` to length(), the number of cached positions. Call after the network has
  /// processed them in all layers.
  void advance(std::int64_t positions) { length_ += positions; }

 private:
  struct slot_memory {
    at::Tensor keys, values;  // Entries of one attention layer, [entries, features] each.
  };

  void assign_entries(std::int64_t rows, std::int64_t positions);
  kernel::gathered_keys shared_rows(at::Tensor const& both);

  std::vector<slot_memory> slots_;
  std::int64_t capacity_, copies_;
  std::int64_t length_ = 0;
  std::int64_t entries_ = 0;   // Number of entries given to positions so far
  std::int64_t assigned_ = 0;  // Number of positions that have entries
  std::int64_t room_ = 0;      // Number of entries of one slot
  // Entry of each row and position, int32 [R, capacity], and a second buffer for select_rows
  at::Tensor indices_, spare_;
  // Row of the first call that each row descends from, int64 [R]; undefined if select_rows was
  // never called
  at::Tensor sources_;
  at::Tensor shared_indices_;  // Entries of the keys that `shared` returns, int32 [R, S]
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/key_value_cache.inl.hpp>
#endif
