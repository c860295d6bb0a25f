#pragma once

#include <redco/options/choices.hpp>
#include <redco/options/mesh_text.hpp>

#include <redco/json/value.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/blame.hpp>
#include <redco/diag/error.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace redco::options::detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

using list = std::vector<std::string>;

/// What the help shows as the kind of value.
template <class T>
std::string kind_of() {
  if constexpr (is_optional<T>) {
    return kind_of<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return "";
  } else if constexpr (std::integral<T>) {
    return "INTEGER";
  } else if constexpr (std::floating_point<T>) {
    return "NUMBER";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "TEXT";
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return "PATH";
  } else if constexpr (std::is_same_v<T, list>) {
    return "TEXT...";
  } else if constexpr (std::is_same_v<T, mesh>) {
    return "DPxMP";
  } else if constexpr (choice<T>) {
    std::string names;
    for (T const value : choices<T>) names.append(names.empty() ? "" : "|").append(name_of(value));
    return names;
  } else {
    static_assert(
        never<T>,
        "redco: an option is a bool, integer, floating number, string, path, list of strings, mesh, enumeration with "
        "choices<>, or an optional of one of these");
  }
}

/// The readers below put a value into `out`, or throw std::string: the reason, to follow the quoted text.
template <class T>
void read_number(std::string_view text, T& out) {
  T value{};
  auto const [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = failure == std::errc{} && rest == text.data() + text.size();
  if constexpr (std::floating_point<T>) whole = whole && std::isfinite(value);
  if (whole) {
    out = value;
  } else if constexpr (std::integral<T>) {
    throw "is not an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
        std::to_string(std::numeric_limits<T>::max());
  } else {
    throw std::string("is not a finite number");
  }
}

template <class T>
void read_text(std::string_view text, T& out) {
  if constexpr (is_optional<T>) {
    typename T::value_type value{};
    read_text(text, value);
    out = std::move(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") throw std::string("is neither true nor false");
    out = text == "true";
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(text, out);
  } else if constexpr (std::is_same_v<T, mesh>) {
    out = parse_mesh(text);
  } else if constexpr (choice<T>) {
    for (T const value : choices<T>) {
      if (name_of(value) == text) {
        out = value;
        return;
      }
    }
    throw "is not one of " + kind_of<T>();
  } else {
    out = T(text);
  }
}

template <class T>
void read_json_value(json_value const& value, T& out) {
  if constexpr (is_optional<T>) {
    if (value.is_null()) {
      out.reset();
    } else {
      typename T::value_type inner{};
      read_json_value(value, inner);
      out = std::move(inner);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) throw std::string("is neither true nor false");
    out = value.get<bool>();
  } else if constexpr (std::integral<T>) {
    if (!value.is_number_integer()) throw std::string("is not an integer");
    read_number(value.dump(), out);  // checks the range, whatever the sign
  } else if constexpr (std::floating_point<T>) {
    if (!value.is_number()) throw std::string("is not a number");
    out = value.get<T>();
  } else if constexpr (std::is_same_v<T, list>) {
    if (!value.is_array()) throw std::string("is not a list of strings");
    list texts;
    for (auto const& text : value) {
      if (!text.is_string()) throw std::string("is not a list of strings");
      texts.push_back(text.template get<std::string>());
    }
    out = std::move(texts);
  } else {
    if (!value.is_string()) throw std::string("is not a string");
    read_text(value.get_ref<std::string const&>(), out);
  }
}

template <class T>
json_value write_json_value(T const& value) {
  if constexpr (is_optional<T>) {
    return value.has_value() ? write_json_value(*value) : json_value(nullptr);
  } else if constexpr (std::is_same_v<T, mesh>) {
    return to_text(value);
  } else if constexpr (choice<T>) {
    return std::string(name_of(value));
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return value.string();
  } else {
    return value;
  }
}

}  // namespace redco::options::detail
