#pragma once

namespace redco {

/// Whether a description decays norms and biases too; a description that does not say so does not.
template <class Description>
constexpr bool decay_all(Description const& description) {
  if constexpr (requires { bool(description.decay_all); }) return description.decay_all;
  else return false;
}

}  // namespace redco
