#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/block_slice.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/flow.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>
#include <type_traits>

namespace redco {

namespace detail {

template <class X, class... Ys>
struct repeat_out {
  using type = finished_t<X>;
  static_assert((std::is_same_v<X, finished_t<Ys, finished_t<X>>> && ...),
                "redco[S007]: the block of a repeat changes the layout; end it in the layout in which it begins");
};

}  // namespace detail

/// `Times` blocks one after another, each with its own parameters "<index>.<name>". They are equal, or take turns where several
/// are given: block i is the (i mod n)-th of n, and the last round may be cut short. Each kind of block is planned,
/// instantiated and compiled once.
template <auto Times, layer... Blocks>
  requires(sizeof...(Blocks) > 0)
struct repeat {
  using layer_concept = layer_tag;
  using subs = parts<part<"*", Blocks>...>;
  template <class... Others>
  using rebind = repeat<Times, Others...>;
  static constexpr bool unnamed = (is_unnamed<Blocks> || ...);

  template <class X>
  using out = typename detail::repeat_out<X, out_t<unpaired_t<Blocks>, X>...>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const times = w.size("blocks", of<Times>(config));
    if (times != of<Times>(config)) return;  // what a block derives from their number may be no size
    fact::block_slice slice{times, 0, sizeof...(Blocks)};
    fact::flow last;
    (slice_facts<X, unpaired_t<Blocks>>(config, w, slice, last), ...);
    w.activation = last;
  }

 private:
  /// The facts of the blocks of one kind, if the row has any; and the output of its last block, if it is among them.
  template <class X, class Block, class Config>
  static constexpr void slice_facts(Config const& config, fact::recorder& w, fact::block_slice& slice,
                                    fact::flow& last) {
    if (slice.first < slice.times)
      w.repeated(slice, [&] {
        fact::flow const input = w.activation;
        Block::template facts<X>(config, w);
        fact::detail::finish_facts<out_t<Block, X>, X>(w);
        w.expect_like(input);
      });
    if (slice.has(slice.times - 1)) last = w.activation;
    ++slice.first;
  }
};

}  // namespace redco
