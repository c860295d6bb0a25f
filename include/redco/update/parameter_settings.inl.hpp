#pragma once

#include <redco/update/parameter_settings.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::update::detail {

/// Returns the path of the outermost repeated block that contains the parameter, such as "h.3", or
/// an empty text if no block contains it.
inline std::string_view block_of(shard::placed_parameter const& p) {
  std::string_view const name = p.name, planned = p.plan.fact.name.view();
  std::size_t const mark = planned.find_first_of("*:");
  if (mark == std::string_view::npos) return {};
  return name.substr(0, name.find('.', planned.rfind('.', mark) + 1));
}

/// Returns the number of the layer of each parameter. It is 0 before the first block, then the
/// number of the block from 1 on, and after the last block one more than the number of blocks.
inline std::vector<int> layers_of(std::vector<shard::placed_parameter> const& placed) {
  std::vector<int> layers;
  int blocks = 0;
  std::size_t end = 0;  // index after the last parameter in a block
  std::string_view block;
  for (shard::placed_parameter const& p : placed) {
    std::string_view const own = block_of(p);
    if (!own.empty() && own != block) block = own, ++blocks;
    layers.push_back(blocks);
    if (!own.empty()) end = layers.size();
  }
  int const after = blocks + 1;
  if (blocks > 0) std::fill(layers.begin() + static_cast<std::ptrdiff_t>(end), layers.end(), after);
  return layers;
}

inline void check_setting(std::string const& of, char const* name, double value) {
  if (value >= 0 && std::isfinite(value)) return;
  throw error(exit_code::usage,
              of + " has the " + name + " " + std::to_string(value) + ": give a finite number from 0 on");
}

}  // namespace redco::update::detail

namespace redco::update {

REDCO_INLINE std::vector<parameter_settings> settings_of(any_optimizer const& optimizer,
                                                         std::vector<shard::placed_parameter> const& placed) {
  std::vector<parameter_settings> all(placed.size());
  for (optimizer::group const& one : optimizer.groups) {
    std::string const of = "the optimizer's group '" + one.pattern + "'";
    if (one.rate) detail::check_setting(of, "rate", *one.rate);
    if (one.weight_decay) detail::check_setting(of, "weight decay", *one.weight_decay);
    bool used = false;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (!meta::glob(one.pattern, placed[i].name)) continue;
      used = true;
      if (one.rate) all[i].rate = *one.rate;
      if (one.weight_decay) all[i].weight_decay = one.weight_decay;
    }
    if (!used) throw error(exit_code::usage, of + " matches no parameter; the plan lists their names");
  }
  for (std::size_t i = 0; i < placed.size(); ++i)
    all[i].whole = optimizer.factors_matrices || (optimizer.updates_matrices && placed[i].plan.fact.is_hidden_matrix()),
    all[i].factored = optimizer.factors_matrices && placed[i].plan.fact.shape.rank > 1;
  auto const is_whole = [](parameter_settings const& one) { return one.whole; };
  if (optimizer.updates_matrices && std::none_of(all.begin(), all.end(), is_whole))
    throw error(exit_code::usage, "the optimizer " + optimizer.name +
                                      " finds no matrix in a repeated block of the model; use adamw, or build the "
                                      "model's hidden layers with repeat");
  detail::check_setting("the optimizer", "layer decay", optimizer.layer_decay);
  if (optimizer.layer_decay == 1) return all;
  std::vector<int> const layers = detail::layers_of(placed);
  int const last = layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].rate *= std::pow(optimizer.layer_decay, last - layers[i]);
  return all;
}

}  // namespace redco::update
