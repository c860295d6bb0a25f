#include <redco/run/main_of.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include "torch_catch.hpp"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct small_options {
  int epochs = 3;
  std::string model;
  static constexpr auto fields() {
    return redco::fields(redco::field<"epochs">(&small_options::epochs, "passes over the examples"),
                         redco::required_field<"model">(&small_options::model, "folder of the model"));
  }
};

struct main_outcome {
  int code = -1;
  std::string out, error;
};

template <class Body>
main_outcome main_with(std::vector<char const*> words, Body&& body) {
  words.insert(words.begin(), "program");
  std::ostringstream out, error;
  auto* const out_before = std::cout.rdbuf(out.rdbuf());
  auto* const error_before = std::cerr.rdbuf(error.rdbuf());
  int const code = redco::main_of<small_options>(static_cast<int>(words.size()), words.data(), "Does little.", body);
  std::cout.rdbuf(out_before);
  std::cerr.rdbuf(error_before);
  return {code, out.str(), error.str()};
}

}  // namespace

TEST_CASE("main_of returns the body's number, or 0, and passes the requested options") {
  CHECK(main_with({"--model", "m"}, [](auto const& o) { return o.epochs + 4; }).code == 7);
  CHECK(main_with({"--model", "m"}, [](small_options const&) {}).code == 0);
  bool passes_options = false;
  CHECK(main_with({"--model", "m", "--epochs", "5"}, [&](small_options const& o, auto const& all) {
          passes_options = all.given("epochs") && all.values.epochs == o.epochs;
          return o.epochs;
        }).code == 5);
  CHECK(passes_options);
}

TEST_CASE("an exception of the body or a wrong option becomes one sentence and an exit code") {
  auto const ended = [](main_outcome const& found, int code, std::string const& sentence) {
    INFO(found.error);
    CHECK(found.code == code);
    CHECK(found.error == "error: " + sentence + "\n");
    CHECK(found.out.empty());
  };
  std::vector<char const*> const enough{"--model", "m"};
  auto const nothing = [](auto const&) {};
  ended(main_with(enough, [](auto const&) { throw redco::error(redco::exit_code::data, "no weights"); }), 65,
        "no weights");
  ended(main_with(enough, [](auto const&) { throw std::runtime_error("broken"); }), 70, "broken");
  ended(main_with(enough, [](auto const&) { throw 1; }), 70, "threw something that is not a std::exception");
  ended(main_with(enough, [](auto const&) { TORCH_CHECK(false, "no such operator"); }), 70, "no such operator");
  ended(main_with({"--epoch", "2"}, nothing), 64, "unknown option --epoch; did you mean --epochs?");
  ended(main_with({}, nothing), 64, "required and not given: --model TEXT (folder of the model)");
  main_outcome const help = main_with({"--help"}, nothing);
  CHECK(help.code == 0);
  CHECK(help.out.find("Does little.\n") != std::string::npos);
  CHECK(help.error.empty());
}
