// Size mistakes that the facts of a model's layers find: none in the families, and the first
// mistake of other models.
#include <redco/shard/facts.hpp>
#include <redco/shard/literal_sizes.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/model.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/pools.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <string_view>

using namespace redco;

template <class M>
inline constexpr M made{};
template <class M>
constexpr bool sound() {
  return !redco::shard::constant_facts_of<made<M>>.mistake &&
         !redco::shard::constant_facts_of<made<redco::models::sequence_parallel<M>>>.mistake;
}
static_assert(sound<gpt2>() && sound<gpt_neo>() && sound<llama>() && sound<gptj>() && sound<opt>());
static_assert(sound<redco::models::olmo2>() && sound<redco::models::gpt_neox>());
static_assert(sound<redco::models::opt_post_norm>() && sound<bart>() && sound<t5>() &&
              sound<redco::models::t5_gated>() && sound<bert>() && sound<roberta>() && sound<vit>() &&
              sound<redco::models::vision_encoder_decoder>());

/// Returns true if the first mistake of a net over `Input` is this one, between these layers.
template <class Net, class Input = void>
constexpr bool finds(fact::mistake kind, std::int64_t found, std::string_view producer, std::int64_t wanted,
                     std::string_view reader, std::string_view of = "features") {
  fact::mistake_fact const m = redco::shard::constant_facts_of<made<model_of<Net, Input>>>.mistake;
  return m.kind == kind && m.found == found && m.wanted == wanted && m.producer.view() == producer &&
         m.reader.view() == reader && m.of.view() == of;
}
template <class Net, class Input = void>
constexpr bool fine() {
  return !redco::shard::constant_facts_of<made<model_of<Net, Input>>>.mistake;
}

using fact::mistake::depth;
using fact::mistake::divisor;
using fact::mistake::rank;
using fact::mistake::size;
using fact::mistake::width;
template <redco::meta::fixed_string Name, class L>
using n = named<Name, L>;
template <std::int64_t Width>
using pair = sequential<n<"up", linear<12, 40>>, gelu, n<"down", linear<40, Width>>>;

// Layers in sequence: replicated, column then row, after features, norms, gates, projections and
// heads.
static_assert(finds<sequential<linear<256, 128>, relu, linear<64, 4>>>(width, 128, "0", 64, "2"));
static_assert(finds<sequential<linear<256, 128>, relu, dropout<redco::layers::real{0.1}>,
                               redco::layers::replicated_linear<64, 4>>>(width, 128, "0", 64, "3"));
static_assert(finds<sequential<n<"a", linear<5, 12>>, n<"b", layer_norm<11>>>>(width, 12, "a", 11, "b"));
static_assert(finds<sequential<n<"a", linear<5, 12>>, n<"b", gated<11, 7>>>>(width, 12, "a", 11, "b"));
static_assert(finds<sequential<n<"g", gated<5, 12>>, n<"b", linear<11, 7>>>>(width, 12, "g", 11, "b"));
static_assert(finds<sequential<n<"a", linear<5, 12>>, n<"p", redco::layers::projection<11, 11>>>>(width, 12, "a", 11,
                                                                                                  "p"));
static_assert(finds<sequential<n<"a", linear<5, 12>>, n<"p", redco::layers::projection<11, 12>>>>(width, 12, "a", 11,
                                                                                                  "p"));
static_assert(finds<sequential<n<"e", embedding<9, 12>>, n<"head", redco::layers::language_head<9, 11>>>>(width, 12,
                                                                                                          "e", 11,
                                                                                                          "head"));
static_assert(finds<sequential<n<"e", embedding<9, 12>>, n<"attn", causal_attention<11, 1>>>>(width, 12, "e", 11,
                                                                                              "attn"));
static_assert(fine<sequential<n<"e", embedding<9, 12>>, n<"attn", causal_attention<12, 4>>,
                              n<"head", redco::layers::language_head<9, 12>>>>());

// Branches, blocks and sums.
static_assert(fine<sequential<n<"in", linear<7, 12>>, residual<pair<12>>, n<"h", repeat<3, residual<pair<12>>>>>>());
static_assert(finds<sequential<n<"in", linear<7, 12>>, residual<pair<10>>>>(width, 10, "down", 12, "in"));
static_assert(finds<sequential<n<"in", linear<7, 12>>, n<"h", repeat<3, pair<10>>>>>(width, 10, "h.*.down", 12, "in"));
static_assert(finds<sequential<n<"in", linear<7, 12>>, n<"h", repeat<3, residual<n<"mlp", pair<10>>>>>>>(width, 10,
                                                                                                         "h.*.mlp.down",
                                                                                                         12, "in"));
