#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/report/answered_report.hpp>
#include <redco/report/detail/html_phases.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/program_text.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/stage_timeline.hpp>
#include <redco/report/step_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/machine_file.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/shard/facts.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

namespace report_test {

redco::gpt2 const demo{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6, .dropout = 0.1}};
using mlp_net = redco::sequential<redco::named<"up", redco::linear<20, 96>>, redco::relu,
                                  redco::named<"down", redco::linear<96, 7>>>;
redco::model_of<mlp_net> const mlp{};

/// Compares a text with files/golden/NAME. If REDCO_APPROVE=1 is in the environment, writes the
/// file instead.
void matches_golden(std::string const& name, std::string const& text) {
  auto const file = test_files() / "golden" / name;
  if (std::getenv("REDCO_APPROVE") != nullptr) std::ofstream(file) << text;
  std::ifstream in(file);
  std::stringstream golden;
  golden << in.rdbuf();
  INFO("golden file " << file << "; REDCO_APPROVE=1 takes the new text");
  CHECK(golden.str() == text);
}

TEST_CASE("the program of two blocks is the golden one") {
  redco::gpt2 const small{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = 2}};
  matches_golden("gpt2_small.facts", redco::report::program_text(redco::shard::facts_of(small, {2, 8})));
}

TEST_CASE("memory over a step of GPT-2 small on two shards is the golden one, and its largest total is the peak") {
  redco::gpt2 const small{{.vocab = 50257, .context = 1024, .width = 768, .heads = 12, .layers = 12}};
  for (auto const& [name, again] : {std::pair{"gpt2_small_1x2.timeline", redco::recomputed_blocks(false)},
                                    {"gpt2_small_1x2_every_2.timeline", redco::recomputed_blocks::every_kth(2)}}) {
    redco::cost::setup const run{.mesh = {.tp = 2}, .load = {1, 1024}, .recompute = again};
    auto const facts = redco::shard::facts_of(small, run.load);
    auto const memory = redco::cost::cost_of(small, redco::adamw{}, run).memory;
    redco::cost::simulation const of(facts, run);
    matches_golden(name, redco::report::timeline_text(of, memory));
    std::int64_t most = 0;
    for (redco::cost::moment const& m : of.moments()) most = std::max(most, m.bytes());
    CHECK(memory.persistent() + most == memory.peak());
  }
}

TEST_CASE("the timeline of pipeline stages is the golden one, and its largest totals are the peaks of the stages") {
  redco::gpt2 const small{{.vocab = 50257, .context = 1024, .width = 768, .heads = 12, .layers = 12}};
  using redco::schedule::pipeline_kind;
  for (auto const& [name, kind, chunks] : {std::tuple{"gpt2_small_pp2.timeline", pipeline_kind::one_f_one_b, 1},
                                           {"gpt2_small_pp2_chunks.timeline", pipeline_kind::interleaved, 2},
                                           {"gpt2_small_pp2_v.timeline", pipeline_kind::v_half, 2}}) {
    redco::cost::setup run{.mesh = {.pp = 2}, .load = {1, 1024}, .recompute = true, .micro_batches = 4};
    run.stages.schedule = kind;
    run.stages.chunks_per_stage = chunks;
    auto const facts = redco::shard::facts_of(small, run.load);
    auto const demands = redco::optimizer::demands_of(redco::adamw{});
    matches_golden(name, redco::report::stage_timeline_text(facts, demands, run, nullptr));
    auto const stages = redco::cost::stage_costs(facts, demands, run);
    auto const moments = redco::cost::stage_moments(facts, demands, run);
    REQUIRE(moments.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      std::int64_t most = 0;
      for (redco::cost::stage_moment const& one : moments[i]) most = std::max({most, one.bytes(), one.at_arrival});
      redco::cost::memory const& m = stages[i].cost.memory;
      CHECK(m.persistent() + most == std::max(m.at_loss(), m.at_backward()));
    }
  }
}

