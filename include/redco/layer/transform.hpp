#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/path.hpp>

#include <type_traits>

namespace redco::layers::detail {

template <layer L, class Rewrite, fact::path Here>
struct transformed {
  using chosen = typename Rewrite::template at<L, Here>::type;

  template <class... Parts>
  static constexpr auto made_of(parts<Parts...>) {
    if constexpr (!std::is_same_v<chosen, L> || sizeof...(Parts) == 0) {
      return std::type_identity<chosen>();
    } else {
      return std::type_identity<typename L::template rebind<
          typename transformed<typename Parts::layer, Rewrite, Parts::under(Here)>::type...>>();
    }
  }
  using type = typename decltype(made_of(parts_of<L>()))::type;
};

template <layer Net, class Rewrite>
struct transformed_tree {
  using type = typename transformed<Net, Rewrite, fact::path{}>::type;
  static_assert(sizeof(declared_tree<Net>) > 0);
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// Result of rewriting the layer tree `Net` with a user's type `Rewrite`. For each layer L at path
/// `Here` (such as "h.*.mlp.up"), `Rewrite::at<L, Here>::type` is L's replacement. If it is L
/// itself, L's inner layers are rewritten next; another type is used unchanged. In paths, "*" is
/// the index of a repeated block. Compile error: redco[L007] if a layer does not declare its inner
/// layers.
template <layer Net, class Rewrite>
using transform = typename detail::transformed_tree<Net, Rewrite>::type;

}  // namespace redco::layers
