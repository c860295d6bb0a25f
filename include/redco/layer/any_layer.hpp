#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/path.hpp>

namespace redco::layers::detail {

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
