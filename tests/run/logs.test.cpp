#include "mlp.hpp"

#include <redco/workdir/run_recorder.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/json/parse.hpp>

#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace logs_test {

using run_test::fit_mlp;
using run_test::in;
using run_test::mlp_options;
using run_test::outcome;

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

std::string events_of(std::filesystem::path const& workdir) {
  std::string all;
  for (auto const& entry : std::filesystem::directory_iterator(workdir))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) all += content_of(entry.path());
  return all;
}

struct picture_batch {
  at::Tensor images, labels;
};

template <class Pipeline>
using options_for = run_test::options_of<run_test::mlp, std::remove_cvref_t<Pipeline>>;

TEST_CASE("the first fit prints the plan unless the program has printed it") {
  for (bool const asked : {false, true}) {
    temporary_folder folder;
    run_test::silence const printed;
    redco::deployer deployer(in(folder.path, {.tp = 2}));
    redco::trainer trainer(deployer, run_test::mlp{}, run_test::mlp_pipeline(), redco::adamw{});
    if (asked) CHECK(count(trainer.report({.batch = 4}), "plan: mesh 1x2, f64") == 1);
    trainer.fit(run_test::numbers(5));
    trainer.fit(run_test::numbers(5));
    CHECK(count(printed.text.str(), "plan: mesh 1x2, f64") == (asked ? 0 : 1));
    CHECK((count(printed.text.str(), "column-parallel") > 0) != asked);
    CHECK(count(content_of(folder.path / "log.txt"), "plan: mesh 1x2, f64") == 2);
  }
}

TEST_CASE("metrics.jsonl has a row for each evaluation, and log.txt has options and plan") {
  temporary_folder folder;
  mlp_options o;
  o.global_batch = 4;
  o.epochs = 2;
  o.eval = run_test::numbers(3);
  o.config = R"({"lr": 0.02})";
  outcome const run = fit_mlp(in(folder.path, {.tp = 2}), o);
  REQUIRE(run.code == 0);
  std::istringstream rows(content_of(folder.path / "metrics.jsonl"));
  std::vector<std::int64_t> evaluated;
  for (std::string row; std::getline(rows, row);) {
    auto const parsed = redco::json::parse_json(row, "metrics.jsonl");
    if (!parsed.contains("eval/loss")) continue;
    evaluated.push_back(parsed["step"].get<std::int64_t>());
    if (evaluated.back() == 8) CHECK(parsed["eval/loss"].get<double>() == run.evaluation.at("loss"));
  }
  CHECK(evaluated == std::vector<std::int64_t>{4, 8});
  std::string const log = content_of(folder.path / "log.txt");
  CHECK(count(log, "Z options {\"ranks\":null,") == 1);
  CHECK(count(log, "\"mesh\":\"1x2\"") == 1);
  CHECK(count(log, "Z config {\"lr\": 0.02}") == 1);
  CHECK(count(log, "Z plan: mesh 1x2, f64") == 1);
  CHECK(count(log, "  up.weight  ") == 1);
  CHECK(count(log, "  column-parallel") + count(log, "  row-parallel") >= 2);  // with the reasons
  CHECK(count(run.log, "plan: mesh 1x2, f64") == 1);
}

TEST_CASE("metrics.jsonl has the learning rate that each step's update took, over the steps of the run") {
  for (std::int64_t const max_steps : {0, 6}) {  // all eight steps of two epochs, and six of them
    temporary_folder folder;
    mlp_options o;
    o.global_batch = 4;
    o.epochs = 2;
    o.max_steps = max_steps;
    fit_mlp(in(folder.path, {.dp = 2}), o, 13, {}, {}, {.lr = redco::linear_decay{.peak = 0.06, .warmup = 2}});
    std::istringstream rows(content_of(folder.path / "metrics.jsonl"));
    std::vector<double> rates;
    for (std::string row; std::getline(rows, row);) {
      auto const parsed = redco::json::parse_json(row, "metrics.jsonl");
      if (parsed.contains("lr")) rates.push_back(parsed["lr"].get<double>());
    }
    // transformers' get_linear_schedule_with_warmup of two steps: 0, 1/2, then (steps - step) /
    // (steps - 2) of the peak rate.
    std::vector<double> const shares = max_steps == 0
                                           ? std::vector{0., 1. / 2, 1., 5. / 6, 4. / 6, 3. / 6, 2. / 6, 1. / 6}
                                           : std::vector{0., 1. / 2, 1., 3. / 4, 2. / 4, 1. / 4};
    REQUIRE(rates.size() == shares.size());
    for (std::size_t step = 0; step < rates.size(); ++step)
      CHECK(rates[step] == Approx(0.06 * shares[step]).margin(1e-9));
  }
}

