#include "catch.hpp"

#include <redco/report/answer_text.hpp>
#include <redco/report/answered_report.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/search_text.hpp>
#include <redco/cost/search.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/value_text.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace answered_report_test {

using redco::report::request_form;
using redco::report::run_request;

redco::gpt2 const model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};
redco::llama const grouped{
    {.vocab = 1001, .context = 96, .width = 120, .ffn = 312, .heads = 12, .kv_heads = 4, .layers = 5}};

template <class M>
std::int64_t peak_of(M const& m, run_request const& asked) {
  return redco::cost::cost_of(m, redco::adamw{}, setup_of(asked)).memory.peak();
}

/// Returns the request after a reader has replaced its options by those named in `options`.
run_request followed(run_request asked, std::string const& options) {
  std::istringstream words(options);
  std::string name, value;
  while (words >> name >> value) {
    if (name == "--n-model-shards") {
      int const shards = std::stoi(value);
      asked.mesh = redco::options::mesh_of(asked.form == request_form::ranks ? asked.mesh.ranks() : shards, shards);
    } else if (name == "--mesh" || name == "MESHES") {
      asked.mesh = redco::options::parse_mesh(value);
    } else if (name == "--dtype" || name == "DTYPE") {
      REQUIRE(value == "bf16");
      asked.compute = redco::dtype::bf16;
    } else if (name == "--micro-batch" || name == "MICRO_BATCH") {
      asked.micro_batch = std::stoll(value);
    } else {
      REQUIRE((name == "--recompute" || name == "RECOMPUTE"));
      asked.recompute = redco::options::parse_recomputed_blocks(value);
    }
  }
  return asked;
}

/// Returns requests as command lines and builds state them, with odd sizes and several hosts.
std::vector<run_request> requests() {
  std::vector<run_request> all;
  for (std::int64_t const batch : {5, 16, 33})
    for (std::int64_t const micro_batch : {0, 3}) {
      run_request const one{.load = {batch, 90}, .micro_batch = micro_batch};
      auto const add = [&](redco::mesh const& on, request_form form, int hosts = 1) {
        run_request r = one;
        r.mesh = on;
        r.form = form;
        r.hosts = hosts;
        all.push_back(r);
      };
      add({}, request_form::model_shards);
      add({.tp = 2}, request_form::model_shards);
      add({.dp = 4}, request_form::ranks);
      add({.dp = 3, .tp = 2}, request_form::ranks, 3);
      add({.dp = 1, .tp = 2}, request_form::ranks);
      for (request_form const form : {request_form::mesh, request_form::cmake}) {
        add({}, form);
        add({.dp = 6}, form);
        add({.dp = 2, .tp = 2}, form);
      }
    }
  return all;
}

template <class M>
void follow_all(M const& m) {
  int followed_changes = 0;
  for (run_request const& asked : requests()) {
    std::int64_t const peak = peak_of(m, asked);
    for (int const percent : {90, 70, 50, 30, 20, 12, 6}) {
      std::int64_t const budget = peak / 100 * percent;
      auto const report = redco::report::answered_report(m, redco::adamw{}, asked, budget);
      for (redco::report::legal_width const& one : report.answer->widths) {
        std::string const shards = std::to_string(one.mesh.tp);
        bool const by_mesh = asked.form == request_form::mesh || asked.form == request_form::cmake;
        run_request const wide =
            followed(asked, by_mesh ? "--mesh " + redco::options::to_text(one.mesh) : "--n-model-shards " + shards);
        CHECK(peak_of(m, wide) == one.peak);
        CHECK(wide.mesh == one.mesh);
        CHECK((wide.mesh.ranks() == asked.mesh.ranks() || (asked.mesh.dp == 1 && asked.form != request_form::ranks)));
      }
      if (!report.answer->change) continue;
      redco::report::fitting_change const& change = *report.answer->change;
      INFO(redco::options::to_text(asked.mesh) << " batch " << asked.load.batch << ": " << change.options);
      CHECK(peak_of(m, followed(asked, change.options)) == change.peak);
      CHECK(change.peak <= budget);
      std::string const text = redco::report::budget_text(report);
      CHECK(text.find(change.description + " (" + change.options + "), " +
                      redco::report::detail::bytes_text(change.peak) + " on every rank") != std::string::npos);
      ++followed_changes;
    }
  }
  CHECK(followed_changes > 150);
}

