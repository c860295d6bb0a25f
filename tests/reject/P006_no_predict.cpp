// Predicting needs a predict function.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::predict([](auto const&, text_batch const& b) { return b.texts; });
  job.predict(my_net{}, text_batch{});
#else  // expect: redco[P006]
  auto job = collate | redco::loss([](auto const&, text_batch const&) { return my_loss{1}; });
  job.predict(my_net{}, text_batch{});
#endif
}
