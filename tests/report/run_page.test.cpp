#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/report/detail/metric_history.hpp>
#include <redco/report/pictures/confusion_matrix.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/report/run_page.hpp>
#include <redco/log/metrics_log.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace report_test {

using redco::report::run_page;

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

void write(std::filesystem::path const& file, std::string const& text) { std::ofstream(file) << text; }

/// Writes the metrics of 400 steps with an evaluation after every 100 steps.
void write_metrics(std::filesystem::path const& folder) {
  redco::log::metrics_log rows(folder / "metrics.jsonl");
  for (int step = 1; step <= 400; ++step) {
    double const loss = 4 / (1 + 0.02 * step) + 0.1 * std::sin(step);
    rows.write(
        {step, step == 200 ? std::numeric_limits<double>::quiet_NaN() : loss, 1e-3 * step / 400, 300.0 / step, 12'000});
    if (step % 100 == 0)
      rows.write_evaluation(step, step / 100 - 1, {{"loss", loss + 0.2}, {"accuracy", 1 - 0.2 * loss}});
  }
}

redco::report::run_facts facts_of_a_run() {
  redco::report::run_facts facts;
  facts.title = "caption <model>";
  facts.mesh = "2x2";
  facts.computing = "cpu, bf16";
  facts.plan = "plan: mesh 2x2, bf16\nparameter            logical        local          split   reason\n" +
               std::string("h.*.mlp.up.weight    [1536, 384]    [768, 384]     dim 0   columns of the first product\n");
  facts.resume =
      "build/release/examples/caption --mesh 2x2 --dtype bf16 --data '/data/my pictures' --workdir run --resume auto";
  facts.planned_bytes = 123'456'789;
  facts.measured_bytes = {120'000'000, 123'000'000};
  redco::workdir::run_summary& s = facts.summary.emplace();
  s.step = s.steps = 400;
  s.seconds = 93;
  s.per_second = 12'000;
  s.train_loss = 0.4404;
  s.best = {{"eval accuracy", 0.9119, 400}};
  s.checkpoint = "run/ckpts/step_400";
  s.lines = {"the best checkpoint names 99.65 of 100 unseen digits rightly (bound 98)"};
  return facts;
}

/// Fills a working directory with all files that the page shows.
void fill(std::filesystem::path const& folder) {
  write_metrics(folder);
  write(folder / "config.json", "{\n  \"lr\": 0.003,\n  \"global_batch\": 50\n}\n");
  write(folder / "log.txt",
        "2026-01-02T03:04:05.678Z plan: mesh 2x2, bf16\n"
        "2026-01-02T03:04:06.678Z warning: step 200: nothing counted in the loss (its weight is 0)\n");
  write(folder / "outputs_epoch9.json", "[{\"example\": \"an older epoch\", \"output\": \"x\"}]");
  write(folder / "outputs_epoch10.json",
        "[{\"example\": \"What is on the <table>?\", \"output\": \"A red bus next to " + std::string(80, 'x') +
            "\"}, {\"example\": 7, \"output\": [1, 2]}, {\"example\": \"(not shown)\", \"output\": \"of a tensor\"}]");
  std::vector<std::string> classes;
  std::vector<std::int64_t> labels, said;
  for (int i = 0; i < 10; ++i) classes.push_back(std::to_string(i));
  for (int i = 0; i < 2000; ++i) labels.push_back(i % 10), said.push_back(i % 37 == 0 ? i % 7 : i % 10);
  redco::report::save_picture(folder, "confusion", redco::report::confusion_matrix(said, labels, classes));
  std::vector<double> attention;
  std::vector<std::string> const words = {"a", "red", "bus", "next", "to", "the", "old", "station"};
  std::vector<std::string> patches;
  for (int i = 0; i < 12; ++i) patches.push_back("patch " + std::to_string(i));
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t j = 0; j < patches.size(); ++j)
      attention.push_back(std::exp(-std::pow(double(i) - 0.6 * double(j), 2) / 3));
  redco::report::save_picture(folder, "attention", redco::report::heat_map(attention, words, patches, "attention"));
  std::vector<redco::report::picture_tile> digits;
  for (int k = 0; k < 14; ++k) {
    std::vector<float> pixels;
    for (int i = 0; i < 144; ++i)
      pixels.push_back(std::hypot(float(i / 12) - 6, float(i % 12) - float(k)) < 3 ? 0.9F : 0.1F);
    digits.push_back(redco::report::picture_tile::grey(pixels, 12, k % 3 == 0 ? "ball " + std::to_string(k) : ""));
  }
  redco::report::save_picture(folder, "images", redco::report::contact_sheet(digits, "images"));
  redco::report::save_picture(folder, "episode", redco::report::strip(digits, "episode"));
}

TEST_CASE("the page of a run with all files is the golden one") {
  temporary_folder const folder;
  fill(folder.path);
  std::string const page = run_page(folder.path, facts_of_a_run());
  auto const file = test_files() / "golden" / "run_page.html";
  if (std::getenv("REDCO_APPROVE") != nullptr) std::ofstream(file) << page;
  INFO("golden file " << file << "; REDCO_APPROVE=1 takes the new text");
  CHECK(content_of(file) == page);
}

TEST_CASE("a run's page has its metrics, pictures, samples, memory, warnings and the command to continue") {
  temporary_folder const folder;
  fill(folder.path);
  std::string const page = run_page(folder.path, facts_of_a_run());
  CHECK(has(page, "<title>caption &lt;model&gt;</title>"));
  CHECK(has(page, "<li>mesh 2x2</li>"));
  CHECK(has(page, "--data &#39;/data/my pictures&#39; --workdir run --resume auto</pre>"));
  CHECK(has(page, "step 200: nothing counted in the loss"));
  CHECK(has(page, "aria-label=\"loss over step: train, eval\""));
  CHECK(has(page, "aria-label=\"accuracy over step: eval\""));
  CHECK(has(page, "aria-label=\"lr over step: train\""));
  CHECK(has(page, "aria-label=\"tokens_per_second over step: train\""));
  CHECK(!has(page, "epoch over step"));
  CHECK(page.find("aria-label=\"loss") < page.find("aria-label=\"accuracy"));
  CHECK(page.find("aria-label=\"accuracy") < page.find("aria-label=\"lr"));
  for (std::string const name : {"attention", "confusion", "episode", "images"})
    CHECK(has(page, "<img alt=\"" + name + ".svg\" src=\"data:image/svg+xml;base64,"));
  CHECK(has(page, "The first of outputs_epoch10.json"));
  CHECK(!has(page, "of a tensor"));
  CHECK(has(page, "What is on the &lt;table&gt;?"));
  CHECK(has(page, "<td>planned peak</td><td>118 MiB</td>"));
  CHECK(has(page, "114 MiB to 117 MiB"));
  CHECK(has(page, "<li class=\"good\">DONE</li>"));
  CHECK(has(page, "99.65 of 100 unseen digits"));
  CHECK(has(page, "best eval accuracy"));
  CHECK(has(page, "h.*.mlp.up.weight"));
  CHECK(has(page, "&quot;global_batch&quot;: 50"));
  for (std::string const outside : {"<script", "http://", "https://", "<link", "@import", "url("}) {
    auto at = page.find(outside);
    while (at != std::string::npos && page.compare(at, 26, "http://www.w3.org/2000/svg") == 0)
      at = page.find(outside, at + 1);
    CHECK(at == std::string::npos);
  }
}

TEST_CASE("a run's page leaves out missing and damaged files") {
  temporary_folder const folder;
  std::string const empty = run_page(folder.path);
  CHECK(has(empty, "<li>running</li>"));
  CHECK(has(empty, "<h1>redco test-"));
  CHECK(!has(empty, "<h2>"));
  write(folder / "metrics.jsonl",
        "no row\n{\"step\":1,\"loss\":2}\n{\"step\":2,\"loss\":\n{\"step\":3,\"loss\":null}\n{\"lo");
  write(folder / "outputs_epoch1.json", "[{\"example\"");
  std::filesystem::create_directory(folder / "log.txt");
  std::filesystem::create_directory(folder / "pictures");
  write(folder / "pictures/large.svg", std::string((4 << 20) + 1, ' '));
  std::string const page = run_page(folder.path);
  CHECK(has(page, "aria-label=\"loss over step: train\""));
  CHECK(has(page, "outputs_epoch1.json is too large for this page, or damaged"));
  CHECK(has(page, "Only in the folder pictures: large.svg"));
  CHECK(!has(page, "<img"));
}

TEST_CASE("only the last 50 warnings of a log are on the page") {
  temporary_folder const folder;
  std::string log;
  for (int i = 0; i < 70; ++i) log += "2026-01-02T03:04:05.678Z warning: number " + std::to_string(i) + " <b>\n";
  write(folder / "log.txt", log);
  std::string const page = run_page(folder.path);
  CHECK(has(page, "The last 50 of 70"));
  CHECK(!has(page, "number 19 "));
  CHECK(has(page, "number 20 &lt;b&gt;"));
}

TEST_CASE("metrics keep the extremes of more rows than memory holds") {
  std::stringstream rows;
  for (int step = 1; step <= 50'000; ++step)
    rows << "{\"step\":" << step << ",\"loss\":" << (step == 30'001 ? 1e6 : 1) << ",\"b\":2}\n";
  redco::report::detail::metric_history const metrics(rows);
  REQUIRE(metrics.all().size() == 2);
  redco::report::series const& loss = *metrics.find("loss");
  CHECK(loss.x.size() < 20'000);
  CHECK(loss.x.front() == 1);
  CHECK(loss.x.back() == 50'000);
  CHECK(std::count(loss.y.begin(), loss.y.end(), 1e6) == 1);
  CHECK(metrics.find("step") == nullptr);
}

TEST_CASE("at most 60 metrics have a curve") {
  temporary_folder const folder;
  std::string row = "{\"step\":1";
  for (int i = 0; i < 70; ++i) row += ",\"m" + std::to_string(i) + "\":1";
  write(folder / "metrics.jsonl", row + "}\n");
  std::string const page = run_page(folder.path);
  CHECK(has(page, "aria-label=\"m59 over"));
  CHECK(!has(page, "aria-label=\"m60 over"));
  CHECK(has(page, "10 more metrics are in metrics.jsonl"));
}

TEST_CASE("a picture is written under its name, and names of other folders are refused") {
  temporary_folder const folder;
  auto const file = redco::report::save_picture(folder.path, "step-1_a.b", "<svg/>");
  CHECK(file == folder / "pictures/step-1_a.b.svg");
  CHECK(content_of(file) == "<svg/>");
  for (std::string const name : {"", "../a", "a/b", ".hidden", "a b"})
    CHECK(refused([&] { redco::report::save_picture(folder.path, name, ""); }).find("64 a picture cannot be named") ==
          0);
  redco::report::write_run_page(folder.path, {.title = "t"});
  CHECK(has(content_of(folder / "report.html"), "<h1>t</h1>"));
  CHECK(refused([&] { redco::report::write_run_page(folder / "none", {}); }).find("74 ") == 0);
}

}  // namespace report_test
