#pragma once

#ifdef REDCO_WITH_MINJA

#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

// minja.hpp declares a global alias `json`. The macro renames it, because programs declare this
// name as well. json/value.hpp has included nlohmann-json before.
#define json redco_minja_json
#include <minja/minja.hpp>
#undef json

#include <ctime>
#include <exception>
#include <memory>
#include <string>

namespace redco::tokenizer::detail {

/// A template in Jinja with the settings and functions that transformers gives to chat templates.
class jinja_template {
 public:
  static constexpr bool available = true;

  /// Parses a template. Throws `error` with exit code 65 for wrong syntax.
  jinja_template(std::string const& text, std::string const& source) : source_(source) {
    try {
      root_ = minja::Parser::parse(text, {.trim_blocks = true, .lstrip_blocks = true, .keep_trailing_newline = false});
    } catch (std::exception const& problem) {
      throw error(exit_code::data, source_ + " is no template that minja can read (" + first_line(problem.what()) +
                                       "): use the template of another revision of the model");
    }
  }

  /// Returns the text of the template for an object of variables. Throws `error` with exit code 65
  /// if the template raises an exception.
  std::string render(json::json_value const& variables) const {
    try {
      auto const context = minja::Context::make(minja::Value(variables));
      context->set("strftime_now", minja::Value::callable([](auto const&, minja::ArgumentsValue& arguments) {
                     arguments.expectArgs("strftime_now", {1, 1}, {0, 0});
                     return minja::Value(time_as(arguments.args[0].get<std::string>()));
                   }));
      return root_->render(context);
    } catch (std::exception const& problem) {
      throw error(exit_code::data, source_ + " refuses the conversation (" + first_line(problem.what()) +
                                       "): change the roles or the number of its messages");
    }
  }

 private:
  /// Returns the text without the position and the excerpt of the template that minja appends.
  static std::string first_line(std::string const& text) {
    std::string const line = text.substr(0, text.find('\n'));
    return line.substr(0, line.rfind(" at row "));
  }

  /// Returns the local time in a format of strftime.
  static std::string time_as(std::string const& format) {
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    std::string text(256, '\0');
    text.resize(std::strftime(text.data(), text.size(), format.c_str(), &parts));
    return text;
  }

  std::string source_;
  std::shared_ptr<minja::TemplateNode> root_;
};

}  // namespace redco::tokenizer::detail

#endif
