#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/shard/facts.hpp>

#include <redco/model/model.hpp>

#include <redco/fact/program.hpp>

namespace redco::report {

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
#include <redco/report/graph_of.inl.hpp>
#endif
