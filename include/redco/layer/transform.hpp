#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/path.hpp>

#include <type_traits>

namespace redco {

namespace detail {

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

}  // namespace detail

/// The layer tree `Net` rewritten. `Rewrite::at<L, Here>::type` is what stands in the place of layer L, whose path is `Here`
/// ("h.*.mlp.up"; a layer without a name has its place in a sequence, and "*" stands for the number of a repeated block): L
/// itself to rewrite its parts in turn, or another layer, which is taken as it is. `transform_blocks` rewrites blocks by number.
/// Errors: redco[L007] where a layer does not declare what it is made of.
template <layer Net, class Rewrite>
using transform = typename detail::transformed_tree<Net, Rewrite>::type;

}  // namespace redco
