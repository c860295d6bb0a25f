#pragma once

#include <redco/shard/stages.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/recorder.hpp>

#include <redco/model/model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::shard {

/// The parts of a model's program that a constexpr variable can hold: parameters, messages, the
/// first mistake in the model's sizes, and the largest number of pipeline stages.
template <std::size_t Parameters, std::size_t Messages>
struct constant_facts {
  std::array<fact::parameter_fact, Parameters> parameters{};
  std::array<fact::message_fact, Messages> messages{};
  fact::mistake_fact mistake{};
  std::int64_t most_stages = 1;
};

}  // namespace redco::shard

namespace redco::shard::detail {

/// Returns the program of a model: the parameters, saved tensors, operations and messages that its
/// layers declare for this workload. If sizes are wrong, the program contains the first mistake.
template <model M>
constexpr fact::program record(M const& m, workload const& load) {
  fact::recorder w(models::input_of(m, load), models::source_of(m, load), models::states_input<M>);
  w.sequences = {load.parts, load.whole, load.shards};
  models::net_of<M>::template facts<shape::replicated>(m.config, w);
  // The user receives unsharded results
  fact::detail::unshard_facts<layers::out_t<models::net_of<M>, shape::replicated>>(w);
  return w.take();
}

/// Returns the mistake `found` if it also occurs with another workload, otherwise no mistake. A
/// mistake that depends on the workload is reported where the workload is known.
template <model M>
constexpr fact::mistake_fact constant_mistake(M const& m, fact::mistake_fact const& found) {
  return found && record(m, {.batch = 2, .sequence = 3}).mistake == found ? found : fact::mistake_fact{};
}

/// Throws `error` with exit code 64 and a message about the mistake `m`. Does nothing if `m` is no
/// mistake.
void refuse(fact::mistake_fact const& m);

/// A buffer for the parameters and messages of a constexpr model, with room for most models. Their
/// numbers are known only after recording. With this buffer, most models are recorded once instead
/// of twice.
struct fact_room {
  constant_facts<64, 48> facts;
  std::size_t parameters = 0, messages = 0;

  constexpr bool is_enough() const {
    return parameters <= facts.parameters.size() && messages <= facts.messages.size();
  }
};

template <auto const& Model, workload Load>
constexpr fact_room recorded_room() {
  fact::program const p = record(Model, Load);
  fact_room room;
  room.parameters = p.parameters.size();
  room.messages = p.messages.size();
  if (room.is_enough()) {
    for (std::size_t i = 0; i < room.parameters; ++i) room.facts.parameters[i] = p.parameters[i];
    for (std::size_t i = 0; i < room.messages; ++i) room.facts.messages[i] = p.messages[i];
  }
  room.facts.mistake = constant_mistake(Model, p.mistake);
  room.facts.most_stages = most_stages(p);
  return room;
}

template <auto const& Model, workload Load>
constexpr auto recorded_facts() {
  constexpr fact_room room = recorded_room<Model, Load>();
  constant_facts<room.parameters, room.messages> facts;
  auto const copy = [&](auto const& from) {
    for (std::size_t i = 0; i < facts.parameters.size(); ++i) facts.parameters[i] = from.parameters[i];
    for (std::size_t i = 0; i < facts.messages.size(); ++i) facts.messages[i] = from.messages[i];
  };
  if constexpr (room.is_enough()) copy(room.facts);
  else copy(record(Model, Load));
  facts.mistake = room.facts.mistake;
  facts.most_stages = room.facts.most_stages;
  return facts;
}

}  // namespace redco::shard::detail

namespace redco::shard {

/// Parameters and messages that the layers of a constexpr model declare, recorded once. Use them
/// only if legal<> passes (the model's sizes are correct).
template <auto const& Model, workload Load = workload{}>
inline constexpr auto constant_facts_of = detail::recorded_facts<Model, Load>();

/// Returns the program (parameters, saved tensors, operations and messages in order of forward) of
/// a model whose sizes are known at run time. Throws `error` with exit code 64 if sizes of layers
/// do not match each other or the input, or if a size is below 1.
template <model M>
fact::program facts_of(M const& m, workload const& load) {
  fact::program p = detail::record(m, load);
  detail::refuse(p.mistake);
  return p;
}

/// Returns the program (parameters, tensors and messages) of a model for a default workload. Use it
/// only where batch size and sequence length do not matter. Throws `error` with exit code 64 for a
/// mistake in the model's sizes that does not depend on the workload.
template <model M>
fact::program facts_of(M const& m) {
  fact::program p = detail::record(m, {});
  detail::refuse(detail::constant_mistake(m, p.mistake));
  return p;
}

/// Returns the program (parameters, saved tensors, operations and messages) of a constexpr model,
/// in a constant expression. Use it only if legal<> passes (the model's sizes are correct).
template <auto const& Model>
constexpr fact::program facts_of(workload const& load = {}) {
  return detail::record(Model, load);
}

}  // namespace redco::shard

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/shard/facts.inl.hpp>
#endif
