#pragma once

#include <redco/fact/detail/size_checks.hpp>
#include <redco/fact/event.hpp>

#include <redco/shape/extents.hpp>

#include <cstdint>
#include <string_view>

namespace redco::fact::detail {

/// The declarations of tensors that forward saves for backward and that the loss makes, a part of
/// the `recorder`. Each declaration adds an event to the program.
class saved_records : public size_checks {
 public:
  /// Declares that forward saves the current activation for backward under the name `slot`. An
  /// activation that two layers save is stored once.
  constexpr void save(std::string_view slot) { state({.kind = event_kind::save, .slot = slot, .tensor = activation}); }

  /// Declares that forward saves for backward, under the name `slot`, a tensor that is not the
  /// current activation.
  constexpr void save(std::string_view slot, extents shape, int split_dim, width_kind kind, std::int64_t units = 0) {
    state({.kind = event_kind::save, .width = kind, .slot = slot, .tensor = {shape, split_dim, units, -1}});
  }

  /// Declares that forward saves a tensor in one storage with the tensor declared before: both are
  /// adjacent slices along the last dimension.
  constexpr void save_adjacent(std::string_view slot, extents shape, int split_dim, width_kind kind,
                               std::int64_t units = 0) {
    state({.kind = event_kind::save,
           .width = kind,
           .slot = slot,
           .tensor = {shape, split_dim, units, -1},
           .adjacent = true});
  }

  /// Declares that forward saves a tensor of the batch, such as the token ids, which needs no extra
  /// memory.
  constexpr void save_batch(std::string_view slot, extents shape, width_kind kind) {
    state({.kind = event_kind::batch, .width = kind, .slot = slot, .tensor = {shape, -1, 0, -1}});
  }

  /// Declares that forward saves a tensor of the batch, which needs no extra memory. If there are
  /// several tensor-parallel ranks, forward instead saves a tensor of equal shape computed from it.
  constexpr void save_batch_or_local(std::string_view slot, extents shape, width_kind kind) {
    save_batch(slot, shape, kind);
    state({.kind = event_kind::save,
           .width = kind,
           .slot = slot,
           .tensor = {shape, -1, 0, -1},
           .min_shards_exclusive = 1});
  }

  /// Declares a tensor that the loss makes. `lasts` is its lifetime: until the loss's backward
  /// (`event_kind::loss`), or while the loss is computed (`loss_workspace`). `loss_sum` is an
  /// accumulator that lives while the loss is computed, and is then converted to a `loss` tensor.
  constexpr void loss(event_kind lasts, std::string_view slot, extents shape, int split_dim, std::int64_t units,
                      width_kind kind = width_kind::compute) {
    state({.kind = lasts, .width = kind, .slot = slot, .tensor = {shape, split_dim, units, -1}});
  }

 protected:
  using size_checks::size_checks;

  /// Returns the index of the current layer in program::layers; adds the layer if necessary.
  constexpr int layer() {
    if (layer_ < 0) {
      layer_ = static_cast<int>(program_.layers.size());
      program_.layers.push_back(here_);
    }
    return layer_;
  }

  constexpr void state(event e) {
    e.layer = layer();
    program_.events.push_back(e);
  }

  /// Index in program::layers of the current layer; -1: the layer has no event yet
  int layer_ = -1;
};

}  // namespace redco::fact::detail
