#pragma once

#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/meta/enum_texts.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace redco::optimizer {

/// Settings of the parameters whose names match `pattern`, such as "h.*.attn.*" or "*.bias". `*`
/// matches any number of characters, and `?` matches one.
struct group {
  std::string pattern;
  std::optional<double> rate = {};  ///< Factor of the learning rate
  /// Weight decay that replaces the rule's. It applies to matching norms and biases too.
  std::optional<double> weight_decay = {};

  friend bool operator==(group const&, group const&) = default;
};

/// An optimizer rule `Rule` with settings for groups of parameters. If several groups match a
/// parameter, each setting comes from the last group that has it.
///
/// A `layer_decay` below 1 lowers the rates towards the input. The last of L blocks has the factor
/// layer_decay, the first block layer_decay^L, and the parameters before it layer_decay^(L + 1).
/// The head has the full rate. Source: Clark et al., ELECTRA, 2020. Not a structural type.
template <class Rule>
struct grouped : Rule {
  std::vector<group> groups;
  double layer_decay;

  explicit grouped(Rule rule, std::vector<group> settings = {}, double decay_of_layers = 1)
      : Rule(std::move(rule)), groups(std::move(settings)), layer_decay(decay_of_layers) {}
};

/// Returns the groups of parameters with their own settings; none if the optimizer's settings have
/// no member `groups`.
template <class Description>
std::vector<group> groups_of(Description const& description) {
  if constexpr (requires { std::vector<group>(description.groups); }) return description.groups;
  else return {};
}

/// Returns the factor by which the learning rate falls from layer to layer towards the input, or 1
/// if the optimizer's settings have no member `layer_decay`.
template <class Description>
constexpr double layer_decay(Description const& description) {
  if constexpr (requires { double(description.layer_decay); }) return description.layer_decay;
  else return 1;
}

/// An optimizer rule `Rule` that also keeps an exponential moving average of the parameters in the
/// state slot "average". After each update, average += (1 - average_decay) (p - average). The first
/// update sets it to `p`. Equals torch's AveragedModel with get_ema_multi_avg_fn.
///
///   redco::optimizer::averaged rule(redco::adamw{.lr = 3e-4}, 0.999);
template <class Rule>
struct averaged : Rule {
  using averaged_rule = Rule;

  double average_decay;
  /// True if evaluations, predictions and `save_model` of a trainer use the average. Checkpoints
  /// hold both.
  bool evaluates_average;

  constexpr explicit averaged(Rule rule, double decay = 0.999, bool evaluates = true)
      : Rule(std::move(rule)), average_decay(decay), evaluates_average(evaluates) {}

  constexpr slot_list slots() const { return with_average(state_slots(static_cast<Rule const&>(*this))); }
  constexpr slot_list matrix_slots() const {
    return with_average(optimizer::matrix_slots(static_cast<Rule const&>(*this)));
  }

 private:
  static constexpr slot_list with_average(slot_list slots) {
    slots.push_back("average");
    return slots;
  }
};

/// The update rules that an option of a program can choose.
enum class rule_kind : unsigned char { adamw, sgd, lion, muon, ademamix, schedule_free, adafactor };

inline constexpr auto rule_texts = meta::enum_texts<rule_kind>({{rule_kind::adamw, "adamw"},
                                                                {rule_kind::sgd, "sgd"},
                                                                {rule_kind::lion, "lion"},
                                                                {rule_kind::muon, "muon"},
                                                                {rule_kind::ademamix, "ademamix"},
                                                                {rule_kind::schedule_free, "schedule_free"},
                                                                {rule_kind::adafactor, "adafactor"}});
constexpr std::string_view name_of(rule_kind kind) { return rule_texts.text_of(kind); }

/// One of these rules with its settings. Converts to update::any_optimizer.
struct chosen_rule {
  std::variant<adamw, sgd, lion, muon, ademamix, schedule_free, adafactor> rule;
};

}  // namespace redco::optimizer