TEST_CASE("on a measured machine, a timeline has seconds, and tensors between stages arrive later") {
  redco::cost::machine on;
  on.compute = {{.operations_per_second = 1e9, .activation_bytes_per_second = 1e30, .weight_bytes_per_second = 1e30}};
  on.groups = {{.seconds_per_call = 0, .bytes_per_second = 1e6}};
  on.update_bytes_per_second = 1e30;
  redco::gpt2 const small{{.vocab = 64, .context = 16, .width = 24, .heads = 2, .layers = 2}};
  redco::cost::setup const run{.mesh = {.pp = 2}, .load = {1, 16}, .micro_batches = 2};
  auto const facts = redco::shard::facts_of(small, run.load);
  auto const demands = redco::optimizer::demands_of(redco::adamw{});
  auto const stages = redco::cost::stage_costs(facts, demands, run);
  auto const course = redco::cost::pipeline_course_of(stages, run, on);
  // [1, 16, 24] in f32 takes 1.536 ms.
  CHECK(course.starts[1][0] - course.durations[0][0] == 1'536'000);
  std::string const text = redco::report::stage_timeline_text(facts, demands, run, &on);
  CHECK(text.find(" us  wait               0  for stage 0\n") == std::string::npos);
  CHECK(text.find(" ms  wait               0  for stage 0\n") != std::string::npos);
  CHECK(text.find("  receive            0  1536 from stage 0, total ") != std::string::npos);
  CHECK(text.find("  send               1  1536 to stage 0\n") != std::string::npos);
}

TEST_CASE("the demo's report on one rank, two shards and a 2x2 mesh is the golden one") {
  for (auto const& [dp, tp] : {std::pair{1, 1}, {1, 2}, {2, 2}}) {
    auto const report = redco::report_of(demo, redco::adamw{}, {.mesh = {.dp = dp, .tp = tp}, .load = {16 / dp, 256}});
    std::string const name = "gpt2_demo_" + std::to_string(dp) + "x" + std::to_string(tp);
    matches_golden(name + ".txt", redco::report_text(report));
    matches_golden(name + ".md", redco::report::report_markdown(report));
    matches_golden(name + ".json", redco::json::dump_json(redco::report::report_json(report)) + "\n");
  }
}

TEST_CASE("a report of several hosts lists the bytes that a host sends to other hosts, message by message") {
  redco::cost::setup const run{.mesh = {.dp = 2, .tp = 3}, .load = {640, 1}, .hosts = 2};
  auto const report = redco::report_of(mlp, redco::adamw{}, run);
  redco::cost::message_total const shards = report.cost.messages[redco::cost::messages::forward];
  redco::cost::message_total const gradients = report.cost.messages[redco::cost::messages::gradients];
  REQUIRE((shards.host_bytes == 0 && gradients.host_bytes == 3 * gradients.payload_bytes));
  std::string const bytes = std::to_string(gradients.host_bytes);

  std::string const text = redco::report_text(report);
  CHECK(text.find("plan: mesh 2x3 on 2 hosts, f32") == 0);
  CHECK(text.find(", a host " + redco::report::detail::bytes_text(gradients.host_bytes) + " to others\n") !=
        std::string::npos);
  CHECK(text.find(", a host 0 B to others\n") != std::string::npos);

  std::string const markdown = redco::report::report_markdown(report);
  CHECK(markdown.find("| bytes sent | by a host to others |\n|---|---|---|---:|---:|---:|---:|\n") !=
        std::string::npos);
  CHECK(markdown.find("| " + std::to_string(gradients.wire_bytes) + " | " + bytes + " |\n") != std::string::npos);

  redco::json::json_value const json = redco::report::report_json(report);
  CHECK(json.at("run").at("hosts") == 2);
  int lines = 0;
  for (redco::json::json_value const& line : json.at("messages")) {
    if (line.at("purpose") == "gradients") {
      CHECK(line.at("hosts") == 2);
      CHECK(line.at("inside_bytes") == 0);
      CHECK(line.at("host_bytes") == gradients.host_bytes);
      ++lines;
    }
    if (line.at("purpose") == "forward activations") {
      CHECK(line.at("hosts") == 1);
      CHECK(line.at("inside_bytes") == shards.wire_bytes);
      ++lines;
    }
  }
  CHECK(lines == 2);

  std::string const page = redco::report::report_html(report, "MLP");
  CHECK(page.find("2 replicas of 3 shards on 2 hosts") != std::string::npos);
  CHECK(page.find("by a host to others</th></tr>") != std::string::npos);
  CHECK(page.find(redco::report::detail::bytes_text(gradients.host_bytes) + "</td></tr>") != std::string::npos);
}

