#pragma once

#include <redco/layer/layer.hpp>
#include <redco/fact/path.hpp>
#include <redco/meta/fixed_string.hpp>

#include <type_traits>

namespace redco::layers {

/// A declaration of one inner layer, with the component that it adds to the path of parameters: a
/// name, "*" for repeated blocks, or "" for none.
template <meta::fixed_string Name, layer Layer>
struct part {
  using layer = Layer;

  static constexpr fact::path under(fact::path here) {
    here.push(Name.view());
    return here;
  }
};

/// A list of the inner layers of a layer type. Every layer made of other layers declares it, so
/// that `transform` and `any_layer` can walk its tree (after PEGTL's `subs_t` and `rebind`):
///   using subs = parts<part<"", Body>>;               inner layers, in the order of parameters
///   template <class Other> using rebind = my<Other>;  this layer, with other inner layers
template <class... Parts>
struct parts {};

}  // namespace redco::layers

namespace redco::layers::detail {

template <class L>
inline constexpr bool is_leaf = std::is_base_of_v<leaf_tag, typename L::layer_concept>;

template <class L>
struct declared_parts {
  using type = parts<>;
};
template <class L>
  requires requires { typename L::subs; }
struct declared_parts<L> {
  using type = typename L::subs;
};
template <class L>
using parts_of = typename declared_parts<L>::type;

/// True if `L::rebind` applied to L's own inner layers gives L again. A layer for which this is
/// false is not declared correctly.
template <class L, class Parts>
inline constexpr bool rebinds = false;
template <class L, class... Parts>
  requires requires { typename L::template rebind<typename Parts::layer...>; }
inline constexpr bool rebinds<L, parts<Parts...>> =
    std::is_same_v<typename L::template rebind<typename Parts::layer...>, L>;

/// A check that every layer in the tree of L is a leaf or declares its inner layers with `subs` and
/// `rebind`. Usage: `sizeof(declared_tree<Net>) > 0`. Compile error: redco[L007].
template <class L, class Parts = parts_of<L>>
struct declared_tree;
template <class L, class... Parts>
struct declared_tree<L, parts<Parts...>> {
  static_assert(
      is_leaf<L> || rebinds<L, parts<Parts...>>,
      "redco[L007]: a layer does not declare what it is made of; give it subs and rebind, or redco::layers::leaf_tag as "
      "its layer_concept where it is made of no other layers");
  static_assert(((sizeof(declared_tree<typename Parts::layer>) > 0) && ...));
};

template <class Question, fact::path Here, class... Parts>
constexpr bool any_of(parts<Parts...>);

template <layer L, class Question, fact::path Here>
constexpr bool any_within() {
  return Question::template holds<L, Here> || any_of<Question, Here>(parts_of<L>());
}

template <class Question, fact::path Here, class... Parts>
constexpr bool any_of(parts<Parts...>) {
  return (any_within<typename Parts::layer, Question, Parts::under(Here)>() || ...);
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// True if `Question::holds<L, Here>` is true for `Net` or for any layer L inside it. `Here` is the
/// path of L, a template argument such as "h.*.mlp".
template <layer Net, class Question>
inline constexpr bool any_layer = detail::any_within<Net, Question, fact::path{}>();

}  // namespace redco::layers

namespace redco::layers::detail {

struct mixes_tokens {
  template <layer L, fact::path>
  static constexpr bool holds = is_leaf<L> && !is_by_token<L>;
};

}  // namespace redco::layers::detail

namespace redco::layers {

/// True if the ranks along the mesh axis cp can compute parts of the same sequences in `Net`: all
/// its leaves are by token (is_by_token).
template <layer Net>
inline constexpr bool divides_sequences = !any_layer<Net, detail::mixes_tokens>;

}  // namespace redco::layers

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
