#pragma once

#include <redco/model/model.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/meta/aggregate.hpp>
#include <redco/meta/field_count.hpp>
#include <redco/meta/fields.hpp>
#include <redco/meta/type_name.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace redco::workdir {

/// Returns the shortest text that converts back to exactly `value`, such as "0.1" or "3e-04".
template <class Number>
std::string number_text(Number value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace redco::workdir

namespace redco::workdir::detail {

/// Returns a learning rate as text, such as "0.001" or "cosine peak 0.001 warmup 100". A rate that
/// is a function has only the text "function".
inline std::string schedule_text(optimizer::learning_rate const& rate) {
  if (rate.kind == optimizer::schedule_kind::constant && rate.warmup == 0) return number_text(rate.peak);
  std::string text(optimizer::schedule_texts.text_of(rate.kind));
  auto const add = [&](char const* name, auto value) {
    if (value != 0) text += " " + std::string(name) + " " + number_text(value);
  };
  add("peak", rate.peak);
  add("start", rate.start);
  add("floor", rate.floor);
  add("rise", rate.rise);
  add("warmup", rate.warmup);
  add("total", rate.total);
  return text;
}

/// Adds the value `value` to the settings under `name`; members of a struct are added under
/// "name.member". Skips values whose type has neither a text nor members.
template <class T>
void add_settings(std::map<std::string, std::string>& all, std::string const& name, T const& value) {
  if constexpr (std::is_same_v<T, bool>) {
    all[name] = value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    all[name] = number_text(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    all[name] = number_text(value);
  } else if constexpr (std::convertible_to<T const&, std::string_view>) {
    all[name] = std::string_view(value);
  } else if constexpr (std::is_same_v<T, optimizer::learning_rate>) {
    all[name] = schedule_text(value);
  } else if constexpr (requires {
                         *value;
                         value.has_value();
                       }) {
    value ? add_settings(all, name, *value) : void(all[name] = "none");
  } else if constexpr (requires { value.begin() != value.end(); }) {
    std::size_t i = 0;
    for (auto const& one : value) add_settings(all, name + "[" + std::to_string(i++) + "]", one);
  } else if constexpr (requires { typename T::extends; }) {
    add_settings(all, name, static_cast<typename T::extends const&>(value));
    meta::for_each_named(value, [&](auto const& field, auto const& member) {
      add_settings(all, name + "." + std::string(field.name()), member);
    });
  } else if constexpr (meta::plain_struct<T>) {
    std::size_t i = 0;
    meta::for_each_field(value, [&](auto const& member) {
      add_settings(all, name + "." + std::string(meta::member_names<T>[i++]), member);
    });
  }
}

/// Adds an option of a fit. The setting of a path is "true" if the path is given, because paths may
/// differ between hosts.
template <class T>
void add_option(std::map<std::string, std::string>& all, std::string const& name, T const& value) {
  if constexpr (std::is_same_v<T, std::filesystem::path>) add_settings(all, name, !value.empty());
  else add_settings(all, name, value);
}

/// Returns the name and release of the compiler, such as "g++ 12.2.0" or "clang++ 14.0.6".
inline std::string compiler() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

// Wrappers of an optimizer may wrap each other.
template <class Rule>
void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                  optimizer::averaged<Rule> const& value);
template <class Rule>
void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                  optimizer::grouped<Rule> const& value);

template <class Optimizer>
void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                  optimizer::scheduled<Optimizer> const& value) {
  add_settings(all, name, static_cast<Optimizer const&>(value));
  all[name + ".lr"] = "function";
}

template <class Rule>
void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                  optimizer::grouped<Rule> const& value) {
  add_settings(all, name, static_cast<Rule const&>(value));
  add_settings(all, name + ".groups", value.groups);
  add_settings(all, name + ".layer_decay", value.layer_decay);
}

template <class Rule>
void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                  optimizer::averaged<Rule> const& value) {
  add_settings(all, name, static_cast<Rule const&>(value));
  add_settings(all, name + ".average_decay", value.average_decay);
  add_settings(all, name + ".evaluates_average", value.evaluates_average);
}

inline void add_settings(std::map<std::string, std::string>& all, std::string const& name,
                         optimizer::chosen_rule const& chosen) {
  std::visit(
      [&](auto const& rule) {
        add_settings(all, name, rule);
        all[name] = rule.name;
      },
      chosen.rule);
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

/// Returns the settings of a run's model and optimizer by name, for its checkpoints, such as
/// "optimizer.lr" with "0.001". The type of the network is a setting, because it contains sizes
/// that the config lacks. Each compiler prints a type in its own way, so the setting's name
/// contains the compiler: "network by g++ 12.2.0".
template <model M, class Optimizer>
std::map<std::string, std::string> settings_of(M const& m, Optimizer const& optimizer, dtype compute) {
  std::map<std::string, std::string> all;
  all["network by " + detail::compiler()] = meta::type_name<models::net_of<M>>();
  detail::add_settings(all, "model", m.config);
  detail::add_settings(all, "optimizer", optimizer);
  if constexpr (requires { std::string(Optimizer::name); }) all["optimizer"] = Optimizer::name;
  all["dtype"] = name_of(compute);
  return all;
}

/// Adds the options of a fit on which its result depends, such as the number of epochs and the
/// batch sizes.
inline void add_settings(std::map<std::string, std::string>& all, options::fit_settings const& fit) {
  meta::for_each_named(fit, [&](auto const& field, auto const& option) {
    if (field.decides_result) detail::add_option(all, std::string(field.name()), option);
  });
}

/// Adds the settings that decide when a fit evaluates, saves and stops. All processes must agree on
/// them, because they decide which collectives the ranks call.
inline void add_course(std::map<std::string, std::string>& all, options::fit_settings const& fit) {
  meta::for_each_named(fit, [&](auto const& field, auto const& option) {
    if (!field.of_process) detail::add_option(all, std::string(field.name()), option);
  });
  detail::add_settings(all, "training examples", fit.train_size);
  detail::add_settings(all, "evaluation examples", fit.eval_size);
  detail::add_settings(all, "train_of_epoch", fit.has_train_of_epoch);
  detail::add_settings(all, "metrics", fit.has_metrics);
  detail::add_settings(all, "length", fit.has_length);
  detail::add_settings(all, "train_step", fit.has_train_step);
}

/// Adds sample values of the learning rate to a run's settings if the rate is a function, which has
/// no text by which runs could be compared. The samples are the rates at steps 0, 1, 10, 100, ...,
/// halfway, and at the last of `run_steps` steps. Does nothing for other schedules, which
/// settings_of() describes completely.
template <class Optimizer>
void add_rates(std::map<std::string, std::string>& settings, Optimizer const& optimizer, std::int64_t run_steps) {
  using optimizer::schedule_of;  // update::any_optimizer has its own function.
  if (auto const schedule = schedule_of(optimizer); schedule && schedule->kind != optimizer::schedule_kind::function)
    return;
  auto const add = [&](std::string const& when, std::int64_t step) {
    settings["optimizer.lr " + when] = number_text(optimizer::learning_rate_at(optimizer, step, run_steps));
  };
  if (run_steps < 1) return;
  add("at step 0", 0);
  for (std::int64_t step = 1; step < run_steps; step *= 10) add("at step " + std::to_string(step), step);
  add("halfway", run_steps / 2);
  add("at the end", run_steps - 1);
}

}  // namespace redco::workdir
