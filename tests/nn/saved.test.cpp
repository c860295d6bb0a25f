#include "torch_catch.hpp"

#include <redco/nn/check_saved.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/ranks.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/keep.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/shard/placed.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/layer/flatten.hpp>
#include <redco/layer/gated.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/rms_norm.hpp>
#include <redco/optimizer/sgd.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace saved_test {

/// A dtype and who multiplies in it: every machine tests them all.
struct product_case {
  redco::dtype compute;
  redco::bf16_path path;

  std::string name() const { return std::string(name_of(compute)) + " " + std::string(name_of(path)); }
};
constexpr product_case product_cases[] = {{redco::dtype::f32, redco::bf16_path::blas},
                                          {redco::dtype::bf16, redco::bf16_path::onednn},
                                          {redco::dtype::bf16, redco::bf16_path::packed},
                                          {redco::dtype::bf16, redco::bf16_path::blas}};

struct observation {
  std::int64_t saved = 0;     ///< bytes that autograd saved, parameters and the batch left out
  std::int64_t declared = 0;  ///< what the facts say
  std::string refused;        ///< by --check-saved: which slots are not what was saved
  std::int64_t peak = 0;      ///< measured
  std::int64_t library = 0;   ///< what oneDNN took beside it for the time of a call
  redco::rank_cost planned;
  redco::traffic traffic;
};

std::int64_t declared_bytes(redco::fact::program const& facts, redco::setup const& s) {
  redco::cost::simulation const run(facts, s);
  return run.activations() + redco::cost::memory_of(run, 0).loss;
}

/// One micro-batch on every rank: what autograd saves in forward, the peak of a second forward and backward, and messages.
template <class Model, class Batch, class Loss>
std::vector<observation> observe(Model const& model, redco::setup const& s, Batch const& batch, Loss const& loss) {
  std::vector<observation> all(static_cast<std::size_t>(s.mesh.ranks()));
  auto const p = redco::plan_of(model, s.mesh);
  redco::run_ranks(s.mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    observation& o = all[static_cast<std::size_t>(rank.rank)];
    redco::parameter_store const store(redco::shard::placed_parameters(p), rank.rank, s.compute, 7);
    auto const net = std::make_shared<redco::network<Model> const>(model, store, rank.rank, s.mesh);
    auto const mine = batch();
    redco::pass in;
    in.tp = &rank.tp;
    in.training = true;
    in.recompute = s.recompute;
    in.examples = s.load.batch;
    auto const forward = [&] { return loss(redco::bound_network<Model>(net, in), mine); };
    {
      redco::saved_watch watch;
      at::Tensor const sum = forward();
      watch.leave_out(store.values());
      for (at::Tensor const& x : mine) watch.leave_out(x);
      o.saved = watch.bytes();
    }
    in.check_saved = true;
    in.calls = 0;
    try {
      forward();
    } catch (redco::error const& e) {
      o.refused = e.what();
    }
    in.check_saved = false;
    rank.tp.reset_counters();
    rank.memory->reset_peak();
    redco::library_memory()->reset_peak();
    forward().backward();
    o.peak = rank.memory->peak();
    o.library = redco::library_memory()->peak();
    o.traffic = rank.tp.counters();
    o.declared = declared_bytes(redco::facts_of(model, s.load), s);
    o.planned = redco::cost_of(model, redco::sgd{}, s);
  });
  return all;
}

void check_saved_and_sent(std::vector<observation> const& all) {
  for (observation const& o : all) {
    CHECK(o.saved == o.declared);
    CHECK(o.refused == "");
    using redco::collective;
    using redco::cost::messages;
    redco::traffic planned;
    for (redco::cost::message_total const& one : o.planned.messages) {
      if (!(one.over == redco::axes(redco::axis::tp))) continue;
      planned[one.what] += one;
    }
    for (auto const kind : {collective::all_reduce, collective::all_gather, collective::reduce_scatter}) {
      INFO(static_cast<int>(kind));
      CHECK(o.traffic[kind].calls == planned[kind].calls);
      CHECK(o.traffic[kind].payload_bytes == planned[kind].payload_bytes);
      CHECK(o.traffic[kind].wire_bytes == planned[kind].wire_bytes);
    }
    CHECK(o.traffic.total().calls == planned.total().calls);
  }
}

