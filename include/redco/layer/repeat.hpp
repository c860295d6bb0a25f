#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

namespace detail {

template <class X, class Y>
struct repeat_out {
  using type = finished_t<X>;
  static_assert(std::is_same_v<X, finished_t<Y, finished_t<X>>>,
                "redco[S007]: the block of a repeat changes the layout; end it in the layout in which it begins");
};

}  // namespace detail

/// `Times` equal blocks one after another, each with its own parameters "<index>.<name>". Planned, instantiated and
/// compiled once.
template <auto Times, layer Block>
struct repeat {
  using layer_concept = layer_tag;
  using subs = parts<part<"*", Block>>;
  template <class Other>
  using rebind = repeat<Times, Other>;
  static constexpr bool unnamed = is_unnamed<Block>;

  using body = unpaired_t<Block>;

  template <class X>
  using out = typename detail::repeat_out<X, out_t<body, X>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const times = w.size("blocks", of<Times>(config));
    if (times != of<Times>(config)) return;  // what a block derives from their number may be no size
    w.repeated(times, [&] {
      flow const input = w.activation;
      body::template facts<X>(config, w);
      detail::finish_facts<out_t<body, X>, X>(w);
      w.expect_like(input);
    });
  }
};

}  // namespace redco
