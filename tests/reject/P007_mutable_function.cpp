// All ranks call the functions concurrently, so the functions may not change what they capture.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([n = 0](my_net const&, text_batch const&) { return my_loss{n + 1.0}; });
  static_cast<void>(job);
#else  // expect: redco[P007]
  auto job = collate | redco::loss([n = 0](my_net const&, text_batch const&) mutable { return my_loss{1.0 * ++n}; });
  static_cast<void>(job);
#endif
}