void check_peak(std::vector<observation> const& all) {
  for (observation const& o : all) {
    auto const planned = static_cast<double>(o.planned.memory.peak()), measured = static_cast<double>(o.peak);
    UNSCOPED_INFO("planned " << planned << " measured " << measured << " ratio " << planned / measured);
    CHECK(std::abs(planned / measured - 1) < 0.05);
    CHECK(o.library < (std::int64_t{4} << 20));
  }
}

template <class Model>
void check_language_model(Model const& model, redco::setup s) {
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

template <redco::fixed_string Name, class L>
using n = redco::named<Name, L>;
using mlp = redco::model_of<redco::sequential<n<"a", redco::linear<20, 96>>, redco::relu, n<"b", redco::linear<96, 48>>,
                                              n<"c", redco::rms_norm<48>>, n<"d", redco::gated<48, 72>>,
                                              n<"e", redco::linear<72, 48>>, n<"f", redco::linear<48, 6>>>>;

/// Attention, a feed-forward pair and a whole layer side by side over one norm.
struct side_by_side {
  using pair = redco::sequential<n<"up", redco::linear<24, 66>>, redco::relu, n<"down", redco::linear<66, 24>>>;
  using branches = redco::sum<n<"attn", redco::causal_attention<24, 6>>, n<"mlp", pair>,
                              n<"whole", redco::replicated_linear<24, 24>>>;
  using block = redco::residual<redco::sequential<n<"norm", redco::rms_norm<24>>, branches>>;
  using net = redco::sequential<n<"in", redco::linear<20, 24>>, n<"h", redco::repeat<2, block>>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, load.sequence, 20}; }
};

TEST_CASE("parallel branches save and send what they declare: one gradient enters for them") {
  for (int const tp : {1, 2, 3})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      redco::setup const s{.mesh = {.tp = tp}, .load = {8, 10}, .recompute = recompute, .prefetch = 0};
      auto const all = observe(
          side_by_side{}, s,
          [] {
            return std::vector<at::Tensor>{at::ones({8, 10, 20})};
          },
          [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); });
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
          redco::forced_bf16_path const forced(one.path);
          redco::gpt2 const model{
              {.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = dropout}};
          check_language_model(model,
                               {.mesh = {.tp = tp}, .load = {8, 80}, .compute = one.compute, .recompute = recompute});
        }
}

/// Blocks that save what the layers beside them save too: a block's input is what the block before gave its `relu`.
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
    redco::recomputed_blocks::first_n(1), redco::recomputed_blocks::first_n(2)};

TEST_CASE("where some blocks run again, GPT-2, a Llama and split tokens save and send what is planned") {
  redco::gpt2 const plain{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = 0.1}};
  redco::llama const shared{
      {.vocab = 101, .context = 96, .width = 96, .ffn = 128, .heads = 4, .kv_heads = 2, .layers = 3}};
  for (int const tp : {1, 2})
    for (redco::recomputed_blocks const& blocks : some_blocks) {
      INFO("tp " << tp << " recompute " << blocks.every << " " << blocks.first);
      redco::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .recompute = blocks};
      check_language_model(plain, s);
      check_language_model(redco::sequence_parallel<redco::gpt2>{plain.config}, s);
      check_language_model(shared, s);
    }
}

