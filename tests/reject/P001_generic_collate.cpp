// What a generic collate returns is known when it is called, so the loss is checked then.
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/enable_loss.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>

#include <span>
#include <string>
#include <vector>

namespace {

struct text_batch {
  std::vector<std::string> texts;
};
struct image_batch {
  std::vector<float> pixels;
};
struct my_loss {
  double sum;
};
struct my_net {};

}  // namespace

template <>
inline constexpr bool redco::enable_loss<my_loss> = true;

int main() {
  auto collate = redco::collate([](std::span<std::string const> texts) {
    return text_batch{{texts.begin(), texts.end()}};
  });
#if REDCO_ACCEPT
  auto job = redco::collate([](auto texts) {
               return text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, text_batch const&) { return my_loss{1}; });
  std::vector<std::string> const texts = {"a"};
  job.loss(my_net{}, job.collate(texts));
  static_cast<void>(collate);
#else  // expect: redco[P001]
  auto job = redco::collate([](auto texts) {
               return text_batch{{texts.begin(), texts.end()}};
             }) |
             redco::loss([](auto const&, image_batch const&) { return my_loss{1}; });
  std::vector<std::string> const texts = {"a"};
  job.loss(my_net{}, job.collate(texts));
  static_cast<void>(collate);
#endif
}
