#include "torch_catch.hpp"

#include <redco/text/batches.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using rows = std::vector<std::vector<std::int64_t>>;

bool equal(at::Tensor const& found, rows const& expected) {
  at::Tensor const wanted = at::empty({std::ssize(expected), std::ssize(expected.front())}, at::kLong);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected[i].size(); ++j)
      wanted[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)] = expected[i][j];
  return found.to(at::kLong).equal(wanted);
}

}  // namespace

TEST_CASE("rows are padded on the left or on the right, and the mask marks the padding") {
  rows const some{{5, 6, 7}, {8}, {}};
  auto const left = redco::text::left_padded(some, 9), right = redco::text::right_padded(some, 9);
  CHECK(equal(left.ids, {{5, 6, 7}, {9, 9, 8}, {9, 9, 9}}));
  CHECK(equal(left.mask, {{1, 1, 1}, {0, 0, 1}, {0, 0, 0}}));
  CHECK(equal(right.ids, {{5, 6, 7}, {8, 9, 9}, {9, 9, 9}}));
  CHECK(equal(right.mask, {{1, 1, 1}, {1, 0, 0}, {0, 0, 0}}));
}

TEST_CASE("windows predict every id except the first of a text once") {
  rows const texts{{1, 2, 3, 4, 5, 6}, {7}, {8, 9}};
  auto const windows = redco::token_windows(texts, 2);
  CHECK(windows == rows{{1, 2, 3}, {3, 4, 5}, {5, 6}, {8, 9}});
  auto const batch = redco::token_batch_of(std::span(windows).subspan(1), 0);
  CHECK(equal(batch.input_ids, {{3, 4}, {5, 6}, {8, 9}}));
  CHECK(equal(batch.labels, {{4, 5}, {6, -100}, {9, -100}}));
  CHECK(equal(batch.documents, {{0, 1}, {0, -1}, {0, -1}}));
  CHECK(!redco::token_batch_of(std::span(windows).first(2), 0).documents.defined());
  CHECK_THROWS_AS(redco::token_windows(rows{{1}, {}}, 2), redco::error);
}

TEST_CASE("bytes that have no next byte, and padding, have no position") {
  std::vector<std::string> const texts{"abcd", "ab", "a"};
  auto const batch = redco::next_token_batch(texts, 9);
  CHECK(equal(batch.labels, {{'b', 'c', 'd'}, {'b', -100, -100}, {-100, -100, -100}}));
  CHECK(equal(batch.documents, {{0, 1, 2}, {0, -1, -1}, {-1, -1, -1}}));
  CHECK(!redco::next_token_batch(std::span(texts).first(2), 1).documents.defined());
}

TEST_CASE("a decoder reads the start id and then the labels before each position") {
  std::vector<redco::seq2seq_example> const examples{{{4, 5, 6}, {7, 8}}, {{9}, {10, 11, 12}}};
  auto const batch = redco::seq2seq_batch_of(examples, 2, 1);
  CHECK(equal(batch.source, {{4, 5, 6}, {9, 1, 1}}));
  CHECK(equal(batch.source_mask, {{1, 1, 1}, {1, 0, 0}}));
  CHECK(equal(batch.decoder_ids, {{2, 7, 8}, {2, 10, 11}}));
  CHECK(equal(batch.labels, {{7, 8, -100}, {10, 11, 12}}));
}

TEST_CASE("only ids of answers are labels") {
  std::vector<redco::tokenizer::marked_ids> const texts{{{1, 2, 3, 4, 5}, {false, false, true, false, true}},
                                                        {{6, 7}, {true, true}}};
  auto const batch = redco::token_batch_of(texts, 9);
  CHECK(equal(batch.input_ids, {{1, 2, 3, 4}, {6, 7, 9, 9}}));
  CHECK(equal(batch.labels, {{-100, 3, -100, 5}, {7, -100, -100, -100}}));
}

TEST_CASE("texts are cut at the context, and texts without an answer in it are left out") {
  std::vector<redco::tokenizer::marked_ids> const texts{{{1, 2, 3, 4, 5}, {false, false, true, false, true}},
                                                        {{1, 2, 3, 4, 5}, {true, false, false, false, true}},
                                                        {{6, 7}, {false, true}},
                                                        {{}, {}}};
  auto const found = redco::text::fitted(texts, 2);
  CHECK((found.examples == std::vector<redco::tokenizer::marked_ids>{{{1, 2, 3}, {false, false, true}}, texts[2]}));
  CHECK(found.shortened == 1);
  CHECK(found.left_out == 2);
  CHECK_THROWS_AS(redco::text::fitted({texts[1]}, 2), redco::error);
}

