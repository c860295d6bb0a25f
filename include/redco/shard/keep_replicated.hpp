#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/path.hpp>

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/glob.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace redco::shard::detail {

/// Returns true if `pattern` matches the path `here` of a layer, or the path of an enclosing layer.
constexpr bool matches_around(std::string_view pattern, std::string_view here) {
  for (std::size_t end = 0; end < here.size(); ++end)
    if ((end == 0 || here[end] == '.') && meta::glob(pattern, here.substr(0, end))) return true;
  return meta::glob(pattern, here);
}

template <class L>
inline constexpr bool is_overridable = requires {
  typename L::overridden;
};

/// A rewrite for transform<>: replaces a layer by its replicated form if `Pattern` matches the path
/// of the layer or of an enclosing layer.
template <meta::fixed_string Pattern>
struct overrides {
  template <class L, fact::path Here>
  static constexpr bool holds = is_overridable<L>&& matches_around(Pattern.view(), Here.view());

  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <class L, fact::path Here>
    requires holds<L, Here>
  struct at<L, Here> : std::type_identity<typename L::overridden> {
  };
};

/// Checks that `Pattern` matches at least one layer of `Net` that can be replicated. It is a
/// function, because clang drops a name that is declared by a class whose static_assert fails.
template <layer Net, meta::fixed_string Pattern>
consteval bool check_override() {
  static_assert(layers::any_layer<Net, overrides<Pattern>>,
                "redco[S009]: an override matches nothing; name a linear or gated layer that the model has");
  return true;
}

}  // namespace redco::shard::detail

namespace redco::shard {

/// Layer type `Net` in which all linear and gated layers under paths that match `Pattern` are
/// replicated on every rank instead of split. In patterns, `*` matches any text and `?` one
/// character.
///
/// using net = redco::shard::keep_replicated<gpt2::net, "h.*.mlp">;
///
/// The plan shows the override as the reason. Compile error: redco[S009] if no layer matches.
template <layer Net, meta::fixed_string Pattern>
using keep_replicated =
    std::conditional_t<detail::check_override<Net, Pattern>(), layers::transform<Net, detail::overrides<Pattern>>, Net>;

}  // namespace redco::shard
