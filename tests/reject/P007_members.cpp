// Members of predictions stay known although predict changes what it captures.
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
  auto const job = collate | redco::loss(measured) |
                   redco::predict([](my_net const& net, text_batch const& b) { return answers(net, b); });
#else  // expect: redco[P007]
  auto const job =
      collate | redco::loss(measured) | redco::predict([n = 0](my_net const& net, text_batch const& b) mutable {
        static_cast<void>(++n);
        return answers(net, b);
      });
#endif
  std::vector<std::string> const texts = {"a", "bc"};
  int length = 0;
  for (auto const& one : job.predict(my_net{}, job.collate(texts))) length += one.length;
  return length;
}
