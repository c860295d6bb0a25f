#pragma once

#include <redco/options/choices.hpp>
#include <redco/options/detail/option_value.hpp>
#include <redco/options/value_text.hpp>

#include <redco/shape/blocks.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco::options::detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept readable_number = std::is_arithmetic_v<T> && requires(char const* text, T& out) {
  std::from_chars(text, text, out);
};

/// Concept of a type whose value is one word of the command line: a bool, number, string, path,
/// mesh, set of blocks to recompute, or an enumeration with `choices`.
template <class T>
concept readable_word = std::is_same_v<T, bool> || readable_number<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, std::filesystem::path> || std::is_same_v<T, mesh> || std::is_same_v<T, recomputed_blocks> ||
    choice<T>;

template <class T>
inline constexpr bool is_optional_word = false;
template <readable_word T>
inline constexpr bool is_optional_word<std::optional<T>> = true;

/// Concept of a type that an option's member may have: one whose value is one word, a std::optional
/// of it, or a list of strings.
template <class T>
concept optionable = readable_word<T> || is_optional_word<T> || std::is_same_v<T, list>;

/// Returns the kind of an option's value that the help text shows, such as INTEGER or PATH.
template <optionable T>
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
    return "DPxTP";
  } else if constexpr (std::is_same_v<T, recomputed_blocks>) {
    return "all|every:K|first:N|range:B:E";
  } else {
    std::string names;
    for (T const value : choices<T>) names.append(names.empty() ? "" : "|").append(name_of(value));
    return names;
  }
}

/// An exception with the reason why a value does not fit an option's type. The caller puts the
/// quoted value before what(), so that both form one sentence.
struct unfit_value : error {
  explicit unfit_value(std::string const& reason) : error(exit_code::usage, reason) {}
};

/// Converts `text` to a number in `out`. Throws `unfit_value` if `text` is not a number in the
/// range of T.
template <class T>
void read_number(std::string_view text, T& out) {
  T value{};
  auto const [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = failure == std::errc{} && rest == text.data() + text.size();
  if constexpr (std::floating_point<T>) whole = whole && std::isfinite(value);
  if (whole) {
    out = value;
  } else if constexpr (std::integral<T>) {
    throw unfit_value("is not an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                      std::to_string(std::numeric_limits<T>::max()));
  } else {
    throw unfit_value("is not a finite number");
  }
}

template <class T>
void read_text(std::string_view text, T& out) {
  if constexpr (is_optional<T>) {
    typename T::value_type value{};
    read_text(text, value);
    out = std::move(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") throw unfit_value("is neither true nor false");
    out = text == "true";
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(text, out);
  } else if constexpr (std::is_same_v<T, mesh>) {
    out = parse_mesh(text);
  } else if constexpr (std::is_same_v<T, recomputed_blocks>) {
    out = parse_recomputed_blocks(text);
  } else if constexpr (choice<T>) {
    for (T const value : choices<T>) {
      if (name_of(value) == text) {
        out = value;
        return;
      }
    }
    throw unfit_value("is not one of " + kind_of<T>());
  } else {
    out = T(text);
  }
}

template <class T>
void read_value(option_value const& value, T& out) {
  auto const* const text = std::get_if<std::string>(&value);
  if constexpr (is_optional<T>) {
    if (std::holds_alternative<std::monostate>(value)) {
      out.reset();
    } else {
      typename T::value_type inner{};
      read_value(value, inner);
      out = std::move(inner);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!std::holds_alternative<bool>(value)) throw unfit_value("is neither true nor false");
    out = std::get<bool>(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    auto const* const whole = std::get_if<std::int64_t>(&value);
    auto const* const positive = std::get_if<std::uint64_t>(&value);
    auto const* const number = std::floating_point<T> ? std::get_if<double>(&value) : nullptr;
    if (number != nullptr) {
      out = static_cast<T>(*number);
    } else if (whole != nullptr || positive != nullptr) {
      // read_number checks the range
      read_number(whole != nullptr ? std::to_string(*whole) : std::to_string(*positive), out);
    } else {
      throw unfit_value(std::integral<T> ? "is not an integer" : "is not a number");
    }
  } else if constexpr (std::is_same_v<T, list>) {
    if (!std::holds_alternative<list>(value)) throw unfit_value("is not a list of strings");
    out = std::get<list>(value);
  } else if constexpr (std::is_same_v<T, recomputed_blocks>) {
    if (auto const* const all = std::get_if<bool>(&value)) {
      out = *all;
    } else {
      if (text == nullptr) throw unfit_value("is neither a string nor true or false");
      read_text(*text, out);
    }
  } else {
    if (text == nullptr) throw unfit_value("is not a string");
    read_text(*text, out);
  }
}

template <class T>
option_value write_value(T const& value) {
  if constexpr (is_optional<T>) {
    return value.has_value() ? write_value(*value) : option_value();
  } else if constexpr (std::is_same_v<T, mesh>) {
    return to_text(value);
  } else if constexpr (std::is_same_v<T, recomputed_blocks>) {
    if (value == recomputed_blocks(value.any())) return value.any();  // all blocks or no blocks
    return to_text(value);
  } else if constexpr (choice<T>) {
    return std::string(name_of(value));
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return value.string();
  } else if constexpr (std::is_same_v<T, bool> || !std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::int64_t>(value);
  }
}

}  // namespace redco::options::detail
