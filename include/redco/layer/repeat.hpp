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

/// A stack of `Times` blocks, each with its own parameters "<index>.<name>". Several block types
/// alternate: block i has type i mod n of n types, and the last cycle may be incomplete. Each block
/// type is planned, instantiated and compiled once.
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
    // Sizes that a block derives from the number of blocks may be invalid.
    if (times != of<Times>(config)) return;
    fact::block_slice slice{times, 0, sizeof...(Blocks)};
    fact::flow last;
    (slice_facts<X, unpaired_t<Blocks>>(config, w, slice, last), ...);
    w.activation = last;
  }

 private:
  /// Declares to the recorder `w` the parameters, saved tensors and messages of all blocks of type
  /// `Block`, if there are any. Stores the output of the last block of the whole stack in `last`.
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
