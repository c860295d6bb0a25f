#include "observation.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/blocks.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace saved_test {

template <class Model>
void check_language_model(Model const& model, redco::cost::setup s) {
  s.prefetch = 0;
  auto const all = observe(
      model, s,
      [&] {
        at::Tensor const ids = at::arange(s.load.batch * s.load.sequence, at::kLong).remainder(model.config.vocab);
        return std::vector<at::Tensor>{ids.view({s.load.batch, s.load.sequence}),
                                       ids.flip(0).view({s.load.batch, s.load.sequence})};
      },
      [](auto const& net, std::vector<at::Tensor> const& b) { return redco::cross_entropy(net(b[0]), b[1]).sum; });
  check_saved_and_sent(all);
  check_peak(all);
}

using mlp = redco::model_of<redco::sequential<n<"a", redco::linear<20, 96>>, redco::relu, n<"b", redco::linear<96, 48>>,
                                              n<"c", redco::rms_norm<48>>, n<"d", redco::gated<48, 72>>,
                                              n<"e", redco::linear<72, 48>>, n<"f", redco::linear<48, 6>>>>;

/// A network in which attention, a feed-forward pair and a replicated layer read the output of one
/// norm.
struct side_by_side {
  using pair = redco::sequential<n<"up", redco::linear<24, 66>>, redco::relu, n<"down", redco::linear<66, 24>>>;
  using branches = redco::sum<n<"attn", redco::causal_attention<24, 6>>, n<"mlp", pair>,
                              n<"whole", redco::layers::replicated_linear<24, 24>>>;
  using block = redco::residual<redco::sequential<n<"norm", redco::rms_norm<24>>, branches>>;
  using net = redco::sequential<n<"in", redco::linear<20, 24>>, n<"h", redco::repeat<2, block>>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, 20}; }
};

TEST_CASE("parallel branches save and send the declared bytes: one gradient enters for all branches") {
  for (int const tp : {1, 2, 3})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      auto const all =
          observe_floats(side_by_side{}, {.mesh = {.tp = tp}, .load = {8, 10}, .recompute = recompute}, {8, 10, 20});
      check_saved_and_sent(all);
      for (observation const& o : all)
        CHECK(o.planned.messages[redco::cost::messages::backward].calls == (tp > 1 ? 2 : 0));
    }
}

TEST_CASE("autograd saves exactly what GPT-2's layers declare, and the peak is the planned one") {
  for (int const tp : {1, 2, 3})
    for (product_case const& one : product_cases)
      for (double const dropout : {0.0, 0.1})
        for (bool const recompute : {false, true}) {
          INFO("tp " << tp << " " << one.name() << " dropout " << dropout << " recompute " << recompute);
          redco::tensors::forced_bf16_path const forced(one.path);
          redco::gpt2 const model{
              {.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = dropout}};
          check_language_model(model,
                               {.mesh = {.tp = tp}, .load = {8, 80}, .compute = one.compute, .recompute = recompute});
        }
}

/// A network whose blocks save tensors that neighbouring layers also save: a block's input is the
/// output of the previous block's `relu`.
struct saved_twice {
  using block =
      redco::sequential<n<"up", redco::linear<24, 48>>, redco::relu, n<"down", redco::linear<48, 24>>, redco::relu>;
  using net = redco::sequential<n<"in", redco::linear<20, 24>>, redco::relu, n<"h", redco::repeat<4, block>>,
                                n<"out", redco::linear<24, 6>>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, 20}; }
};

redco::recomputed_blocks const some_blocks[] = {
    redco::recomputed_blocks::every_kth(2), redco::recomputed_blocks::every_kth(3),
    redco::recomputed_blocks::first_n(1), redco::recomputed_blocks::first_n(2),
    redco::recomputed_blocks::in_range({1, 2})};

TEST_CASE("models with some recomputed blocks save and send the planned bytes") {
  redco::gpt2 const plain{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = 0.1}};
  redco::llama const shared{
      {.vocab = 101, .context = 96, .width = 96, .ffn = 128, .heads = 4, .kv_heads = 2, .layers = 3}};
  for (int const tp : {1, 2})
    for (redco::recomputed_blocks const& blocks : some_blocks) {
      INFO("tp " << tp << " recompute " << redco::options::to_text(blocks));
      redco::cost::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .recompute = blocks};
      check_language_model(plain, s);
      check_language_model(redco::models::sequence_parallel<redco::gpt2>{plain.config}, s);
      check_language_model(shared, s);
    }
}

