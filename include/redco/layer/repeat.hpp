#pragma once

#include <redco/layer/blocks_in.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

/// A stack of `Times` blocks, each with its own parameters "<index>.<name>". Several block types
/// alternate: block i has type i mod n of n types, and the last cycle may be incomplete. Each block
/// type is planned, instantiated and compiled once. `transform_blocks` rewrites blocks by index.
template <auto Times, layer... Blocks>
  requires(sizeof...(Blocks) > 0)
struct repeat {
  using layer_concept = layers::layer_tag;
  using subs = layers::parts<layers::detail::part_of_repeat<Blocks>...>;
  template <class... Others>
  using rebind = repeat<Times, Others...>;
  static constexpr bool unnamed = (layers::is_unnamed<Blocks> || ...);

  template <class X>
  using out = typename layers::detail::repeat_out<X, layers::out_t<layers::unpaired_t<Blocks>, X>...>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const times = w.size("blocks", layers::of<Times>(config));
    // Sizes that a block derives from the number of blocks may be invalid.
    if (times != layers::of<Times>(config)) return;
    rows_facts<X>(config, w, times, layers::detail::rows_of<Blocks...>());
  }

 private:
  template <class X, class... Rows, class Config>
  static constexpr void rows_facts(Config const& config, fact::recorder& w, std::int64_t times,
                                   layers::detail::rows<Rows...>) {
    std::int64_t last = 0;
    ((last = Rows::begin), ...);
    if (w.size("blocks", times, last, fact::mistake::blocks) == times)
      (Rows::template row_facts<X>(config, w, times), ...);
  }
};

}  // namespace redco

namespace redco::layers::detail {

template <class L>
inline constexpr bool is_repeat = false;
template <auto Times, class... Blocks>
inline constexpr bool is_repeat<repeat<Times, Blocks...>> = true;

}  // namespace redco::layers::detail
