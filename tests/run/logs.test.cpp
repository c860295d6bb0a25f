#include "language.hpp"

#include <redco/run/batch_tokens.hpp>
#include <redco/run/unused_flags.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/given_flags.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/meta/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
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

template <class Model, class Pipeline>
using options_for_model = run_test::options_of<Model, std::remove_cvref_t<Pipeline>>;
template <class Pipeline>
using options_for = options_for_model<run_test::mlp, Pipeline>;

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

/// Batches of token ids, of whose rows some ids are padding, in the forms that programs use.
struct masked_ids {
  at::Tensor input_ids, mask, labels;
};
struct plain_ids {
  at::Tensor input_ids, labels;
};
struct target_ids {
  at::Tensor source, source_mask, decoder_ids, labels;
};

TEST_CASE("tokens per second count the token ids that are not padding, and labels are counted apart") {
  for (redco::mesh const& mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.dp = 2, .tp = 2}}) {
    // Each row has eight ids, of which two are padding, and one label.
    auto const pipeline = redco::collate([](std::span<std::int64_t const> ids) {
                            auto const rows = static_cast<std::int64_t>(ids.size());
                            at::Tensor const mask = at::arange(8).lt(6).expand({rows, 8});
                            return masked_ids{at::arange(8 * rows).view({rows, 8}), mask, at::zeros({rows}, at::kLong)};
                          }) |
                          redco::loss([](auto const& net, masked_ids const& b) {
                            at::Tensor const x = at::sin(b.input_ids.narrow(1, 0, 5).to(at::kDouble));
                            return redco::mean{at::cross_entropy_loss(net(x), b.labels, {}, at::Reduction::Sum),
                                               static_cast<double>(b.labels.numel())};
                          });
    temporary_folder folder;
    options_for<decltype(pipeline)> o;
    o.global_batch = 4;
    REQUIRE(run_test::fit(in(folder.path, mesh), run_test::mlp{}, pipeline, run_test::numbers(9), o).code == 0);
    std::istringstream rows(content_of(folder.path / "metrics.jsonl"));
    std::int64_t steps = 0;
    for (std::string row; std::getline(rows, row); ++steps) {
      auto const parsed = redco::json::parse_json(row, "metrics.jsonl");
      CHECK(parsed["tokens_per_second"].get<double>() ==
            Approx(6 * parsed["labels_per_second"].get<double>()).epsilon(1e-9));
    }
    CHECK(steps == 3);
    CHECK(events_of(folder.path).find("train/labels_per_second") != std::string::npos);
  }
}

TEST_CASE("the tokens of a batch are its ids without those that masks, positions and labels mark as padding") {
  using redco::run::tokens_of;
  at::Tensor const ids = at::ones({2, 5}, at::kLong), mask = at::arange(5).lt(3).expand({2, 5});
  CHECK(tokens_of(masked_ids{ids, mask, {}}) == 6);
  CHECK(tokens_of(masked_ids{ids, {}, {}}) == 10);
  CHECK(tokens_of(plain_ids{ids, {}}) == 10);
  CHECK(tokens_of(redco::token_batch{ids, ids, at::arange(5).sub(2).expand({2, 5})}) == 6);
  CHECK(tokens_of(redco::token_batch{ids, ids}) == 10);
  // Six ids of the sources and two of each target
  CHECK(tokens_of(target_ids{ids, mask, ids.narrow(1, 0, 3), at::tensor({1, 1, -100}).expand({2, 3})}) == 10);
  CHECK(tokens_of(picture_batch{ids, ids}) == 0);
}

