// A predict must take the batch that collate returns.
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
  auto job = collate | redco::predict([](auto const& net, text_batch const& b) { return net(b); });
  static_cast<void>(job);
#else  // expect: redco[P002]
  auto job = collate | redco::predict([](auto const& net, image_batch const& b) { return net(b); });
  static_cast<void>(job);
#endif
}
