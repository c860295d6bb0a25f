#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/log/metrics_log.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace {

std::string rows(int first, int last) {
  std::string text;
  for (int step = first; step <= last; ++step) text += "{\"step\":" + std::to_string(step) + ",\"loss\":2.5}\n";
  return text;
}

std::string after_resuming(std::string const& before, std::optional<std::int64_t> last_step,
                           bool evaluates_again = false) {
  temporary_folder folder;
  std::ofstream(folder.path / "metrics.jsonl") << before;
  { redco::log::metrics_log log(folder.path / "metrics.jsonl", last_step, {}, evaluates_again); }
  return content_of(folder.path / "metrics.jsonl");
}

}  // namespace

TEST_CASE("a row of metrics is one line of JSON with the shortest numbers that read back the same") {
  temporary_folder folder;
  auto const file = folder.path / "metrics.jsonl";
  redco::log::metrics_log log(file);
  log.write({.step = 1, .loss = 5.5, .learning_rate = 3e-4, .grad_norm = 0.1, .per_second = 1200});
  CHECK(content_of(file) == "{\"step\":1,\"loss\":5.5,\"lr\":3e-04,\"grad_norm\":0.1,\"tokens_per_second\":1200}\n");
  double const third = 1.0 / 3, tiny = std::numeric_limits<double>::denorm_min();
  log.write({.step = 2, .loss = third, .learning_rate = tiny, .grad_norm = 1e22, .per_second = -0.0});
  std::string const second = content_of(file).substr(content_of(file).find('\n') + 1);
  CHECK(second ==
        "{\"step\":2,\"loss\":0.3333333333333333,\"lr\":5e-324,\"grad_norm\":1e+22,\"tokens_per_second\":-0}\n");
  CHECK(std::stod(second.substr(second.find("loss\":") + 6)) == third);
}

TEST_CASE("an evaluation has its own row after its step's row, and the counted unit names the rate") {
  temporary_folder folder;
  auto const file = folder.path / "metrics.jsonl";
  redco::log::metrics_log log(file);
  log.write({.step = 4, .loss = 2, .per_second = 31.5, .unit = "images"});
  log.write_evaluation(4, 1, {{"accuracy", 0.75}, {"loss", std::nan("")}});
  CHECK(content_of(file) ==
        "{\"step\":4,\"loss\":2,\"lr\":0,\"grad_norm\":0,\"images_per_second\":31.5}\n"
        "{\"step\":4,\"epoch\":1,\"eval/accuracy\":0.75,\"eval/loss\":null}\n");
  CHECK(after_resuming(content_of(file), 4) == content_of(file));
  CHECK(after_resuming(content_of(file), 3) == "");
  CHECK(after_resuming(rows(1, 4) + "{\"step\":4,\"epoch\":1,\"eval/loss\":2}\n", 4, true) == rows(1, 4));
  CHECK(after_resuming(rows(1, 4), 4, true) == rows(1, 4));
  CHECK(after_resuming("{\"step\":3,\"eval/loss\":2}\n" + rows(4, 4), 4, true) ==
        "{\"step\":3,\"eval/loss\":2}\n" + rows(4, 4));
}

TEST_CASE("numbers that JSON cannot write are null, and names of further metrics are escaped") {
  temporary_folder folder;
  double const infinity = std::numeric_limits<double>::infinity();
  redco::log::metrics_log log(folder.path / "m");
  log.write(
      {.step = 3, .loss = std::nan(""), .grad_norm = infinity, .more = {{"a\"b\\c\n", -infinity}, {"bleu é", 2}}});
  CHECK(content_of(folder.path / "m") ==
        "{\"step\":3,\"loss\":null,\"lr\":0,\"grad_norm\":null,\"tokens_per_second\":0,\"a\\\"b\\\\c\\n\":null,"
        "\"bleu é\":2}\n");
}

TEST_CASE("a resumed run has one row per step: later and half-written rows are removed") {
  CHECK(after_resuming(rows(1, 7), 4) == rows(1, 4));
  CHECK(after_resuming(rows(1, 7), 7) == rows(1, 7));
  CHECK(after_resuming(rows(1, 7), 0) == "");
  CHECK(after_resuming(rows(1, 7) + "{\"step\":8,\"lo", 12) == rows(1, 7));
  CHECK(after_resuming(rows(1, 7) + "{\"step\":8,\"lo", 5) == rows(1, 5));
  CHECK(after_resuming(rows(9, 12), 10) == rows(9, 10));
  CHECK(after_resuming("", 3) == "");
}

TEST_CASE("a run without a resume appends rows, and only after complete rows") {
  CHECK(after_resuming(rows(1, 3), {}) == rows(1, 3));
  CHECK(after_resuming(rows(1, 3) + "{\"st", {}) == rows(1, 3));
}

TEST_CASE("metrics that cannot be written are counted, even if the file is a FIFO") {
  temporary_folder folder;
  REQUIRE(::mkfifo((folder.path / "fifo").c_str(), 0600) == 0);
  for (std::string const& path : {std::string("/dev/full"), (folder.path / "fifo").string()}) {
    std::vector<std::string> warnings;
    redco::log::metrics_log log(path, 1, [&](std::string const& text) { warnings.push_back(text); });
    log.write({.step = 1});
    log.write({.step = 2});
    CHECK(log.lost() == 2);
    CHECK(warnings.size() == 1);
  }
}
