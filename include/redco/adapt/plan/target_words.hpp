#pragma once

#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/fact/side_products.hpp>
#include <redco/shape/layout.hpp>
#include <redco/adapt/plan/lora_options.hpp>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::adapt::detail {

/// Collects the paths of all weights that can have adapters.
class weight_collector final : public fact::side_products {
 public:
  explicit weight_collector(std::vector<std::string>& paths) : paths_(paths) {}

  constexpr void state(fact::recorder& w, fact::flow const&, std::span<fact::named_weight const> weights, bool,
                       std::string_view) const override {
    for (fact::named_weight const& one : weights) {
      fact::path here = w.here();
      here.push(one.name);
      paths_.emplace_back(here.view());
    }
  }

 private:
  std::vector<std::string>& paths_;
};

/// Returns the shortest suffix of `path`, in whole components, that is no suffix of the path of a
/// weight without adapters. `all`: paths of all weights; `adapted`: paths of the weights with
/// adapters.
std::string shortest_target(std::string_view path, std::set<std::string> const& adapted,
                            std::set<std::string> const& all);

}  // namespace redco::adapt::detail

namespace redco::adapt {

/// Returns the paths of all weights of a model that can have adapters, such as
/// "layers.*.self_attn.q".
template <model M>
std::vector<std::string> adaptable_weights(M const& model) {
  std::vector<std::string> paths;
  detail::weight_collector const collector(paths);
  workload const load{.batch = 1, .sequence = 2};
  fact::recorder w(models::input_of(model, load), models::source_of(model, load), models::states_input<M>);
  w.sides = &collector;
  models::net_of<M>::template facts<shape::replicated>(model.config, w);
  return paths;
}

/// Returns the member `targets` of lora_options for a comma-separated list of words. A word is an
/// end of our paths ("q", "mlp.down"), PEFT's name of a module ("q_proj", "c_attn"), or
/// "all-linear". The last one names all weights of `adaptable`, which has no language head.
/// `names`: the model's names in files.
///
/// Throws `error` with exit code 64 for a word that names no weight with adapters, and for modules
/// that join other weights than queries, keys and values.
std::string targets_of(std::string_view words, std::span<std::string const> adaptable,
                       std::span<models::stored_name const> names);

}  // namespace redco::adapt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/plan/target_words.inl.hpp>
#endif