TEST_CASE("activations by layer add up to the report's activations") {
  for (bool const recompute : {false, true})
    for (int const tp : {1, 3}) {
      auto const report =
          redco::report_of(demo, redco::adamw{}, {.mesh = {.tp = tp}, .load = {4, 250}, .recompute = recompute});
      std::int64_t sum = 0;
      for (redco::cost::layer_activations const& one : report.activations) sum += one.bytes;
      CHECK(sum == report.cost.memory.activations);
      CHECK(report.activations.size() > 2);
    }
}

TEST_CASE("the report of an MLP in bf16 is the golden one") {
  auto const report =
      redco::report_of(mlp, redco::adamw{}, {.mesh = {.tp = 3}, .load = {640, 1}, .compute = redco::dtype::bf16});
  matches_golden("mlp_1x3_bf16.txt", redco::report_text(report));
}

TEST_CASE("the page of an MLP over its budget is the golden one") {
  auto const report =
      redco::report::answered_report(mlp, redco::adamw{}, {.mesh = {.tp = 3}, .load = {640, 1}}, 300'000);
  CHECK_FALSE(report.fits());
  matches_golden("mlp_1x3.html", redco::report::report_html(report, "An MLP <of> \"two\" layers & 'a' budget"));
}

TEST_CASE("the page of eight ranks on two hosts is the golden one") {
  redco::report::run_request const asked{
      .mesh = {.dp = 4, .tp = 2}, .load = {64, 256}, .hosts = 2, .form = redco::report::request_form::ranks};
  matches_golden("gpt2_demo_4x2.html",
                 redco::report::report_html(
                     redco::report::answered_report(demo, redco::adamw{}, asked, redco::shape::MiB(300)), "GPT-2"));
}

TEST_CASE("every format reports the fitting setups, the smallest change and the time of a step") {
  temporary_folder const folder;
  auto const machine = folder.path / "machine.json";
  std::ofstream(machine) << R"({"schema": "redco.machine", "version": 1, "compute": [{"dtype": "f32", "ranks": 1,
    "operations_per_second": 1e11, "activation_bytes_per_second": 1e10, "weight_bytes_per_second": 1e10,
    "seconds_per_tensor": 1e-6}], "all_reduce": [{"group": 2, "ranks": 2, "seconds_per_call": 1e-5,
    "bytes_per_second": 1e9}], "update_bytes_per_second": 1e10})";
  redco::report::run_request const asked{
      .mesh = {.dp = 4}, .load = {64, 256}, .form = redco::report::request_form::ranks};
  auto const large = redco::report::answered_report(demo, redco::adamw{}, asked, redco::shape::MiB(500), machine);
  REQUIRE(large.answer->change);
  double const seconds =
      redco::cost::step_time_of(large.cost, large.run,
                                redco::cost::read_machine(redco::json::read_json(machine), machine.string()))
          .total();
  for (redco::report::report_format const format : redco::options::choices<redco::report::report_format>) {
    std::string const text = redco::report::report_as(format, large, "GPT-2");
    INFO(name_of(format));
    bool const json = format == redco::report::report_format::json;
    auto const has = [&](std::string const& words) { return text.find(words) != std::string::npos; };
    CHECK(has(json ? "\"fits\": false" : "does not fit, a rank holds "));
    CHECK(has(large.answer->change->description));
    CHECK(has(large.answer->change->options));
    CHECK(has(json ? "\"step_seconds\": "
                   : redco::report::detail::seconds_text(seconds) + ", predicted for the measured"));
    for (redco::report::legal_width const& one : large.answer->widths)
      CHECK(has(json ? "\"peak_bytes\": " + std::to_string(one.peak) : redco::report::detail::bytes_text(one.peak)));
  }
  redco::json::json_value const answer = redco::report::report_json(large).at("answer");
  CHECK(answer.at("step_seconds") == seconds);
  CHECK(answer.at("smallest_change").at("peak_bytes") == large.answer->change->peak);
  CHECK(answer.at("widths").size() == large.answer->widths.size());

  auto const roomy = redco::report::answered_report(demo, redco::adamw{}, asked, redco::GiB(9));
  for (redco::report::report_format const format :
       {redco::report::report_format::txt, redco::report::report_format::md, redco::report::report_format::html}) {
    std::string const text = redco::report::report_as(format, roomy, "GPT-2");
    CHECK(text.find("mesh 4x1: fits, ") != std::string::npos);
    CHECK(text.find("not predicted: no machine was measured; run redco-plan --calibrate") != std::string::npos);
    CHECK(text.find("mallest change") == std::string::npos);
  }
  redco::report::run_request double_precision = asked;
  double_precision.compute = redco::dtype::f64;
  auto const untimed = redco::report::answered_report(demo, redco::adamw{}, double_precision, 0, machine);
  CHECK(untimed.answer->untimed.find("f64") != std::string::npos);
}

