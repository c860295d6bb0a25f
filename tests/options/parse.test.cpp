#include <redco/options/detail/option_value.hpp>
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

struct bounded {
  int epochs = 3;
  std::int64_t batch = 8;
  double rate = 0.5;
  std::optional<int> ranks;
  static constexpr auto fields() {
    return redco::fields(redco::field<"epochs">(&bounded::epochs, "passes over the data").at_least(0),
                         redco::field<"batch">(&bounded::batch, "examples of an update").at_least(1),
                         redco::field<"rate">(&bounded::rate, "of learning").at_least(0),
                         redco::field<"ranks">(&bounded::ranks, "workers").at_least(1));
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
  CHECK(r.rows().size() == 15);
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

TEST_CASE("every value is taken as it is written, in options of every type, joined or apart") {
  for (std::string const value : {"[INST] do it [/INST]",
                                  "[a, b]",
                                  "[]",
                                  "[",
                                  "{}",
                                  "{a}",
                                  "%%",
                                  "a,b",
                                  "\"quoted\"",
                                  "'quoted'",
                                  "`x`",
                                  "a\\nb",
                                  "\\x41",
                                  "B\"(ab)\"",
                                  "-x",
                                  "-5",
                                  "--",
                                  "---",
                                  "-- a",
                                  "--other",
                                  "--other=3",
                                  "=",
                                  "a=b",
                                  "==",
                                  " a ",
                                  "",
                                  " ",
                                  "++",
                                  "true",
                                  "a\nb",
                                  "$HOME",
                                  "~",
                                  "#",
                                  "/h"}) {
    INFO(value);
    for (bool const joined : {true, false}) {
      auto const read = [&](std::string const& flag) {
        std::string const both = flag + "=" + value;
        return joined ? given({both.c_str()}).values : given({flag.c_str(), value.c_str()}).values;
      };
      CHECK(read("--resume").resume == value);
      CHECK(read("--workdir").workdir == std::filesystem::path(value));
      CHECK(read("--note").note == value);
      CHECK(read("--text").text == std::vector<std::string>{value});
    }
    config_file const file("{\"text\": [" + redco::options::detail::json_text(value) + "]}");
    CHECK(given({"--config", file.path.c_str()}).values.text == std::vector<std::string>{value});
  }
}

TEST_CASE("a list takes words up to the next option and splits none of them") {
  auto const o = given({"--text", "[a, b]", "{}", "", "-x", "-5", "- item", "--", "---", "-- a", "c,d", "%%",
                        "--epochs", "5", "--text=[e]", "f", "--resume=", "--text", ""})
                     .values;
  CHECK(o.text == std::vector<std::string>{"[a, b]", "{}", "", "-x", "-5", "- item", "--", "---", "-- a", "c,d", "%%",
                                           "[e]", "f", ""});
  CHECK(o.epochs == 5);
  CHECK(o.resume.empty());
}

TEST_CASE("numbers, names and meshes in brackets or quotes are no numbers, names and meshes") {
  for (char const* flag : {"--epochs", "--seed", "--lr", "--dtype", "--paint", "--max-steps", "--mesh"})
    for (std::string const value : {"[3]", "{3}", "\"3\"", "'3'", " 3", "3 ", "3,3", "{}", "[]", ""}) {
      INFO(flag << " '" << value << "'");
      std::string const joined = std::string(flag) + "=" + value,
                        refused = std::string(flag) + ": '" + value + "' is no";
      CHECK(complaint({flag, value.c_str()}).starts_with(refused));
      CHECK(complaint({joined.c_str()}).starts_with(refused));
    }
}

TEST_CASE("a flag is true, false, or refused") {
  CHECK(given({"--verbose=true", "--shuffle=false"}).values.verbose);
  CHECK_FALSE(given({"--verbose=true", "--shuffle=false"}).values.shuffle);
  for (char const* word :
       {"--verbose=yes", "--verbose=1", "--verbose=[true]", "--verbose={}", "--verbose=", "--verbose=+"}) {
    INFO(word);
    CHECK(complaint({word}) ==
          "--verbose: '" + std::string(word).substr(10) + "' is neither true nor false; see --help");
  }
  CHECK(complaint({"--no-shuffle=false"}) ==
        "--no-shuffle takes no value, but has 'false'; give it to --shuffle, or leave it out");
  CHECK(complaint({"--verbose", "true"}).starts_with("unexpected argument 'true'"));
}

TEST_CASE("an option without its value is refused, and the name of an option is no value") {
  CHECK(complaint({"--epochs"}) == "--epochs has no value; write --epochs INTEGER, see --help");
  CHECK(complaint({"--text"}) == "--text has no value; write --text TEXT..., see --help");
  CHECK(
      complaint({"--resume", "--epochs", "3"}) ==
      "--resume has no value: the option --epochs follows; write --resume TEXT, or --resume=--epochs if that is the value");
  CHECK(complaint({"--text", "--epochs=3"}).starts_with("--text has no value: the option --epochs follows"));
  CHECK(complaint({"--resume", "--no-verbose"}).starts_with("--resume has no value: the option --no-verbose follows"));
  CHECK(complaint({"--config"}) == "--config has no value; write --config FILE, see --help");
  CHECK(given({"--resume=--epochs"}).values.resume == "--epochs");
  CHECK(given({"--text=--epochs=3", "b"}).values.text == std::vector<std::string>{"--epochs=3", "b"});
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
  CHECK(complaint({"--seed", "-1"}).starts_with("--seed: '-1' is not an integer from 0"));
  CHECK(complaint({"--lr", "inf"}) == "--lr: 'inf' is not a finite number; see --help");
  CHECK(complaint({"--dtype", "i32"}) == "--dtype: 'i32' is not one of f32|bf16|f64; see --help");
  CHECK(complaint({"--paint", "green"}) == "--paint: 'green' is not one of red|blue; see --help");
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
    CHECK(text.find("--dtype f32|bf16|f64 ") != std::string::npos);
    CHECK(text.find("replaces --ranks and --n-model-shards (auto)\n") != std::string::npos);
    CHECK(text.find("--config FILE") != std::string::npos);
  }
  CHECK_THROWS_AS(given({"--help"}), redco::options::help_requested);
}

TEST_CASE("a number below its field's bound is refused by name, from the command line, a file or a default") {
  using option_test::bounded;
  auto const words = [](auto&& read) {
    try {
      read();
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  auto const flags = [&](char const* name, char const* value) { return words([&] { given<bounded>({name, value}); }); };
  CHECK(flags("--batch", "0") == "--batch is 0 (examples of an update): give 1 or more");
  CHECK(flags("--batch", "-5") == "--batch is -5 (examples of an update): give 1 or more");
  CHECK(flags("--epochs", "-1").starts_with("--epochs is -1 "));
  CHECK(flags("--rate", "-0.25").starts_with("--rate is -0.25 "));
  CHECK(flags("--ranks", "0").starts_with("--ranks is 0 "));
  CHECK(flags("--epochs", "0") == "accepted");
  CHECK(flags("--rate", "0") == "accepted");
  CHECK(flags("--batch", "1") == "accepted");
  config_file const file(R"({"batch": 0})");
  CHECK(flags("--config", file.path.c_str()).starts_with("--batch is 0 "));
  CHECK(words([&] { given<bounded>({"--config", file.path.c_str(), "--batch", "2"}); }) == "accepted");
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
