#include "catch.hpp"

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/program_text.hpp>
#include <redco/report/report_html.hpp>
#include <redco/report/report_json.hpp>
#include <redco/report/report_markdown.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_moments.hpp>
#include <redco/report/timeline_text.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace report_test {

redco::gpt2 const demo{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6, .dropout = 0.1}};
using mlp_net = redco::sequential<redco::named<"up", redco::linear<20, 96>>, redco::relu,
                                  redco::named<"down", redco::linear<96, 7>>>;
redco::model_of<mlp_net> const mlp{};

/// Compares with tests/golden/NAME. REDCO_APPROVE=1 in the environment writes the file instead.
void matches_golden(std::string const& name, std::string const& text) {
  auto const file = std::filesystem::path(__FILE__).parent_path().parent_path() / "golden" / name;
  if (std::getenv("REDCO_APPROVE") != nullptr) std::ofstream(file) << text;
  std::ifstream in(file);
  std::stringstream golden;
  golden << in.rdbuf();
  INFO("golden file " << file << "; REDCO_APPROVE=1 takes the new text");
  CHECK(golden.str() == text);
}

TEST_CASE("the program of two blocks is the golden one") {
  redco::gpt2 const small{{.vocab = 64, .context = 16, .width = 24, .heads = 3, .layers = 2}};
  matches_golden("gpt2_small.facts", redco::report::program_text(redco::facts_of(small, {2, 8})));
}

TEST_CASE("memory over a step of GPT-2 small on two shards is the golden one, and its largest total is the peak") {
  redco::gpt2 const small{{.vocab = 50257, .context = 1024, .width = 768, .heads = 12, .layers = 12}};
  for (auto const& [name, again] : {std::pair{"gpt2_small_1x2.timeline", redco::recomputed_blocks(false)},
                                    {"gpt2_small_1x2_every_2.timeline", redco::recomputed_blocks::every_kth(2)}}) {
    redco::setup const run{.mesh = {.tp = 2}, .load = {1, 1024}, .recompute = again};
    auto const facts = redco::facts_of(small, run.load);
    auto const memory = redco::cost_of(small, redco::adamw{}, run).memory;
    redco::cost::simulation const of(facts, run);
    matches_golden(name, redco::report::timeline_text(of, memory));
    std::int64_t most = 0;
    for (redco::cost::moment const& m : of.moments()) most = std::max(most, m.bytes());
    CHECK(memory.persistent() + most == memory.peak());
  }
}

TEST_CASE("the demo's report on one rank, two shards and a 2x2 mesh is the golden one") {
  for (auto const& [dp, tp] : {std::pair{1, 1}, {1, 2}, {2, 2}}) {
    auto const report = redco::report_of(demo, redco::adamw{}, {.mesh = {.dp = dp, .tp = tp}, .load = {16 / dp, 256}});
    std::string const name = "gpt2_demo_" + std::to_string(dp) + "x" + std::to_string(tp);
    matches_golden(name + ".txt", redco::report_text(report));
    matches_golden(name + ".md", redco::report_markdown(report));
    matches_golden(name + ".json", redco::json::dump_json(redco::report_json(report)) + "\n");
  }
}

TEST_CASE("a report of several hosts says what a host sends to others, message by message") {
  redco::setup const run{.mesh = {.dp = 2, .tp = 3}, .load = {640, 1}, .hosts = 2};
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

  std::string const markdown = redco::report_markdown(report);
  CHECK(markdown.find("| bytes sent | by a host to others |\n|---|---|---|---:|---:|---:|---:|\n") !=
        std::string::npos);
  CHECK(markdown.find("| " + std::to_string(gradients.wire_bytes) + " | " + bytes + " |\n") != std::string::npos);

  redco::json::json_value const json = redco::report_json(report);
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

  std::string const page = redco::report_html(report, "MLP");
  CHECK(page.find("2 replicas of 3 shards on 2 hosts") != std::string::npos);
  CHECK(page.find("by a host to others</th></tr>") != std::string::npos);
  CHECK(page.find(redco::report::detail::bytes_text(gradients.host_bytes) + "</td></tr>") != std::string::npos);
}

TEST_CASE("activations by layer add up to those of the report") {
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
  auto const report = redco::report_of(mlp, redco::adamw{}, {.mesh = {.tp = 3}, .load = {640, 1}}, 300'000);
  CHECK_FALSE(report.fits());
  matches_golden("mlp_1x3.html", redco::report_html(report, "An MLP <of> \"two\" layers & 'a' budget"));
}

TEST_CASE("text in a page is no markup") {
  CHECK(redco::report::detail::escaped("<a href=\"x\">&'\x01") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39; ");
  auto const report = redco::report_of(mlp, redco::adamw{}, {.mesh = {.dp = 1}, .load = {4, 1}});
  CHECK(redco::report_html(report, "</title><script>").find("</title><script>") == std::string::npos);
}

TEST_CASE("the moments of a step hold what its phases hold") {
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

}  // namespace report_test
