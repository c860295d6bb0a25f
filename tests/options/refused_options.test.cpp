#include "options/read_options.hpp"

#include <redco/options/parse.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Tests of the options that are refused, and of the error messages.

namespace option_test {

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
  double share = 0.5;
  std::optional<int> ranks;
  static constexpr auto fields() {
    return redco::fields(redco::field<"epochs">(&bounded::epochs, "passes over the data").at_least(0),
                         redco::field<"batch">(&bounded::batch, "examples of an update").at_least(1),
                         redco::field<"rate">(&bounded::rate, "of learning").at_least(0),
                         redco::field<"share">(&bounded::share, "of zeros").at_least(0).at_most(1),
                         redco::field<"ranks">(&bounded::ranks, "workers").at_least(1).at_most(64));
  }
};

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
  CHECK(resolved_from({"--text", "caf\xC3\xA9"}).json().find("caf\xC3\xA9") != std::string::npos);
}

TEST_CASE("a config file is refused with its mistake") {
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

TEST_CASE("a number outside of its field's bounds is refused by name, from the command line, a file or a default") {
  auto const words = [](auto&& read) {
    try {
      read();
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  auto const flags = [&](char const* name, char const* value) {
    return words([&] { resolved_from<bounded>({name, value}); });
  };
  CHECK(flags("--batch", "0") == "--batch is 0 (examples of an update): give 1 or more");
  CHECK(flags("--batch", "-5") == "--batch is -5 (examples of an update): give 1 or more");
  CHECK(flags("--epochs", "-1").starts_with("--epochs is -1 "));
  CHECK(flags("--ranks", "1.5") ==
        "--ranks: '1.5' is not an integer from -2147483648 to 2147483647: give 1 to 64; see --help");
  CHECK(flags("--share", "1.01") == "--share is 1.01 (of zeros): give 0 to 1");
  CHECK(flags("--share", "-0.5") == "--share is -0.5 (of zeros): give 0 to 1");
  CHECK(flags("--share", "1") == "accepted");
  CHECK(flags("--ranks", "65").starts_with("--ranks is 65 "));
  CHECK(flags("--rate", "-0.25").starts_with("--rate is -0.25 "));
  CHECK(flags("--ranks", "0").starts_with("--ranks is 0 "));
  CHECK(flags("--epochs", "0") == "accepted");
  CHECK(flags("--rate", "0") == "accepted");
  CHECK(flags("--batch", "1") == "accepted");
  config_file const file(R"({"batch": 0})");
  CHECK(flags("--config", file.path.c_str()).starts_with("--batch is 0 "));
  CHECK(words([&] { resolved_from<bounded>({"--config", file.path.c_str(), "--batch", "2"}); }) == "accepted");
}

TEST_CASE("two members of one name are refused") { CHECK_THROWS_AS(resolved_from<same_name_twice>({}), redco::error); }

TEST_CASE("all missing required options are named with their descriptions") {
  auto const refused = [](std::vector<char const*> words) {
    try {
      resolved_from<needy>(std::move(words));
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
  CHECK(resolved_from<needy>({"--text", "a", "--model", "m", "--width=0"}).values.model == "m");
  config_file const file(R"({"model": "m", "text": ["a", "b"]})");
  CHECK(refused({"--config", file.path.c_str()}) == "required and not given: --width INTEGER (features)");
  try {
    resolved_from<needy>({"--help"});
    FAIL("help is thrown");
  } catch (redco::options::help_requested const& help) {
    CHECK(std::string(help.what()).find("folder of the model (required)") != std::string::npos);
  }
}

}  // namespace option_test