TEST_CASE("following a suggestion gives exactly the bytes that it promises") {
  follow_all(model);
  follow_all(grouped);
}

/// Returns the widths that the refusal of an illegal mesh lists.
std::vector<int> listed_widths(std::string const& refusal) {
  std::string const before = "legal widths are ";
  std::size_t const begin = refusal.find(before) + before.size(), end = refusal.find(": choose one ", begin);
  REQUIRE(begin >= before.size());
  REQUIRE(end != std::string::npos);
  std::istringstream list(refusal.substr(begin, end - begin));
  std::vector<int> widths;
  for (std::string one; std::getline(list, one, ',');) widths.push_back(std::stoi(one));
  return widths;
}

/// Returns the request after a reader has replaced its width.
run_request with_width(run_request asked, int width) {
  if (asked.form == request_form::ranks) asked.mesh = redco::options::mesh_of(asked.mesh.ranks(), width);
  asked.mesh.tp = width;
  return asked;
}

template <class M>
void follow_refusal(M const& m, run_request const& asked) {
  INFO(redco::options::to_text(asked.mesh) << " on " << asked.hosts << " hosts");
  std::string refusal;
  try {
    redco::report::answered_report(m, redco::adamw{}, asked, 0);
  } catch (redco::error const& e) {
    REQUIRE(e.code() == redco::exit_code::usage);
    refusal = e.what();
  }
  std::vector<int> const widths = listed_widths(refusal);
  REQUIRE(!widths.empty());
  for (int const width : widths)
    CHECK_NOTHROW(redco::report::answered_report(m, redco::adamw{}, with_width(asked, width), 0));
}

TEST_CASE("each width that an illegal mesh is offered gives a legal mesh") {
  int refused = 0;
  for (request_form const form :
       {request_form::model_shards, request_form::ranks, request_form::mesh, request_form::cmake})
    for (int const replicas : {1, 2, 6})
      for (int const shards : {4, 5, 7, 10})
        for (int const hosts : {1, 2}) {
          if (form == request_form::model_shards && replicas > 1) continue;
          if (replicas * shards % hosts != 0) continue;
          follow_refusal(model,
                         {.mesh = {.dp = replicas, .tp = shards}, .load = {12, 90}, .hosts = hosts, .form = form});
          ++refused;
        }
  CHECK(refused > 60);
}

