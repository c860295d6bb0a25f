#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace redco::data {

/// The array of an IDX file, the format of MNIST.
struct idx_array {
  /// The elements in row-major order and in the byte order of this machine.
  using elements = std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::int16_t>,
                                std::vector<std::int32_t>, std::vector<float>, std::vector<double>>;

  std::string path;
  std::vector<std::int64_t> shape;  ///< Sizes of the dimensions, each at least 1
  elements values;

  /// Returns the elements of type T: `images.as<std::uint8_t>()`. Throws `error` with exit code 65
  /// if the file has elements of another type.
  template <class T>
  std::vector<T> const& as() const {
    auto const* const found = std::get_if<std::vector<T>>(&values);
    if (found == nullptr) refuse_type(elements(std::in_place_type<std::vector<T>>).index());
    return *found;
  }

 private:
  [[noreturn]] void refuse_type(std::size_t asked) const;
};

/// Returns the array of an IDX file. Throws `error` with exit code 65 for a file that is missing,
/// compressed, no IDX file, shorter or longer than its shape, or without elements. Allocates memory
/// after the size of the file is checked.
idx_array read_idx(std::filesystem::path const& path);

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_idx.inl.hpp>
#endif
