#pragma once

#include <redco/options/detail/bounds.hpp>
#include <redco/options/detail/convert.hpp>
#include <redco/options/detail/option_value.hpp>
#include <redco/options/row.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/meta/fields.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// An option of a program: name, flag, help text, and a pointer to the member of the user's struct.
/// Its type is erased, so that the code for all options is compiled once.
struct entry {
  std::string name = {};   ///< name of the member and JSON key, such as n_model_shards
  std::string flag = {};   ///< flag on the command line, such as --n-model-shards
  std::string about = {};  ///< description for the help text
  member_type type = {};
  void* member = nullptr;
  /// True if the user must give a value for this option.
  bool required = false;
  bounds range = {};        ///< accepted numbers
  std::string group = {};   ///< title of the option's group in the help text; empty for none
  bool of_process = false;  ///< true if the value may differ between the processes of a run
  provenance source = provenance::standard;

  void read_texts(std::vector<std::string> const& texts) const { type.read_texts(member, texts); }
  void read(option_value const& value) const { type.read(member, value); }
  option_value write() const { return type.write(member); }
};

/// Appends the option `added` under the name `name`. Throws `error` with exit code 70 if an option
/// with this name exists.
void add_entry(std::vector<entry>& entries, std::string_view name, entry added);

template <class T>
constexpr bool check_option() {
  static_assert(optionable<T>,
                "redco[O001]: an option has a type that cannot be read from text; give the member a type that "
                "docs/diagnostics.md names, or leave it out of fields()");
  return optionable<T>;
}

/// Returns the range of an option of type T: the field's bounds, and 0 or more for unsigned
/// numbers.
template <class T, class Field>
constexpr bounds range_of(Field const& field) {
  if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
    return {std::max<std::int64_t>(field.least, 0), field.most};
  else return {field.least, field.most};
}

/// Appends the options of a reflected struct to `entries`. Members that are reflected structs
/// contribute their options to the same flat list. A member of an unsupported type is the compile
/// error redco[O001].
template <meta::reflected Options>
void collect(Options& object, std::vector<entry>& entries) {
  meta::for_each_named(object, [&entries](auto const& field, auto& member) {
    if constexpr (meta::reflected<decltype(member)>) {
      collect(member, entries);
    } else if constexpr (check_option<std::remove_reference_t<decltype(member)>>()) {
      add_entry(entries, field.name(),
                {.about = std::string(field.about),
                 .type = member_type_of<std::remove_reference_t<decltype(member)>>(),
                 .member = &member,
                 .required = field.required,
                 .range = range_of<std::remove_reference_t<decltype(member)>>(field),
                 .group = std::string(field.group),
                 .of_process = field.of_process});
    }
  });
}

}  // namespace redco::options::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/detail/entry.inl.hpp>
#endif
