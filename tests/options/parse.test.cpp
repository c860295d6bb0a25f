#include "options/read_options.hpp"

#include <redco/options/detail/option_value.hpp>
#include <redco/options/parse.hpp>
#include <redco/options/resolved.hpp>
#include <redco/meta/fields.hpp>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace option_test {

TEST_CASE("every option has its default without arguments, and reports that") {
  auto const r = resolved_from({});
  CHECK(r.values.epochs == 3);
  CHECK(r.values.shuffle);
  CHECK(!r.values.max_steps.has_value());
  CHECK(r.rows().size() == 15);
  for (auto const& row : r.rows()) CHECK(row.source == redco::options::provenance::standard);
}

TEST_CASE("flags of every type reach their members, nested ones too") {
  auto const o = resolved_from({"--epochs",
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
  CHECK(o.paint == color::blue);
  CHECK(o.max_steps == 17);
  CHECK(o.deployer.n_model_shards == 2);
  CHECK(o.deployer.ranks == 1);
  CHECK(o.deployer.mesh == redco::mesh{.dp = 3, .tp = 2});
}

TEST_CASE("the last value of a repeated option counts, and a list collects all values") {
  auto const o =
      resolved_from({"--epochs", "5", "--verbose", "--text", "a", "--epochs", "7", "--no-verbose", "--text", "b"})
          .values;
  CHECK(o.epochs == 7);
  CHECK(!o.verbose);
  CHECK(o.text == std::vector<std::string>{"a", "b"});
}

TEST_CASE("every option takes its value literally, joined or apart") {
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
        return joined ? resolved_from({both.c_str()}).values : resolved_from({flag.c_str(), value.c_str()}).values;
      };
      CHECK(read("--resume").resume == value);
      CHECK(read("--workdir").workdir == std::filesystem::path(value));
      CHECK(read("--note").note == value);
      CHECK(read("--text").text == std::vector<std::string>{value});
    }
    config_file const file("{\"text\": [" + redco::options::detail::json_text(value) + "]}");
    CHECK(resolved_from({"--config", file.path.c_str()}).values.text == std::vector<std::string>{value});
  }
}

TEST_CASE("a list takes words up to the next option and splits none of them") {
  CHECK(complaint({"--text", "a", "-x", "-5", "- item", "--", "---"}) == "accepted");
  auto const o = resolved_from({"--text", "[a, b]", "{}", "", "-x", "-5", "- item", "--", "---", "-- a", "c,d", "%%",
                                "--epochs", "5", "--text=[e]", "f", "--resume=", "--text", ""})
                     .values;
  CHECK(o.text == std::vector<std::string>{"[a, b]", "{}", "", "-x", "-5", "- item", "--", "---", "-- a", "c,d", "%%",
                                           "[e]", "f", ""});
  CHECK(o.epochs == 5);
  CHECK(o.resume.empty());
}

TEST_CASE("numbers, names and meshes in brackets or quotes are refused") {
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
  CHECK(resolved_from({"--verbose=true", "--shuffle=false"}).values.verbose);
  CHECK_FALSE(resolved_from({"--verbose=true", "--shuffle=false"}).values.shuffle);
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
  CHECK(resolved_from({"--resume=--epochs"}).values.resume == "--epochs");
  CHECK(resolved_from({"--text=--epochs=3", "b"}).values.text == std::vector<std::string>{"--epochs=3", "b"});
}

TEST_CASE("a flag overrides the file, the file overrides the default, and the source of each is known") {
  config_file const file(
      R"({"epochs": 9, "lr": 1, "n_model_shards": 2, "max_steps": null, "text": ["t"], "mesh": "2x1",
          "#mesh": "a remark of who wrote the file"})");
  auto const r = resolved_from({"--epochs", "3", "--config", file.path.c_str()});
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

TEST_CASE("--config reads back the values that to_json writes") {
  auto const first = resolved_from(
      {"--epochs", "5", "--text", "a", "b", "--paint", "red", "--mesh", "1x3", "--lr", "0.1", "--verbose"});
  config_file const file(redco::options::to_json(first.values));
  auto const second = resolved_from({"--config", file.path.c_str()});
  CHECK(second.json() == first.json());
  CHECK(second.values.paint == color::red);
  CHECK(second.json() == redco::options::to_json(second.values));
  CHECK(second.json().find(R"("workdir":"run")") != std::string::npos);
  CHECK(second.json().find(R"("max_steps":null)") != std::string::npos);
  CHECK(second.json().find(R"("lr":0.1,)") != std::string::npos);
}