static_assert(finds<sum<n<"wte", embedding<9, 12>>, n<"wpe", positions<6, 11>>>>(width, 11, "wpe", 12, "wte"));
static_assert(finds<sequential<n<"in", linear<7, 12>>, sum<n<"a", pair<12>>, n<"b", pair<9>>>>>(width, 9, "b.down", 12,
                                                                                                "a.down"));
static_assert(finds<sequential<redco::layers::split_tokens, n<"up", linear<12, 40>>, gelu, n<"down", linear<41, 12>>>,
                    input<5, 12>>(width, 40, "up", 41, "down"));

// Cross-attention reads the states of the encoder.
template <std::int64_t Width>
using translator =
    redco::layers::encoder_decoder<sequential<n<"e", embedding<9, Width>>>,
                                   sequential<n<"e", embedding<9, 12>>, residual<n<"x", cross_attention<12, 3>>>>>;
static_assert(fine<translator<12>>());
static_assert(finds<translator<10>>(width, 10, "encoder.e", 12, "decoder.x"));

// Images: channels, and the features of a flattened image.
template <std::int64_t Channels, std::int64_t Features>
using images = sequential<n<"c", conv2d<1, 8, 3>>, relu, max_pool<2>, n<"d", conv2d<Channels, 6, 3>>, flatten,
                          n<"out", linear<Features, 10>>>;
static_assert(fine<images<8, 6 * 11 * 11>, input<1, 28, 28>>());
static_assert(finds<images<7, 6 * 11 * 11>, input<1, 28, 28>>(width, 8, "c", 7, "d", "channels"));
static_assert(finds<images<8, 6 * 12 * 12>, input<1, 28, 28>>(width, 726, "d", 864, "out"));
static_assert(finds<images<8, 6 * 11 * 11>, input<3, 28, 28>>(width, 3, "", 1, "c", "channels"));
static_assert(finds<images<8, 6 * 11 * 11>>(rank, 2, "", 4, "c", ""));
static_assert(finds<sequential<n<"a", linear<7, 12>>, n<"c", conv2d<12, 8, 3>>>>(rank, 2, "a", 4, "c", ""));

// An input that is not stated consists of ids, or of one row of features with the size that the
// first layer reads.
static_assert(fine<linear<7, 3>>() && fine<sequential<flatten, linear<7, 3>>>() &&
              fine<residual<full_attention<12, 4>>>());
static_assert(finds<sequential<n<"n", layer_norm<12>>, n<"attn", full_attention<12, 4>>>>(rank, 2, "", 3, "attn", ""));
static_assert(fine<sequential<n<"n", layer_norm<12>>, n<"attn", full_attention<12, 4>>>, input<5, 12>>());
static_assert(finds<n<"a", linear<7, 3>>, input<8>>(width, 8, "", 7, "a"));
static_assert(finds<n<"e", embedding<9, 12>>, input<5, 12>>(rank, 3, "", 2, "e", ""));

// A mistake that depends on the workload is not a mistake of the model. It is reported for a
// workload (tests/shard/sizes.test.cpp).
static_assert(fine<sequential<relu, linear<7, 3>>>());

// Sizes that are zero or negative.
static_assert(finds<n<"a", linear<7, 0>>>(size, 0, "", 1, "a"));
static_assert(finds<n<"a", linear<-1, 3>>>(size, -1, "", 1, "a", "features to read"));
static_assert(finds<n<"a", full_attention<12, 0>>>(size, 0, "", 1, "a", "heads"));
static_assert(finds<n<"a", full_attention<12, 4, key_value_heads<-1>>>>(size, -1, "", 1, "a", "key-value heads"));

// Sizes that are not a multiple of another size: heads, key-value heads, groups, pairs of rotary
// features, patches.
template <class Net, class Input = void>
constexpr bool leaves(std::int64_t found, std::string_view of, std::int64_t by_extent, std::string_view by,
                      std::string_view reader = "a") {
  return finds<Net, Input>(divisor, found, "", by_extent, reader, of) &&
         redco::shard::constant_facts_of<made<model_of<Net, Input>>>.mistake.by.view() == by;
}
static_assert(leaves<n<"a", full_attention<64, 6>>>(64, "features", 6, "heads"));
static_assert(leaves<n<"a", causal_attention<3, 4>>>(3, "features", 4, "heads"));
static_assert(fine<n<"a", full_attention<64, 6, redco::layers::head_dim<10>>>>() &&
              fine<n<"a", full_attention<64, 6, redco::layers::head_dim<12>>>>());
