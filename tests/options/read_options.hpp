#pragma once

// Options of every type, the reply of a program to command lines, and files of options.
#include <redco/options/choices.hpp>
#include <redco/options/parse.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"
#include "temporary_folder.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace option_test {

enum class color { red, green, blue };
inline std::string_view name_of(color c) {
  constexpr std::string_view names[] = {"red", "green", "blue"};
  return names[static_cast<int>(c)];
}

struct mesh_part {
  int ranks = 1;
  int n_model_shards = 1;
  std::optional<redco::mesh> mesh;
  static constexpr auto fields() {
    return redco::fields(redco::field<"ranks">(&mesh_part::ranks, "workers"),
                         redco::field<"n_model_shards">(&mesh_part::n_model_shards, "shards of the model"),
                         redco::field<"mesh">(&mesh_part::mesh, "replaces --ranks and --n-model-shards"));
  }
};

struct all {
  int epochs = 3;
  std::uint64_t seed = 42;
  double lr = 1e-3;
  bool verbose = false;
  bool shuffle = true;
  std::string resume = "auto";
  std::optional<std::string> note;
  std::filesystem::path workdir = "run";
  std::vector<std::string> text;
  redco::dtype dtype = redco::dtype::f32;
  color paint = color::green;
  std::optional<std::int64_t> max_steps;
  mesh_part deployer;
  static constexpr auto fields() {
    return redco::fields(redco::field<"epochs">(&all::epochs, "passes over the training data"),
                         redco::field<"seed">(&all::seed), redco::field<"lr">(&all::lr, "peak learning rate"),
                         redco::field<"verbose">(&all::verbose, "say more"), redco::field<"shuffle">(&all::shuffle),
                         redco::field<"resume">(&all::resume), redco::field<"note">(&all::note),
                         redco::field<"workdir">(&all::workdir), redco::field<"text">(&all::text),
                         redco::field<"dtype">(&all::dtype), redco::field<"paint">(&all::paint),
                         redco::field<"max_steps">(&all::max_steps), redco::field<"deployer">(&all::deployer));
  }
};

}  // namespace option_test

template <>
inline constexpr std::array redco::options::choices<option_test::color> = {option_test::color::red,
                                                                           option_test::color::blue};

namespace option_test {

template <class Options = all>
redco::options::resolved<Options> resolved_from(std::vector<char const*> words) {
  words.insert(words.begin(), "program");
  return redco::options::resolve<Options>(static_cast<int>(words.size()), words.data(), "Trains.");
}

inline std::string complaint(std::vector<char const*> words, redco::exit_code code = redco::exit_code::usage) {
  try {
    resolved_from(std::move(words));
  } catch (redco::error const& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  return "accepted";
}

struct config_file {
  explicit config_file(std::string const& text) { std::ofstream(path) << text; }
  temporary_folder folder;
  std::string path = (folder.path / "redco options test.json").string();
};

}  // namespace option_test
