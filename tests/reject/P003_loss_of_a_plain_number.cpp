// A plain number cannot be differentiated. A loss that names its types is checked immediately.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([](my_net const&, text_batch const&) { return my_loss{1}; });
  static_cast<void>(job);
#else  // expect: redco[P003]
  auto job = collate | redco::loss([](my_net const&, text_batch const&) { return 1.0; });
  static_cast<void>(job);
#endif
}
