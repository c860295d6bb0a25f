#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::detail {

/// A part as its file has it: name, shape and box there, and a view of its values, without padding, that lies so.
inline state_part in_file(state_part const& part, std::string name, stored_name const& row) {
  state_part stored{std::move(name), part.shape, held_values(part), part.place, part.owner};
  if (row.parts > 1) {
    stored.shape[0] *= row.parts;
    stored.place.offset[0] += row.part * part.shape[0];
  }
  if (row.transposed) {
    std::swap(stored.shape[0], stored.shape[1]);
    std::swap(stored.place.offset[0], stored.place.offset[1]);
    std::swap(stored.place.shape[0], stored.place.shape[1]);
    stored.local = stored.local.t();
  }
  for (int i = 0; i < row.ones; ++i) {
    stored.shape.insert(stored.shape.begin(), 1);
    stored.place.offset.insert(stored.place.offset.begin(), 0);
    stored.place.shape.insert(stored.place.shape.begin(), 1);
    stored.local = stored.local.unsqueeze(0);
  }
  return stored;
}

/// All parts of a model so. Those of a fused tensor have its name and different boxes. Error 70 for a part that does not fit
/// its row of the table, or has none.
inline std::vector<state_part> in_files(std::span<stored_name const> names, std::span<state_part const> parts) {
  std::vector<state_part> stored;
  stored.reserve(parts.size());
  for (state_part const& part : parts) {
    check_part(part);
    stored_place const place = place_in_file(names, part.name);
    if (place.row == nullptr)
      throw error(exit_code::internal,
                  "the model's table of file names has no row for its parameter " + shown(part.name) + "; add one");
    std::size_t const least = place.row->transposed ? 2 : place.row->parts > 1 ? 1 : 0;
    if (part.shape.size() < least || (place.row->transposed && part.shape.size() != 2))
      throw error(exit_code::internal, "the model's table of file names cuts or transposes its parameter " +
                                           shown(part.name) + ", which has not the extents for it; mend the row");
    stored.push_back(in_file(part, place.theirs, *place.row));
  }
  return stored;
}

}  // namespace redco::detail
