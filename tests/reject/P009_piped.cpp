// A collate that returns nothing is blamed, not the loss that would take its result.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = redco::collate([](std::span<std::string const> texts) {
               return text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, text_batch const&) { return my_loss{1}; });
  static_cast<void>(job);
#else  // expect: redco[P009]
  auto job = redco::collate([](std::span<std::string const> texts) {
               text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, text_batch const&) { return my_loss{1}; });
  static_cast<void>(job);
#endif
}
