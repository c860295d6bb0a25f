#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <optional>

namespace redco::safetensors {

/// Calls `visit(part, from, to)` for each part of a stored tensor that shares elements with the box
/// `wanted`. `from` is the box of shared elements relative to the part's first element, and `to` is
/// this box relative to the first element of `wanted`.
template <class Visit>
void for_each_piece(stored_tensor const& tensor, box const& wanted, Visit visit) {
  for (tensor_part const& part : tensor.parts) {
    box const held{part.offset, part.shape};
    if (std::optional<box> const common = intersect(wanted, held))
      visit(part, relative_to(*common, held), relative_to(*common, wanted));
  }
}

}  // namespace redco::safetensors
