// The compiler knows what a generic predict returns when it is called with a network.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::predict([](auto const&, text_batch const& b) { return b.texts; });
  job.predict(my_net{}, text_batch{});
#else  // expect: redco[P004]
  auto job = collate | redco::predict([](auto const&, text_batch const&) { return 0.5; });
  job.predict(my_net{}, text_batch{});
#endif
}
