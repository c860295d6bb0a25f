// Writes the model of a config.json as a C++ header: `model_header CONFIG NAME`. Exit codes: 0
// done; 64 arguments; 65 the configuration.
#include <redco/pretrained/pretrained.hpp>

#include <redco/meta/aggregate.hpp>
#include <redco/meta/type_name.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace {

/// Returns a value as C++ source: numbers with all digits of a double, enumerations with their
/// type, aggregates and arrays as brace lists of their members.
template <class T>
std::string written(T const& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(redco::meta::type_name<T>()) + "{" + std::to_string(static_cast<int>(value)) + "}";
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value));
    return text;
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::string list;
    for (auto const& one : value) list += (list.empty() ? "" : ", ") + written(one);
    return "{" + list + "}";
  } else {
    std::string list;
    redco::meta::for_each_field(value,
                                [&](auto const& member) { list += (list.empty() ? "" : ", ") + written(member); });
    return "{" + list + "}";
  }
}

/// Returns the path of the header that defines a model type.
std::string header_of(std::string_view type) {
  return "redco/model/" + std::string(type.substr(type.rfind(':') + 1)) + ".hpp";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw redco::error(redco::exit_code::usage, "model_header CONFIG NAME");
  std::visit(
      [&]<class M>(M const& model) {
        std::string_view const type = redco::meta::type_name<M>();
        std::cout << "#pragma once\n\n#include <" << header_of(type) << ">\n\ninline constexpr " << type << ' '
                  << argv[2] << '{' << written(model.config) << "};\n";
      },
      redco::pretrained::read_config(argv[1]).model);
} catch (redco::error const& e) {
  std::cerr << e.what() << '\n';
  return static_cast<int>(e.code());
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return static_cast<int>(redco::exit_code::internal);
}
