#pragma once

#ifdef REDCO_WITH_MINJA

#include <redco/tokenizer/detail/template_items.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

// minja.hpp declares a global alias `json`. The macro renames it, because programs declare this
// name as well. json/value.hpp has included nlohmann-json before.
#define json redco_minja_json
#include <minja/minja.hpp>
#undef json

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tokenizer::detail {

/// The filter `tojson` of a template. Writes JSON as json.dumps of Python does in transformers.
/// minja's own filter writes empty objects in lines of their own.
struct python_json {
  std::int64_t indent = -1;  ///< spaces of a level; -1: one line
  bool ascii = false, sorted = false;
  std::string item_end = ", ", key_end = ": ";
  std::string empty_list = "[]";

  /// Reads the arguments of a call. `none` is written for an empty list.
  static minja::Value call(minja::ArgumentsValue& arguments, std::string none) {
    arguments.expectArgs("tojson", {1, 2}, {0, 4});
    python_json format{.empty_list = std::move(none)};
    for (auto const& [name, value] : arguments.kwargs) {
      if (name == "indent") {
        format.indent = value.is_null() ? -1 : value.get<std::int64_t>();
      } else if (name == "ensure_ascii") {
        format.ascii = value.to_bool();
      } else if (name == "sort_keys") {
        format.sorted = value.to_bool();
      } else if (name == "separators" && value.is_array() && value.size() == 2) {
        format.item_end = value.at(std::size_t{0}).get<std::string>();
        format.key_end = value.at(std::size_t{1}).get<std::string>();
      } else if (!value.is_null()) {
        throw std::runtime_error("tojson has no argument " + name);
      }
    }
    if (arguments.args.size() > 1) format.ascii = arguments.args[1].to_bool();
    bool const own = std::ranges::any_of(arguments.kwargs, [](auto const& one) { return one.first == "separators"; });
    if (format.indent >= 0 && !own) format.item_end = ",";
    std::string text;
    format.append(text, arguments.args[0], 0);
    return {text};
  }

 private:
  void append(std::string& text, minja::Value value, std::int64_t level) const {
    if (value.is_callable()) throw std::runtime_error("Object of type function is not JSON serializable");
    if (!value.is_array() && !value.is_object()) {
      text += value.get<json::json_value>().dump(-1, ' ', ascii);
    } else if (value.size() == 0) {
      text += value.is_array() ? empty_list : "{}";
    } else {
      std::vector<minja::Value> keys = value.is_object() ? value.keys() : std::vector<minja::Value>(value.size());
      if (sorted && value.is_object()) std::sort(keys.begin(), keys.end());
      text += value.is_array() ? '[' : '{';
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0) text += item_end;
        break_line(text, level + 1);
        if (value.is_object()) append(text, keys[i], 0), text += key_end;
        append(text, value.is_object() ? value.at(keys[i]) : value.at(i), level + 1);
      }
      break_line(text, level);
      text += value.is_array() ? ']' : '}';
    }
  }

  void break_line(std::string& text, std::int64_t level) const {
    if (indent >= 0) text.append(1, '\n').append(static_cast<std::size_t>(indent * level), ' ');
  }
};

/// A template in Jinja with the settings and functions that transformers gives to chat templates.
class jinja_template {
 public:
  static constexpr bool available = true;

  /// Parses a template. Throws `error` with exit code 65 for wrong syntax.
  jinja_template(std::string const& text, std::string const& source) : source_(source) {
    try {
      root_ = minja::Parser::parse(template_for_minja::in(text, "redco_item"),
                                   {.trim_blocks = true, .lstrip_blocks = true, .keep_trailing_newline = false});
    } catch (std::exception const& problem) {
      throw error(exit_code::data, source_ + " is no template that minja can read (" + first_line(problem.what()) +
                                       "): use the template of another revision of the model");
    }
  }

  /// Returns the text that `{{ value }}` writes.
  static std::string printed(json::json_value const& value) { return minja::Value(value).dump(); }

