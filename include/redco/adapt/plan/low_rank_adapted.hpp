#pragma once

#include <redco/layer/forwarding.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/low_rank_facts.hpp>

#include <utility>

namespace redco::adapt {

/// A frozen layer with LoRA adapters for the weights that a `lora_options` value names: the
/// config's member to which `Options` points. A weight "q.weight" [Out, In] gets "q.lora_A.weight"
/// [rank, In] and "q.lora_B.weight" [Out, rank]. A starts with uniform random values, B with zeros,
/// so training starts from the outputs of `Layer`. Linear layers, gated units and attentions
/// support adapters.
template <auto Options, layer Layer>
struct low_rank_adapted : layers::detail::forwarding<Layer> {
  template <class Other>
  using rebind = low_rank_adapted<Options, Other>;
  using unpaired = low_rank_adapted<Options, layers::unpaired_t<Layer>>;
  static constexpr bool unnamed = layers::is_unnamed<Layer>;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    detail::low_rank_facts const adapters(layers::of<Options>(config));
    auto const outer = std::exchange(w.beside, &adapters);
    bool const outer_frozen = std::exchange(w.frozen, true);
    Layer::template facts<X>(config, w);
    w.beside = outer;
    w.frozen = outer_frozen;
  }
};

}  // namespace redco::adapt
