#include <redco/options/help_requested.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/to_json.hpp>

#include <redco/diag/error.hpp>

#include "catch.hpp"
#include "temporary_folder.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
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
                         redco::field<"resume">(&all::resume), redco::field<"workdir">(&all::workdir),
                         redco::field<"text">(&all::text), redco::field<"dtype">(&all::dtype),
                         redco::field<"paint">(&all::paint), redco::field<"max_steps">(&all::max_steps),
                         redco::field<"deployer">(&all::deployer));
  }
};

struct same_name_twice {
  int ranks = 2;
  mesh_part deployer;
  static constexpr auto fields() {
    return redco::fields(redco::field<"ranks">(&same_name_twice::ranks),
                         redco::field<"deployer">(&same_name_twice::deployer));
  }
};

struct needy {
  std::string model;
  std::vector<std::string> text;
  std::int64_t width = 0;
  int epochs = 3;
  static constexpr auto fields() {
    return redco::fields(redco::required_field<"model">(&needy::model, "folder of the model"),
                         redco::required_field<"text">(&needy::text, "files to learn"),
                         redco::required_field<"width">(&needy::width, "features"),
                         redco::field<"epochs">(&needy::epochs));
  }
};

}  // namespace option_test

template <>
inline constexpr std::array redco::options::choices<option_test::color> = {option_test::color::red,
                                                                           option_test::color::blue};

