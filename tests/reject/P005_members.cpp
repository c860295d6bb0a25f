// Members of predictions stay known after a second loss.
#include "text_pipeline.hpp"

struct answer {
  int length;
};
inline std::vector<answer> answers(my_net const&, text_batch const& b) {
  return std::vector<answer>(b.texts.size(), answer{1});
}

int main() {
  auto const measured = [](my_net const&, text_batch const&) { return my_loss{1}; };
#if REDCO_ACCEPT
  auto const job = collate | redco::loss(measured) | redco::predict(answers);
#else  // expect: redco[P005]
  auto const job = collate | redco::loss(measured) | redco::loss(measured) | redco::predict(answers);
#endif
  std::vector<std::string> const texts = {"a", "bc"};
  int length = 0;
  for (auto const& one : job.predict(my_net{}, job.collate(texts))) length += one.length;
  return length;
}
