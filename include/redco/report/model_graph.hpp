#pragma once

#include <redco/fact/path.hpp>
#include <redco/shape/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::report {

/// One step of a forward pass: what it reads, which parameters it has, what it gives.
struct graph_node {
  enum class kind : std::uint8_t {
    layer,           ///< has parameters
    function,        ///< has none
    attention,       ///< queries, keys and values to attended values
    add,             ///< a residual connection or the end of parallel branches
    all_reduce,      ///< a pending sum over the ranks is reduced
    block,           ///< the input of a repeated block; `copies` says how often it is repeated
    head,            ///< hidden states to logits and loss
    all_gather,      ///< split tokens are joined
    reduce_scatter,  ///< a pending sum is reduced, each rank keeping its tokens
  };

  kind what = kind::function;
  fact::path layer;
  std::vector<std::size_t> inputs;      ///< earlier nodes; empty: the model's input
  std::vector<std::size_t> parameters;  ///< places in the plan
  extents output;                       ///< logical, under the workload; of rank 0 where nothing flows on
  int split_dim = -1;                   ///< of the output
  std::int64_t units = 0;               ///< along split_dim
  bool enters = false;                  ///< the gradient of its input is all-reduced in backward
  int depth = 0;                        ///< how many repeats are around it
  std::int64_t copies = 1;              ///< of a block

  friend bool operator==(graph_node const&, graph_node const&) = default;
};

constexpr std::string_view name_of(graph_node::kind what) {
  constexpr std::string_view names[] = {"layer", "function", "attention",  "add",           "all_reduce",
                                        "block", "head",     "all_gather", "reduce_scatter"};
  return names[static_cast<std::size_t>(what)];
}

/// Whether the ranks talk to each other and compute nothing else.
constexpr bool is_collective(graph_node::kind what) {
  using kind = graph_node::kind;
  return what == kind::all_reduce || what == kind::all_gather || what == kind::reduce_scatter;
}

/// A model's forward pass in the order in which it runs; every node reads earlier ones only.
using model_graph = std::vector<graph_node>;

}  // namespace redco::report
