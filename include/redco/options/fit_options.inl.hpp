#pragma once

#include <redco/options/fit_options.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>
#include <variant>

namespace redco {

REDCO_INLINE optimizer::chosen_rule training_flags::optimizer() const {
  using namespace redco::optimizer;
  using any = decltype(chosen_rule::rule);
  static constexpr auto by_kind = [](rule_kind kind) -> any {
    switch (kind) {
      case rule_kind::sgd: return sgd{};
      case rule_kind::lion: return lion{};
      case rule_kind::muon: return muon{};
      case rule_kind::ademamix: return ademamix{};
      case rule_kind::schedule_free: return schedule_free{};
      case rule_kind::adafactor: return adafactor{.relative_step = false, .scale_parameter = false};
      default: return adamw{};
    }
  };
  chosen_rule chosen{by_kind(rule)};
  auto const set = [&](char const* flag, std::optional<double> const& value, double* own) {
    if (!value) return;
    if (own == nullptr)
      throw error(exit_code::usage, std::string("--") + flag + ": the optimizer " + std::string(name_of(rule)) +
                                        " has no such value; leave the option out, or choose another --optimizer");
    *own = *value;
  };
  std::visit(
      [&](auto& one) {
        if constexpr (requires { one.lr = linear_decay{}; }) one.lr = linear_decay{.peak = lr, .warmup = warmup};
        else one.lr = {.peak = lr, .warmup = warmup};
        one.weight_decay = weight_decay;
        one.clip_norm = clip_norm;
        one.clip_kind = clip_kind;
        double *first = nullptr, *second = nullptr, *mass = nullptr;
        if constexpr (requires { one.momentum; }) mass = &one.momentum;
        if constexpr (requires { one.beta1; }) first = &one.beta1;
        if constexpr (requires { one.beta2; }) second = &one.beta2;
        set("momentum", momentum, mass);
        set("beta1", beta1, first);
        set("beta2", beta2, second);
      },
      chosen.rule);
  return chosen;
}

}  // namespace redco
