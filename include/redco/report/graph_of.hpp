#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/shard/facts.hpp>

#include <redco/model/model.hpp>

#include <redco/fact/program.hpp>

namespace redco::report {

/// The graph of a program: a node for every activation that its layers make, with the parameters stated for it. Places of
/// parameters are those of the plan.
model_graph graph_of(fact::program const& p);

/// The graph of a model under a workload. Errors: those of facts_of(m, load).
template <model M>
model_graph graph_of(M const& m, workload const& load) {
  return graph_of(facts_of(m, load));
}

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/graph_of.inl.hpp>
#endif
