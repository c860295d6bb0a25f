#pragma once

#include <redco/layer/activation_fact.hpp>
#include <redco/layer/parameter_fact.hpp>
#include <redco/layer/settle.hpp>
#include <redco/layer/walk.hpp>
#include <redco/layer/work.hpp>

#include <redco/model/model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco {

/// All facts of a model under a workload, in the order in which its layers state them. `Parameters`, `Saved` and `Messages`
/// are std::array in a constant expression and std::vector at run time.
template <class Parameters, class Saved, class Messages>
struct model_facts {
  Parameters parameters{};
  Saved saved{};
  Messages messages{};
  redco::work work{};
};

using dynamic_facts = model_facts<std::vector<parameter_fact>, std::vector<saved_fact>, std::vector<message_fact>>;

namespace detail {

struct fact_counts {
  std::size_t parameters = 0, saved = 0, messages = 0;
};

template <class Saved>
constexpr void amend_saved(Saved& saved, int i, saved_role role, std::int64_t copies) {
  saved_fact& fact = saved[static_cast<std::size_t>(i)];
  fact.role = role;
  fact.copies = copies;
}

/// Counts facts, and writes them where there is a place for them: one type, so that the walk is instantiated once for both.
struct fact_array_sink {
  parameter_fact* parameters = nullptr;
  saved_fact* saved = nullptr;
  message_fact* messages = nullptr;
  fact_counts used{};
  redco::work work{};

  constexpr void add(parameter_fact const& f) {
    if (parameters != nullptr) parameters[used.parameters] = f;
    ++used.parameters;
  }
  constexpr void add(saved_fact const& f) {
    if (saved != nullptr) saved[used.saved] = f;
    ++used.saved;
  }
  constexpr void add(message_fact const& f) {
    if (messages != nullptr) messages[used.messages] = f;
    ++used.messages;
  }
  constexpr void amend(int i, saved_role role, std::int64_t copies) {
    if (saved != nullptr) amend_saved(saved, i, role, copies);
  }
  constexpr void add_work(std::int64_t operations, bool in_block) { work.add(operations, in_block); }
};

struct fact_vector_sink {
  dynamic_facts facts;

  void add(parameter_fact const& f) { facts.parameters.push_back(f); }
  void add(saved_fact const& f) { facts.saved.push_back(f); }
  void add(message_fact const& f) { facts.messages.push_back(f); }
  void amend(int i, saved_role role, std::int64_t copies) { amend_saved(facts.saved, i, role, copies); }
  void add_work(std::int64_t operations, bool in_block) { facts.work.add(operations, in_block); }
};

template <model M, class Sink>
constexpr void state_facts(M const& m, workload const& load, Sink& sink) {
  walk<Sink> w(sink, input_of(m, load), input_of(m, of_source(load)));
  net_of<M>::template facts<replicated>(m.config, w);
  whole_facts<out_t<net_of<M>, replicated>>(w);  // the user is given whole results
}

template <auto const& Model>
constexpr fact_counts counts_of() {
  fact_array_sink sink;
  state_facts(Model, {}, sink);
  return sink.used;
}

}  // namespace detail

/// The facts of a model whose sizes are known at run time.
template <model M>
dynamic_facts facts_of(M const& m, workload const& load = {}) {
  detail::fact_vector_sink sink;
  detail::state_facts(m, load, sink);
  return std::move(sink.facts);
}

/// The facts of a constexpr model.
template <auto const& Model>
constexpr auto facts_of(workload const& load = {}) {
  constexpr auto n = detail::counts_of<Model>();
  model_facts<std::array<parameter_fact, n.parameters>, std::array<saved_fact, n.saved>, std::array<message_fact, n.messages>>
      facts;
  detail::fact_array_sink sink{facts.parameters.data(), facts.saved.data(), facts.messages.data()};
  detail::state_facts(Model, load, sink);
  facts.work = sink.work;
  return facts;
}

}  // namespace redco
