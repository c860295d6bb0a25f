#include "catch.hpp"
#include "refused.hpp"
#include "resident_memory.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/data/examples.hpp>
#include <redco/data/sampler.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/token_writer.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using redco::data::token_file;
using redco::data::token_header;
using redco::data::token_writer;
using ids = std::vector<std::int64_t>;

static_assert(redco::data::example_range<token_file>);
static_assert(std::random_access_iterator<token_file::iterator>);

std::filesystem::path written(temporary_folder const& folder, std::int64_t count, std::int64_t vocabulary) {
  std::filesystem::path const path = folder / "train.ids";
  token_writer out(path, {.vocabulary = vocabulary, .end = vocabulary - 1, .tokenizer = 7});
  ids all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), vocabulary - count);
  out.append(all);
  out.finish();
  return path;
}

}  // namespace

TEST_CASE("windows of a token file overlap by one id, and the last one is shorter") {
  temporary_folder const folder;
  for (std::int64_t const vocabulary : {std::int64_t{65536}, std::int64_t{65537}, std::int64_t{1} << 31}) {
    token_file const file(written(folder, 10, vocabulary), 4);
    std::int64_t const a = vocabulary - 10;
    CHECK(file.header().width() == (vocabulary == 65536 ? 2 : 4));
    CHECK(file.header() == token_header{10, vocabulary, vocabulary - 1, 7});
    REQUIRE(file.size() == 3);
    CHECK(file[0] == ids{a, a + 1, a + 2, a + 3, a + 4});
    CHECK(file[1] == ids{a + 4, a + 5, a + 6, a + 7, a + 8});
    CHECK(file[2] == ids{a + 8, a + 9});
    CHECK(std::vector<ids>(file.begin(), file.end()).size() == 3);
  }
  std::filesystem::path const nine = written(folder, 9, 50);
  CHECK(token_file(nine, 4).size() == 2);
  CHECK(token_file(nine, 1).size() == 8);
  CHECK(token_file(nine, 8)[0].size() == 9);
  CHECK(token_file(nine, std::numeric_limits<std::int64_t>::max())[0].size() == 9);
  redco::examples<ids> const examples{token_file(nine, 4)};
  CHECK(examples[std::vector<std::int64_t>{1}].span()[0] == ids{45, 46, 47, 48, 49});
}

TEST_CASE("damaged token files are refused with file and reason") {
  temporary_folder const folder;
  std::filesystem::path const path = written(folder, 100, 1000);
  std::string const whole = content_of(path);
  REQUIRE(whole.size() == 64 + 200);
  auto const refused_as = [&](std::string const& content) {
    std::ofstream(path, std::ios::binary) << content;
    std::string const message = refused([&] { token_file(path, 8); });
    if (message.empty()) return message;
    REQUIRE(message.find(path.string()) == 3);
    return message.substr(0, 3) + message.substr(3 + path.string().size());
  };
  CHECK(refused_as(whole) == "");
  CHECK(refused_as("redcoids") ==
        "65  is no token file: it has 8 bytes, fewer than the 64 of a header; make it with redco-tokenize");
  CHECK(refused_as(std::string(300, 'x')) ==
        "65  is no token file: it does not begin with \"redcoids\"; make it with redco-tokenize");
  CHECK(refused_as(whole.substr(0, 263)) ==
        "65  has 263 bytes, but its header states 100 ids of 2 bytes, which need 264; copy the file again");
  CHECK(refused_as(whole + "x").find("has 265 bytes, but") != std::string::npos);
  std::string damaged = whole;
  damaged[16] = 99;
  CHECK(refused_as(damaged) == "65  has a damaged header: its hash does not fit; copy the file again");
  damaged = whole;
  damaged[8] = 2;
  CHECK(refused_as(damaged).find("is a token file of version 2, and this program reads version 1") !=
        std::string::npos);
  token_header wrong{.count = 100, .vocabulary = 1000, .end = 1000};
  auto const front = wrong.encoded();
  CHECK(refused_as(std::string(reinterpret_cast<char const*>(front.data()), 64) + whole.substr(64))
            .find("has a header that no program of redco writes") != std::string::npos);
  CHECK(refused([&] { token_file(folder / "none.ids", 8); }).find("65 cannot read ") == 0);
  CHECK(refused([&] { token_file(folder.path, 8); }).find("not a regular file") != std::string::npos);
  CHECK(refused([&] { token_file(written(folder, 9, 50), 0); }).find("64 a window of 0 ids") == 0);
  CHECK(refused([&] { token_file(written(folder, 1, 50), 4); }).find("has 1 ids, too few") != std::string::npos);
}

