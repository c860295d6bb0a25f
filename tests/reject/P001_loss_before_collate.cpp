// The functions can be piped in any order. Functions that are piped after the error add no second
// error.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = redco::loss([](my_net const&, text_batch const&) { return my_loss{1}; }) | collate;
  static_cast<void>(job | redco::predict([](auto const&, text_batch const& b) { return b.texts; }));
#else  // expect: redco[P001]
  auto job = redco::loss([](my_net const&, image_batch const&) { return my_loss{1}; }) | collate;
  static_cast<void>(job | redco::predict([](auto const&, text_batch const& b) { return b.texts; }));
#endif
}
