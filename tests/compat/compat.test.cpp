#include "catch.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"

#include <redco/compat/compat_plan.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/extents.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace compat_test {

/// A tree of parameters and the decisions of the Python original for it.
struct record {
  std::string name;
  int n = 0;
  bool raised = false;
  struct row {
    std::string path;
    redco::extents shape;
    int dim = -1;  ///< recorded
  };
  std::vector<row> rows;
};

/// Sorts rows into the order in which the original walks nested dictionaries: all rows below a
/// prefix follow the first of them.
void nest(std::vector<record::row>& rows) {
  std::map<std::string, std::size_t> seen;  // the first row below each prefix
  auto const index_of = [&seen](std::string const& path, std::size_t at) {
    std::vector<std::size_t> order;
    for (std::size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      order.push_back(seen.try_emplace(path.substr(0, end), at).first->second);
    }
    return order;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) index_of(rows[i].path, i);
  std::sort(rows.begin(), rows.end(),
            [&](record::row const& a, record::row const& b) { return index_of(a.path, 0) < index_of(b.path, 0); });
}

record parse(std::string const& line, std::string const& source) {
  auto const value = redco::json::parse_json(line, source);
  record r{value.at("name").get<std::string>(), value.at("n").get<int>(), value.contains("error"), {}};
  for (auto const& parameter : value.at("params")) {
    redco::extents shape;
    for (auto const& size : parameter[1]) shape.push(size.get<std::int64_t>());
    r.rows.push_back({parameter[0].get<std::string>(), shape, parameter[2].is_null() ? -1 : parameter[2].get<int>()});
  }
  nest(r.rows);
  return r;
}

/// Returns the first decision that differs from the recorded one, or "". If the original raised on
/// the tree, only checks that ours raises for some key.
std::string difference(record const& r) {
  std::vector<redco::compat::compat_parameter> parameters;
  for (record::row const& row : r.rows) parameters.push_back({row.path, row.shape});
  auto const plan = redco::compat::compat_plan(parameters, r.n);
  bool raised = false;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    raised = raised || plan[i] == redco::compat::compat_split{-1, redco::compat::compat_reason::raises};
    if (!r.raised && plan[i].dim != r.rows[i].dim)
      return r.rows[i].path + ": " + std::to_string(plan[i].dim) + ", recorded " + std::to_string(r.rows[i].dim);
  }
  return raised == r.raised ? "" : raised ? "only ours raises" : "only the original raises";
}

void check_file(std::string const& name, std::size_t trees, std::size_t raising) {
  auto const path = shared_folder() / "compat" / name;
  if (!std::filesystem::exists(path)) return skip("no recorded decisions at " + path.string());
  std::ifstream file(path);
  std::size_t lines = 0, raised = 0;
  for (std::string line; std::getline(file, line);) {
    record const r = parse(line, name + ":" + std::to_string(++lines));
    CAPTURE(r.name, r.n);
    CHECK(difference(r) == "");
    raised += r.raised ? 1 : 0;
  }
  CHECK(lines == trees);
  CHECK(raised == raising);
}

TEST_CASE("the original's decisions for public architectures are reproduced", "[outside]") {
  check_file("families.jsonl", 66, 0);
}

TEST_CASE("the original's decisions for random trees are reproduced", "[outside]") {
  check_file("random.jsonl", 4000, 10);
}

}  // namespace compat_test