TEST_CASE("help lists every option with kind, sentence and default, and asks for exit code 0") {
  for (char const* flag : {"--help", "-h"}) {
    std::string const text = complaint({flag, "--epochs", "4"}, redco::exit_code::done);
    INFO(text);
    CHECK(text.starts_with("usage: program [OPTIONS]\nTrains.\n"));
    CHECK(text.find("--epochs INTEGER ") != std::string::npos);
    CHECK(text.find("passes over the training data (default 3)\n") != std::string::npos);
    CHECK(text.find("--verbose, --no-verbose ") != std::string::npos);
    CHECK(text.find("--dtype f32|bf16|f64 ") != std::string::npos);
    CHECK(text.find("replaces --ranks and --n-model-shards (default auto)\n") != std::string::npos);
    CHECK(text.find("--config FILE") != std::string::npos);
  }
  CHECK_THROWS_AS(resolved_from({"--help"}), redco::options::help_requested);
}

namespace {

struct grouped_part {
  int ranks = 2, most = 3;
  double share = 0.25;
  std::uint64_t seed = 7;
  std::string folder;
  bool a_flag_with_a_name_of_its_own = false;

  static constexpr auto fields() {
    using o = grouped_part;
    return redco::fields(
        redco::field<"ranks">(&o::ranks, "workers").at_least(1).in_group("mesh"),
        redco::field<"share">(&o::share, "of zeros").at_least(0).at_most(1).in_group("checks"),
        redco::field<"most">(&o::most, "bytes").at_most(9).in_group("checks"),
        redco::field<"seed">(&o::seed, "of all").in_group("checks"),
        redco::field<"folder">(&o::folder, "of machines").in_group("checks"),
        redco::field<"a_flag_with_a_name_of_its_own">(&o::a_flag_with_a_name_of_its_own,
                                                      "one two three four five six seven eight nine ten eleven "
                                                      "twelve")
            .in_group("checks"));
  }
};

struct grouped_options {
  grouped_part part;
  std::string model;
  int shards = 1;

  static constexpr auto fields() {
    using o = grouped_options;
    return redco::fields(redco::field<"part">(&o::part, "nested"),
                         redco::required_field<"model">(&o::model, "folder of the model"),
                         redco::field<"shards">(&o::shards, "ranks of a copy").in_group("mesh"));
  }
};

}  // namespace

TEST_CASE("help lists the program's own options first, then each group under its title, with bounds") {
  char const* const words[] = {"build/examples/program", "--help"};
  std::string help;
  try {
    redco::options::resolve<grouped_options>(2, words, "Trains.");
  } catch (redco::options::help_requested const& e) {
    help = e.what();
  }
  CHECK(help ==
        "usage: program [OPTIONS]\n"
        "Trains.\n"
        "\n"
        "options of program:\n"
        "  --model TEXT                  folder of the model (required)\n"
        "\n"
        "general:\n"
        "  --config FILE                 JSON object with the same names; options given here overrule it\n"
        "  -h, --help                    prints this text\n"
        "\n"
        "mesh:\n"
        "  --ranks INTEGER               workers (default 2, 1 or more)\n"
        "  --shards INTEGER              ranks of a copy (default 1)\n"
        "\n"
        "checks:\n"
        "  --share NUMBER                of zeros (default 0.25, 0 to 1)\n"
        "  --most INTEGER                bytes (default 3, at most 9)\n"
        "  --seed INTEGER                of all (default 7, 0 or more)\n"
        "  --folder TEXT                 of machines (optional)\n"
        "  --a-flag-with-a-name-of-its-own, --no-a-flag-with-a-name-of-its-own\n"
        "                                one two three four five six seven eight nine ten eleven twelve\n"
        "                                (default false)\n");
}

TEST_CASE("the printed table shows value and source of every option") {
  std::ostringstream out;
  resolved_from<mesh_part>({"--mesh", "2x3"}).print(out);
  CHECK(out.str() ==
        "  --ranks           1    default\n"
        "  --n-model-shards  1    default\n"
        "  --mesh            2x3  flag\n");
}

}  // namespace option_test
