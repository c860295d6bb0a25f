// A loss must take the batch that collate returns. The compiler does not look into the body of the
// generic lambda.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([](auto const& net, text_batch const& b) { return net(b); });
  static_cast<void>(job);
#else  // expect: redco[P001]
  auto job = collate | redco::loss([](auto const& net, image_batch const& b) { return net(b); });
  static_cast<void>(job);
#endif
}
