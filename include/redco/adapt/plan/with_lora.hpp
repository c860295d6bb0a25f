#pragma once

#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/adapt/plan/lora_options.hpp>

#include <redco/shape/extents.hpp>

#include <redco/meta/fields.hpp>

namespace redco {

/// A model's sizes, and how it is adapted.
template <class Config>
struct lora_config : Config {
  using extends = Config;
  lora_options lora = {};

  /// Its own members, beside those of Config.
  static constexpr auto fields() { return redco::fields(field<"lora">(&lora_config::lora)); }
};

/// `M` frozen, with low-rank adapters beside the weights that `config.lora` names. Plans, costs and
/// `fits<>` count the adapters' parameters, gradients and optimizer state; of M's weights the bytes
/// alone. What forward saves and backward sends is counted as if these were trained, which is an
/// upper bound.
///
///   redco::with_lora<redco::llama> const model{{folder.model<redco::llama>().config, {.rank = 8, .targets = "q,v"}}};
template <model M>
struct with_lora {
  using base = M;
  using config_type = lora_config<decltype(M::config)>;
  using net = low_rank_adapted<&config_type::lora, typename M::net>;

  config_type config;

  template <class Same = M>
    requires requires(Same const& m, workload const& load) { m.input(load); }
  constexpr extents input(workload const& load) const { return Same{config}.input(load); }
};

/// Files name its frozen parameters as M's; where PEFT keeps adapters is in
/// adapt/plan/adapter_place.hpp.
template <model M>
struct stored_names<with_lora<M>> : stored_names<M> {};

}  // namespace redco
