#include "catch.hpp"

#include <redco/shard/plan.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/model.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/pools.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

// Sizes that do not fit cause one message and exit code 64 before anything is divided by them.

namespace sizes_test {

using namespace redco;

template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (error const& e) {
    CHECK(e.code() == exit_code::usage);
    return e.what();
  }
  return "";
}
template <class M>
std::string refused_plan(M const& m) {
  return refusal([&] { plan_of(m, {.dp = 1}); });
}
template <class M>
std::string refused_facts(M const& m, workload const& load) {
  return refusal([&] { redco::shard::facts_of(m, load); });
}

struct widths {
  std::int64_t in = 20, up = 30, down = 30;
};
struct mlp {
  using net = sequential<named<"up", linear<&widths::in, &widths::up>>, relu, named<"down", linear<&widths::down, 3>>>;
  widths config;
};

TEST_CASE("neighbouring widths that differ are refused with both layers and both widths") {
  CHECK(refused_plan(mlp{}).empty());
  CHECK(refused_plan(mlp{{.down = 29}}) == "layer 'down' reads 29 features, layer 'up' gives 30; make the two equal");
  CHECK(refused_facts(mlp{{.down = 29}}, {3, 7}) == refused_plan(mlp{{.down = 29}}));
  using added = sequential<named<"in", linear<4, 6>>,
                           residual<sequential<named<"up", linear<6, 9>>, relu, named<"down", linear<9, 5>>>>>;
  CHECK(refused_plan(model_of<added>{}) ==
        "layer 'down' gives 5 features, to be added to or put in place of the 6 of layer 'in'; make the two equal");
}

using pictures =
    sequential<named<"c", conv2d<1, 8, 3>>, relu, max_pool<2>, flatten, named<"out", linear<8 * 13 * 13, 10>>>;
std::string const cure =
    "state the input: redco::model_of<net, redco::input<extents of one example>>, or a member input(workload)";

TEST_CASE("a layer that reads images refuses an undeclared input and says how to declare it") {
  CHECK(refused_plan(model_of<pictures, input<1, 28, 28>>{}).empty());
  CHECK(refused_plan(model_of<pictures>{}) ==
        "layer 'c' reads 4 dimensions [batch, channels, height, width], the model's input has 2; " + cure);
  CHECK(refused_plan(model_of<pictures, input<2, 28, 28>>{}) ==
        "layer 'c' reads 1 channels, the model's input gives 2; make the two equal, or " + cure);
}

TEST_CASE("a width that only the workload gives is checked with the workload") {
  model_of<sequential<relu, named<"out", linear<7, 3>>>> const m{};
  CHECK(refused_plan(m).empty());
  CHECK(refused_facts(m, {4, 7}).empty());
  CHECK(refused_facts(m, {4, 9}) ==
        "layer 'out' reads 7 features, the model's input gives 9; make the two equal, or " + cure);
}

struct heads_of {
  std::int64_t width = 24, heads = 4, kv = 2;
};
struct attending {
  using net = sequential<
      named<"in", linear<5, &heads_of::width>>, relu,
      residual<named<"attn", full_attention<&heads_of::width, &heads_of::heads, key_value_heads<&heads_of::kv>>>>>;
  heads_of config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, 5}; }
};

TEST_CASE("a size that is not a multiple of its divisor is refused with both numbers") {
  CHECK(refused_plan(attending{}).empty());
  CHECK(refused_plan(attending{{.width = 64, .heads = 6, .kv = 2}}) ==
        "layer 'attn' has 64 features, no multiple of its 6 heads; make it a multiple");
  CHECK(refused_facts(attending{{.width = 64, .heads = 6, .kv = 2}}, {2, 3}) ==
        refused_plan(attending{{.width = 64, .heads = 6, .kv = 2}}));
  CHECK(refused_plan(attending{{.width = 24, .heads = 6, .kv = 4}}) ==
        "layer 'attn' has 6 heads, no multiple of its 4 key-value heads; make it a multiple");
  gpt2 text{};
  text.config.width = 100, text.config.heads = 12;
  CHECK(refused_plan(text).find("has 100 features, no multiple of its 12 heads") != std::string::npos);
  vit picture{};
  picture.config.image = 225;
  CHECK(refused_plan(picture).find("has 225 rows of pixels, no multiple of its 16 pixels of a patch") !=
        std::string::npos);
}

