#pragma once

#include <redco/shard/facts.hpp>
#include <redco/model/model.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/extents.hpp>
#include <redco/meta/enum_texts.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::report {

/// A node of a model's graph: an operation of the forward pass with its inputs, parameters and
/// output.
struct graph_node {
  enum class kind : std::uint8_t {
    layer,       ///< Kind of node: an operation with parameters
    function,    ///< Kind of node: an operation without parameters
    attention,   ///< Kind of node: attention, from queries, keys and values to attended values
    add,         ///< Kind of node: a residual connection or the sum of parallel branches
    all_reduce,  ///< Kind of node: an all-reduce, which sums over the ranks
    /// Kind of node: the input of repeated blocks; the member `copies` counts the blocks
    block,
    head,        ///< Kind of node: the output head, from hidden states to logits and loss
    all_gather,  ///< Kind of node: an all-gather, which concatenates the tokens of all ranks
    /// Kind of node: a reduce-scatter, which sums over the ranks and leaves each rank its share of
    /// the tokens.
    reduce_scatter,
  };

  kind role = kind::function;
  fact::path layer;
  /// Indices in the graph of the nodes whose outputs this node reads; empty: it reads the model's
  /// input.
  std::vector<std::size_t> inputs;
  /// Indices in the plan of the parameters that this node uses.
  std::vector<std::size_t> parameters;
  /// Logical (unsplit) shape of the node's output for the workload; has no dimensions if there is
  /// no output.
  extents output;
  int split_dim = -1;  ///< Dimension along which the node's output is split; -1: none
  /// Number of indivisible units, such as heads, along the output dimension `split_dim`.
  std::int64_t units = 0;
  bool enters = false;      ///< True if backward all-reduces the gradient of this node's input
  int depth = 0;            ///< Number of nested repeats of blocks that contain this node
  std::int64_t copies = 1;  ///< Number of repetitions of a node of kind `block`; 1 for others

  friend bool operator==(graph_node const&, graph_node const&) = default;
};

inline constexpr auto graph_node_texts = meta::enum_texts<graph_node::kind>({
    {graph_node::kind::layer, "layer"},
    {graph_node::kind::function, "function"},
    {graph_node::kind::attention, "attention"},
    {graph_node::kind::add, "add"},
    {graph_node::kind::all_reduce, "all_reduce"},
    {graph_node::kind::block, "block"},
    {graph_node::kind::head, "head"},
    {graph_node::kind::all_gather, "all_gather"},
    {graph_node::kind::reduce_scatter, "reduce_scatter"},
});
constexpr std::string_view name_of(graph_node::kind role) { return graph_node_texts.text_of(role); }

/// Returns true if nodes of this kind only communicate between ranks: all-reduce, all-gather and
/// reduce-scatter.
constexpr bool is_collective(graph_node::kind role) {
  using kind = graph_node::kind;
  return role == kind::all_reduce || role == kind::all_gather || role == kind::reduce_scatter;
}

/// A graph of a model's forward pass: its nodes in execution order. Each node reads only outputs of
/// earlier nodes.
using model_graph = std::vector<graph_node>;

/// Returns the graph of a model from its program (the statements of its layers in execution order):
/// one node per activation. A node's parameters are indices into the plan, the list of all
/// parameters.
model_graph graph_of(fact::program const& p);

/// Returns the graph of a model for the batch and lengths in `load`. Throws the errors of
/// facts_of(m, load).
template <model M>
model_graph graph_of(M const& m, workload const& load) {
  return graph_of(shard::facts_of(m, load));
}

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/model_graph.inl.hpp>
#endif
