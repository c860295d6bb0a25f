#pragma once

#include <redco/nn/check_saved.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/cost/saved_slots.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::nn::detail {

inline at::IntArrayRef sizes_of(extents const& shape) {
  return {shape.size.data(), static_cast<std::size_t>(shape.rank)};
}

inline std::string type_text(at::ScalarType type) {
  for (int i = 0; i <= static_cast<int>(dtype::boolean); ++i)
    if (tensors::scalar_type_of(static_cast<dtype>(i)) == type) return std::string(name_of(static_cast<dtype>(i)));
  return c10::toString(type);
}

inline std::string layer_text(std::string_view path) { return path.empty() ? "the network" : std::string(path); }

inline std::string not_saved(cost::saved_slot const& slot, cost::saved_slot::owner const& owner) {
  return layer_text(owner.layer) + ": `" + owner.name + "` (" + std::string(name_of(slot.type)) + " " +
         tensors::describe(sizes_of(slot.shape)) + ") is declared and not saved";
}

inline std::string not_declared(tensors::saved_watch::entry const& saved, std::string_view layer) {
  std::string const tensor = type_text(saved.tensor.scalar_type()) + " " + tensors::describe(saved.tensor.sizes());
  return layer_text(layer) + ": " +
         (saved.slot.empty() ? "a tensor " + tensor : "`" + std::string(saved.slot) + "` (" + tensor + ")") +
         " is saved and not declared";
}

/// Returns true if `layer` is the path `composition` or the path of a layer inside `composition`.
inline bool is_within(std::string_view layer, std::string_view composition) {
  return layer.starts_with(composition) &&
         (composition.empty() || layer.size() == composition.size() || layer[composition.size()] == '.');
}

/// Returns true if the tensor `saved` by autograd can be the declared tensor `slot`. Their dtypes
/// and bytes are equal, and also their names if the saved tensor has a name.
inline bool fits_slot(cost::saved_slot const& slot, tensors::saved_watch::entry const& saved) {
  return saved.tensor.scalar_type() == tensors::scalar_type_of(slot.type) && saved.bytes() == slot.bytes() &&
         (saved.slot.empty() || std::ranges::any_of(slot.owners, [&](cost::saved_slot::owner const& owner) {
            return owner.name == saved.slot && is_within(saved.layers.front(), owner.layer);
          }));
}

inline bool same_layers(cost::saved_slot const& slot, tensors::saved_watch::entry const& saved) {
  return std::ranges::is_permutation(slot.owners, saved.layers, {}, &cost::saved_slot::owner::layer);
}
inline bool one_layer(cost::saved_slot const& slot, tensors::saved_watch::entry const& saved) {
  return std::ranges::find_first_of(slot.owners, saved.layers, {}, &cost::saved_slot::owner::layer) !=
         slot.owners.end();
}
inline bool composition(cost::saved_slot const& slot, tensors::saved_watch::entry const& saved) {
  return is_within(saved.layers.front(), slot.owners.front().layer);
}

/// Compares a tensor that autograd saved with the declared tensor `slot` that was assigned to it.
/// Appends to `differences` a sentence for each layer that declares the tensor but does not save
/// it, and for each layer that saves the tensor but does not declare it. If `may_be_unsaved` is
/// true, reports only undeclared saves.
inline void compare_layers(cost::saved_slot const& slot, tensors::saved_watch::entry const& saved, bool may_be_unsaved,
                           std::vector<std::string>& differences) {
  for (cost::saved_slot::owner const& owner : slot.owners)
    if (!may_be_unsaved &&
        std::ranges::none_of(saved.layers, [&](std::string const& layer) { return is_within(layer, owner.layer); }))
      differences.push_back(not_saved(slot, owner));
  for (std::string const& layer : saved.layers)
    if (std::ranges::none_of(slot.owners,
                             [&](cost::saved_slot::owner const& owner) { return is_within(layer, owner.layer); }))
      differences.push_back(not_declared(saved, layer));
}

/// Returns pointers to the declared or saved tensors whose size is not 0 bytes.
template <class T>
std::vector<T const*> with_bytes(std::span<T const> all) {
  std::vector<T const*> some;
  for (T const& one : all)
    if (one.bytes() > 0) some.push_back(&one);
  return some;
}

/// Returns a sentence for each declared tensor that no layer saves (none if `may_be_unsaved`), and
/// for each saved tensor that no layer declares.
///
/// Each saved tensor is assigned to one declaration with equal dtype, bytes and, if it has one,
/// name. Named tensors are assigned first. Preferred are declarations by exactly the layers that
/// save the tensor, then by some of these layers, then by an enclosing layer.
inline std::vector<std::string> saved_differences(std::span<cost::saved_slot const> declared,
                                                  std::span<tensors::saved_watch::entry const> saved,
                                                  bool may_be_unsaved) {
  auto slots = with_bytes(declared);
  auto tensors = with_bytes(saved);
  std::vector<std::string> differences;
  for (bool const named : {true, false})
    for (auto const are_related : {&same_layers, &one_layer, &composition})
      for (bool const of_one_shape : {true, false})
        std::erase_if(tensors, [&](tensors::saved_watch::entry const* const t) {
          if (t->slot.empty() == named) return false;
          auto const found = std::ranges::find_if(slots, [&](cost::saved_slot const* const s) {
            return fits_slot(*s, *t) && (!of_one_shape || t->tensor.sizes() == sizes_of(s->shape)) &&
                   are_related(*s, *t);
          });
          if (found == slots.end()) return false;
          compare_layers(**found, *t, may_be_unsaved, differences);
          slots.erase(found);
          return true;
        });
  if (!may_be_unsaved)
    for (cost::saved_slot const* const one : slots) differences.push_back(not_saved(*one, one->owners.front()));
  for (tensors::saved_watch::entry const* const one : tensors)
    differences.push_back(not_declared(*one, one->layers.front()));
  return differences;
}

[[noreturn]] inline void refuse_saved(std::vector<std::string> const& differences, at::Tensor const& input,
                                      at::Tensor const& source) {
  constexpr std::size_t most = 4;
  std::string listed;
  for (std::size_t i = 0; i < std::min(differences.size(), most); ++i) listed += (i > 0 ? "; " : "") + differences[i];
  if (differences.size() > most) listed += "; and " + std::to_string(differences.size() - most) + " more";
  throw error(exit_code::internal,
              "autograd saves other tensors for backward of an input " + tensors::describe(input.sizes()) +
                  (source.defined() ? " and a source " + tensors::describe(source.sizes()) : "") +
                  " than layers declare: " + listed +
                  ". The facts() of a layer of yours must save() what its module saves, no more and no less");
}

[[noreturn]] inline void refuse_opaque() {
  throw error(
      exit_code::usage,
      "--check-saved compares what layers declare, and an opaque layer declares nothing; leave the option out, or "
      "write a layer type with facts()");
}

REDCO_INLINE void check_saved_facts(fact::program const& facts, cost::setup const& run, parameter_store const& store,
                                    at::Tensor const& input, at::Tensor const& source,
                                    std::span<tensors::saved_watch::entry const> saved) {
  for (fact::parameter_fact const& p : facts.parameters)
    if (p.why == fact::reason::opaque) refuse_opaque();
  bool const some_frozen = store.regions().trained() < store.regions().size();
  auto const differences = saved_differences(cost::saved_slots(facts, run), saved, some_frozen);
  if (!differences.empty()) refuse_saved(differences, input, source);
}

}  // namespace redco::nn::detail
