// A wrong predict is one error although its results are scored, compared, joined, counted and
// printed.
#include "text_pipeline.hpp"

#include <redco/metrics/scores.hpp>

#include <cstdint>
#include <iostream>

int main() {
#if REDCO_ACCEPT
  auto const job = collate | redco::predict([](auto const&, text_batch const& b) {
                     return std::vector<std::int64_t>(b.texts.size(), 1);
                   });
#else  // expect: redco[P002]
  auto const job = collate | redco::predict([](auto const&, image_batch const& b) {
                     return std::vector<std::int64_t>(b.pixels.size(), 1);
                   });
#endif
  std::vector<std::string> const texts = {"a", "bc"};
  std::vector<std::int64_t> const truth = {0, 1};
  auto const said = job.predict(my_net{}, job.collate(texts));
  double score = redco::metrics::accuracy(said, truth) + redco::metrics::mean_absolute_error(said, truth);
  score += redco::metrics::f1_score(said, truth, redco::metrics::f1_average::macro) +
           static_cast<double>(said[0] + 2 * said[1]);
  std::string text = "said " + std::to_string(said[0]);
  for (auto const& one : said) text += one == 0 || truth[0] == one ? "no" : one < 3 ? "yes" : "more";
  std::int64_t const first = said.front();
  if (!said.empty() && said.back() != said[0] && said.size() == truth.size()) std::cout << said.at(0) << first;
  std::cout << text << score << -said[0] << '\n';
}