TEST_CASE("the unit of the rate follows the example type and can be set") {
  auto const unit_of = [](auto const& pipeline, std::string const& unit) {
    temporary_folder folder;
    options_for<decltype(pipeline)> o;
    o.global_batch = 4;
    o.unit = unit;
    outcome const run = run_test::fit(in(folder.path), run_test::mlp{}, pipeline, run_test::numbers(9), o);
    CHECK(run.code == 0);
    std::string const rows = content_of(folder.path / "metrics.jsonl"), events = events_of(folder.path);
    for (std::string const name : {"tokens", "images", "examples", "words"}) {
      if (rows.find("\"" + name + "_per_second\"") == std::string::npos) continue;
      CHECK(events.find("train/" + name + "_per_second") != std::string::npos);
      CHECK(count(run.log, " " + name + "/s") >= 2);  // in the progress bar and in the summary
      return name;
    }
    return std::string("nothing");
  };
  auto const pictures = redco::collate([](std::span<std::int64_t const> ids) {
                          auto const b = run_test::mlp_batch_of(ids);
                          return picture_batch{b.x, b.labels};
                        }) |
                        redco::loss([](auto const& net, picture_batch const& b) {
                          return at::cross_entropy_loss(net(b.images), b.labels);
                        });
  CHECK(unit_of(run_test::mlp_pipeline(), "") == "examples");
  CHECK(unit_of(pictures, "") == "images");
  CHECK(unit_of(pictures, "words") == "words");
}

TEST_CASE("terms of a loss and text samples reach TensorBoard") {
  auto const pipeline =
      run_test::mlp_collate() | redco::loss([](auto const& net, run_test::mlp_batch const& b) {
        at::Tensor const each = run_test::losses_of(net(b.x), b);
        double const n = static_cast<double>(each.numel());
        return redco::terms{{{"likelihood", {each.sum(), n}, 1.0}, {"square", {each.square().sum(), n}, 0.5}}};
      }) |
      redco::predict([](auto const&, run_test::mlp_batch const& b) {
        std::vector<std::string> texts;
        for (std::int64_t i = 0; i < b.ids.numel(); ++i)
          texts.push_back("the text of " + std::to_string(b.ids[i].item<std::int64_t>()));
        return texts;
      });
  temporary_folder folder;
  options_for<decltype(pipeline)> o;
  o.global_batch = 4;
  o.eval = std::vector<std::int64_t>{31, 7, 12, 15, 18, 20};
  o.eval_predictions = true;
  REQUIRE(run_test::fit(in(folder.path, {.dp = 2}), run_test::mlp{}, pipeline, run_test::numbers(13), o).code == 0);
  std::string const events = events_of(folder.path);
  CHECK(count(events, "train/term/likelihood") == 4);
  CHECK(count(events, "train/term/square") == 4);
  CHECK(count(events, "eval/sample_0") == 1);
  CHECK(count(events, "output: the text of 31") == 1);
  // Only the first four outputs are logged as samples; the file has all
  CHECK(count(events, "output: the text of 20") == 0);
  CHECK(content_of(folder.path / "outputs_epoch0.json").find("the text of 20") != std::string::npos);
}

TEST_CASE("the summary names existing files, and a command only if the run can be resumed") {
  temporary_folder folder;
  mlp_options o;
  o.global_batch = 4;
  o.eval = run_test::numbers(3);
  outcome const done = fit_mlp(in(folder.path), o);
  REQUIRE(done.code == 0);
  for (char const* const name : {"log.txt", "metrics.jsonl", "config.json", "eval_results_epoch0.json",
                                 "min_metrics.json", "events.out.tfevents.", "report.html"})
    CHECK(done.log.find((folder.path / name).string()) != std::string::npos);
  CHECK(done.log.find("outputs_epoch0.json") == std::string::npos);
  CHECK(done.log.find("--resume") == std::string::npos);

  temporary_folder empty;
  outcome const nothing = fit_mlp(in(empty.path), o, 0);
  CHECK(nothing.code == 65);
  CHECK(nothing.log.find("metrics.jsonl") == std::string::npos);
  CHECK(nothing.log.find("--resume") == std::string::npos);

  temporary_folder broken;
  o.save_every_steps = 2;
  o.on_step = [](redco::fit_event const& e) {
    if (e.step == 3) throw std::runtime_error("broken");
  };
  outcome const failed = fit_mlp(in(broken.path), o);
  CHECK(failed.code == 70);
  CHECK(count(failed.log, "--resume auto") == 1);
}