TEST_CASE("a token file exists only when it is complete") {
  temporary_folder const folder;
  std::filesystem::path const path = folder / "train.ids", partial = token_writer::partial_path(path);
  {
    token_writer out(path, {.vocabulary = 300});
    out.append(ids{1, 2, 299});
    CHECK(refused([&] { out.append(ids{300}); }).find("65 id 300 is outside of the vocabulary of 300 ids") == 0);
    CHECK(refused([&] { out.append(ids{-1}); }).find("65 id -1 is outside") == 0);
    CHECK(refused([&] {
            token_writer(path, {.vocabulary = 300});
          }).find("74 " + partial.string() + " is being written") == 0);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(refused([&] { token_file(partial, 2); }).find("is no token file") != std::string::npos);
  CHECK(refused([&] { token_writer(path, {.vocabulary = 300}, 4); }).find("has 70 bytes, fewer than the 72 of 4 ids") !=
        std::string::npos);
  {
    token_writer out(path, {.vocabulary = 300}, 2);  // forgets the third id
    CHECK(out.count() == 2);
    out.append(ids{5});
    out.sync();
    out.finish();
  }
  CHECK(token_file(path, 8)[0] == ids{1, 2, 5});
  CHECK_FALSE(std::filesystem::exists(partial));
  CHECK(refused([&] { token_writer(folder / "none/train.ids", {.vocabulary = 300}); }).find("74 ") == 0);
  CHECK(refused([&] { token_writer(folder.path, {.vocabulary = 300}); }).find("74 ") == 0);
}

TEST_CASE("a token file knows its tokenizer") {
  temporary_folder const folder;
  std::filesystem::path const gpt2 = test_files() / "tokenizers/files_gpt2",
                              opt = test_files() / "tokenizers/files_opt";
  token_writer out(folder / "a.ids", {.vocabulary = 300, .tokenizer = redco::data::tokenizer_hash(gpt2)});
  out.append(ids{1, 2});
  out.finish();
  token_file const file(folder / "a.ids", 2);
  CHECK(refused([&] { file.check_tokenizer(gpt2); }) == "");
  CHECK(refused([&] { file.check_tokenizer(opt); }).find("has ids of another tokenizer than " + opt.string()) !=
        std::string::npos);
  CHECK(refused([&] { redco::data::tokenizer_hash(folder.path); }).find("has no file of a tokenizer") !=
        std::string::npos);
  std::filesystem::copy(gpt2, folder / "copy");
  CHECK(refused([&] { file.check_tokenizer(folder / "copy"); }) == "");
  std::ofstream(folder / "copy/added_tokens.json") << "{}";
  CHECK(refused([&] { file.check_tokenizer(folder / "copy"); }) != "");
}

TEST_CASE("random windows of a file of 10 GB leave less than 200 MB resident") {
  temporary_folder const folder;
  std::filesystem::path const path = folder / "sparse.ids";
  token_header const header{.count = 5'000'000'000, .vocabulary = 50257, .end = 50256};
  auto const front = header.encoded();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<char const*>(front.data()), front.size());
  std::filesystem::resize_file(path, header.file_bytes());
  token_file const file(path, 8191);
  redco::data::sampler const order(static_cast<std::int64_t>(file.size()), 3);
  std::int64_t const before = resident_bytes();
  std::int64_t const reads = keeps_freed_memory ? 2'000 : 20'000;
  std::int64_t wrong = 0;
  auto const read = [&](std::int64_t first, std::int64_t& bad) {
    for (int pass = 0; pass < 2; ++pass)  // in the second, pages around a window are cached
      for (std::int64_t i = first; i < reads; i += 2) bad += file[order.at(0, i)] == ids(8192, 0) ? 0 : 1;
  };
  std::int64_t wrong_of_thread = 0;
  std::thread other([&] { read(1, wrong_of_thread); });
  read(0, wrong);
  other.join();
  CHECK(wrong + wrong_of_thread == 0);
  if (!keeps_freed_memory) CHECK(resident_bytes() - before < 200'000'000);
}