TEST_CASE("labels of a drawing that would collide move up") {
  redco::report::detail::label_positions labels;
  CHECK(labels.add(10, 50, "3.80 GiB") == 50);
  CHECK(labels.add(30, 48, "3.99 GiB") == 37);
  CHECK(labels.add(35, 45, "3.82 GiB") == 24);
  CHECK(labels.add(200, 45, "956 MiB") == 45);
  CHECK(labels.highest() == 0);
  CHECK(labels.add(10, 0, "a") == 0);
  CHECK(labels.add(10, 2, "b") == -13);
  CHECK(labels.highest() == -13);
}

TEST_CASE("text in a page is escaped") {
  CHECK(redco::report::detail::escaped("<a href=\"x\">&'\x01") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39; ");
  auto const report = redco::report_of(mlp, redco::adamw{}, {.mesh = {.dp = 1}, .load = {4, 1}});
  CHECK(redco::report::report_html(report, "</title><script>").find("</title><script>") == std::string::npos);
}

TEST_CASE("memory at the moments of a step equals the memory of its phases") {
  for (bool const recompute : {false, true}) {
    auto const m =
        redco::report_of(
            demo, redco::adamw{},
            {.mesh = {.dp = 2, .tp = 3}, .load = {8, 256}, .compute = redco::dtype::bf16, .recompute = recompute})
            .cost.memory;
    auto const moments = redco::report::step_moments(m);
    CHECK(moments[2].total() == m.at_loss());
    CHECK(moments[4].total() == m.at_backward());
    CHECK(moments[6].total() == m.at_update());
    CHECK(redco::report::peak_moment(m).total() == m.peak());
  }
}

TEST_CASE("an illegal mesh is refused with the legal widths") {
  try {
    redco::report_of(demo, redco::adamw{}, {.mesh = {.tp = 4}, .load = {16, 256}});
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).find("legal widths are 1, 2, 3, 6:") != std::string::npos);
  }
}

TEST_CASE("a number of micro-batches that an interleaved schedule cannot run is refused") {
  redco::cost::setup const run{
      .mesh = {.pp = 3},
      .load = {2, 256},
      .micro_batches = 8,
      .stages = {.schedule = redco::schedule::pipeline_kind::interleaved, .chunks_per_stage = 2}};
  CHECK(refused([&] {
          redco::report_of(demo, redco::adamw{}, run);
        }).starts_with("64 the schedule interleaved needs a number of micro-batches"));
}

