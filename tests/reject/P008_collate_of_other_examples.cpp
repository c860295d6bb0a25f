// The examples must have the type that collate takes.
#include "text_pipeline.hpp"

int main() {
#if REDCO_ACCEPT
  std::vector<std::string> const texts = {"a", "bc"};
  static_cast<void>(collate.collate(texts));
#else  // expect: redco[P008]
  std::vector<int> const numbers = {1, 2};
  static_cast<void>(collate.collate(numbers));
#endif
}