TEST_CASE("a block's input is saved once, be it the output of a block, of the layer before, or both") {
  for (int const tp : {1, 2})
    for (redco::recomputed_blocks const& blocks : {redco::recomputed_blocks(false), redco::recomputed_blocks(true),
                                                   some_blocks[0], some_blocks[1], some_blocks[2], some_blocks[3]}) {
      INFO("tp " << tp << " recompute " << blocks.every << " " << blocks.first);
      check_saved_and_sent(observe(
          saved_twice{}, {.mesh = {.tp = tp}, .load = {40, 1}, .recompute = blocks, .prefetch = 0},
          [] {
            return std::vector<at::Tensor>{at::linspace(-1, 1, 40 * 20).view({40, 20})};
          },
          [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); }));
    }
}

/// Its blocks end with a function that saves what it gives.
struct ends_with_relu {
  using block =
      redco::sequential<n<"up", redco::linear<16, 48>>, redco::relu, n<"down", redco::linear<48, 16>>, redco::relu>;
  using net = redco::sequential<n<"in", redco::linear<20, 16>>, redco::relu, n<"h", redco::repeat<3, block>>,
                                n<"out", redco::linear<16, 4>>>;
  redco::no_config config;

  redco::extents input(redco::workload const& load) const { return {load.batch, 20}; }
};

TEST_CASE("what a block that runs again gives is there until the block is left, though its last layer saves it") {
  for (int const tp : {1, 2}) {
    INFO("tp " << tp);
    auto const all = observe(
        ends_with_relu{}, {.mesh = {.tp = tp}, .load = {4096, 1}, .recompute = true, .prefetch = 0},
        [] {
          return std::vector<at::Tensor>{at::linspace(-1, 1, 4096 * 20).view({4096, 20})};
        },
        [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); });
    check_saved_and_sent(all);
    check_peak(all);
  }
}

TEST_CASE("with split tokens GPT-2 saves and sends exactly what it declares, less than without") {
  redco::gpt2 const plain{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = 0.1}};
  redco::sequence_parallel<redco::gpt2> const model{plain.config};
  for (int const tp : {1, 2, 3})
    for (product_case const& one : product_cases)
      for (bool const recompute : {false, true}) {
        INFO("tp " << tp << " " << one.name() << " recompute " << recompute);
        redco::forced_bf16_path const forced(one.path);
        redco::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .compute = one.compute, .recompute = recompute};
        check_language_model(model, s);
        auto const bytes = [&](auto const& m) { return redco::cost_of(m, redco::sgd{}, s).memory.activations; };
        if (tp > 1) CHECK(bytes(model) < bytes(plain));
      }
}

TEST_CASE("blocks that take turns save and send what they declare, and the peak is the planned one") {
  redco::gpt_neo const model{
      {.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .odd_window = 20, .dropout = 0.1}};
  for (int const tp : {1, 2, 3})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      check_language_model(model, {.mesh = {.tp = tp}, .load = {8, 80}, .recompute = recompute});
    }
}

TEST_CASE("key-value heads that neighbours share send the sums of their gradients that are planned") {
  redco::llama const model{
      {.vocab = 101, .context = 96, .width = 96, .ffn = 128, .heads = 4, .kv_heads = 2, .layers = 3}};
  for (int const tp : {1, 2, 4})
    for (bool const recompute : {false, true}) {
      INFO("tp " << tp << " recompute " << recompute);
      redco::setup const s{.mesh = {.tp = tp}, .load = {8, 80}, .recompute = recompute};
      check_language_model(model, s);
      auto const shared = redco::cost_of(model, redco::sgd{}, s).messages[redco::cost::messages::shared_gradients];
      CHECK(shared.calls == (tp == 4 ? 3 : 0));
      CHECK(shared.payload_bytes == (tp == 4 ? 3 * 2 * 2 * 24 * 96 * 4 : 0));
    }
}

