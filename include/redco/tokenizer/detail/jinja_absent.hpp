#pragma once

#ifndef REDCO_WITH_MINJA

#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <string>

namespace redco::tokenizer::detail {

/// A replacement for the class `jinja_template` in builds without minja. The constructor throws
/// `error` with exit code 65.
class jinja_template {
 public:
  static constexpr bool available = false;

  jinja_template(std::string const&, std::string const& source) {
    throw error(exit_code::data,
                source + " needs minja; run scripts/setup, which downloads it, configure again and rebuild");
  }

  static std::string printed(json::json_value const&) { return {}; }
  std::string render(json::json_value const&, std::string const& = {}) const { return {}; }
};

}  // namespace redco::tokenizer::detail

#endif