  /// Returns the text of the template for an object of variables. `empty_list`: the JSON of an
  /// empty list. Throws `error` with exit code 65 if the template raises an exception.
  std::string render(json::json_value const& variables, std::string const& empty_list = "[]") const {
    try {
      auto const context = minja::Context::make(minja::Value(variables));
      context->set("strftime_now", minja::Value::callable([](auto const&, minja::ArgumentsValue& arguments) {
                     arguments.expectArgs("strftime_now", {1, 1}, {0, 0});
                     return minja::Value(time_as(arguments.args[0].get<std::string>()));
                   }));
      context->set("tojson", minja::Value::callable([&](auto const&, minja::ArgumentsValue& arguments) {
                     return python_json::call(arguments, empty_list);
                   }));
      context->set("redco_item", minja::Value::callable([](auto const&, minja::ArgumentsValue& arguments) {
                     return item_of(arguments.args.at(0), arguments.args.at(1));
                   }));
      set_filters(*context);
      return root_->render(context);
    } catch (std::exception const& problem) {
      // minja adds the place of an expression to each exception, also to those of a full memory.
      if (std::string_view(problem.what()).starts_with("std::bad_alloc")) throw std::bad_alloc();
      throw error(exit_code::data, source_ + " refuses the conversation (" + first_line(problem.what()) +
                                       "): change the roles or the number of its messages");
    }
  }

 private:
  /// Returns `value[index]`. minja itself finds nothing in a text.
  static minja::Value item_of(minja::Value& value, minja::Value const& index) {
    if (value.is_null()) throw std::runtime_error("Trying to access property '" + index.dump() + "' on null!");
    if (!value.is_string() || !index.is_number_integer()) return value.get(index);
    std::string const found = code_point_of(value.get<std::string>(), index.get<std::int64_t>());
    return found.empty() ? minja::Value() : minja::Value(found);
  }

  /// Sets the filters of a text that minja lacks, or that differ from those of Python.
  static void set_filters(minja::Context& context) {
    set_strips(context);
    auto const set = [&](char const* name, auto const& change) {
      context.set(name, minja::Value::callable([=](auto const&, minja::ArgumentsValue& arguments) {
                    return minja::Value(change(text_of(arguments, 0), arguments));
                  }));
    };
    set("string", [](std::string text, auto const&) { return text; });
    set("capitalize", [](std::string text, auto const&) { return with_capitals(std::move(text), false); });
    set("title", [](std::string text, auto const&) { return with_capitals(std::move(text), true); });
    set("replace", [](std::string text, auto const& arguments) {
      std::string const old = text_of(arguments, 1), fresh = text_of(arguments, 2);
      if (arguments.args.size() != 3 || old.empty()) throw std::runtime_error("replace needs two texts");
      for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + fresh.size()))
        text.replace(at, old.size(), fresh);
      return text;
    });
    context.set("first", minja::Value::callable([](auto const&, minja::ArgumentsValue& arguments) {
                  minja::Value& list = arguments.args.at(0);
                  if (list.is_string()) return minja::Value(code_point_of(list.get<std::string>(), 0));
                  return list.is_array() && list.size() > 0 ? list.at(std::size_t{0}) : minja::Value();
                }));
  }

  /// Sets the filter `trim`, and the functions of the methods strip, lstrip and rstrip.
  static void set_strips(minja::Context& context) {
    context.set("trim", minja::Value::callable([](auto const&, minja::ArgumentsValue& arguments) {
                  std::string const text = text_of(arguments, 0), blanks = text_of(arguments, 1);
                  return minja::Value(blanks.empty() ? std::string(python_stripped(text)) : minja::strip(text, blanks));
                }));
    for (std::string_view const name : {"strip", "lstrip", "rstrip"})
      context.set("redco_" + std::string(name), minja::Value::callable([=](auto const&, auto& arguments) {
                    minja::Value const& text = arguments.args.at(0);
                    if (!text.is_string())
                      throw std::runtime_error("a value that is no text has no method " + std::string(name));
                    bool const left = name != "rstrip", right = name != "lstrip";
                    return minja::Value(std::string(python_stripped(text.template get<std::string>(), left, right)));
                  }));
  }

  /// Returns an argument as a text. An undefined value is an empty text, and not "None".
  static std::string text_of(minja::ArgumentsValue const& arguments, std::size_t i) {
    if (i >= arguments.args.size() || arguments.args[i].is_null()) return {};
    minja::Value const& value = arguments.args[i];
    return value.is_number_float() ? value.dump() : value.to_str();
  }

  /// Returns a text with a capital at its begin, or at the begin of each word. Only letters of
  /// ASCII change.
  static std::string with_capitals(std::string text, bool words) {
    bool begins = true;
    for (char& c : text) {
      bool const small = c >= 'a' && c <= 'z', capital = c >= 'A' && c <= 'Z';
      if (small && begins) c = static_cast<char>(c - 'a' + 'A');
      if (capital && !begins) c = static_cast<char>(c - 'A' + 'a');
      begins = words && !small && !capital;
    }
    return text;
  }

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
