// A predict must take the batch that collate returns.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::predict([](auto const& net, text_batch const& b) { return net(b); });
  static_cast<void>(job);
#else  // expect: redco[P002]
  auto job = collate | redco::predict([](auto const& net, image_batch const& b) { return net(b); });
  static_cast<void>(job);
#endif
}
