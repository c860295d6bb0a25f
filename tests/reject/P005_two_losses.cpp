// A pipeline has one loss; several terms are added inside it.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([](auto const& net, text_batch const& b) { return net(b); });
  static_cast<void>(job);
#else  // expect: redco[P005]
  auto job = collate | redco::loss([](auto const& net, text_batch const& b) { return net(b); }) |
             redco::loss([](auto const& net, auto const& b) { return 2 * net(b); });
  static_cast<void>(job);
#endif
}
