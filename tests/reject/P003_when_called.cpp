// The compiler knows what a generic loss returns when it is called with a network.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([](auto const&, text_batch const&) { return my_loss{1}; });
  job.loss(my_net{}, text_batch{});
#else  // expect: redco[P003]
  auto job = collate | redco::loss([](auto const&, text_batch const& b) { return b.texts; });
  job.loss(my_net{}, text_batch{});
#endif
}
