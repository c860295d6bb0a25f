// A collate that returns another batch than loss and predict take is one mistake and one error.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::loss([](auto const&, text_batch const&) { return my_loss{1}; }) |
             redco::predict([](auto const&, text_batch const& b) { return b.texts; });
  static_cast<void>(job);
#else  // expect: redco[P001]
  auto job = collate | redco::loss([](auto const&, image_batch const&) { return my_loss{1}; }) |
             redco::predict([](auto const&, image_batch const& b) { return b.pixels; });
  static_cast<void>(job);
#endif
}
