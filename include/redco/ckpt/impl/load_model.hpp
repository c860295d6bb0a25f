#pragma once

#include <redco/ckpt/load_model.hpp>

#include <redco/ckpt/detail/differences.hpp>
#include <redco/ckpt/detail/names.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/safetensors_reader.hpp>
#include <redco/ckpt/scalar_type.hpp>
#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redco {

namespace detail {

/// The extents, or the beginning of a box, of a parameter of ours as its file has it: moved to its part, exchanged, and with
/// `ones` extents in front.
inline std::vector<std::int64_t> in_file(std::vector<std::int64_t> ours, stored_name const& row, std::int64_t moved_by,
                                         std::size_t ones, std::int64_t filler) {
  if (!ours.empty()) ours[0] += moved_by;
  if (row.transposed) std::swap(ours[0], ours[1]);
  ours.insert(ours.begin(), ones, filler);
  return ours;
}

/// Reads the box that `part` wants of its tensor in `file`.
inline void read_part(safetensors_reader const& file, std::string const& name, stored_tensor const& stored,
                      stored_name const& row, state_part const& part) {
  part.local.zero_();
  if (count_of(part.place.shape) == 0) return;
  std::size_t const ones = stored.shape.size() - part.shape.size();
  std::int64_t const moved_by = row.part * part.shape[0];
  std::vector<std::int64_t> const extents = in_file(part.place.shape, row, 0, ones, 1);
  at::Tensor box_values = at::empty(extents, scalar_type_of(stored.type));
  file.read(name, {in_file(part.place.offset, row, moved_by, ones, 0), extents}, bytes_of(box_values), extents,
            std::vector<std::int64_t>(extents.size(), 0));
  for (std::size_t i = 0; i < ones; ++i) box_values = box_values.squeeze(0);
  if (row.transposed) box_values = box_values.t();
  at::Tensor target = part.local;
  for (std::size_t d = 0; d < part.place.shape.size(); ++d)
    target = target.narrow(static_cast<std::int64_t>(d), 0, part.place.shape[d]);
  target.copy_(box_values);
}

/// The extents that the file must have of a parameter of ours, without ones in front.
inline std::vector<std::int64_t> expected_in_file(state_part const& part, stored_name const& row) {
  std::vector<std::int64_t> shape = part.shape;
  shape[0] *= row.parts;
  if (row.transposed) std::swap(shape[0], shape[1]);
  return shape;
}

inline bool ends_with(std::vector<std::int64_t> const& stored, std::vector<std::int64_t> const& shape) {
  if (stored.size() < shape.size()) return false;
  auto const ones = stored.begin() + static_cast<std::ptrdiff_t>(stored.size() - shape.size());
  return std::equal(ones, stored.end(), shape.begin()) &&
         std::all_of(stored.begin(), ones, [](std::int64_t extent) { return extent == 1; });
}

}  // namespace detail

REDCO_INLINE void load_model(weights_source const& weights, std::span<stored_name const> names,
                             std::span<std::string_view const> unread, std::span<state_part const> parts) {
  at::NoGradGuard const no_grad;
  std::vector<std::string> differences;
  std::set<std::string> wanted;
  for (state_part const& part : parts) {
    stored_place const place = place_in_file(names, part.name);
    if (place.row == nullptr)
      throw error(exit_code::internal, "the model's table of file names has no row for its parameter " +
                                           detail::shown(part.name) + "; add one");
    wanted.insert(place.theirs);
    auto const found = weights.tensors.find(place.theirs);
    if (found == weights.tensors.end()) {
      differences.push_back(detail::shown(place.theirs) + " is missing in the file");
      continue;
    }
    auto const shape = detail::expected_in_file(part, *place.row);
    if (!detail::ends_with(found->second.shape, shape))
      differences.push_back(detail::shown(place.theirs) + " has shape " + detail::text_of(found->second.shape) +
                            " in the file, the model has " + detail::text_of(shape));
    if (!detail::floating(found->second.type))
      differences.push_back(detail::shown(place.theirs) + " holds no floating-point numbers in the file");
  }
  for (auto const& [name, stored] : weights.tensors) {
    bool const known =
        wanted.contains(name) ||
        std::any_of(unread.begin(), unread.end(), [&tensor = name](auto pattern) { return glob(pattern, tensor); });
    if (!known) differences.push_back(detail::shown(name) + " is in the file, the model has no such tensor");
  }
  std::sort(differences.begin(), differences.end());
  differences.erase(std::unique(differences.begin(), differences.end()), differences.end());
  detail::refuse_differences(weights.directory.string(), differences);

  std::map<std::string, safetensors_reader> files;
  for (state_part const& part : parts) {
    stored_place const place = place_in_file(names, part.name);
    stored_tensor const& stored = weights.tensors.at(place.theirs);
    std::string const& name = stored.parts.front().file;
    auto file = files.find(name);
    if (file == files.end()) file = files.try_emplace(name, weights.directory / name, weights.policy).first;
    detail::read_part(file->second, place.theirs, stored, *place.row, part);
  }
}

}  // namespace redco
