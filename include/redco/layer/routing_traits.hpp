#pragma once

#include <redco/layer/activations.hpp>
#include <redco/layer/extent_of.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// Functions that turn the scores of a router into probabilities of experts.
enum class router_function : unsigned char {
  softmax,            ///< Softmax over all experts; the largest probabilities are chosen
  softmax_of_chosen,  ///< The largest scores are chosen; softmax over the chosen experts only
  sigmoid,            ///< Sigmoid of each score; the largest are chosen
};

/// Forms of the auxiliary loss that balances the load of experts.
enum class balance_loss : unsigned char {
  none,
  /// T sum_e f_e P_e for each sequence of T tokens (DeepSeek-V2). f_e is E / (k T) times the number
  /// of tokens routed to expert e, P_e the mean probability of e. The sum over sequences does not
  /// depend on micro-batches or mesh.
  per_sequence,
};

/// The options of a router. Each trait (option) of a `moe` layer sets some of them in its function
/// `apply(config, form)`.
struct routing_form {
  router_function function = router_function::softmax;
  bool normalised = false;  ///< True if the chosen experts' weights are divided by their sum
  double scale = 1;         ///< Factor of the weights, after normalisation
  /// Experts form this many equal groups. Only experts of the `chosen_groups` best groups are
  /// chosen. A group is rated by the sum of its two largest probabilities.
  std::int64_t groups = 1;
  std::int64_t chosen_groups = 1;
  balance_loss balance = balance_loss::none;
  double coefficient = 0;  ///< Factor of the auxiliary loss
  /// Change per step of the biases that balance loads without a loss; 0: the router has no biases
  double bias_rate = 0;

  friend constexpr bool operator==(routing_form const&, routing_form const&) = default;
};

/// Concept of a trait (option) of a `moe` layer: a type with a name `trait_name` and a member
/// `is_routing_trait`. Its function `apply(config, form)` changes the `routing_form`.
template <class Trait>
concept routing_trait = requires {
  Trait::trait_name;
  requires Trait::is_routing_trait;
};

/// Experts of a `moe` layer: `Count` feed-forward networks Width -> Hidden -> Width without biases.
/// A gated expert returns down(Activation(gate x) * (up x)), another one down(Activation(up x)).
/// With dispatch::dcca, experts read and return the descended features instead of Width.
template <auto Count, auto Width, auto Hidden, class Activation = silu, auto Gated = true>
struct experts {
  static constexpr auto count = Count;
  static constexpr auto width = Width;
  static constexpr auto hidden = Hidden;
  static constexpr auto activation = Activation::kind;
  static constexpr auto gated = Gated;
};

/// Number of experts that a `moe` layer chooses for each token.
template <auto Count>
struct top {
  static constexpr auto count = Count;
};

}  // namespace redco::layers

namespace redco::layers::dispatch {

/// Sends the complete features of each token to its experts: communicate, descend, ascend,
/// communicate. Features are sent with the full width.
struct cdac {
  static constexpr bool descends = false;
  static constexpr int ratio = 0;
};

/// Descends to Ratio * width features, sends these to the experts and back, adds up the experts'
/// results and ascends once (BigMac, Jin et al. 2025). Messages shrink by `Ratio`, a number between
/// 0 and 1. The router reads the complete features.
template <auto Ratio>
struct dcca {
  static constexpr bool descends = true;
  static constexpr auto ratio = Ratio;
};

}  // namespace redco::layers::dispatch

namespace redco::layers::routing {

/// A trait (option) of a `moe` layer: probabilities are a softmax over the chosen experts only.
struct softmax_of_chosen {
  static constexpr std::string_view trait_name = "softmax_of_chosen";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const&, routing_form& form) {
    form.function = router_function::softmax_of_chosen;
  }
};

/// A trait (option) of a `moe` layer: probabilities are the sigmoid of each expert's score.
struct sigmoid {
  static constexpr std::string_view trait_name = "sigmoid";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const&, routing_form& form) {
    form.function = router_function::sigmoid;
  }
};

/// A trait (option) of a `moe` layer that divides the weights of the chosen experts by their sum.
/// No effect if `Enabled` is false.
template <auto Enabled = true>
struct normalised {
  static constexpr std::string_view trait_name = "normalised";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const& config, routing_form& form) {
    form.normalised = extent_of<Enabled>(config);
  }
};

/// A trait (option) of a `moe` layer that multiplies the weights of the chosen experts by `Factor`.
template <auto Factor>
struct scaled {
  static constexpr std::string_view trait_name = "scaled";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const& config, routing_form& form) {
    form.scale = static_cast<double>(extent_of<Factor>(config));
  }
};

/// A trait (option) of a `moe` layer that chooses experts from the `Chosen` best of `Groups` equal
/// groups only (DeepSeek-V3).
template <auto Groups, auto Chosen>
struct group_limited {
  static constexpr std::string_view trait_name = "group_limited";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const& config, routing_form& form) {
    form.groups = extent_of<Groups>(config);
    form.chosen_groups = extent_of<Chosen>(config);
  }
};

/// A trait (option) of a `moe` layer that adds the auxiliary loss `balance_loss::per_sequence`
/// times `Coefficient` to the sum of the loss, once per token.
template <auto Coefficient>
struct auxiliary_loss {
  static constexpr std::string_view trait_name = "auxiliary_loss";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const& config, routing_form& form) {
    form.balance = balance_loss::per_sequence;
    form.coefficient = static_cast<double>(extent_of<Coefficient>(config));
  }
};

/// A trait (option) of a `moe` layer that balances the loads of experts by biases of their choice,
/// without a loss (Wang et al. 2024). Biases change the choice of experts, not their weights. After
/// each step, biases of experts with fewer tokens than the mean grow by `Rate`, and the others fall
/// by it. Then the mean of the biases is subtracted.
template <auto Rate>
struct balanced_by_bias {
  static constexpr std::string_view trait_name = "balanced_by_bias";
  static constexpr bool is_routing_trait = true;

  template <class Config>
  static constexpr void apply(Config const& config, routing_form& form) {
    form.bias_rate = static_cast<double>(extent_of<Rate>(config));
  }
};

}  // namespace redco::layers::routing