/// A GPT-2 whose blocks 1 and 2 save other tensors for their activation than its others.
struct relu_in_the_middle : redco::gpt2 {
  struct with_relu {
    template <class L, redco::fact::path>
    struct at : std::type_identity<L> {};
    template <auto Kind, redco::fact::path Here>
    struct at<redco::layers::activation<Kind>, Here> : std::type_identity<redco::relu> {};
  };
  using net = redco::layers::transform_blocks<redco::gpt2::net, "h", redco::shape::block_range{1, 3}, with_relu>;
};

TEST_CASE("a GPT-2 with some rewritten blocks saves and sends the planned bytes, whichever blocks are recomputed") {
  relu_in_the_middle const model{{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 4, .dropout = 0.1}}};
  for (int const tp : {1, 2})
    for (redco::recomputed_blocks const& blocks :
         {redco::recomputed_blocks(false), redco::recomputed_blocks(true), some_blocks[0], some_blocks[4]}) {
      INFO("tp " << tp << " recompute " << redco::options::to_text(blocks));
      redco::cost::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .recompute = blocks};
      check_language_model(model, s);
      check_language_model(redco::models::sequence_parallel<relu_in_the_middle>{model.config}, s);
    }
}

TEST_CASE("a block's input is saved once, be it the output of a block, of the layer before, or of both") {
  for (int const tp : {1, 2})
    for (redco::recomputed_blocks const& blocks :
         {redco::recomputed_blocks(false), redco::recomputed_blocks(true), some_blocks[0], some_blocks[1],
          some_blocks[2], some_blocks[3], some_blocks[4]}) {
      INFO("tp " << tp << " recompute " << redco::options::to_text(blocks));
      check_saved_and_sent(
          observe_floats(saved_twice{}, {.mesh = {.tp = tp}, .load = {40, 1}, .recompute = blocks}, {40, 20}));
    }
}

/// A network whose blocks end with a function that saves its output.
struct ends_with_relu {
  using block =
      redco::sequential<n<"up", redco::linear<16, 48>>, redco::relu, n<"down", redco::linear<48, 16>>, redco::relu>;
  using net = redco::sequential<n<"in", redco::linear<20, 16>>, redco::relu, n<"h", redco::repeat<3, block>>,
                                n<"out", redco::linear<16, 4>>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, 20}; }
};

TEST_CASE("the output of a recomputed block lives until its backward ends, although its last layer saves it") {
  for (int const tp : {1, 2}) {
    INFO("tp " << tp);
    auto const all =
        observe_floats(ends_with_relu{}, {.mesh = {.tp = tp}, .load = {4096, 1}, .recompute = true}, {4096, 20});
    check_saved_and_sent(all);
    check_peak(all);
  }
}

TEST_CASE("GPT-2 with split tokens saves and sends exactly what it declares, less than without") {
  redco::gpt2 const plain{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = 0.1}};
  redco::models::sequence_parallel<redco::gpt2> const model{plain.config};
  for (int const tp : {1, 2, 3})
    for (product_case const& one : product_cases)
      for (bool const recompute : {false, true}) {
        INFO("tp " << tp << " " << one.name() << " recompute " << recompute);
        redco::tensors::forced_bf16_path const forced(one.path);
        redco::cost::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .compute = one.compute, .recompute = recompute};
        check_language_model(model, s);
        auto const bytes = [&](auto const& m) { return redco::cost::cost_of(m, redco::sgd{}, s).memory.activations; };
        if (tp > 1) CHECK(bytes(model) < bytes(plain));
      }
}

TEST_CASE("alternating blocks save and send the declared bytes, and the peak is the planned one") {
  redco::gpt_neo const model{
      {.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .odd_window = 20, .dropout = 0.1}};
  for (int const tp : {1, 2, 3})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      check_language_model(model, {.mesh = {.tp = tp}, .load = {8, 80}, .recompute = recompute});
    }
}

TEST_CASE("key-value heads shared by neighbouring ranks send the planned sums of gradients") {
  redco::llama const model{
      {.vocab = 101, .context = 96, .width = 96, .ffn = 128, .heads = 4, .kv_heads = 2, .layers = 3}};
  for (int const tp : {1, 2, 4})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      redco::cost::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .recompute = recompute};
      check_language_model(model, s);
      auto const shared =
          redco::cost::cost_of(model, redco::sgd{}, s).messages[redco::cost::messages::shared_gradients];
      CHECK(shared.calls == (tp == 4 ? 3 : 0));
      CHECK(shared.payload_bytes == (tp == 4 ? 3 * 2 * 2 * 24 * 96 * 4 : 0));
    }
}

