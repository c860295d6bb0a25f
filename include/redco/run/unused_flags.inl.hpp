#pragma once

#include <redco/run/unused_flags.hpp>

#include <redco/workdir/settings_of.hpp>
#include <redco/options/given_flags.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/config.hpp>

#include <optional>
#include <sstream>
#include <type_traits>

namespace redco::run {

REDCO_INLINE std::vector<std::string> unused_flags(training_flags const& flags, std::set<std::string> const& given,
                                                   bool by_value, std::map<std::string, std::string> const& settings) {
  training_flags const standard;
  auto const setting = [&](std::string const& name) {
    auto const at = settings.find(name);
    return at == settings.end() ? std::string() : at->second;
  };
  std::vector<std::string> unused;
  auto const check = [&](std::string const& name, std::string const& flag, bool differs, bool has) {
    if (((by_value && differs) || given.contains(name)) && !has) unused.push_back(flag);
  };
  auto const check_number = [&](std::string const& name, std::string const& flag, double value, bool differs) {
    check(name, flag, differs, setting("optimizer." + name) == workdir::number_text(value));
  };
  auto const check_optional = [&](std::string const& name, std::optional<double> const& value) {
    if (value) check_number(name, "--" + name, *value, true);
  };
  // The text of a schedule is its kind and its numbers, such as "cosine peak 0.1 warmup 5".
  std::set<std::string> words;
  std::istringstream text(setting("optimizer.lr"));
  for (std::string word; text >> word;) words.insert(word);
  bool const is_function = words.contains("function"), rises = words.contains("warmup");
  check("lr", "--lr", flags.lr != standard.lr, is_function || words.contains(workdir::number_text(flags.lr)));
  check("warmup", "--warmup", flags.warmup != standard.warmup,
        is_function || (flags.warmup == 0 ? !rises : rises && words.contains(std::to_string(flags.warmup))));
  check("optimizer", "--optimizer", flags.rule != standard.rule, setting("optimizer") == name_of(flags.rule));
  check_optional("momentum", flags.momentum);
  check_optional("beta1", flags.beta1);
  check_optional("beta2", flags.beta2);
  check_number("weight_decay", "--weight-decay", flags.weight_decay, flags.weight_decay != standard.weight_decay);
  check_number("clip_norm", "--clip-norm", flags.clip_norm, flags.clip_norm != standard.clip_norm);
  auto const kind = static_cast<std::underlying_type_t<optimizer::norm_kind>>(flags.clip_kind);
  check("clip_kind", "--clip-kind", flags.clip_kind != standard.clip_kind,
        setting("optimizer.clip_kind") == workdir::number_text(kind));
  return unused;
}

REDCO_INLINE void warn_of_unused_flags(training_flags const* flags, std::map<std::string, std::string> const& settings,
                                       log::run_log& log) {
  options::given_flags const& program = options::given_flags::of_program();
  std::vector<std::string> const unused =
      unused_flags(flags != nullptr ? *flags : program.values, program.names, flags != nullptr, settings);
  if (unused.empty()) return;
  std::string names;
  for (std::string const& one : unused) names += (names.empty() ? "" : ", ") + one;
  log.warning(names + (unused.size() == 1 ? " has" : " have") +
              " no effect: the program gives its trainer an optimizer of its own; let it pass training_flags "
              "without an optimizer, or change the optimizer in the program");
}

}  // namespace redco::run
