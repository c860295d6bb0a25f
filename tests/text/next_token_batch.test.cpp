#include "torch_catch.hpp"

#include <redco/text/batches.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

std::vector<std::int64_t> flat(at::Tensor const& found) {
  at::Tensor const all = found.contiguous();
  return {all.const_data_ptr<std::int64_t>(), all.const_data_ptr<std::int64_t>() + all.numel()};
}

}  // namespace

TEST_CASE("each byte is the label of the previous byte, and padding is no label") {
  std::vector<std::string> const texts{"abcd", "x\xFF", "Q", ""};
  redco::token_batch const batch = redco::next_token_batch(texts, 8);
  CHECK(batch.input_ids.sizes() == at::IntArrayRef({4, 3}));
  CHECK(flat(batch.input_ids) == std::vector<std::int64_t>{97, 98, 99, 120, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(flat(batch.labels) ==
        std::vector<std::int64_t>{98, 99, 100, 255, -100, -100, -100, -100, -100, -100, -100, -100});
}

TEST_CASE("a text longer than the context is cut at its end and keeps the label after the cut") {
  redco::token_batch const batch = redco::next_token_batch(std::vector<std::string>{"abcdef", "ghi"}, 3);
  CHECK(flat(batch.input_ids) == std::vector<std::int64_t>{97, 98, 99, 103, 104, 0});
  CHECK(flat(batch.labels) == std::vector<std::int64_t>{98, 99, 100, 104, 105, -100});
}