TEST_CASE("norms of queries and keys save and send the planned bytes") {
  redco::llama const model{{.vocab = 101,
                            .context = 96,
                            .width = 96,
                            .ffn = 128,
                            .heads = 4,
                            .kv_heads = 2,
                            .head_dim = 40,
                            .layers = 3,
                            .tied = true,
                            .query_key_norm = true}};
  for (int const tp : {1, 2, 4})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      check_language_model(model, {.mesh = {.tp = tp}, .load = {8, 80}, .recompute = recompute});
    }
}

TEST_CASE("an encoder-decoder saves its encoder's output once, for any lengths of source and target") {
  redco::t5 const model{
      {.vocab = 101, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 3}};
  at::Tensor const source = at::arange(8 * 29, at::kLong).remainder(101).view({8, 29});
  at::Tensor const target = at::arange(8 * 17, at::kLong).remainder(97).view({8, 17});
  for (int const tp : {1, 2})
    for (product_case const& one : product_cases)
      for (redco::recomputed_blocks const& recompute :
           {redco::recomputed_blocks(false), redco::recomputed_blocks(true), some_blocks[0], some_blocks[2]}) {
        INFO("tp " << tp << " " << one.name() << " recompute " << redco::options::to_text(recompute));
        redco::tensors::forced_bf16_path const forced(one.path);
        redco::cost::setup const s{
            .mesh = {.tp = tp}, .load = {8, 17, 29}, .compute = one.compute, .recompute = recompute, .prefetch = 0};
        auto const all = observe(
            model, s,
            [&] {
              return std::vector<at::Tensor>{source, target, target.flip(0)};
            },
            [](auto const& net, std::vector<at::Tensor> const& b) {
              return redco::cross_entropy(net(b[1], redco::encoder_input{b[0]}), b[2]).sum;
            });
        check_saved_and_sent(all);
        check_peak(all);
      }
}

TEST_CASE("autograd saves exactly what an MLP's layers declare, and the peak is the planned one") {
  for (int const tp : {1, 2, 3})
    for (product_case const& one : product_cases) {
      INFO("tp " << tp << " " << one.name());
      redco::tensors::forced_bf16_path const forced(one.path);
      auto const all = observe_floats(mlp{}, {.mesh = {.tp = tp}, .load = {640, 1}, .compute = one.compute}, {640, 20});
      check_saved_and_sent(all);
      check_peak(all);
    }
}

/// All layers of images.
struct convolutional {
  using net =
      redco::sequential<redco::conv2d<2, 6, 3, 1, 1>, redco::batch_norm<6>, redco::relu, redco::average_pool<2>,
                        redco::conv_transpose2d<6, 4, 3, 2, 1, 1>, redco::group_norm<2, 4>, redco::gelu,
                        redco::max_pool<3>, redco::flatten, redco::linear<48, 10>, redco::relu, redco::linear<10, 3>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, 2, 10, 12}; }
};

struct recurrent {
  using net =
      redco::sequential<redco::lstm<5, 7>, redco::gru<7, 5>, redco::linear<5, 8>, redco::relu, redco::linear<8, 3>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, 5}; }
};

/// Small linear maps with their tanh: one node each where a rank has both.
struct bounded {
  using net = redco::sequential<n<"a", redco::linear<20, 36>>, redco::tanh_layer, n<"b", redco::linear<36, 18>>,
                                redco::tanh_layer, n<"c", redco::linear<18, 6>>, redco::tanh_layer>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, 20}; }
};

template <class Model>
void check_floats(Model const& model, std::vector<std::int64_t> const& sizes, redco::workload const& load) {
  for (int const tp : {1, 2})
    for (redco::dtype const compute : {redco::dtype::f32, redco::dtype::bf16}) {
      INFO("tp " << tp << " " << name_of(compute));
      check_saved_and_sent(observe_floats(model, {.mesh = {.tp = tp}, .load = load, .compute = compute}, sizes));
    }
}

TEST_CASE("autograd saves exactly what layers of images, recurrent layers and linear maps with their tanh declare") {
  check_floats(convolutional{}, {5, 2, 10, 12}, {5, 1});
  check_floats(recurrent{}, {5, 11, 5}, {5, 11});
  check_floats(bounded{}, {50, 20}, {50, 1});
}

}  // namespace saved_test