TEST_CASE("a run leaves a page at its first evaluation and at its end") {
  temporary_folder folder;
  mlp_options o;
  o.global_batch = 4;
  o.epochs = 2;
  o.eval = run_test::numbers(3);
  std::vector<std::string> pages;
  o.on_epoch = [&](redco::fit_event const&) { pages.push_back(content_of(folder.path / "report.html")); };
  REQUIRE(fit_mlp(in(folder.path, {.tp = 2}), o).code == 0);
  REQUIRE(pages.size() == 2);
  pages[1] = content_of(folder.path / "report.html");
  for (std::string const& page : pages) {
    CHECK(count(page, "<li>mesh 1x2</li>") == 1);
    CHECK(count(page, "<li>cpu, f64</li>") == 1);
    CHECK(count(page, "loss over step: train, eval") == 1);
    CHECK(count(page, "  column-parallel") >= 1);
    CHECK(count(page, "--resume auto</pre>") == 1);
  }
  CHECK(count(pages[0], "<li>running</li>") == 1);
  CHECK(count(pages[0], "measured peak") == 0);
  CHECK(count(pages[1], ">DONE</li>") == 1);
  CHECK(count(pages[1], "measured peak") == 1);
}

TEST_CASE("a page that cannot be written is a warning") {
  temporary_folder folder;
  std::filesystem::create_directory(folder.path / "report.html");
  mlp_options o;
  o.global_batch = 4;
  outcome const run = fit_mlp(in(folder.path), o);
  CHECK(run.code == 0);
  CHECK(run.warnings == 1);
  CHECK(count(run.log, "no page of the run: ") >= 1);
}

TEST_CASE("pictures and the planned memory are on the page of the run") {
  temporary_folder folder;
  run_test::silence const quiet;
  for (bool const verifies : {true, false}) {
    redco::deployer_options where = in(folder.path);
    where.verify = verifies;
    redco::deployer deployer(where);
    deployer.keep_picture("curve", "<svg/>");
    std::vector const tiles(10, redco::report::picture_tile{3, 2, 1, {0, 50, 100, 150, 200, 250}, {}});
    deployer.keep_images("digits", tiles, 7);
    CHECK(std::filesystem::exists(folder.path / "pictures/digits.svg") != verifies);
    CHECK(std::filesystem::exists(folder.path / "pictures/curve.svg") != verifies);
    if (verifies) continue;
    redco::trainer trainer(deployer, run_test::mlp{}, run_test::mlp_pipeline(), redco::adamw{});
    trainer.report({.batch = 4});
    trainer.fit(run_test::numbers(5));
    deployer.conclude("all numbers are named rightly");
    redco::run::tell_end(redco::exit_code::done);
    std::string const page = content_of(folder.path / "report.html");
    CHECK(count(page, "alt=\"curve.svg\"") == 1);
    CHECK(count(page, "alt=\"digits.svg\"") == 1);
    std::string const events = events_of(folder.path);
    CHECK(count(events, "digits/7") == 1);
    CHECK(count(events, "digits/8") == 0);
    CHECK(count(events, redco::report::png_of(tiles[0])) == 8);
    CHECK(count(page, "planned peak") == 1);
    CHECK(count(page, "all numbers are named rightly") == 1);
  }
}

TEST_CASE("the summary counts the rows and events that could not be written") {
  temporary_folder folder;
  std::filesystem::create_directory(folder.path / "metrics.jsonl");
  mlp_options o;
  o.global_batch = 4;
  outcome const run = fit_mlp(in(folder.path), o);
  CHECK(run.code == 0);
  CHECK(run.log.find(", 4 lost log lines") != std::string::npos);
  CHECK(run.log.find("    " + (folder.path / "metrics.jsonl").string()) == std::string::npos);
}

}  // namespace logs_test
