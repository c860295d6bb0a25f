#pragma once

#include <redco/fact/path.hpp>
#include <redco/shape/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::report {

/// An operation of a forward pass: its inputs, parameters and output.
struct graph_node {
  enum class kind : std::uint8_t {
    layer,           ///< an operation with parameters
    function,        ///< an operation without parameters
    attention,       ///< attention: queries, keys and values to attended values
    add,             ///< a residual connection or the end of parallel branches
    all_reduce,      ///< reduces a pending sum over the ranks
    block,           ///< input of repeated blocks; `copies` is the number of blocks
    head,            ///< hidden states to logits and loss
    all_gather,      ///< joins split tokens
    reduce_scatter,  ///< reduces a pending sum and leaves each rank its tokens
  };

  kind what = kind::function;
  fact::path layer;
  std::vector<std::size_t> inputs;      ///< indices of earlier nodes; empty: the model's input
  std::vector<std::size_t> parameters;  ///< indices of parameters in the plan
  /// Logical shape under the workload; rank 0 if the node has no output
  extents output;
  int split_dim = -1;       ///< dimension of the output that is split; -1: none
  std::int64_t units = 0;   ///< number of indivisible units along split_dim
  bool enters = false;      ///< backward all-reduces the gradient of the node's input
  int depth = 0;            ///< number of enclosing repeats
  std::int64_t copies = 1;  ///< number of repetitions, for a block

  friend bool operator==(graph_node const&, graph_node const&) = default;
};

constexpr std::string_view name_of(graph_node::kind what) {
  constexpr std::string_view names[] = {"layer", "function", "attention",  "add",           "all_reduce",
                                        "block", "head",     "all_gather", "reduce_scatter"};
  return names[static_cast<std::size_t>(what)];
}

/// Returns true for operations that only communicate between ranks.
constexpr bool is_collective(graph_node::kind what) {
  using kind = graph_node::kind;
  return what == kind::all_reduce || what == kind::all_gather || what == kind::reduce_scatter;
}

/// Nodes of a model's forward pass in execution order. Each node reads only earlier nodes.
using model_graph = std::vector<graph_node>;

}  // namespace redco::report
