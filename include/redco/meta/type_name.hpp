#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

namespace detail {

template <class T>
consteval auto written_type() {
  return std::string_view(__PRETTY_FUNCTION__);
}

}  // namespace detail

/// Returns the name of a type as the compiler writes it, with namespaces: "redco::llama". For
/// classes and enumerations, whose names g++ and clang write equally.
template <class T>
consteval std::string_view type_name() {
  std::string_view const known = "char", text = detail::written_type<T>(), sample = detail::written_type<char>();
  std::size_t const before = sample.rfind(known), behind = sample.size() - before - known.size();
  return text.substr(before, text.size() - before - behind);
}

}  // namespace redco::meta
