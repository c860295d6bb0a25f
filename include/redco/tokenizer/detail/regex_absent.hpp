#pragma once

#ifndef REDCO_WITH_PCRE2

#include <redco/diag/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

/// A replacement for the class `regex` (regular expressions by PCRE2) in builds without PCRE2. The
/// constructor throws `error` with exit code 65.
class regex {
 public:
  static constexpr bool available = false;

  class search {
   public:
    explicit search(regex const&) {}
    bool find(std::string_view, std::size_t) { return false; }
    std::size_t begin() const { return 0; }
    std::size_t end() const { return 0; }
  };

  regex(std::string_view pattern, std::string const& where) {
    throw error(exit_code::data, where + ": texts are split by the pattern " + std::string(pattern) +
                                     ", which needs PCRE2; install libpcre2-dev, configure again and rebuild");
  }
};

}  // namespace redco::tokenizer::detail

#endif
