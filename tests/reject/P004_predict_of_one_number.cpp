// One number for a whole batch is not one result per example.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = collate | redco::predict([](my_net const&, text_batch const& b) { return b.texts; });
  static_cast<void>(job);
#else  // expect: redco[P004]
  auto job = collate | redco::predict([](my_net const&, text_batch const& b) { return b.texts.size(); });
  static_cast<void>(job);
#endif
}
