#pragma once

#include <redco/report/detail/graph_walk.hpp>
#include <redco/report/model_graph.hpp>

#include <redco/shard/facts.hpp>

#include <redco/model/model.hpp>

#include <redco/fact/finish.hpp>
#include <redco/shape/layout.hpp>

namespace redco {

/// The graph of a model under a workload. Places of parameters are those of its plan.
template <model M>
model_graph graph_of(M const& m, workload const& load) {
  detail::pending_node sink;
  detail::graph_walk w(sink, input_of(m, load), input_of(m, of_source(load)), states_input<M>);
  net_of<M>::template facts<replicated>(m.config, w);
  detail::unshard_facts<out_t<net_of<M>, replicated>>(w);
  return w.take();
}

}  // namespace redco
