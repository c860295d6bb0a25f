#pragma once

#include <redco/diag/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redco::tokenizer::detail {

/// Returns the PCRE2 syntax of a regular expression from a tokenizer.json, which has Oniguruma's
/// Ruby syntax. Translates syntax that the two libraries interpret differently. Throws `error` with
/// exit code 65 if a construct cannot be translated.
inline std::string pcre2_pattern(std::string_view pattern, std::string const& where) {
  auto const refuse = [&](std::string_view feature) {
    throw error(exit_code::data, where + ": the pattern " + std::string(pattern) + " uses " + std::string(feature) +
                                     ", which is not computed; use a tokenizer whose pattern does without");
  };
  std::string out;
  bool in_class = false;
  std::size_t i = 0;
  auto const copy_braces = [&] {  // copies the braces after \p or \x
    std::size_t const close = pattern.find('}', i);
    if (close == std::string_view::npos) refuse("a brace that is not closed");
    out += pattern.substr(i, close + 1 - i);
    i = close + 1;
  };
  while (i < pattern.size()) {
    char const c = pattern[i++];
    if (c == '\\') {
      if (i == pattern.size()) refuse("a backslash at the end");
      char const escaped = pattern[i++];
      bool const word = (escaped >= '0' && escaped <= '9') || (escaped >= 'A' && escaped <= 'Z') ||
                        (escaped >= 'a' && escaped <= 'z');
      if (escaped == 's' || escaped == 'S') {
        // PCRE2's \s also matches U+180E
        out += escaped == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      } else if (!word || std::string_view("rntfdD").find(escaped) != std::string_view::npos) {
        (out += c) += escaped;
      } else if (std::string_view("pPx").find(escaped) != std::string_view::npos &&
                 pattern.substr(i).starts_with('{')) {
        (out += c) += escaped;
        copy_braces();
      } else {
        refuse(std::string("\\") + escaped);
      }
      continue;
    }
    if (in_class) {
      if (c == '[') refuse("a class within a class");
      if (c == '&' && pattern.substr(i).starts_with('&')) refuse("&& in a class");
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      out += c;
      if (pattern.substr(i).starts_with('^')) out += pattern[i++];
      if (pattern.substr(i).starts_with(']')) refuse("] at the front of a class");
      continue;
    } else if (c == '(') {
      std::string_view const rest = pattern.substr(i);
      if (rest.starts_with('*')) refuse("(*");
      if (rest.starts_with('?') && !rest.starts_with("?:") && !rest.starts_with("?i:") && !rest.starts_with("?=") &&
          !rest.starts_with("?!") && !rest.starts_with("?<=") && !rest.starts_with("?<!") && !rest.starts_with("?>"))
        refuse("(" + std::string(rest.substr(0, 3)));
    } else if (c == '}' && pattern.substr(i).starts_with('+')) {
      refuse("}+");
    }
    out += c;
  }
  return out;
}

}  // namespace redco::tokenizer::detail

#ifdef REDCO_WITH_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

namespace redco::tokenizer::detail {

/// A compiled regular expression for well-formed UTF-8. Threads may share one regex; each thread
/// needs its own object of the nested class `search`.
class regex {
  struct deleter {
    void operator()(pcre2_code* p) const { pcre2_code_free(p); }
    void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
    void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
    void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  };

 public:
  static constexpr bool available = true;

  /// Compiles the regular expression `pattern`. Throws `error` with exit code 65 if the pattern is
  /// invalid or not supported. `where` is the pattern's file and key, for the error message.
  regex(std::string_view pattern, std::string const& where) : where_(where) {
    std::string const text = pcre2_pattern(pattern, where);
    std::unique_ptr<pcre2_compile_context, deleter> const context(pcre2_compile_context_create(nullptr));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int code = 0;
    PCRE2_SIZE at = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &at,
                              context.get()));
    if (!code_) {
      throw error(exit_code::data, where + ": the pattern " + std::string(pattern) + " is no regular expression: " +
                                       message(code) + "; write the file again with the program that made it");
    }
    // Without JIT on this machine, PCRE2 interprets the pattern
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);
  }

  /// A state for searching texts with one regular expression. Not thread-safe.
  class search {
   public:
    explicit search(regex const& pattern)
        : pattern_(&pattern),
          data_(pcre2_match_data_create(1, nullptr)),
          context_(pcre2_match_context_create(nullptr)) {}

    /// Finds the first match in `text` that begins at byte `from` or later, and returns true if
    /// there is one. Throws `error` with exit code 65 if matching takes more steps than 10 million
    /// plus 8 per byte of `text`.
    bool find(std::string_view text, std::size_t from) {
      if (text.size() > limited_) {
        limited_ = text.size();
        auto const steps =
            std::min<std::size_t>(10'000'000 + 8 * text.size(), std::numeric_limits<std::uint32_t>::max());
        pcre2_set_match_limit(context_.get(), static_cast<std::uint32_t>(steps));
      }
      auto const* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
      std::uint32_t const checked = PCRE2_NO_UTF_CHECK;
      int code = pcre2_match(pattern_->code_.get(), subject, text.size(), from, checked, data_.get(), context_.get());
      if (code == PCRE2_ERROR_JIT_STACKLIMIT) {
        code = pcre2_match(pattern_->code_.get(), subject, text.size(), from, checked | PCRE2_NO_JIT, data_.get(),
                           context_.get());
      }
      if (code == PCRE2_ERROR_NOMATCH) return false;
      if (code < 0) {
        throw error(exit_code::data, pattern_->where_ + ": its pattern fails on a text of " +
                                         std::to_string(text.size()) + " bytes: " + message(code) +
                                         "; cut the text into smaller ones");
      }
      return true;
    }

    std::size_t begin() const { return pcre2_get_ovector_pointer(data_.get())[0]; }
    std::size_t end() const { return pcre2_get_ovector_pointer(data_.get())[1]; }

   private:
    regex const* pattern_;
    std::unique_ptr<pcre2_match_data, deleter> data_;
    std::unique_ptr<pcre2_match_context, deleter> context_;
    std::size_t limited_ = 0;
  };

 private:
  static std::string message(int code) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof text);
    return reinterpret_cast<char const*>(text);
  }

  std::string where_;
  std::unique_ptr<pcre2_code, deleter> code_;
};

}  // namespace redco::tokenizer::detail

#endif
