// Rewrites a layer tree by path, inside every combinator and inside a user's own combinators.
#include <redco/shard/keep_replicated.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/model.hpp>
#include <redco/model/t5.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/with_distance_bias.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/meta/glob.hpp>

#include <stdexcept>
#include <string_view>
#include <type_traits>

using namespace redco;

// Combinators of a user: one layer under a name, and two nested layers.
template <layer Body>
struct marked {
  using layer_concept = redco::layers::layer_tag;
  using subs = redco::layers::parts<redco::layers::part<"marked", Body>>;
  template <class Other>
  using rebind = marked<Other>;
  static constexpr bool closes_split = redco::layers::closes_split<Body>;
  static constexpr bool enters = redco::layers::enters<Body>;

  template <class X>
  using out = redco::layers::out_t<Body, X>;
  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    w.inside("marked", [&] { Body::template facts<X>(config, w); });
  }
};
template <class Inner, class Outer>
struct around {
  using layer_concept = redco::layers::layer_tag;
  using subs = redco::layers::parts<redco::layers::part<"in", Inner>, redco::layers::part<"out", Outer>>;
  template <class OtherInner, class OtherOuter>
  using rebind = around<OtherInner, OtherOuter>;
};

template <redco::meta::fixed_string Pattern>
struct mark_linears {
  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <auto In, auto Out, auto Bias, redco::layers::cut Cut, fact::path Here>
    requires(meta::glob(Pattern.view(), Here.view()))
  struct at<linear<In, Out, Bias, Cut>, Here> : std::type_identity<marked<linear<In, Out, Bias, Cut>>> {};
};
template <class Net, redco::meta::fixed_string Pattern>
using marking = redco::layers::transform<Net, mark_linears<Pattern>>;

using a = linear<8, 8>;
using b = linear<8, 8, false>;
using m = marked<a>;

// True if every combinator becomes the same combinator over other layers, and a pattern without a
// match leaves the type unchanged.
template <layer Net, redco::meta::fixed_string Path, layer Wanted>
constexpr bool gives = std::is_same_v<marking<Net, Path>, Wanted>&& std::is_same_v<marking<Net, "nowhere">, Net>;
static_assert(gives<a, "", m>);
static_assert(gives<named<"n", a>, "n", named<"n", m>>);
static_assert(gives<sequential<a, gelu, named<"x", a>, a>, "3", sequential<a, gelu, named<"x", a>, m>>);
static_assert(gives<sequential<a, gelu, named<"x", a>, a>, "x", sequential<a, gelu, named<"x", m>, a>>);
static_assert(gives<sum<a, b>, "0", sum<m, b>>);
static_assert(gives<residual<sequential<a, a>>, "1", residual<sequential<a, m>>>);
static_assert(gives<named<"h", repeat<3, residual<a>>>, "h.*", named<"h", repeat<3, residual<m>>>>);
static_assert(gives<redco::layers::initialised<redco::layers::real{0.5}, a>, "",
                    redco::layers::initialised<redco::layers::real{0.5}, m>>);
static_assert(gives<redco::layers::with_distance_bias<redco::layers::attention_kind::full, 2, 4, 8, a>, "",
                    redco::layers::with_distance_bias<redco::layers::attention_kind::full, 2, 4, 8, m>>);
static_assert(gives<redco::layers::encoder_decoder<a, sequential<a, a>>, "decoder.1",
                    redco::layers::encoder_decoder<a, sequential<a, m>>>);
static_assert(gives<around<a, repeat<2, a>>, "out.*", around<a, repeat<2, m>>>);
static_assert(gives<around<marked<sequential<a, a>>, b>, "in.marked.1", around<marked<sequential<a, m>>, b>>);

// Names and splits of a family's parameters are those of its tree.
struct marked_gpt2 : gpt2 {
  using net = marking<gpt2::net, "h.*.mlp.down">;
};
constexpr marked_gpt2 rewritten{{{.vocab = 11, .context = 8, .width = 12, .heads = 2, .layers = 3}}};
template <auto const& Model>
constexpr shard::entry at(std::string_view name) {
  for (shard::entry const& e : plan_of<Model>({.tp = 2}).entries)
    if (e.fact.name.view() == name) return e;
  throw std::out_of_range("no such parameter");
}
static_assert(at<rewritten>("h.*.mlp.down.marked.weight").fact.on(redco::shape::axis::tp).dim == 1);
static_assert(at<rewritten>("h.*.mlp.up.weight").fact.on(redco::shape::axis::tp).dim == 0);

// An override applies inside a user's wrapper, under its name.
struct overridden_gpt2 : gpt2 {
  using net = redco::shard::keep_replicated<marked_gpt2::net, "h.*.mlp">;
};
constexpr overridden_gpt2 overridden{{rewritten.config}};
static_assert(at<overridden>("h.*.mlp.down.marked.weight").fact.why == fact::reason::overridden);
static_assert(at<overridden>("h.*.mlp.up.weight").fact.why == fact::reason::overridden);

// A pattern matches a whole path, or the whole path of an enclosing layer.
static_assert(redco::layers::any_layer<gpt2::net, shard::detail::overrides<"h.*.mlp">> &&
              redco::layers::any_layer<gpt2::net, shard::detail::overrides<"h">>);
static_assert(!redco::layers::any_layer<gpt2::net, shard::detail::overrides<"h.*.ml">> &&
              !redco::layers::any_layer<gpt2::net, shard::detail::overrides<"mlp">>);

// any_layer asks its question for every layer.
struct under_marked {
  template <class L, fact::path Here>
  static constexpr bool holds = Here.view().ends_with("marked") && std::is_same_v<L, b>;
};
static_assert(redco::layers::any_layer<around<residual<marked<b>>, a>, under_marked> &&
              !redco::layers::any_layer<sequential<b, m>, under_marked>);
static_assert(redco::models::has_encoder<bart::net> && redco::models::has_encoder<redco::models::t5_gated::net> &&
              !redco::models::has_encoder<gpt2::net>);
static_assert(redco::models::has_encoder<marked<residual<redco::layers::encoder_decoder<a, a>>>>);