TEST_CASE("texts are packed whole into rows, and labels are those of each text alone") {
  auto const text = [](std::int64_t first, std::size_t length) {
    redco::tokenizer::marked_ids one{{}, std::vector<bool>(length, true)};
    for (std::size_t i = 0; i < length; ++i) one.ids.push_back(first + static_cast<std::int64_t>(i));
    return one;
  };
  std::vector<redco::tokenizer::marked_ids> texts{text(10, 3), text(20, 4), text(30, 2), text(40, 2)};
  texts[1].trained[2] = false;
  auto const packed = redco::text::packed(texts, 5);  // rows of at most 6 ids
  REQUIRE(packed.size() == 2);
  CHECK(packed[0].ids.ids == std::vector<std::int64_t>{10, 11, 12, 30, 31});
  CHECK(packed[0].starts == std::vector<std::int64_t>{0, 3});
  CHECK(packed[1].ids.ids == std::vector<std::int64_t>{20, 21, 22, 23, 40, 41});
  CHECK(packed[1].starts == std::vector<std::int64_t>{0, 4});
  auto const batch = redco::token_batch_of(packed, 9);
  CHECK(equal(batch.input_ids, {{10, 11, 12, 30, 31}, {20, 21, 22, 23, 40}}));
  CHECK(equal(batch.labels, {{11, 12, -100, 31, -100}, {21, -100, 23, -100, 41}}));
  CHECK(equal(batch.documents, {{0, 1, -1, 0, -1}, {0, 1, 2, -1, 0}}));
  auto const padded = redco::token_batch_of(std::vector<redco::text::packed_row>{packed[1], {text(50, 2), {0, 1}}}, 9);
  CHECK(equal(padded.labels.narrow(0, 1, 1), {{-100, -100, -100, -100, -100}}));
  CHECK(equal(padded.documents.narrow(0, 1, 1), {{-1, -1, -1, -1, -1}}));
  auto const alone = redco::token_batch_of(std::vector<redco::text::packed_row>{{texts[0]}, {texts[1]}}, 9);
  CHECK(equal(alone.documents, {{0, 1, -1}, {0, 1, 2}}));
  CHECK(!redco::token_batch_of(std::vector<redco::text::packed_row>{{texts[2]}, {texts[3]}}, 9).documents.defined());
  CHECK_THROWS_AS(redco::text::packed(texts, 2), redco::error);
  CHECK(redco::text::packed(texts, 0).size() == 4);

  struct documents_of_row {
    std::vector<std::int64_t> tokens, starts;
  };
  std::vector<documents_of_row> const rows{{{7, 8, 9, 5, 6}, {0, 3}}};
  auto const stream = redco::token_batch_of(std::span(rows), 0);
  CHECK(equal(stream.input_ids, {{7, 8, 9, 5}}));
  CHECK(equal(stream.labels, {{8, 9, -100, 6}}));
  CHECK(equal(stream.documents, {{0, 1, -1, 0}}));
}

TEST_CASE("texts are packed evenly into the fewest rows with room, and each token knows its text") {
  auto const texts_of = [](std::vector<std::size_t> const& lengths) {
    std::vector<redco::tokenizer::marked_ids> all;
    for (std::size_t const length : lengths) {
      std::int64_t const first = 10 * (std::ssize(all) + 1);
      auto& one = all.emplace_back(redco::tokenizer::marked_ids{{}, std::vector<bool>(length, true)});
      for (std::size_t i = 0; i < length; ++i) one.ids.push_back(first + static_cast<std::int64_t>(i));
    }
    return all;
  };
  auto const rows = redco::text::packed_evenly(texts_of({2, 5, 3, 4}), 8);  // rows of at most 9 ids
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].ids.ids == std::vector<std::int64_t>{20, 21, 22, 23, 24, 10, 11});
  CHECK(rows[0].starts == std::vector<std::int64_t>{0, 5});
  CHECK(rows[0].numbers == std::vector<std::int64_t>{1, 0});
  CHECK(rows[1].ids.ids == std::vector<std::int64_t>{40, 41, 42, 43, 30, 31, 32});
  CHECK(equal(redco::text::text_numbers(rows), {{1, 1, 1, 1, 1, 0}, {3, 3, 3, 3, 2, 2}}));
  auto const batch = redco::token_batch_of(rows, 9);
  CHECK(equal(batch.input_ids, {{20, 21, 22, 23, 24, 10}, {40, 41, 42, 43, 30, 31}}));
  CHECK(equal(batch.documents, {{0, 1, 2, 3, -1, 0}, {0, 1, 2, -1, 0, 1}}));
  // Twelve ids fit into two rows of six, but these texts do not.
  CHECK(redco::text::packed_evenly(texts_of({4, 4, 4}), 5).size() == 3);
  auto const uneven = redco::text::packed_evenly(texts_of({5, 2}), 5);
  CHECK(equal(redco::text::text_numbers(uneven), {{0, 0, 0, 0}, {1, 1, 1, 1}}));
  CHECK(redco::text::packed_evenly({}, 5).empty());
  CHECK_THROWS_AS(redco::text::packed_evenly(texts_of({7}), 5), redco::error);
}

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
