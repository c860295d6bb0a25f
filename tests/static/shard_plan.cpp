// Plans of constexpr models: GPT-2 on every legal width, alternation of columns and rows, shared
// key-value heads, uneven vocabularies, overrides.
#include <redco/shard/keep_replicated.hpp>
#include <redco/shard/legal.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <stdexcept>
#include <string_view>

namespace {

using redco::shape::axis;

constexpr redco::gpt2 gpt2{{.vocab = 256, .context = 64, .width = 96, .heads = 6, .layers = 5}};

/// Returns the entry of `name` in the plan of a model on `shards` ranks.
template <auto const& Model>
constexpr redco::shard::entry at(std::string_view name, int shards) {
  auto const p = redco::plan_of<Model>({.tp = shards});
  for (redco::shard::entry const& e : p.entries)
    if (e.fact.name.view() == name) return e;
  throw std::out_of_range("no such parameter");
}

/// Returns true if the ranks' parts without padding, in order, make up the unsharded tensor.
/// Sharers must hold equal parts.
constexpr bool tiles(redco::shard::entry const& e) {
  int const shards = e.mesh.tp, sharers = e.sharers(axis::tp), dim = e.fact.on(axis::tp).dim;
  if (!e.is_split()) return e.local() == e.fact.shape && e.logical(shards - 1) == e.fact.shape;
  std::int64_t next = 0;
  for (int r = 0; r < shards; ++r) {
    if (r % sharers != 0) {
      if (e.offset(r) != e.offset(r - 1)) return false;
      continue;
    }
    redco::extents part = e.logical(r);
    std::int64_t const size = part[dim];
    if (size > 0 && e.offset(r)[dim] != next) return false;
    if (size > e.local()[dim]) return false;
    next += size;
    part[dim] = e.fact.shape[dim];
    if (part != e.fact.shape) return false;
  }
  return next == e.fact.shape[dim];
}

template <auto const& Model>
constexpr bool all_tile() {
  for (int shards = 1; shards <= 8; ++shards) {
    if (redco::shard::first_illegal(redco::shard::constant_facts_of<Model>.parameters, {.tp = shards}) <
        redco::shard::constant_facts_of<Model>.parameters.size())
      continue;
    for (redco::shard::entry const& e : redco::plan_of<Model>({.tp = shards}).entries)
      if (!tiles(e)) return false;
  }
  return true;
}

template <auto const& Model>
constexpr bool holds(int shards) {
  auto const& facts = redco::shard::constant_facts_of<Model>.parameters;
  return redco::shard::first_illegal(facts, {.tp = shards}) == facts.size();
}

// GPT-2 splits by whole heads, so the legal widths are the divisors of six.
static_assert(all_tile<gpt2>());
static_assert(holds<gpt2>(1) && holds<gpt2>(2) && holds<gpt2>(3) && holds<gpt2>(6));
static_assert(!holds<gpt2>(4) && !holds<gpt2>(5) && !holds<gpt2>(12));
static_assert(at<gpt2>("h.*.attn.q.weight", 3).local() == redco::extents{32, 96});
static_assert(at<gpt2>("h.*.attn.k.bias", 6).local() == redco::extents{16});
static_assert(at<gpt2>("h.*.attn.o.weight", 2).local() == redco::extents{96, 48});
static_assert(at<gpt2>("h.*.attn.o.bias", 2).local() == redco::extents{96});
static_assert(at<gpt2>("h.*.mlp.up.weight", 6).local() == redco::extents{64, 96});
static_assert(at<gpt2>("h.*.mlp.up.bias", 6).local() == redco::extents{64});
static_assert(at<gpt2>("h.*.mlp.down.weight", 3).local() == redco::extents{96, 128});
static_assert(at<gpt2>("h.*.mlp.down.bias", 3).fact.why == redco::fact::reason::row_bias);
static_assert(at<gpt2>("h.*.mlp.down.weight", 3).fact.copies() == 5);
static_assert(!at<gpt2>("ln_f.weight", 2).is_split() && !at<gpt2>("ln_f.weight", 2).fact.decay);

// A vocabulary of 256 on three ranks: 86 rows each, the last two of them padding.
static_assert(at<gpt2>("wte.weight", 3).local() == redco::extents{86, 96});
static_assert(at<gpt2>("wte.weight", 3).logical(2) == redco::extents{84, 96});
constexpr redco::model_of<redco::named<"e", redco::embedding<9, 4>>> tiny{};
static_assert(all_tile<tiny>());
// Five of eight ranks hold all rows
static_assert(at<tiny>("e.weight", 8).local() == redco::extents{2, 4});
static_assert(at<tiny>("e.weight", 8).logical(5) == redco::extents{0, 4});

// linear, relu, linear, relu, linear, norm: two column-parallel layers would leave the third
// without a partner.
using chain =
    redco::sequential<redco::named<"a", redco::linear<10, 12>>, redco::relu, redco::named<"b", redco::linear<12, 14>>,
                      redco::relu, redco::named<"c", redco::linear<14, 16>>, redco::named<"n", redco::layer_norm<16>>,
                      redco::named<"d", redco::linear<16, 4>>>;
constexpr redco::model_of<chain> alternating{};
static_assert(all_tile<alternating>());
static_assert(at<alternating>("a.weight", 2).fact.on(axis::tp).dim == 0 && at<alternating>("a.bias", 2).is_split());
static_assert(at<alternating>("b.weight", 2).fact.on(axis::tp).dim == 1 && !at<alternating>("b.bias", 2).is_split());
static_assert(at<alternating>("c.weight", 2).fact.why == redco::fact::reason::unpaired);
static_assert(at<alternating>("d.weight", 2).fact.why == redco::fact::reason::unpaired &&
              !at<alternating>("d.weight", 2).is_split());
// Units of the preceding column-parallel layer
static_assert(at<alternating>("b.weight", 3).local() == redco::extents{14, 4});
static_assert(!holds<alternating>(5));

// Gate and up are column-parallel; the next layer is their row-parallel partner.
using gated_net = redco::sequential<redco::named<"in", redco::gated<8, 12>>, redco::named<"out", redco::linear<12, 8>>>;
constexpr redco::model_of<gated_net> gated{};
static_assert(all_tile<gated>());
static_assert(at<gated>("in.gate.weight", 4).local() == redco::extents{3, 8});
static_assert(at<gated>("out.weight", 4).local() == redco::extents{8, 3});
constexpr redco::model_of<redco::sequential<redco::named<"in", redco::gated<8, 12>>>> gated_alone{};
static_assert(!at<gated_alone>("in.up.weight", 4).is_split());

// Two key-value heads for eight ranks: four neighbours share one.
constexpr redco::model_of<redco::residual<redco::causal_attention<64, 8, redco::key_value_heads<2>>>> grouped{};
static_assert(all_tile<grouped>());
static_assert(at<grouped>("k.weight", 8).sharers(axis::tp) == 4 &&
              at<grouped>("k.weight", 8).local() == redco::extents{8, 64});
static_assert(at<grouped>("v.weight", 8).offset(3) == redco::extents{0, 0} &&
              at<grouped>("v.weight", 8).offset(4) == redco::extents{8, 0});
static_assert(at<grouped>("v.weight", 2).sharers(axis::tp) == 1);
static_assert(redco::shard::legality_of(at<grouped>("k.weight", 1).fact, {.tp = 3}) ==
              redco::shard::legality::key_value_heads);

// An override replicates one pair and nothing else.
struct whole_mlp : redco::gpt2 {
  using net = redco::shard::keep_replicated<redco::gpt2::net, "h.*.mlp">;
};
constexpr whole_mlp overridden{{{.vocab = 256, .context = 64, .width = 96, .heads = 6, .layers = 5}}};
static_assert(at<overridden>("h.*.mlp.up.weight", 2).fact.why == redco::fact::reason::overridden);
static_assert(!at<overridden>("h.*.mlp.down.weight", 2).is_split());
static_assert(at<overridden>("h.*.attn.q.weight", 2).is_split());

// An override applies inside both halves of an encoder-decoder, under their names.
using half = redco::sequential<redco::named<"up", redco::linear<8, 12>>, redco::relu,
                               redco::named<"down", redco::linear<12, 8>>>;
using translator = redco::sequential<redco::named<"in", redco::linear<4, 8>>,
                                     redco::layers::encoder_decoder<half, redco::residual<half>>>;
constexpr redco::model_of<redco::shard::keep_replicated<translator, "decoder">> whole_decoder{};
static_assert(at<whole_decoder>("encoder.up.weight", 2).is_split() &&
              at<whole_decoder>("encoder.down.weight", 2).is_split());
static_assert(at<whole_decoder>("decoder.up.weight", 2).fact.why == redco::fact::reason::overridden);
static_assert(!at<whole_decoder>("decoder.down.weight", 2).is_split());
constexpr redco::model_of<redco::shard::keep_replicated<translator, "*coder.*">> whole_both{};
static_assert(!at<whole_both>("encoder.up.weight", 2).is_split() && !at<whole_both>("decoder.up.weight", 2).is_split());
static_assert(at<whole_both>("in.weight", 2).fact.why == redco::fact::reason::unpaired);

}  // namespace

int main() {}
