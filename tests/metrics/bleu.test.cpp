#include "catch.hpp"

#include <redco/metrics/bleu.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bleu_test {

using redco::metrics::bleu;
using redco::metrics::bleu_words;
using texts = std::vector<std::string>;

struct expected_bleu {
  std::string name;
  texts candidates;
  std::vector<texts> references;
  double score;
  std::array<double, 4> precisions;
  double brevity_penalty;
  std::int64_t candidate_words, reference_words;
  std::array<std::int64_t, 4> matches, ngrams;
};

// Printed by make_scores.py. The documentation of sacreBLEU prints its example as "BLEU = 48.53
// 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)".
std::vector<expected_bleu> const corpora{
    {"the example of sacreBLEU",
     {"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."},
     {{"The dog bit the man.", "The dog had bit the man."},
      {"It was not unexpected.", "No one was surprised."},
      {"The man bit him first.", "The man had bitten the dog."}},
     48.5308270099299,
     {82.3529411764706, 50, 45.4545454545455, 37.5},
     0.942873143854875,
     17,
     18,
     {14, 7, 5, 3},
     {17, 14, 11, 8}},
    {"Papineni's example of a repeated word",
     {"the the the the the the the"},
     {{"the cat is on the mat", "there is a cat on the mat"}},
     7.80984984230064,
     {28.5714285714286, 8.33333333333333, 5, 3.125},
     1,
     7,
     7,
     {2, 0, 0, 0},
     {7, 6, 5, 4}},
    {"candidates that are too short",
     {"It is a guide to action", "He read the book"},
     {{"It is a guide to action that ensures"}, {"He read the book because he was interested"}},
     54.8811636094027,
     {100, 100, 100, 100},
     0.548811636094026,
     10,
     16,
     {10, 8, 6, 4},
     {10, 8, 6, 4}},
    {"one precision to smooth",
     {"a b c d e", "x y"},
     {{"a b x d e"}, {"x z"}},
     27.7761903401179,
     {71.4285714285714, 40, 16.6666666666667, 12.5},
     1,
     7,
     7,
     {5, 2, 0, 0},
     {7, 5, 3, 2}},
    {"no four words", {"a b"}, {{"a b c"}}, 0, {100, 100, 0, 0}, 0.606530659712633, 2, 3, {2, 1, 0, 0}, {2, 1, 0, 0}},
    {"an empty candidate",
     {"", "a b c d"},
     {{"a"}, {"a b c d e"}},
     60.6530659712634,
     {100, 100, 100, 100},
     0.606530659712633,
     4,
     6,
     {4, 3, 2, 1},
     {4, 3, 2, 1}},
    {"only empty candidates", {""}, {{"a b"}}, 0, {}, 0, 0, 2, {}, {}},
    {"nothing common", {"a b c d e"}, {{"v w x y z"}}, 0, {}, 1, 5, 5, {}, {5, 4, 3, 2}},
    {"case",
     {"The Cat sat on the Mat ."},
     {{"the cat sat on the mat ."}},
     26.2690989442416,
     {57.1428571428571, 33.3333333333333, 20, 12.5},
     1,
     7,
     7,
     {4, 2, 1, 0},
     {7, 6, 5, 4}},
    {"Unicode, and an empty reference",
     {"Das Mädchen kostet 1.234,56 € – „wirklich“?", "日本語 の 文 です 。"},
     {{"Das Mädchen kostete 1.234,56 € – „wirklich“!", ""}, {"日本語 の\u3000文 です 。", "日本"}},
     61.8691765886274,
     {84.6153846153846, 72.7272727272727, 55.5555555555556, 42.8571428571429},
     1,
     13,
     13,
     {11, 8, 5, 3},
     {13, 11, 9, 7}},
};

