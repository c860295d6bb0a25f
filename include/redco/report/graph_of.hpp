#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/shard/facts.hpp>

#include <redco/model/model.hpp>

#include <redco/fact/program.hpp>

namespace redco::report {

/// Returns the graph of a program: one node per activation, with the parameters that its layer
/// stated. Indices of parameters are those of the plan.
model_graph graph_of(fact::program const& p);

/// Returns the graph of a model under a workload. Throws the errors of facts_of(m, load).
template <model M>
model_graph graph_of(M const& m, workload const& load) {
  return graph_of(facts_of(m, load));
}

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/graph_of.inl.hpp>
#endif