TEST_CASE("norms of queries and keys keep and send what is planned") {
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

TEST_CASE("an encoder-decoder keeps what its encoder gave once, whatever the lengths of its sides") {
  redco::t5 const model{
      {.vocab = 101, .width = 48, .ffn = 96, .heads = 4, .head_dim = 12, .layers = 2, .decoder_layers = 3}};
  at::Tensor const source = at::arange(8 * 29, at::kLong).remainder(101).view({8, 29});
  at::Tensor const target = at::arange(8 * 17, at::kLong).remainder(97).view({8, 17});
  for (int const tp : {1, 2})
    for (product_case const& one : product_cases)
      for (redco::recomputed_blocks const& recompute :
           {redco::recomputed_blocks(false), redco::recomputed_blocks(true), some_blocks[0], some_blocks[2]}) {
        INFO("tp " << tp << " " << one.name() << " recompute " << recompute.every << " " << recompute.first);
        redco::forced_bf16_path const forced(one.path);
        redco::setup const s{
            .mesh = {.tp = tp}, .load = {8, 17, 29}, .compute = one.compute, .recompute = recompute, .prefetch = 0};
        auto const all = observe(
            model, s,
            [&] {
              return std::vector<at::Tensor>{source, target, target.flip(0)};
            },
            [](auto const& net, std::vector<at::Tensor> const& b) {
              return redco::cross_entropy(net.template with<redco::encoder_input>(b[0])(b[1]), b[2]).sum;
            });
        check_saved_and_sent(all);
        check_peak(all);
      }
}

TEST_CASE("autograd saves exactly what an MLP's layers declare, and the peak is the planned one") {
  for (int const tp : {1, 2, 3})
    for (product_case const& one : product_cases) {
      INFO("tp " << tp << " " << one.name());
      redco::forced_bf16_path const forced(one.path);
      redco::setup const s{.mesh = {.tp = tp}, .load = {640, 1}, .compute = one.compute, .prefetch = 0};
      auto const all = observe(
          mlp{}, s,
          [&] {
            return std::vector<at::Tensor>{at::ones({640, 20}, redco::scalar_type_of(s.compute))};
          },
          [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); });
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

template <class Model>
void check_floats(Model const& model, std::vector<std::int64_t> const& sizes, redco::workload const& load) {
  for (int const tp : {1, 2})
    for (redco::dtype const compute : {redco::dtype::f32, redco::dtype::bf16}) {
      INFO("tp " << tp << " " << name_of(compute));
      redco::setup const s{.mesh = {.tp = tp}, .load = load, .compute = compute, .prefetch = 0};
      check_saved_and_sent(observe(
          model, s,
          [&] {
            return std::vector<at::Tensor>{
                at::linspace(-1, 2, c10::multiply_integers(sizes)).view(sizes).to(redco::scalar_type_of(s.compute))};
          },
          [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); }));
    }
}

TEST_CASE("autograd saves exactly what layers of images and recurrent layers declare") {
  check_floats(convolutional{}, {5, 2, 10, 12}, {5, 1});
  check_floats(recurrent{}, {5, 11, 5}, {5, 11});
}

/// What a layer says of the two tensors that it saves: its input and another one like it.
enum class claim { both, input, other, three, wrong_extents, wrong_type, wrong_name };

/// A user's layer: x exp(x).
template <claim Claim>
struct growth {
  using layer_concept = redco::leaf_tag;
  static constexpr bool featurewise = true;
  template <class X>
  using out = X;

  template <class X, class Config>
  static constexpr void facts(Config const&, redco::fact::recorder& w) {
    using redco::fact::width_kind;
    redco::fact::flow const input = w.activation;
    redco::extents shape = input.shape;
    auto const keep = [&](std::string_view slot, width_kind kind) {
      w.keep(slot, shape, input.split_dim, kind, input.units);
    };
    if (Claim != claim::other) w.keep("x");
    if (Claim == claim::three) keep("spare", width_kind::compute);
    if (Claim == claim::wrong_extents || Claim == claim::wrong_type) shape[0] /= 2;
    if (Claim != claim::input)
      keep(Claim == claim::wrong_name ? "shrunk" : "grown",
           Claim == claim::wrong_type ? width_kind::index : width_kind::compute);
    if (Claim == claim::wrong_extents) keep("half", width_kind::compute);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace saved_test

template <saved_test::claim Claim, class X>
struct redco::module<saved_test::growth<Claim>, X> {
  template <class Config>
  explicit module(builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(x.local() * keep("grown", at::exp(x.local())));
  }
};

namespace saved_test {

template <class... Layers>
using around =
    redco::model_of<redco::sequential<n<"in", redco::linear<20, 12>>, Layers..., n<"out", redco::linear<12, 6>>>>;
template <claim First, claim Second>
using in_turn =
    around<n<"h", redco::repeat<2, redco::sequential<n<"first", growth<First>>, n<"second", growth<Second>>>>>>;
template <claim First, claim Second>
using beside = around<redco::sum<n<"first", growth<First>>, n<"second", growth<Second>>>>;

/// What --check-saved says of a model, and whether the bytes alone are right.
struct verdict {
  std::string refused;
  bool bytes_are_right = false;
  bool says(std::string const& sentence) const { return refused.find(sentence) != std::string::npos; }
};

template <class Model>
verdict verdict_of() {
  redco::setup const s{.load = {4, 1}, .prefetch = 0};
  auto const all = observe(
      Model{}, s,
      [] {
        return std::vector<at::Tensor>{at::ones({4, 20})};
      },
      [](auto const& net, std::vector<at::Tensor> const& b) { return net(b[0]).sum(); });
  return {all[0].refused, all[0].saved == all[0].declared};
}

TEST_CASE("what a layer declares wrongly is told by layer and slot, where the sum of bytes is right too") {
  using enum claim;
  CHECK(verdict_of<in_turn<both, both>>().refused == "");

  verdict const little = verdict_of<in_turn<both, input>>();
  CHECK(
      little.says("h.0.second: `grown` (f32 [4, 12]) is saved and not declared; "
                  "h.1.second: `grown` (f32 [4, 12]) is saved and not declared. "));
  CHECK(!little.bytes_are_right);

  verdict const much = verdict_of<in_turn<three, both>>();
  CHECK(much.says("h.0.first: `spare` (f32 [4, 12]) is declared and not saved"));
  CHECK(much.says("h.1.first: `spare` (f32 [4, 12]) is declared and not saved. "));
  CHECK(!much.bytes_are_right);

  verdict const halves = verdict_of<in_turn<both, wrong_extents>>();
  CHECK(halves.says("h.0.second: `grown` (f32 [2, 12]) is declared and not saved"));
  CHECK(halves.says("h.0.second: `half` (f32 [2, 12]) is declared and not saved"));
  CHECK(halves.says("and 2 more"));
  CHECK(halves.bytes_are_right);

  verdict const type = verdict_of<in_turn<wrong_type, both>>();
  CHECK(type.says("h.0.first: `grown` (i64 [2, 12]) is declared and not saved"));
  CHECK(type.says("h.1.first: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(type.bytes_are_right);

  verdict const name = verdict_of<in_turn<wrong_name, both>>();
  CHECK(name.says("h.0.first: `shrunk` (f32 [4, 12]) is declared and not saved"));
  CHECK(name.says("h.0.first: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(name.bytes_are_right);

  verdict const neighbours = verdict_of<in_turn<three, input>>();
  CHECK(neighbours.says("h.0.first: `spare` (f32 [4, 12]) is declared and not saved"));
  CHECK(neighbours.says("h.0.second: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(neighbours.bytes_are_right);

  // The input of both is one storage.
  CHECK(verdict_of<beside<both, both>>().refused == "");
  verdict const shared = verdict_of<beside<both, other>>();
  CHECK(shared.says("declare: second: a tensor f32 [4, 12] is saved and not declared. "));
  CHECK(shared.bytes_are_right);
}

}  // namespace saved_test