#define FORTY "a_name_of_forty_characters_without_a_dot"
using outer_name = named<FORTY FORTY FORTY FORTY FORTY, sequential<relu, named<"down", linear<&widths::down, 3>>>>;
struct long_path {
  using net = sequential<named<"up", linear<&widths::in, &widths::up>>, outer_name>;
  widths config;
};

TEST_CASE("a path of 200 characters is refused with the number of characters that are kept") {
  CHECK(refused_plan(long_path{}) ==
        "layer '" FORTY FORTY
        "' has 200 characters in the path of a layer, more than 80; give the layers around it "
        "shorter names, or nest fewer repeats");
  CHECK(refused_facts(long_path{}, {2, 3}) == refused_plan(long_path{}));
}

template <class M>
void refuses_sizes(std::initializer_list<std::int64_t decltype(M::config)::*> sizes) {
  M const sound{};
  REQUIRE(refused_plan(sound).empty());
  for (auto const size : sizes)
    for (std::int64_t const bad : {std::int64_t{0}, std::int64_t{-1}}) {
      M m{};
      m.config.*size = bad;
      std::string const text = refused_plan(m);
      INFO(text);
      CHECK(text.find("; give it at least 1") != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
      CHECK(refused_facts(m, {2, 3}) == text);
    }
}

TEST_CASE("sizes of 0 and -1 are refused in every family") {
  refuses_sizes<gpt2>({&redco::models::gpt2_config::vocab, &redco::models::gpt2_config::context,
                       &redco::models::gpt2_config::width, &redco::models::gpt2_config::heads,
                       &redco::models::gpt2_config::layers});
  refuses_sizes<llama>({&redco::models::llama_config::vocab, &redco::models::llama_config::width,
                        &redco::models::llama_config::ffn, &redco::models::llama_config::heads,
                        &redco::models::llama_config::kv_heads, &redco::models::llama_config::layers});
  refuses_sizes<gpt_neo>({&redco::models::gpt_neo_config::vocab, &redco::models::gpt_neo_config::context,
                          &redco::models::gpt_neo_config::width, &redco::models::gpt_neo_config::heads,
                          &redco::models::gpt_neo_config::layers});
  refuses_sizes<gptj>({&redco::models::gptj_config::vocab, &redco::models::gptj_config::width,
                       &redco::models::gptj_config::heads, &redco::models::gptj_config::layers});
  refuses_sizes<opt>({&redco::models::opt_config::vocab, &redco::models::opt_config::context,
                      &redco::models::opt_config::width, &redco::models::opt_config::ffn,
                      &redco::models::opt_config::heads, &redco::models::opt_config::layers});
  refuses_sizes<bart>({&redco::models::bart_config::vocab, &redco::models::bart_config::context,
                       &redco::models::bart_config::width, &redco::models::bart_config::ffn,
                       &redco::models::bart_config::decoder_ffn, &redco::models::bart_config::heads,
                       &redco::models::bart_config::decoder_heads, &redco::models::bart_config::layers,
                       &redco::models::bart_config::decoder_layers});
  refuses_sizes<t5>({&redco::models::t5_config::vocab, &redco::models::t5_config::width, &redco::models::t5_config::ffn,
                     &redco::models::t5_config::heads, &redco::models::t5_config::layers,
                     &redco::models::t5_config::decoder_layers, &redco::models::t5_config::buckets});
  refuses_sizes<bert>({&redco::models::bert_config::vocab, &redco::models::bert_config::context,
                       &redco::models::bert_config::token_types, &redco::models::bert_config::width,
                       &redco::models::bert_config::ffn, &redco::models::bert_config::heads,
                       &redco::models::bert_config::layers, &redco::models::bert_config::classes});
  refuses_sizes<roberta>({&redco::models::roberta_config::vocab, &redco::models::roberta_config::width,
                          &redco::models::roberta_config::ffn, &redco::models::roberta_config::heads,
                          &redco::models::roberta_config::layers, &redco::models::roberta_config::classes});
  refuses_sizes<vit>({&redco::models::vit_config::channels, &redco::models::vit_config::patch,
                      &redco::models::vit_config::width, &redco::models::vit_config::ffn,
                      &redco::models::vit_config::heads, &redco::models::vit_config::layers,
                      &redco::models::vit_config::classes});
  gpt2 const none{{.width = 96, .heads = 0, .layers = 2}};
  CHECK(refused_plan(none) == "layer 'h.*.attn' has 0 heads; give it at least 1");
  CHECK(refused_plan(gpt2{{.layers = -1}}) == "layer 'h' has -1 blocks; give it at least 1");
}

}  // namespace sizes_test
