#pragma once

#include <redco/shard/plan.hpp>

#include <redco/model/model.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/extents.hpp>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

// Queries of the plan of a constexpr model.
namespace model_facts {

template <auto const& Model>
inline constexpr auto const& parameters = redco::shard::constant_facts_of<Model>.parameters;
template <auto const& Model>
inline constexpr auto const& messages = redco::shard::constant_facts_of<Model, redco::workload{2, 8}>.messages;

/// Returns the number of trained parameters of a model.
template <auto const& Model>
constexpr std::int64_t numbers() {
  std::int64_t sum = 0;
  for (redco::fact::parameter_fact const& p : parameters<Model>)
    if (p.trained) sum += p.shape.count() * p.copies();
  return sum;
}

/// Returns the plan entry of `name` on `shards` ranks.
template <auto const& Model>
constexpr redco::shard::entry at(std::string_view name, int shards) {
  for (redco::fact::parameter_fact const& p : parameters<Model>)
    if (p.name.view() == name && redco::shard::can_split(p, {.tp = shards})) return {p, {.tp = shards}};
  throw std::out_of_range("no such parameter");
}

/// Returns the local shape of `name` on each of `shards` ranks, if its split has the reason `why`.
template <auto const& Model>
constexpr redco::extents part(std::string_view name, int shards, redco::fact::reason why) {
  redco::shard::entry const e = at<Model>(name, shards);
  return e.fact.why == why ? e.local() : redco::extents{};
}

/// Returns true if exactly these of the widths 1 to 64 are legal.
template <auto const& Model>
constexpr bool legal_widths(std::initializer_list<int> widths) {
  for (int n = 1; n <= 64; ++n) {
    bool wanted = false;
    for (int const w : widths) wanted = wanted || w == n;
    if ((redco::shard::first_illegal(parameters<Model>, {.tp = n}) == parameters<Model>.size()) != wanted) return false;
  }
  return true;
}

/// Returns the number of all-reduces of activations by layers whose path begins with `where`, in
/// one of `blocks` blocks.
template <auto const& Model>
constexpr std::int64_t reductions(std::string_view where, bool backward, std::int64_t blocks = 1) {
  std::int64_t calls = 0;
  for (redco::fact::message_fact const& m : messages<Model>)
    if (m.kind == redco::fact::width_kind::compute && m.backward == backward && m.layer.view().starts_with(where))
      calls += m.copies;
  return calls % blocks == 0 ? calls / blocks : -1;
}

/// Returns the tensor that `layer` states under `slot` for two examples of eight tokens. The tensor
/// has rank 0 if there is none.
template <auto const& Model>
constexpr redco::fact::flow tensor_at(std::string_view layer, std::string_view slot) {
  redco::fact::program const p = redco::shard::facts_of<Model>({.batch = 2, .sequence = 8});
  for (redco::fact::event const& e : p.events)
    if (e.slot == slot && p.layer_of(e) == layer) return e.tensor;
  return {};
}

/// Returns the number of parameters of this name.
template <auto const& Model>
constexpr int count(std::string_view name) {
  int n = 0;
  for (redco::fact::parameter_fact const& p : parameters<Model>) n += p.name.view() == name;
  return n;
}

}  // namespace model_facts
