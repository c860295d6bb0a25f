#pragma once

#include <redco/fact/activation_fact.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/walk.hpp>
#include <redco/fact/work.hpp>

#include <redco/model/model.hpp>

#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

/// The first mistake of a walk (a rank's before a width's: it keeps a layer from stating its facts), and the layers that
/// made the widths `asked` for.
struct mistake_sink {
  mistake_fact first{};
  std::array<int, 2> asked{-1, -1};
  std::array<path, 2> makers{};

  constexpr void add(mistake_fact const& m) {
    if (!first || (first.what == mistake::width && m.what == mistake::rank)) first = m;
  }
  constexpr void made(int width, path const& layer) {
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (asked[i] == width) makers[i] = layer;
  }
};

template <class Saved>
constexpr void amend_saved(Saved& saved, int i, saved_role role, std::int64_t copies) {
  saved_fact& fact = saved[static_cast<std::size_t>(i)];
  fact.role = role;
  fact.copies = copies;
}

/// Counts facts, and writes them where there is a place for them: one type, so that the walk is instantiated once for both.
struct fact_array_sink : mistake_sink {
  using mistake_sink::add;

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

struct fact_vector_sink : mistake_sink {
  using mistake_sink::add;

  dynamic_facts facts;

  void add(parameter_fact const& f) { facts.parameters.push_back(f); }
  void add(saved_fact const& f) { facts.saved.push_back(f); }
  void add(message_fact const& f) { facts.messages.push_back(f); }
  void amend(int i, saved_role role, std::int64_t copies) { amend_saved(facts.saved, i, role, copies); }
  void add_work(std::int64_t operations, bool in_block) { facts.work.add(operations, in_block); }
};

template <model M, class Sink>
constexpr void state_facts(M const& m, workload const& load, Sink& sink) {
  walk<Sink> w(sink, input_of(m, load), input_of(m, of_source(load)), states_input<M>);
  net_of<M>::template facts<replicated>(m.config, w);
  unshard_facts<out_t<net_of<M>, replicated>>(w);  // the user is given whole results
}

/// `found` with its layers by name, from another walk of the kind that found it.
template <class Sink, model M>
constexpr mistake_fact named_mistake(M const& m, workload const& load, mistake_fact found) {
  if (!found || found.what == mistake::size) return found;
  Sink sink;
  sink.asked = found.makers;
  state_facts(m, load, sink);
  if (found.makers[0] >= 0) found.reader = sink.makers[0];
  found.giver = sink.makers[1];
  return found;
}

/// The mistake that a model makes under every workload, if any: one that depends on the workload is told where that is known.
template <class Sink, model M>
constexpr mistake_fact constant_mistake(M const& m, mistake_fact const& found) {
  if (!found) return found;
  Sink other;
  state_facts(m, {.batch = 2, .sequence = 3}, other);
  return other.first == found ? named_mistake<Sink>(m, {}, found) : mistake_fact{};
}

/// Errors: exit code 64, for a mistake.
void refuse(mistake_fact const& m);

/// What the first walk over a constexpr model finds: the numbers of its facts, and its mistake.
struct survey {
  fact_counts counts{};
  mistake_fact mistake{};
};
template <auto const& Model>
constexpr survey survey_of() {
  fact_array_sink sink;
  state_facts(Model, {}, sink);
  return {sink.used, constant_mistake<fact_array_sink>(Model, sink.first)};
}
template <auto const& Model>
inline constexpr survey surveyed = survey_of<Model>();

}  // namespace detail

/// The facts of a model whose sizes are known at run time, under a workload.
/// Errors: exit code 64 where its layers do not fit each other or its input, or a size is below one.
template <model M>
dynamic_facts facts_of(M const& m, workload const& load) {
  detail::fact_vector_sink sink;
  detail::state_facts(m, load, sink);
  detail::refuse(detail::named_mistake<detail::fact_vector_sink>(m, load, sink.first));
  return std::move(sink.facts);
}

/// The same under no workload in particular, for what does not depend on it.
template <model M>
dynamic_facts facts_of(M const& m) {
  detail::fact_vector_sink sink;
  detail::state_facts(m, {}, sink);
  detail::refuse(detail::constant_mistake<detail::fact_vector_sink>(m, sink.first));
  return std::move(sink.facts);
}

/// The facts of a constexpr model; requires legal<> for what they mean.
template <auto const& Model>
constexpr auto facts_of(workload const& load = {}) {
  constexpr auto n = detail::surveyed<Model>.counts;
  model_facts<std::array<parameter_fact, n.parameters>, std::array<saved_fact, n.saved>,
              std::array<message_fact, n.messages>>
      facts;
  detail::fact_array_sink sink;
  sink.parameters = facts.parameters.data();
  sink.saved = facts.saved.data();
  sink.messages = facts.messages.data();
  detail::state_facts(Model, load, sink);
  facts.work = sink.work;
  return facts;
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/shard/facts.inl.hpp>
#endif