TEST_CASE("a trainer with an optimizer of its own warns of the flags that have no effect, by name") {
  using redco::training_flags;
  // Returns the warning of a trainer that make(deployer) makes; "" if there is none.
  auto const warning_of = [](auto const& make) {
    temporary_folder folder;
    run_test::silence const quiet;
    redco::deployer deployer(in(folder.path));
    make(deployer);
    std::string const all = quiet.text.str();
    std::size_t const at = all.find("warning: "), end = all.find(" no effect", at);
    return at == std::string::npos ? std::string() : all.substr(at + 9, end - at - 9);
  };
  training_flags const flags{.warmup = 7, .lr = 0.5, .weight_decay = 0.25, .beta1 = 0.8};
  auto const with_flags = [&](auto const& rule, training_flags const& given) {
    return warning_of([&](redco::deployer& on) {
      redco::trainer const one(on, run_test::mlp{}, run_test::mlp_pipeline(), rule, given);
    });
  };
  redco::adamw const own{.lr = 0.02, .beta1 = 0.8};
  CHECK(with_flags(own, flags) == "--lr, --warmup, --weight-decay have");
  CHECK(with_flags(own, {.rule = redco::optimizer::rule_kind::lion}) == "--optimizer has");
  CHECK(with_flags(own, {.clip_norm = 0.5, .clip_kind = redco::optimizer::norm_kind::inf}) ==
        "--clip-norm, --clip-kind have");
  CHECK(with_flags(own, {.momentum = 0.5, .beta2 = 0.5}) == "--momentum, --beta2 have");
  CHECK(with_flags(own, {}) == "");
  redco::linear_decay const rate{.peak = flags.lr, .warmup = flags.warmup};
  CHECK(with_flags(redco::adamw{.lr = rate, .beta1 = 0.8, .weight_decay = 0.25}, flags) == "");

  // Flags of the command line that the program does not pass on
  auto& program = redco::options::given_flags::of_program();
  program = {flags, {"lr", "beta1"}};
  auto const without_flags = [&](auto const& rule) {
    return warning_of(
        [&](redco::deployer& on) { redco::trainer const one(on, run_test::mlp{}, run_test::mlp_pipeline(), rule); });
  };
  CHECK(without_flags(own) == "--lr has");
  CHECK(without_flags(redco::adamw{.lr = 0.5, .beta1 = 0.8}) == "");
  program = {};
  CHECK(without_flags(own) == "");
}

/// Options whose training flags are nested twice.
struct inner {
  redco::training_flags training;
  static constexpr auto fields() { return redco::fields(redco::field<"training">(&inner::training, "training")); }
};
struct outer {
  inner part;
  double own = 1;
  static constexpr auto fields() {
    return redco::fields(redco::field<"part">(&outer::part, "a part"), redco::field<"own">(&outer::own, "own"));
  }
};

TEST_CASE("the flags that a command line sets are those of the program's training flags, at any depth") {
  outer const values{{{.lr = 0.5}}};
  redco::options::given_flags found;
  redco::options::note_given_flags(
      values, [](std::string_view name) { return name == "lr" || name == "own" || name == "clip_norm"; }, found);
  CHECK(found.names == std::set<std::string>{"lr", "clip_norm"});
  CHECK(found.values.lr == 0.5);
}

TEST_CASE("--check-saved accepts inputs with gaps in memory, and logs what it has compared") {
  temporary_folder folder;
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.check_saved = true;
  auto const job = redco::collate([](std::span<std::int64_t const> ids) {
                     return at::arange(10 * static_cast<std::int64_t>(ids.size())).remainder(11).view({-1, 10});
                   }) |
                   redco::loss([](auto const& net, at::Tensor const& ids) {
                     at::Tensor const mask = at::ones({9, ids.size(0)}, at::kBool).t();
                     return redco::cross_entropy(net(ids.slice(1, 0, -1), redco::key_mask{mask}), ids.slice(1, 1));
                   });
  options_for_model<redco::gpt2, decltype(job)> o;
  o.global_batch = 4;
  outcome const run = run_test::fit(where, run_test::tied, job, run_test::numbers(8), o);
  INFO(run.reason);
  CHECK(run.code == 0);
  CHECK(count(run.log, "--check-saved: the first step saves what the layers declare") == 1);
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
