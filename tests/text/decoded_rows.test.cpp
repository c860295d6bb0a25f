#include "torch_catch.hpp"

#include <redco/text/decoded_rows.hpp>

#include <redco/tokenizer/json_tokenizer.hpp>

#include <string>
#include <vector>

namespace {

/// Returns a tokenizer in which "▁a" is 1 and "▁b" is 2: each token starts with a space except the
/// first of a text. 0 pads rows and has no text.
redco::tokenizer::any_tokenizer marked_words() {
  return redco::tokenizer::json_tokenizer::parse(R"({"added_tokens": [{"id": 0, "content": "<pad>", "special": true}],
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {"type": "BPE", "vocab": {"<pad>": 0, "▁a": 1, "▁b": 2}, "merges": []}})",
                                                 "words");
}

}  // namespace

TEST_CASE("rows decoded from a column on give the text that they add to the ids before it") {
  at::Tensor const ids = at::tensor({0, 1, 2, 1, 0, 0, 2, 2}, at::kLong).view({2, 4});
  using texts = std::vector<std::string>;
  CHECK(redco::text::decoded_rows(marked_words(), ids) == texts{"a b a", "b b"});
  CHECK(redco::text::decoded_rows(marked_words(), ids, 2) == texts{" b a", "b b"});
  CHECK(redco::text::decoded_rows(marked_words(), ids.narrow(1, 0, 3), 2) == texts{" b", "b"});
}