TEST_CASE("BLEU of a corpus equals sacreBLEU's, with precisions, lengths and counts") {
  for (expected_bleu const& one : corpora) {
    CAPTURE(one.name);
    auto const s = bleu(one.candidates, one.references);
    CHECK(s.score == Approx(one.score).epsilon(1e-12));
    for (std::size_t i = 0; i < s.precisions.size(); ++i)
      CHECK(s.precisions[i] == Approx(one.precisions[i]).epsilon(1e-12));
    CHECK(s.brevity_penalty == Approx(one.brevity_penalty).epsilon(1e-12));
    CHECK(s.candidate_words == one.candidate_words);
    CHECK(s.reference_words == one.reference_words);
    CHECK(s.matches == one.matches);
    CHECK(s.ngrams == one.ngrams);
  }
}

TEST_CASE("the shorter of two equally close references counts for the brevity penalty") {
  for (auto const& references : {texts{"a b c d e x y", "a b c d f"}, texts{"a b c d f", "a b c d e x y"}}) {
    auto const s = bleu(texts{"a b c d e f"}, std::vector<texts>{references});
    CHECK(s.score == Approx(79.5270728767051).epsilon(1e-12));
    CHECK(s.reference_words == 5);
    CHECK(s.brevity_penalty == 1);
  }
}

TEST_CASE("BLEU of equal texts is 100, also with one reference per candidate") {
  texts const corpus{"a b c d", "the cat sat on the mat."};
  CHECK(bleu(corpus, corpus).score == Approx(100).epsilon(1e-12));
  CHECK(bleu(corpus, texts{"x b c d", "the cat sat on the mat."}).score ==
        bleu(corpus, std::vector<texts>{{"x b c d"}, {"the cat sat on the mat."}}).score);
}

// Printed by make_scores.py.
TEST_CASE("words of BLEU are those of sacreBLEU's tokenizer 13a") {
  CHECK(bleu_words("Hello, World! It's 3.14, e.g. 5-6 or a-b") ==
        texts{"Hello", ",", "World", "!", "It's", "3.14", ",", "e", ".", "g", ".", "5", "-", "6", "or", "a-b"});
  CHECK(bleu_words(" &quot;Tom &amp; Jerry&quot; &lt;b&gt;") == texts{"\"", "Tom", "&", "Jerry", "\"", "<", "b", ">"});
  CHECK(bleu_words("...,, 1,000.50. .5 5.") == texts{".", ".", ".", ",", ",", "1,000.50", ".", ".", "5", "5", "."});
  CHECK(bleu_words("x<skipped>y foo-\nbar\nbaz -\n") == texts{"xy", "foobar", "baz", "-"});
  CHECK(bleu_words("a\u00a0b\u2003c\xc2\x85"
                   "d„e“. 7-é 8,é") == texts{"a", "b", "c", "d„e“", ".", "7", "-", "é", "8", ",", "é"});
  CHECK(bleu_words("$5/[b]{c}|~`^_\\ 'q'\"r\"") ==
        texts{"$", "5", "/", "[", "b", "]", "{", "c", "}", "|", "~", "`", "^", "_", "\\", "'q'", "\"", "r", "\""});
  CHECK(bleu_words("&amp;lt; - -1- 2--3") == texts{"<", "-", "-1", "-", "2", "-", "-3"});
  CHECK(bleu_words(" \t\n").empty());
}

TEST_CASE("bytes that are not UTF-8 stay within words") {
  CHECK(bleu_words("\xff\xc3 \xe2\x80") == texts{"\xff\xc3", "\xe2\x80"});
}

TEST_CASE("BLEU refuses empty and mismatched lists and candidates without reference") {
  auto const message_of = [](texts const& candidates, std::vector<texts> const& references) {
    try {
      bleu(candidates, references);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::data);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(message_of({}, {}).find("0 candidates") != std::string::npos);
  CHECK(message_of({"a"}, {{"a"}, {"b"}}).find("1 candidates and 2 lists") != std::string::npos);
  CHECK(message_of({"a", "b"}, {{"a"}, {}}).find("candidate 1 of 2") != std::string::npos);
}

}  // namespace bleu_test
