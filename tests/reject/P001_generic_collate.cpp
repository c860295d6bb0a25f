// The compiler knows the batch of a generic collate when it is called. It then checks loss first,
// and blames only loss if predict does not take the batch either.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  auto job = redco::collate([](auto texts) {
               return text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, text_batch const&) { return my_loss{1}; }) |
             redco::predict([](auto const&, text_batch const& b) { return b.texts; });
#else  // expect: redco[P001]
  auto job = redco::collate([](auto texts) {
               return text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, image_batch const&) { return my_loss{1}; }) |
             redco::predict([](auto const&, image_batch const& b) { return b.pixels; });
#endif
  std::vector<std::string> const texts = {"a"};
  job.loss(my_net{}, job.collate(texts));
  job.predict(my_net{}, job.collate(texts));
}