namespace {

using option_test::all;

template <class Options = all>
redco::options::resolved<Options> given(std::vector<char const*> words) {
  words.insert(words.begin(), "program");
  return redco::options::resolve<Options>(static_cast<int>(words.size()), words.data(), "Trains.");
}

std::string complaint(std::vector<char const*> words, redco::exit_code code = redco::exit_code::usage) {
  try {
    given(std::move(words));
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

}  // namespace

TEST_CASE("without arguments every option has its default and says so") {
  auto const r = given({});
  CHECK(r.values.epochs == 3);
  CHECK(r.values.shuffle);
  CHECK(!r.values.max_steps.has_value());
  CHECK(r.rows().size() == 14);
  for (auto const& row : r.rows()) CHECK(row.source == redco::options::provenance::standard);
}

TEST_CASE("flags of every type reach their members, nested ones too") {
  auto const o = given({"--epochs",
                        "5",
                        "--seed=18446744073709551615",
                        "--lr",
                        "-2.5e-4",
                        "--verbose",
                        "--no-shuffle",
                        "--resume",
                        "none",
                        "--workdir",
                        "a b/c",
                        "--text",
                        "x",
                        "y z",
                        "--dtype",
                        "bf16",
                        "--paint",
                        "blue",
                        "--max-steps",
                        "17",
                        "--n-model-shards",
                        "2",
                        "--mesh",
                        "3x2"})
                     .values;
  CHECK(o.epochs == 5);
  CHECK(o.seed == 18446744073709551615U);
  CHECK(o.lr == -2.5e-4);
  CHECK(o.verbose);
  CHECK(!o.shuffle);
  CHECK(o.resume == "none");
  CHECK(o.workdir == std::filesystem::path("a b/c"));
  CHECK(o.text == std::vector<std::string>{"x", "y z"});
  CHECK(o.dtype == redco::dtype::bf16);
  CHECK(o.paint == option_test::color::blue);
  CHECK(o.max_steps == 17);
  CHECK(o.deployer.n_model_shards == 2);
  CHECK(o.deployer.ranks == 1);
  CHECK(o.deployer.mesh == redco::mesh{.dp = 3, .tp = 2});
}

TEST_CASE("of an option given twice the last one counts, and a list collects all") {
  auto const o =
      given({"--epochs", "5", "--verbose", "--text", "a", "--epochs", "7", "--no-verbose", "--text", "b"}).values;
  CHECK(o.epochs == 7);
  CHECK(!o.verbose);
  CHECK(o.text == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a flag overrules the file, the file overrules the default, and each is told apart") {
  config_file const file(
      R"({"epochs": 9, "lr": 1, "n_model_shards": 2, "max_steps": null, "text": ["t"], "mesh": "2x1",
          "#mesh": "a remark of who wrote the file"})");
  auto const r = given({"--epochs", "3", "--config", file.path.c_str()});
  CHECK(r.values.epochs == 3);
  CHECK(r.values.lr == 1.0);
  CHECK(r.values.deployer.n_model_shards == 2);
  CHECK(r.values.text == std::vector<std::string>{"t"});
  CHECK(r.values.deployer.mesh == redco::mesh{.dp = 2});
  CHECK(r.source_of("epochs") == redco::options::provenance::flag);
  CHECK(r.source_of("lr") == redco::options::provenance::file);
  CHECK(r.source_of("seed") == redco::options::provenance::standard);
  CHECK(r.given("mesh"));
  CHECK(r.given("max_steps"));
  CHECK(!r.given("ranks"));
  CHECK_THROWS_AS(r.given("no_such"), redco::error);
}

TEST_CASE("what to_json writes, --config reads back to the same") {
  auto const first =
      given({"--epochs", "5", "--text", "a", "b", "--paint", "red", "--mesh", "1x3", "--lr", "0.1", "--verbose"});
  config_file const file(redco::options::to_json(first.values));
  auto const second = given({"--config", file.path.c_str()});
  CHECK(second.json() == first.json());
  CHECK(second.values.paint == option_test::color::red);
  CHECK(second.json() == redco::options::to_json(second.values));
  CHECK(second.json().find(R"("workdir":"run")") != std::string::npos);
  CHECK(second.json().find(R"("max_steps":null)") != std::string::npos);
  CHECK(second.json().find(R"("lr":0.1,)") != std::string::npos);
}

TEST_CASE("an unknown option is refused with the nearest name") {
  CHECK(complaint({"--epoch", "3"}) == "unknown option --epoch; did you mean --epochs?");
  CHECK(complaint({"--n-modelshards=3"}) == "unknown option --n-modelshards; did you mean --n-model-shards?");
  CHECK(complaint({"--entirely-other"}) == "unknown option --entirely-other; see --help for all");
  CHECK(complaint({"--text", "a", "--epohcs", "3"}) == "unknown option --epohcs; did you mean --epochs?");
  CHECK(complaint({"3"}).starts_with("unexpected argument '3'"));
  config_file const file(R"({"n_model_shard": 2})");
  CHECK(complaint({"--config", file.path.c_str()})
            .ends_with("unknown option \"n_model_shard\"; did you mean \"n_model_shards\"?"));
}

TEST_CASE("a value that does not fit its type is refused with option and reason") {
  CHECK(complaint({"--epochs", "3.5"}) ==
        "--epochs: '3.5' is not an integer from -2147483648 to 2147483647; see --help");
  CHECK(complaint({"--epochs", "4294967297"}).starts_with("--epochs: '4294967297' is not an integer"));
  CHECK(complaint({"--epochs", "--seed"}).starts_with("--epochs: '--seed' is not an integer"));
  CHECK(complaint({"--seed", "-1"}).starts_with("--seed: '-1' is not an integer from 0"));
  CHECK(complaint({"--lr", "inf"}) == "--lr: 'inf' is not a finite number; see --help");
  CHECK(complaint({"--dtype", "i32"}) == "--dtype: 'i32' is not one of f32|bf16|f64|f16; see --help");
  CHECK(complaint({"--paint", "green"}) == "--paint: 'green' is not one of red|blue; see --help");
  CHECK(complaint({"--epochs"}) != "accepted");
  for (char const* mesh : {"0x2", "2x0", "1x", "x2", "2", "1x2x3", "-1x2", "1x99999999999", ""}) {
    INFO(mesh);
    CHECK(complaint({"--mesh", mesh}).starts_with("--mesh: '" + std::string(mesh) + "' is not a mesh; write DPxTP"));
  }
}

TEST_CASE("a value that is not UTF-8 is refused with its option") {
  for (char const* bad : {"caf\xE9", "\xC3", "\xED\xA0\x80"}) {
    CHECK(complaint({"--text", "fine", bad}).starts_with("--text: its value is not UTF-8; "));
    CHECK(complaint({"--workdir", bad}).starts_with("--workdir: its value is not UTF-8; "));
  }
  CHECK(given({"--text", "caf\xC3\xA9"}).json().find("caf\xC3\xA9") != std::string::npos);
}

TEST_CASE("a file is refused for what is wrong in it") {
  for (char const* text :
       {R"({"epochs": 3.0})", R"({"epochs": "3"})", R"({"seed": -1})", R"({"verbose": 1})", R"({"text": "a"})",
        R"({"text": [1]})", R"({"dtype": 3})", R"({"mesh": "0x1"})", R"({"lr": "x"})", R"({"epochs": null})", "[]"}) {
    INFO(text);
    config_file const file(text);
    CHECK(complaint({"--config", file.path.c_str()}).starts_with(file.path + ": "));
  }
  config_file const twice(R"({"epochs": 3, "epochs": 4})");
  CHECK(complaint({"--config", twice.path.c_str()}, redco::exit_code::data).find("appears twice") != std::string::npos);
  CHECK(complaint({"--config", "/no/such/file.json"}, redco::exit_code::data).find("No such file") !=
        std::string::npos);
}

TEST_CASE("help lists every option with kind, sentence and default, and asks for exit code 0") {
  for (char const* flag : {"--help", "-h"}) {
    std::string const text = complaint({flag, "--epochs", "4"}, redco::exit_code::done);
    INFO(text);
    CHECK(text.starts_with("usage: program [OPTIONS]\nTrains.\n"));
    CHECK(text.find("--epochs INTEGER ") != std::string::npos);
    CHECK(text.find("passes over the training data (3)\n") != std::string::npos);
    CHECK(text.find("--verbose, --no-verbose ") != std::string::npos);
    CHECK(text.find("--dtype f32|bf16|f64|f16 ") != std::string::npos);
    CHECK(text.find("replaces --ranks and --n-model-shards (auto)\n") != std::string::npos);
    CHECK(text.find("--config FILE") != std::string::npos);
  }
  CHECK_THROWS_AS(given({"--help"}), redco::options::help_requested);
}

TEST_CASE("the printed table says value and source of every option") {
  std::ostringstream out;
  given<option_test::mesh_part>({"--mesh", "2x3"}).print(out);
  CHECK(out.str() ==
        "  --ranks           1    default\n"
        "  --n-model-shards  1    default\n"
        "  --mesh            2x3  flag\n");
}

TEST_CASE("two members of one name are refused") {
  CHECK_THROWS_AS(given<option_test::same_name_twice>({}), redco::error);
}

TEST_CASE("required options that are not given are named, all of them, with what they are") {
  using option_test::needy;
  auto const refused = [](std::vector<char const*> words) {
    try {
      given<needy>(std::move(words));
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refused({}) ==
        "required and not given: --model TEXT (folder of the model), --text TEXT... (files to learn), --width INTEGER "
        "(features)");
  CHECK(refused({"--text", "a", "--model", "", "--width", "0"}) ==
        "required and not given: --model TEXT (folder of the model)");
  CHECK(given<needy>({"--text", "a", "--model", "m", "--width=0"}).values.model == "m");
  config_file const file(R"({"model": "m", "text": ["a", "b"]})");
  CHECK(refused({"--config", file.path.c_str()}) == "required and not given: --width INTEGER (features)");
  try {
    given<needy>({"--help"});
    FAIL("help is thrown");
  } catch (redco::options::help_requested const& help) {
    CHECK(std::string(help.what()).find("folder of the model (required)") != std::string::npos);
  }
}
