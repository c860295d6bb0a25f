// A wrong predict is one error although the predicted texts are joined, compared, filtered and
// scored.
#include "text_pipeline.hpp"

#include <redco/metrics/rouge_l.hpp>
#include <redco/metrics/scores.hpp>

#include <iostream>

int main() {
#if REDCO_ACCEPT
  auto const job = collate | redco::predict([](auto const&, text_batch const& b) { return b.texts; });
#else  // expect: redco[P002]
  auto const job = collate | redco::predict([](auto const&, image_batch const& b) {
                     return std::vector<std::string>(b.pixels.size());
                   });
#endif
  std::vector<std::string> const texts = {"a", "bc"};
  auto const said = job.predict(my_net{}, job.collate(texts));
  std::string text = "said ";
  for (auto const& one : said) text += one + ", " + one;
  for (std::string const& one : said) text += one.substr(1);
  if (said[0] == texts[0] || texts[1] != said.at(1) || said.front() < said.back() || said[0] == "a") text += said[0];
  std::string const first = said[0], second(said[1]);
  std::vector<std::string> const kept = said;
  if (said.size() == 2 && !said[0].empty()) std::cout << redco::metrics::rouge_l(said[0], texts[0]).f;
  std::cout << text << first << second << kept.size() << redco::metrics::accuracy(said, texts) << '\n';
}
