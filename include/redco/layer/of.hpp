#pragma once

#include <functional>
#include <type_traits>

namespace redco {

/// The value of the extent `Extent` under `config`: a literal stands for itself, a member pointer or a captureless callable
/// is applied to the config. This is how one model type serves every size.
template <auto Extent, class Config>
constexpr auto of(Config const& config) {
  if constexpr (std::is_invocable_v<decltype(Extent), Config const&>) {
    return std::invoke(Extent, config);
  } else {
    return Extent;
  }
}

}  // namespace redco