TEST_CASE("a refused mesh shows how to write another one") {
  auto const refusal = [](request_form form, int hosts) -> std::string {
    try {
      run_request const asked{.mesh = {.dp = 4, .tp = 5}, .load = {20, 90}, .hosts = hosts, .form = form};
      redco::report::answered_report(model, redco::adamw{}, asked, 0);
    } catch (redco::error const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refusal(request_form::ranks, 1)
            .ends_with("legal widths are 1, 2: choose one with --n-model-shards for the same 20 ranks"));
  CHECK(refusal(request_form::mesh, 1).ends_with("legal widths are 1, 2, 3, 6: choose one in --mesh"));
  CHECK(refusal(request_form::mesh, 8).ends_with("legal widths are 2, 6: choose one in --mesh"));
  CHECK(refusal(request_form::mesh, 10)
            .ends_with(
                "legal widths are 1, 2, 3, 6: choose one in --mesh, and a number of hosts that divides the ranks"));
  CHECK(refusal(request_form::cmake, 1).ends_with("legal widths are 1, 2, 3, 6: choose one in MESHES"));
}

TEST_CASE("another width with a fixed number of ranks keeps the ranks and the global batch") {
  run_request const asked{.mesh = {.dp = 4}, .load = {16, 90}, .form = request_form::ranks};
  auto const report = redco::report::answered_report(model, redco::adamw{}, asked, redco::GiB(1));
  auto const& widths = report.answer->widths;
  REQUIRE(widths.size() == 2);  // 3 and 6 are legal for the model, but do not divide 4
  CHECK(widths[1].mesh == redco::mesh{.dp = 2, .tp = 2});
  redco::cost::setup const two{.mesh = {.dp = 2, .tp = 2}, .load = {8, 90}};
  CHECK(widths[1].peak == redco::cost::cost_of(model, redco::adamw{}, two).memory.peak());
  auto const close = redco::report::answered_report(model, redco::adamw{}, asked, widths[1].peak);
  REQUIRE(close.answer->change);
  CHECK(close.answer->change->description == "2 model shards on the same 4 ranks");
  CHECK(close.answer->change->options == "--n-model-shards 2");
  CHECK(redco::report::answer_text(close).starts_with(
      "model shards and what a rank holds at most on the same 4 ranks\n   1 "));
}

TEST_CASE("the least intrusive sufficient change is proposed") {
  run_request const asked{.load = {16, 256}, .form = request_form::model_shards};
  struct row {
    std::int64_t mib;
    std::string description, options;
  };
  for (row const& r : {row{600, "2 model shards", "--n-model-shards 2"},
                       {350, "6 model shards", "--n-model-shards 6"},
                       {240, "16 micro-batches of 1", "--micro-batch 1"},
                       {200, "6 model shards and bf16", "--n-model-shards 6 --dtype bf16"},
                       {70, "6 model shards and 8 micro-batches of 2", "--n-model-shards 6 --micro-batch 2"}}) {
    auto const found = redco::report::smallest_change(model, redco::adamw{}, asked, redco::shape::MiB(r.mib));
    REQUIRE(found);
    CHECK(found->description == r.description);
    CHECK(found->options == r.options);
  }
}

TEST_CASE("a step keeps its examples when micro-batches grow more") {
  run_request const asked{.mesh = {.dp = 1, .tp = 6},
                          .load = {13, 256},
                          .micro_batch = 5,
                          .compute = redco::dtype::bf16,
                          .recompute = true};
  auto const found = redco::report::smallest_change(model, redco::adamw{}, asked, redco::shape::MiB(60));
  REQUIRE(found);
  redco::cost::setup const run = setup_of(found->asked);
  CHECK(run.load.batch < 5);
  CHECK(run.load.batch * run.micro_batches >= 13);
  CHECK(run.load.batch * (run.micro_batches - 1) < 13);
}

TEST_CASE("the message lists the changes that were tried if none helps") {
  run_request asked{.mesh = {.dp = 1, .tp = 6}, .load = {2, 256}};
  auto const text_within = [&](std::int64_t budget) {
    return redco::report::budget_text(redco::report::answered_report(model, redco::adamw{}, asked, budget));
  };
  CHECK(text_within(redco::shape::MiB(1)).find("more than the budget of 1.00 MiB\n  largest: ") != std::string::npos);
  CHECK(text_within(redco::shape::MiB(1))
            .ends_with("smallest change that fits: none; 6 model shards with bf16, micro-batches of one example and "
                       "recomputation are too large: take a smaller model, a shorter sequence or more memory"));
  asked.mesh = {.dp = 4};
  CHECK(text_within(redco::shape::MiB(1)).find("none; 2 model shards on the same 4 ranks with bf16") !=
        std::string::npos);
  CHECK(text_within(redco::shape::MiB(1)).find("take more ranks, a smaller model") != std::string::npos);
  CHECK(text_within(redco::GiB(1)).find("mesh 4x1: fits, ") == 0);
}

TEST_CASE("the plan that a search recommends has the memory of its row") {
  redco::cost::machine machine;
  for (redco::dtype const compute : {redco::dtype::f32, redco::dtype::bf16})
    machine.compute.push_back({compute, 1, 1e11, 1e10, 1e10, 1e-6});
  machine.groups.push_back({2, 2, 1e-5, 1e9});
  for (int const ranks : {1, 4, 6}) {
    redco::cost::search_space const space{
        .load = {24, 90}, .ranks = ranks, .zero = {0, 1, 2, 3}, .zero_bucket = 4 << 20};
    for (redco::cost::found_plan const& one : redco::cost::search(model, redco::adamw{}, space, machine).plans) {
      run_request const asked{.mesh = one.run.mesh,
                              .load = space.load,
                              .micro_batch = one.run.load.batch,
                              .compute = one.run.compute,
                              .recompute = one.run.recompute,
                              .zero = {.level = one.run.zero.level}};
      CHECK(peak_of(model, asked) == one.peak);
    }
  }
}

TEST_CASE("the command of a found plan names its level of ZeRO and the kept blocks") {
  redco::cost::search_space const space{.load = {24, 90}, .ranks = 4};
  redco::cost::search_result found;
  found.plans.emplace_back().run = {.mesh = {.dp = 4}, .load = {6, 90}};
  std::string const whole = redco::report::search_text(found, space);
  CHECK(whole.find("mesh      micro-batch") != std::string::npos);
  CHECK(whole.find("\nnot tried: meshes with cp, which divides the tokens") != std::string::npos);
  CHECK(whole.ends_with("run: --mesh 4x1 --dtype f32 --global-batch 24 --micro-batch 6\n"));
  found.plans[0].run.zero.level = 3;
  found.plans[0].run.zero.keep = 2;
  redco::cost::search_result none;
  none.smallest.run = {.mesh = {.dp = 4}, .load = {6, 90}};
  CHECK(
      redco::report::search_text(none, space)
          .ends_with("\nnot tried: meshes with cp, which divides the tokens of each example, or ep, which divides "
                     "experts\ntake more ranks, a shorter sequence or more memory, or plan such a mesh with --mesh\n"));
  std::string const shares = redco::report::search_text(found, space);
  CHECK(shares.find("mesh      zero  micro-batch") != std::string::npos);
  CHECK(shares.ends_with("run: --mesh 4x1 --zero 3 --zero-keep 2 --dtype f32 --global-batch 24 --micro-batch 6\n"));
}

TEST_CASE("a search names the numbers of replicas that it does not try because they do not divide the batch") {
  auto const text_of = [](int ranks, std::int64_t batch) {
    redco::cost::search_result found;
    found.smallest.run = {.mesh = {.tp = ranks}, .load = {batch, 90}};
    return redco::report::search_text(found, {.load = {batch, 90}, .ranks = ranks});
  };
  CHECK(text_of(12, 8).find("divides experts; dp 3, 6, which does not divide the batch\n") != std::string::npos);
  CHECK(text_of(4, 8).find("dp ") == std::string::npos);
  // A run with more replicas than examples is refused.
  CHECK(text_of(7, 4).find("dp ") == std::string::npos);
}

TEST_CASE("other numbers of model shards leave out those whose replicas do not divide into groups") {
  redco::report::run_request asked{.mesh = {.dp = 4}};
  asked.zero.level = 1;
  CHECK(redco::report::with_shards(asked, 4));
  asked.zero_within = "2";
  REQUIRE(redco::report::with_shards(asked, 2));
  CHECK(redco::report::with_shards(asked, 2)->mesh == redco::mesh{.dp = 2, .tp = 2});
  CHECK_FALSE(redco::report::with_shards(asked, 4));
  // The page marks the row of the requested mesh.
  std::string const page =
      redco::report::report_html(redco::report::answered_report(model, redco::adamw{}, asked, redco::GiB(1)), "groups");
  CHECK(page.find("<tr class=\"this\"><td>1</td><td>4x1</td>") != std::string::npos);
}

}  // namespace answered_report_test
