#include "catch.hpp"

#include <redco/report/detail/html_graph.hpp>
#include <redco/report/model_graph.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/any_model.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace model_graph_test {

using redco::report::graph_node;
using indices = std::vector<std::size_t>;

std::string kinds(redco::report::model_graph const& graph) {
  std::string text;
  for (graph_node const& n : graph) text += (text.empty() ? "" : " ") + std::string(name_of(n.role));
  return text;
}

TEST_CASE("the graph of a GPT-2 has its branches, residual connections and reductions") {
  redco::gpt2 const model{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = 5}};
  auto const g = redco::report::graph_of(model, {2, 8});
  REQUIRE(kinds(g) ==
          "layer layer add all_reduce block layer layer attention layer all_reduce add layer layer function layer "
          "all_reduce add layer head");
  CHECK(g[2].inputs == indices{0, 1});   // tokens and positions
  CHECK(g[10].inputs == indices{4, 9});  // the block's input and attention
  CHECK(g[16].inputs == indices{10, 15});
  CHECK(g[4].copies == 5);
  CHECK(g[6].parameters.size() == 6);  // q, k, v
  CHECK((g[6].split_dim == 2 && g[6].units == 3 && g[6].enters));
  CHECK((g[14].layer.view() == "h.*.mlp.down" && g[14].split_dim == -1 && !g[14].enters));
  CHECK((g[16].depth == 1 && g[17].depth == 0));
  CHECK(g[18].enters);
}

/// Returns the graph of a network over one row of features per example, or over `Input`.
template <class Net, class Input = void>
redco::report::model_graph graph_of_net() {
  redco::model_of<Net, Input> const model;
  return redco::report::graph_of(model, {2, 4});
}

TEST_CASE("parallel branches inside a residual join before its sum") {
  using branch = redco::named<"a", redco::sequential<redco::linear<8, 16>, redco::gelu, redco::linear<16, 8>>>;
  using other = redco::named<"b", redco::sequential<redco::linear<8, 16>, redco::gelu, redco::linear<16, 8>>>;
  auto const g = graph_of_net<
      redco::sequential<redco::named<"in", redco::layer_norm<8>>, redco::residual<redco::sum<branch, other>>>>();
  REQUIRE(kinds(g) == "layer layer function layer layer function layer add all_reduce add");
  CHECK((g[1].inputs == indices{0} && g[4].inputs == indices{0}));
  CHECK((g[1].enters && g[4].enters));
  CHECK(g[7].inputs == indices{3, 6});
  CHECK(g[9].inputs == indices{0, 8});
}

TEST_CASE("each kind of block in a cycle appears once, after the previous kind") {
  using pair =
      redco::sequential<redco::named<"a", redco::linear<8, 16>>, redco::gelu, redco::named<"b", redco::linear<16, 8>>>;
  using net =
      redco::named<"h",
                   redco::repeat<5, redco::residual<pair>, redco::residual<redco::named<"n", redco::layer_norm<8>>>>>;
  auto const g = graph_of_net<redco::sequential<net, redco::named<"o", redco::layer_norm<8>>>, redco::input<4, 8>>();
  REQUIRE(kinds(g) == "block layer function layer all_reduce add block layer add layer");
  CHECK((g[0].layer.view() == "h.0::2" && g[0].copies == 3));
  CHECK((g[6].layer.view() == "h.1::2" && g[6].copies == 2));
  CHECK(g[6].inputs == indices{5});
  CHECK(g[9].inputs == indices{5});  // the fifth block is of the first kind
  CHECK(redco::report::detail::blocks_name("h.*") == "h");
  CHECK(redco::report::detail::blocks_name("g.*.h.1::2") == "h 1::2");
  CHECK(redco::report::detail::relative_name("h.1::2.mlp.up") == "mlp.up");
}

TEST_CASE("cross-attention reads the encoder") {
  using encoder = redco::named<"e", redco::layer_norm<8>>;
  using decoder = redco::repeat<2, redco::residual<redco::named<"x", redco::cross_attention<8, 2>>>>;
  auto const g = graph_of_net<redco::layers::encoder_decoder<encoder, decoder>, redco::input<4, 8>>();
  REQUIRE(kinds(g) == "layer block layer attention layer all_reduce add");
  CHECK(g[2].inputs == indices{0, 1});
  CHECK(g[6].inputs == indices{1, 5});
}

TEST_CASE("split tokens are gathered before column-parallel layers and summed after row-parallel layers") {
  using pair = redco::sequential<redco::named<"n", redco::layer_norm<8>>, redco::named<"a", redco::linear<8, 16>>,
                                 redco::gelu, redco::named<"b", redco::linear<16, 8>>>;
  auto const g = graph_of_net<redco::sequential<redco::named<"in", redco::layer_norm<8>>, redco::layers::split_tokens,
                                                redco::named<"h", redco::repeat<2, redco::residual<pair>>>>,
                              redco::input<4, 8>>();
  REQUIRE(kinds(g) == "layer function block layer all_gather layer function layer reduce_scatter add all_gather");
  CHECK(g[1].split_dim == g[1].output.rank - 2);
  CHECK(g[3].split_dim == g[3].output.rank - 2);
  CHECK(g[4].split_dim == -1);
  CHECK(g[9].inputs == indices{2, 8});
}

template <class M>
void check_graph(M const& model) {
  auto const g = redco::report::graph_of(model, {2, 4});
  auto const parameters = redco::shard::facts_of(model).parameters;
  std::vector<int> stated(parameters.size()), read(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    for (std::size_t const p : g[i].parameters) ++stated.at(p);
    for (std::size_t const from : g[i].inputs) {
      REQUIRE(from < i);
      ++read[from];
    }
    CHECK((g[i].role != graph_node::kind::add || g[i].inputs.size() > 1));
  }
  CHECK(stated == std::vector<int>(parameters.size(), 1));
  for (std::size_t i = 0; i + 1 < g.size(); ++i) {
    bool const context =
        // T5's bias by distance
        g[i].layer.view().ends_with("coder") && g[i].role == graph_node::kind::layer;
    INFO("node " << i << " " << name_of(g[i].role) << " " << g[i].layer.view());
    CHECK((read[i] > 0 || context));
  }
}

template <class... M>
void check_families(std::type_identity<std::variant<M...>>) {
  (check_graph(M{}), ...);
  (check_graph(redco::models::sequence_parallel<M>{}), ...);
}

TEST_CASE("the graph of every family shows each parameter once and reads every activation") {
  check_families(std::type_identity<redco::models::any_model>());
}

TEST_CASE("gathered tokens take no parameters from the layer that reads them") {
  auto const g = redco::report::graph_of(redco::models::sequence_parallel<redco::llama>{}, {2, 4});
  REQUIRE(g.back().role == graph_node::kind::head);
  CHECK(g.back().parameters.size() == 1);
  for (graph_node const& n : g) CHECK((n.parameters.empty() || !is_collective(n.role)));
}

}  // namespace model_graph_test
