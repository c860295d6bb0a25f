#pragma once

#include <type_traits>

namespace redco {

/// The value of the extent `Extent` under `config`: a literal stands for itself, a member pointer or a captureless callable
/// is applied to the config. This is how one model type serves every size.
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
