// Verifies correct training runs that are drawn over families, dtypes, optimizers, meshes, levels
// of ZeRO and seeds, and counts those that --verify calls mistakes. Prints the table of each such
// run, and a JSON line. Exit code 1 if there is one. Words: first number and count of the draws.

#include "drawn_verifications.hpp"
#include "temporary_folder.hpp"

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

int main(int count, char** words) {
  std::uint64_t const first = count > 1 ? std::stoull(words[1]) : 0, runs = count > 2 ? std::stoull(words[2]) : 100;
  temporary_folder const folder;
  std::uint64_t alarms = 0;
  double worst = 0;
  for (std::uint64_t number = first; number < first + runs; ++number) {
    try {
      auto const run = drawn_verifications::verified(number, folder.path);
      double most = 0;
      for (auto const& one : run.result.steps) most = std::max({most, one.loss, one.norm, one.count});
      for (auto const& row : run.result.rows) most = std::max(most, row.worst());
      worst = std::max(worst, most);
      alarms += run.result.ok() ? 0 : 1;
      std::fprintf(stderr, "%s: %.3f%s\n", run.text.c_str(), most, run.result.ok() ? "" : " ALARM");
      if (!run.result.ok())
        std::printf("%s: %s\n%s", run.text.c_str(), run.result.verdict().c_str(), run.result.text(8).c_str());
    } catch (redco::error const& e) {
      ++alarms;
      std::printf("draw %llu: %s\n", static_cast<unsigned long long>(number), e.what());
    }
  }
  std::printf("{\"runs\": %llu, \"alarms\": %llu, \"largest_of_tolerance\": %.3f}\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(alarms), worst);
  return alarms == 0 ? 0 : 1;
}
