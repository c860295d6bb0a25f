#pragma once

#include <type_traits>

namespace redco::layers {

/// Returns the value of a template argument `Extent` of a layer for a model's config. A literal is
/// its own value. A member pointer or a captureless callable is applied to `config`, so that one
/// layer type serves every size.
template <auto Extent, class Config>
constexpr auto of(Config const& config) {
  using extent = decltype(Extent);
  if constexpr (!std::is_invocable_v<extent, Config const&>) {
    return Extent;
  } else if constexpr (std::is_member_object_pointer_v<extent>) {
    return config.*Extent;
  } else if constexpr (std::is_member_function_pointer_v<extent>) {
    return (config.*Extent)();
  } else {
    return Extent(config);
  }
}

}  // namespace redco::layers
