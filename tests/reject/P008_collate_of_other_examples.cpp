// The examples must be of the type that collate takes.
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
  std::vector<std::string> const texts = {"a", "bc"};
  static_cast<void>(collate.collate(texts));
#else  // expect: redco[P008]
  std::vector<int> const numbers = {1, 2};
  static_cast<void>(collate.collate(numbers));
#endif
}
