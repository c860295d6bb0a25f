// The order of piping does not matter, and what is piped behind the error is not another one.
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
