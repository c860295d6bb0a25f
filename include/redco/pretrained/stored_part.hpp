#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::pretrained {

/// A location of (a part of) a model's parameter in a tensor of a file.
struct stored_part {
  /// Name of the tensor in the file. Parameters that the file stores fused in one tensor share this
  /// name.
  std::string name;
  std::vector<std::int64_t> shape;  ///< Shape of the whole tensor in the file
  /// Box (range per dimension) of the part within the tensor of the file.
  safetensors::box box;
  bool transposed = false;  ///< True if the file stores the matrix with rows and columns exchanged
  /// Number of leading dimensions of extent 1 that only the file's tensor has.
  int ones = 0;
};

/// Changes the location `stored` of a parameter with `rows` rows (the first dimension) to the
/// location in the tensor that the file has for several parameters. `row` must join parameters. If
/// `row.group` > 0, the location's box must be within a group of rows.
inline void join_rows(models::stored_name const& row, std::int64_t rows, stored_part& stored) {
  std::int64_t& offset = stored.box.offset[0];
  if (row.group > 0) offset = (offset / row.group * row.parts + row.part) * row.group + offset % row.group;
  else offset += row.rows > 0 ? row.first : row.part * rows;
  stored.shape[0] = row.rows > 0 ? row.rows : row.parts * rows;
}

/// Returns the location in a file of `box` of the parameter `ours`, which has the given
/// shape. `names` is the model's table of tensor names in files. Throws `error` with exit code 70
/// if the table has no matching row for the parameter.
inline stored_part stored_part_of(std::span<models::stored_name const> names, std::string const& ours,
                                  std::vector<std::int64_t> const& shape, safetensors::box const& box) {
  models::stored_match const in_file = models::find_stored_name(names, ours);
  if (in_file.row == nullptr)
    throw error(exit_code::internal, "the model's table of file names has no row for its parameter " +
                                         safetensors::shown(ours) + "; add one");
  models::stored_name const& row = *in_file.row;
  std::size_t const least = row.transposed ? 2 : row.parts > 1 ? 1 : 0;
  if (shape.size() < least || (row.transposed && shape.size() != 2))
    throw error(exit_code::internal, "the model's table of file names cuts or transposes its parameter " +
                                         safetensors::shown(ours) + ", which has not the extents for it; mend the row");
  stored_part stored{in_file.theirs, shape, box, row.transposed, row.ones};
  if (row.parts > 1) join_rows(row, shape[0], stored);
  std::vector<std::int64_t>* const all[] = {&stored.shape, &stored.box.shape, &stored.box.offset};
  if (row.transposed)
    for (auto* const numbers : all) std::swap((*numbers)[0], (*numbers)[1]);
  for (auto* const numbers : all)
    numbers->insert(numbers->begin(), static_cast<std::size_t>(row.ones), numbers == &stored.box.offset ? 0 : 1);
  return stored;
}

}  // namespace redco::pretrained
