#pragma once

namespace redco {

/// The global gradient norm above which a description scales gradients down; 0: never, and where it names none.
template <class Description>
constexpr double clip_norm(Description const& description) {
  if constexpr (requires { double(description.clip_norm); }) return description.clip_norm;
  else return 0;
}

}  // namespace redco