static_assert(leaves<n<"a", full_attention<64, 6, redco::layers::head_dim<0>>>>(64, "features", 6, "heads"));
static_assert(leaves<n<"a", causal_attention<24, 6, key_value_heads<4>>>>(6, "heads", 4, "key-value heads"));
static_assert(fine<n<"a", causal_attention<24, 6, key_value_heads<3>>>>());
static_assert(leaves<n<"a", causal_attention<20, 4, redco::layers::rotary<>>>>(5, "rotary features of a head", 2,
                                                                               "features of a pair"));
static_assert(leaves<n<"a", causal_attention<24, 4, redco::layers::rotary<redco::layers::real{10000}, 3>>>>(
    3, "rotary features of a head", 2, "features of a pair"));
static_assert(fine<n<"a", causal_attention<24, 4, redco::layers::rotary<redco::layers::real{10000}, 4>>>>());
static_assert(leaves<n<"a", group_norm<4, 6>>, input<6, 5, 5>>(6, "channels", 4, "groups"));
static_assert(fine<n<"a", group_norm<3, 6>>, input<6, 5, 5>>());
static_assert(finds<n<"a", group_norm<0, 6>>, input<6, 5, 5>>(size, 0, "", 1, "a", "groups"));
static_assert(leaves<n<"a", patch_embedding<3, 4, 7>>, input<3, 8, 10>>(10, "columns of pixels", 4,
                                                                        "pixels of a patch"));
static_assert(leaves<n<"a", patch_embedding<3, 4, 7>>, input<3, 9, 8>>(9, "rows of pixels", 4, "pixels of a patch"));
static_assert(fine<n<"a", patch_embedding<3, 4, 7>>, input<3, 8, 12>>());

// Images that are smaller than the window of their layer.
static_assert(finds<n<"a", conv2d<3, 4, 5>>, input<3, 4, 9>>(size, -1, "", 1, "a", "rows of its output"));
static_assert(finds<n<"a", conv2d<3, 4, 5, 2, 1>>, input<3, 9, 2>>(size, -1, "", 1, "a", "columns of its output"));
static_assert(fine<n<"a", conv2d<3, 4, 5, 2, 1>>, input<3, 3, 3>>());
static_assert(finds<n<"a", max_pool<3>>, input<3, 2, 9>>(size, 0, "", 1, "a", "rows of its output"));
static_assert(finds<n<"a", average_pool<3>>, input<3, 9, 2>>(size, 0, "", 1, "a", "columns of its output"));
static_assert(finds<n<"a", conv_transpose2d<3, 4, 1, 1, 2>>, input<3, 4, 9>>(size, 0, "", 1, "a",
                                                                             "rows of its output"));

// Paths of up to 80 characters are accepted, longer ones are refused. More than six repeats around
// a layer are refused too.
#define TEN "abcdefghij"
template <class Net>
constexpr bool too_deep(std::int64_t found, std::string_view of) {
  fact::mistake_fact const m = redco::shard::constant_facts_of<made<model_of<Net>>>.mistake;
  return m.kind == depth && m.found == found && m.of.view() == of;
}
using short_name = n<TEN TEN TEN TEN TEN TEN TEN "abc", linear<7, 3>>;  // 73, and ".weight"
using long_name = n<TEN TEN TEN TEN TEN TEN TEN "abcd", linear<7, 3>>;  // 74
using longer = n<TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN, linear<7, 3>>;
static_assert(fine<short_name>() && too_deep<long_name>(81, "characters in the path of a layer"));
static_assert(too_deep<longer>(200, "characters in the path of a layer"));
static_assert(too_deep<n<TEN TEN TEN TEN TEN, n<TEN TEN TEN TEN, relu>>>(91, "characters in the path of a layer"));
template <int Times>
struct nested {
  using type = repeat<2, typename nested<Times - 1>::type>;
};
template <>
struct nested<0> {
  using type = linear<7, 7>;
};
static_assert(fine<nested<6>::type>() && too_deep<nested<7>::type>(7, "repeats around a layer"));
static_assert(finds<n<"h", repeat<0, residual<pair<12>>>>>(size, 0, "", 1, "h", "blocks"));

// Networks whose sizes are all literals are checked at compile time, all others at run time.
static_assert(redco::shard::literally_sized<model_of<pair<12>>> &&
              redco::shard::literally_sized<model_of<pair<12>, input<5, 12>>>);
static_assert(redco::shard::literally_sized<model_of<full_attention<64, 6>>> && !redco::shard::literally_sized<gpt2>);
struct counted {
  using net = pair<12>;
  no_config config;
  std::int64_t rows = 3;
  constexpr extents input(workload const& load) const { return {load.batch, rows, 12}; }
};
static_assert(!redco::shard::literally_sized<counted>);
