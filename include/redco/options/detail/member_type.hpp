#pragma once

#include <redco/options/detail/convert.hpp>
#include <redco/options/detail/option_value.hpp>

#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace redco::options::detail {

/// The functions that read and write a member of one type, with the type erased.
struct member_type {
  /// Kind of value for the help text, such as INTEGER or f32|bf16; empty for bool.
  std::string kind;
  bool is_list = false;  ///< true if the option takes all following words, as a list
  /// True if the option may be given without a value, which means true, and has a --no- form.
  bool is_flag = false;
  void (*read_texts)(void* member, std::vector<std::string> const& texts) = nullptr;
  void (*read)(void* member, option_value const& value) = nullptr;
  option_value (*write)(void const* member) = nullptr;
};

template <optionable T>
member_type member_type_of() {
  return {.kind = kind_of<T>(),
          .is_list = std::is_same_v<T, list>,
          .is_flag =
              std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>> || std::is_same_v<T, recomputed_blocks>,
          .read_texts =
              [](void* member, std::vector<std::string> const& texts) {
                T& out = *static_cast<T*>(member);
                if constexpr (std::is_same_v<T, list>) out = texts;
                else read_text(texts.back(), out);
              },
          .read = [](void* member, option_value const& value) { read_value(value, *static_cast<T*>(member)); },
          .write = [](void const* member) { return write_value(*static_cast<T const*>(member)); }};
}

#ifdef REDCO_COMPILED
// Common member types are instantiated once, in entry.inl.hpp.
extern template member_type member_type_of<bool>();
extern template member_type member_type_of<int>();
extern template member_type member_type_of<std::int64_t>();
extern template member_type member_type_of<std::uint64_t>();
extern template member_type member_type_of<double>();
extern template member_type member_type_of<std::string>();
extern template member_type member_type_of<std::filesystem::path>();
extern template member_type member_type_of<list>();
extern template member_type member_type_of<recomputed_blocks>();
extern template member_type member_type_of<std::optional<bool>>();
extern template member_type member_type_of<std::optional<int>>();
extern template member_type member_type_of<std::optional<mesh>>();
extern template member_type member_type_of<std::optional<dtype>>();
#endif

}  // namespace redco::options::detail
