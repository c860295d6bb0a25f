#pragma once

#include <redco/model/any_model.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/type_name.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco {

/// What a config.json describes.
template <class Models = any_model>
struct configured {
  Models model;                     ///< one of a std::variant's
  std::string family;               ///< its model_type
  std::vector<std::string> unused;  ///< keys that change neither sizes nor numbers
};

/// The model of a Hugging Face config.json, or of the folder that holds one.
/// Errors: exit code 65 for what is missing, unknown, contradictory, absurd or not supported, naming the key.
configured<> read_config(std::string const& path);

namespace detail {

[[noreturn]] void refuse_family(std::string const& path, std::string const& family,
                                std::vector<std::string> const& taken);

/// A model's type without the namespace, and those of a variant.
template <class M>
constexpr std::string_view model_name = type_name<M>().substr(std::string_view("redco::").size());
template <class... M>
std::vector<std::string> names_of(std::variant<M...> const*) {
  return {std::string(model_name<M>)...};
}

template <class M, class... Taken>
constexpr bool is_one_of(std::variant<Taken...> const*) {
  return (std::is_same_v<M, Taken> || ...);
}

}  // namespace detail

/// The same for a program that takes some models only, a std::variant such as `decoders`: one compiled program for every
/// size of each.
///
///   auto const found = redco::from_config<redco::decoders>("gpt2");
///   return std::visit([&](auto const& model) { return run(model); }, found.model);
///
/// Errors: those of read_config, and exit code 65 for another model, naming those that are taken.
template <class Models = any_model>
configured<Models> from_config(std::string const& path) {
  configured<> found = read_config(path);
  return std::visit(
      [&]<class M>(M const& model) -> configured<Models> {
        if constexpr (detail::is_one_of<M>(static_cast<Models const*>(nullptr))) {
          return {model, std::move(found.family), std::move(found.unused)};
        } else {
          detail::refuse_family(path, std::string(detail::model_name<M>),
                                detail::names_of(static_cast<Models const*>(nullptr)));
        }
      },
      found.model);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/from_config.inl.hpp>
#endif
