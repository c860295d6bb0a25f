#pragma once

#include <type_traits>

namespace redco {

/// Returns the value of the extent `Extent` under `config`. A literal is its own value. A member
/// pointer or a captureless callable is applied to the config, so that one model type serves every
/// size.
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

}  // namespace redco
