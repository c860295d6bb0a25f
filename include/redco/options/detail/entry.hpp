#pragma once

#include <redco/options/detail/convert.hpp>
#include <redco/options/provenance.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace redco::options::detail {

/// One option without its type, so that everything behind it is compiled once. The functions refer to the member of the
/// struct.
struct entry {
  std::string name;   // of the member, and in JSON: n_model_shards
  std::string flag;   // on the command line: --n-model-shards
  std::string about;  // its sentence
  std::string kind;   // INTEGER, f32|bf16, ...; empty for a bool
  bool is_list = false;
  bool is_flag = false;   // may stand without a value, which is true, and has a twin --no-...
  bool required = false;  // its default is no answer
  std::function<void(std::vector<std::string> const&)> read_texts;
  std::function<void(option_value const&)> read;
  std::function<option_value()> write;
  provenance source = provenance::standard;
};

inline std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  for (char& c : flag) {
    if (c == '_') c = '-';
  }
  return flag;
}

template <class T>
entry entry_of(std::string_view name, std::string_view about, T& member) {
  entry e;
  e.name = name;
  e.flag = flag_of(name);
  e.about = about;
  e.kind = kind_of<T>();
  e.is_list = std::is_same_v<T, list>;
  e.is_flag = std::is_same_v<T, bool> || std::is_same_v<T, recomputed_blocks>;
  e.read_texts = [&member](std::vector<std::string> const& texts) {
    if constexpr (std::is_same_v<T, list>) {
      member = texts;
    } else {
      read_text(texts.back(), member);
    }
  };
  e.read = [&member](option_value const& value) { read_value(value, member); };
  e.write = [&member] { return write_value(member); };
  return e;
}

/// The options of a reflected struct; members that are reflected themselves give theirs to the same list.
template <reflected Options>
void collect(Options& object, std::vector<entry>& entries) {
  for_each_named(object, [&entries](auto const& field, auto& member) {
    if constexpr (reflected<decltype(member)>) {
      collect(member, entries);
    } else {
      for (entry const& other : entries) {
        if (other.name == field.name()) {
          throw error(exit_code::internal,
                      "two options are named '" + other.name + "'; rename one of the members in fields()");
        }
      }
      entries.push_back(entry_of(field.name(), field.about, member));
      entries.back().required = field.required;
    }
  });
}

}  // namespace redco::options::detail
