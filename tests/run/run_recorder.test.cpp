#include "log/event_records.hpp"
#include "mlp.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Returns steps and values of each tag in the only event file of a folder.
std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> scalars_in(std::filesystem::path const& folder) {
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> all;
  int files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("events.out.tfevents.")) continue;
    ++files;
    for (std::string const& record : run_test::records_of(content_of(entry.path()))) {
      run_test::field_reader const event(record);
      if (!event.has(5)) continue;  // the record of the file version
      run_test::field_reader const summary = event.message(5);
      for (std::string const& value : summary.fields.at(1)) {
        run_test::field_reader const one(value);
        all[one.bytes(1)].emplace_back(event.number(2), one.real(2));
      }
    }
  }
  REQUIRE(files == 1);
  return all;
}

}  // namespace

TEST_CASE("TensorBoard gets loss, learning rate, norm and speed of each step and the metrics of each evaluation") {
  temporary_folder folder;
  run_test::mlp_options o;
  o.epochs = 2;
  o.global_batch = 5;
  o.eval = run_test::numbers(4);
  std::vector<redco::fit_event> steps, epochs;
  o.on_step = [&](redco::fit_event const& e) { steps.push_back(e); };
  o.on_epoch = [&](redco::fit_event const& e) { epochs.push_back(e); };
  REQUIRE(run_test::fit_mlp(run_test::in(folder.path), o).code == 0);
  REQUIRE(steps.size() == 6);
  REQUIRE(epochs.size() == 2);

  auto const seen = scalars_in(folder.path);
  auto const check = [&](std::string const& tag, std::vector<redco::fit_event> const& events, auto const& value) {
    INFO(tag);
    REQUIRE(seen.contains(tag));
    REQUIRE(seen.at(tag).size() == events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      CHECK(seen.at(tag)[i].first == static_cast<std::uint64_t>(events[i].step));
      CHECK(seen.at(tag)[i].second == Approx(value(events[i])).epsilon(1e-6));
    }
  };
  check("train/loss", steps, [](auto const& e) { return e.loss; });
  check("train/lr", steps, [](auto const& e) { return e.lr; });
  check("train/grad_norm", steps, [](auto const& e) { return e.grad_norm; });
  check("eval/loss", epochs, [](auto const& e) { return e.metrics.at("loss"); });
  REQUIRE(seen.contains("train/examples_per_second"));
  CHECK(seen.at("train/examples_per_second").size() == 6);
}
