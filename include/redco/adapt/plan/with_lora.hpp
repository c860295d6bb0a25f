#pragma once

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/shape/extents.hpp>
#include <redco/meta/fields.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <span>
#include <string>

namespace redco::adapt {

/// Returns PEFT's default targets for decoders: "q,v", the queries and values. Returns "qkv", one
/// adapter of all three, if the model's files store queries, keys and values as one tensor, as
/// GPT-2's do.
inline std::string usual_targets(std::span<models::stored_name const> names) {
  for (models::stored_name const& row : names)
    if (row.ours.ends_with(".q.weight") && row.parts > 1) return "qkv";
  return "q,v";
}

/// A model's config together with the options of its LoRA adapters.
template <class Config>
struct lora_config : Config {
  using extends = Config;
  lora_options lora = {};

  /// Returns the fields that this struct adds as options; `extends` provides the fields of
  /// `Config`.
  static constexpr auto fields() { return redco::fields(field<"lora">(&lora_config::lora)); }
};

}  // namespace redco::adapt

namespace redco {

/// A frozen model `M` with low-rank adapters for the weights that `config.lora` names. Plans, costs
/// and `fits<>` count bytes of M's weights, and parameters, gradients and optimizer state of the
/// adapters. Saved tensors and backward messages are counted as if M were trained, which is an
/// upper bound.
///
///   redco::with_lora<redco::llama> const model{
///       {folder.model<redco::llama>().config, {.rank = 8, .targets = "q,v"}}};
template <model M>
struct with_lora {
  using base = M;
  using config_type = adapt::lora_config<decltype(M::config)>;
  using net = adapt::low_rank_adapted<&config_type::lora, typename M::net>;

  config_type config;

  template <class Same = M>
    requires requires(Same const& m, workload const& load) { m.input(load); }
  constexpr extents input(workload const& load) const { return Same{config}.input(load); }
};

/// Names in files of the frozen parameters: those of `M`. adapter_location_of() returns PEFT's
/// names of the adapters.
template <model M>
struct models::stored_names<with_lora<M>> : models::stored_names<M> {};

}  // namespace redco
