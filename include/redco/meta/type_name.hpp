#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta::detail {

template <class T>
consteval auto written_type() {
  return std::string_view(__PRETTY_FUNCTION__);
}

}  // namespace redco::meta::detail

namespace redco::meta {

/// Returns the name of a class or enumeration with its namespaces, such as "redco::llama". Other
/// types are not supported, because g++ and clang write their names differently.
template <class T>
consteval std::string_view type_name() {
  std::string_view const known = "char", text = detail::written_type<T>(), sample = detail::written_type<char>();
  std::size_t const before = sample.rfind(known), after = sample.size() - before - known.size();
  return text.substr(before, text.size() - before - after);
}

}  // namespace redco::meta