TEST_CASE("the level of ZeRO of a request is planned and named, and the update holds a copy of a share") {
  redco::report::run_request asked{.mesh = {.dp = 4}, .load = {8, 256}};
  asked.zero.level = 1;
  auto const report = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  CHECK(report.run.zero.level == 1);
  CHECK(redco::report::detail::run_text(report) == "mesh 4x1, f32, adamw, 1 micro-batch of 2 x 256, zero 1");
  redco::cost::memory const& m = report.cost.memory;
  CHECK(m.at_update() == m.persistent() + m.shares_workspace);
  CHECK(redco::report::step_moments(m).back().total() == m.at_update());
  CHECK(m.shares_workspace == m.parameters / 4);
  asked.zero.owner = redco::shape::zero_owner::whole;
  auto const owners = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  CHECK(redco::report::detail::run_text(owners).ends_with(", zero 1 with whole matrices"));
  asked.zero.level = 3;
  auto const all = redco::report_of(demo, redco::optimizer::adafactor{}, setup_of(asked));
  CHECK(redco::report::detail::run_text(all).ends_with(", zero 3 with whole matrices"));
  CHECK(all.run.zero.owns_all);
  CHECK_FALSE(owners.run.zero.owns_all);
  asked.zero_within = "2";
  auto const groups = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  CHECK(redco::report::detail::run_text(groups) ==
        "mesh 4x1, f32, adamw, 1 micro-batch of 2 x 256, zero 3 with whole matrices in groups of 2 replicas");
  std::string const page = redco::report::report_html(groups, "demo");
  CHECK(page.find("<li>mesh 4x1: 4 replicas of 1 shard</li>") != std::string::npos);
  CHECK(page.find("<li>zero 3 with whole matrices in groups of 2 replicas</li>") != std::string::npos);
}

TEST_CASE("shares of gradients are planned with the buckets that wait for their sum during backward") {
  redco::report::run_request asked{.mesh = {.dp = 4}, .load = {8, 256}};
  asked.micro_batch = 1;
  asked.zero.level = 1;
  auto const whole = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  asked.zero.level = 2;
  asked.gradient_bucket = 0.25;
  auto const shares = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  redco::cost::memory const& m = shares.cost.memory;
  CHECK(shares.run.zero.bucket == 256 * 1024);
  for (redco::cost::message_total const& one : shares.cost.messages)
    if (one.purpose == redco::cost::messages::name_of_gradients && one.calls > 0) {
      CHECK(one.collective == redco::shape::collective::reduce_scatter);
      CHECK(one.payload_bytes == shares.run.micro_batches * whole.cost.memory.gradients);
    }
  CHECK(m.gradients == whole.cost.memory.gradients / 4);
  CHECK(m.gradient_buckets > 256 * 1024);
  CHECK(m.gradient_buckets <= 4 * 256 * 1024);
  CHECK(m.at_backward() == m.persistent() + m.backward.bytes() + m.gradient_buckets);
  bool found = false;
  for (auto const& one : redco::report::step_moments(m)) found = found || one.total() == m.at_backward();
  CHECK(found);
}

TEST_CASE("gathered blocks are planned, named and part of the timeline") {
  redco::report::run_request asked{.mesh = {.dp = 4}, .load = {8, 256}};
  asked.zero.level = 3;
  asked.zero.keep = 2;
  auto const report = redco::report_of(demo, redco::adamw{}, setup_of(asked));
  CHECK(report.run.zero.keep == 2);
  CHECK(redco::report::detail::run_text(report) ==
        "mesh 4x1, f32, adamw, 1 micro-batch of 2 x 256, zero 3, 2 blocks kept");
  redco::cost::memory const& m = report.cost.memory;
  std::string const text = redco::report_text(report);
  CHECK(text.find("gathered") != std::string::npos);
  redco::json::json_value const json = redco::report::report_json(report);
  CHECK(json.at("run").at("zero_keep") == 2);
  CHECK(json.at("bytes").at("gathered") == std::max(m.gathered, m.backward.gathered));
  auto const moments = redco::report::step_moments(m);
  CHECK(moments[2].total() == m.at_loss());
  CHECK(moments[4].total() == m.at_backward());
  CHECK(moments[6].total() == m.at_update());
  CHECK(redco::report::peak_moment(m).total() == m.peak());
  auto const facts = redco::shard::facts_of(demo, report.run.load);
  std::string const timeline = redco::report::timeline_text(redco::cost::simulation(facts, report.run), m);
  CHECK(timeline.find(" loss      gathered         total\n") != std::string::npos);
  CHECK(timeline.find(std::to_string(m.peak()) + "  peak\n") != std::string::npos);
}

}  // namespace report_test
