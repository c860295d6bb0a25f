#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/data/detail/input_blocks.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/tokenize_files.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using redco::data::token_file;
using redco::data::tokenize_files;
using redco::data::tokenize_options;
using redco::data::tokenize_progress;
using ids = std::vector<std::int64_t>;

std::filesystem::path const gpt2 = test_files() / "tokenizers/files_gpt2";

void write(std::filesystem::path const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// Returns `bytes` bytes of lines of words, in which lines, spaces and umlauts have no period.
std::string words(std::size_t bytes, std::uint32_t state = 1) {
  std::string text;
  while (text.size() < bytes) {
    state = state * 1664525U + 1013904223U;
    std::uint32_t const kind = state >> 24;
    if (kind < 8) text += "\n";
    else if (kind < 20) text += "\u00fc";
    else if (kind < 80) text += " ";
    else text += static_cast<char>('a' + kind % 26);
  }
  return text + "\n";
}

/// Returns all ids of a token file.
ids all_ids(std::filesystem::path const& path) {
  token_file const file(path, 1 << 30);
  return file[0];
}

/// Files of each format in a folder, and the ids that a token file of them must have.
struct corpus {
  temporary_folder folder;
  std::filesystem::path out = folder / "train.ids";
  std::vector<std::string> inputs;

  corpus() {
    std::filesystem::create_directories(folder / "books/more");
    write(folder / "books/b.txt", "\xef\xbb\xbfthe second <|endoftext|> text");
    write(folder / "books/more/c.txt", words(3'000'000));
    write(folder / "books/a.txt", "the first text\n");
    write(folder / "books/empty.txt", "");
    std::string lines;
    for (std::uint32_t i = 0; i < 400; ++i)
      lines += "{\"id\": 1, \"text\": \"line " + std::to_string(i) + " " + std::string(i % 7 == 0 ? 20'000 : 5, 'x') +
               "\"}" + (i % 5 == 0 ? "\r\n\n" : "\n");
    write(folder / "web.jsonl", lines + "{\"text\": \"\"}\n{\"text\": \"last\"}");
    write(folder / "array.json", "[{\"text\": \"one\"}, {\"text\": \"two\"}]");
    inputs = {(folder / "books").string(), (folder / "web.jsonl").string(), (folder / "array.json").string()};
  }

  ids expected() const {
    auto const tokenizer = redco::read_tokenizer(gpt2);
    ids all;
    for (std::string const& text : redco::read_texts(inputs)) {
      if (text.empty()) continue;
      ids const one = tokenizer.encode(text, {.add_special = false, .find_special = false});
      all.insert(all.end(), one.begin(), one.end());
      all.push_back(*tokenizer.specials().end);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("the ids of texts are in the order of the inputs, for any number of threads") {
  corpus const texts;
  tokenize_progress const done = tokenize_files(gpt2, texts.inputs, texts.out);
  CHECK(done.finished);
  CHECK(done.bytes == done.all_bytes);
  CHECK(done.documents == 3 + 401 + 2);
  ids const found = all_ids(texts.out);
  CHECK(done.ids == static_cast<std::int64_t>(found.size()));
  CHECK((found == texts.expected()));
  token_file(texts.out, 8).check_tokenizer(gpt2);
  std::string const bytes = content_of(texts.out);
  for (int const threads : {2, 5}) {
    std::filesystem::remove(texts.out);
    tokenize_files(gpt2, texts.inputs, texts.out, {.threads = threads});
    CHECK((content_of(texts.out) == bytes));
  }
  CHECK_FALSE(std::filesystem::exists(texts.folder / "train.ids.partial"));
  CHECK_FALSE(std::filesystem::exists(texts.folder / "train.ids.progress"));
}

TEST_CASE("a call that was interrupted after any block continues, and gives equal bytes") {
  corpus const texts;
  tokenize_files(gpt2, texts.inputs, texts.out);
  std::string const bytes = content_of(texts.out);
  std::filesystem::remove(texts.out);
  int calls = 0;
  std::int64_t before = 0;
  for (bool finished = false; !finished; ++calls) {
    std::int64_t continued = 0;
    auto const stop = [&](tokenize_progress const& at) {
      continued = at.continued;
      return false;
    };
    tokenize_progress const at = tokenize_files(gpt2, texts.inputs, texts.out, {.threads = 2}, stop);
    CHECK(continued == (at.finished ? continued : before));
    before = at.bytes;
    finished = at.finished;
    CHECK(std::filesystem::exists(texts.out) == finished);
  }
  CHECK(calls == 9);  // two small files, three blocks of text, two of lines, an array; then the end
  CHECK((content_of(texts.out) == bytes));
}

TEST_CASE("progress is saved after the given number of bytes") {
  corpus const texts;
  std::filesystem::path const saved = texts.folder / "train.ids.progress";
  std::vector<bool> exists;
  auto const look = [&](tokenize_progress const&) {
    exists.push_back(std::filesystem::exists(saved));
    return true;
  };
  tokenize_files(gpt2, texts.inputs, texts.out, {.save_every = 2'500'000}, look);
  REQUIRE(exists.size() > 5);
  CHECK_FALSE(exists[3]);  // two small files and two blocks of 1 MiB
  CHECK(exists.back());
  exists.clear();
  tokenize_files(gpt2, texts.inputs, texts.out, {.save_every = std::int64_t{1} << 40}, look);
  CHECK_FALSE(exists.back());
}

TEST_CASE("a call with other settings or files does not continue an interrupted one") {
  corpus texts;
  auto const stop = [](tokenize_progress const& at) { return at.documents < 1; };
  tokenize_files(gpt2, texts.inputs, texts.out, {}, stop);
  auto const again = [&](tokenize_options const& options, std::filesystem::path const& folder = gpt2) {
    return refused([&] { tokenize_files(folder, texts.inputs, texts.out, options); });
  };
  CHECK(again({.key = "body"}).find("train.ids.progress was written with key \"text\", not \"body\"; repeat") !=
        std::string::npos);
  CHECK(again({.end = "a"}).find("was written with end ") != std::string::npos);
  CHECK(again({}, test_files() / "tokenizers/files_opt").find("was written with tokenizer ") != std::string::npos);
  std::filesystem::path const first = texts.folder / "books/a.txt";
  std::string const text = content_of(first);
  write(first, text + "x");
  CHECK(again({}).find("64 ") == 0);
  CHECK(again({}).find("was written for other files, or these have changed") != std::string::npos);
  write(texts.folder / "train.ids.progress", "{}");
  CHECK(again({}).find("65 " + (texts.folder / "train.ids.progress").string() + " is damaged") == 0);
  std::filesystem::remove(texts.folder / "train.ids.progress");
  CHECK(again({}) == "");
  CHECK((all_ids(texts.out) == texts.expected()));
}

TEST_CASE("after a mistake in a file, the corrected file is read from its begin") {
  corpus texts;
  std::filesystem::path const web = texts.folder / "web.jsonl";
  std::string const lines = content_of(web);
  write(web, lines + "\n{\"body\": \"x\"}\n");
  std::string const message = refused([&] { tokenize_files(gpt2, texts.inputs, texts.out, {.threads = 3}); });
  CHECK(message.find("65 " + web.string() + ":" + std::to_string(400 + 80 + 3) + ": no text under the key") == 0);
  write(web, lines);
  std::filesystem::last_write_time(web, std::filesystem::last_write_time(web) + std::chrono::seconds(2));
  std::int64_t continued = 0;
  tokenize_files(gpt2, texts.inputs, texts.out, {}, [&](tokenize_progress const& at) {
    continued = at.continued;
    return true;
  });
  CHECK(continued > 3'000'000);
  CHECK(continued < 3'100'000);  // the books
  CHECK((all_ids(texts.out) == texts.expected()));
}

TEST_CASE("invalid UTF-8 is refused above its share, counted over all blocks of a file") {
  temporary_folder const folder;
  std::filesystem::path const text = folder / "a.txt", lines = folder / "a.jsonl", out = folder / "a.ids";
  std::string const clean = words(2'000'000);
  write(text, "\xE9" + clean + "\xFF");
  std::vector<std::string> inputs{text.string()};
  std::string const size = std::to_string(clean.size() + 2);
  CHECK(refused([&] { tokenize_files(gpt2, inputs, out); }) ==
        "65 " + text.string() + ": 0xE9 at byte 0 is the first of 2 bytes of " + size +
            " that are NUL or no UTF-8: convert it with iconv -t UTF-8 and -f with its encoding, such as LATIN1, or "
            "allow this share of bytes with --invalid-utf8 1e-06");
  CHECK(tokenize_files(gpt2, inputs, out, {.invalid_utf8 = 2e-6}).finished);
  write(text, clean + std::string("\0", 1));
  CHECK(refused([&] { tokenize_files(gpt2, inputs, out); }).find("0x00 at byte " + std::to_string(clean.size())) !=
        std::string::npos);
  write(lines, "{\"text\": \"a\"}\n{\"text\": \"na\xEFve\"}\n");
  inputs = {lines.string()};
  std::filesystem::path const other = folder / "b.ids";
  CHECK(refused([&] { tokenize_files(gpt2, inputs, other); }).find(lines.string() + ":2: 0xEF at byte 12") == 3);
  tokenize_files(gpt2, inputs, other, {.invalid_utf8 = 0.1});
  auto const tokenizer = redco::read_tokenizer(gpt2);
  ids const found = all_ids(other);
  CHECK(tokenizer.decode(found) == "ana\uFFFDve");
}

TEST_CASE("long texts without lines are cut between words or code points") {
  using redco::data::detail::text_cut;
  CHECK(text_cut("ab\ncd\n  ef") == 3);
  CHECK(text_cut("ab\n\n\ncd") == 5);
  CHECK(text_cut("abc de  f") == 3);
  CHECK(text_cut("ab\u00fc") == 2);
  temporary_folder const folder;
  std::filesystem::path const text = folder / "a.txt", out = folder / "a.ids";
  std::string long_text;
  while (long_text.size() < 2'500'000) long_text += "word " + std::to_string(long_text.size() * 7919) + " ";
  write(text, long_text);
  tokenize_files(gpt2, std::vector<std::string>{text.string()}, out);
  auto const tokenizer = redco::read_tokenizer(gpt2);
  ids expected = tokenizer.encode(long_text, {.add_special = false, .find_special = false});
  expected.push_back(*tokenizer.specials().end);
  CHECK((all_ids(out) == expected));
}

TEST_CASE("wrong options of tokenizing are refused") {
  temporary_folder const folder;
  write(folder / "a.txt", "text");
  write(folder / "long.jsonl", "{\"text\": \"a\"}\n{\"text\": \"" + std::string(std::size_t{64} << 20, 'x') + "\"}");
  write(folder / "a.gz", "\x1f\x8b...");
  auto const message = [&](std::string const& input, tokenize_options const& options = {},
                           std::filesystem::path const& tokenizer = gpt2) {
    return refused(
        [&] { tokenize_files(tokenizer, std::vector{(folder / input).string()}, folder / "a.ids", options); });
  };
  CHECK(message("a.txt", {.threads = 0}).find("64 tokenizing with 0 threads") == 0);
  CHECK(message("a.txt", {.invalid_utf8 = 1.5}).find("64 the share of invalid UTF-8 is 1.5") == 0);
  CHECK(message("a.txt", {.save_every = 0}).find("64 saving the progress every 0 bytes") == 0);
  CHECK(message("a.txt", {.end = "a b c"}).find("64 --end a b c is ") == 0);
  CHECK(message("none.txt").find("65 ") == 0);
  CHECK(message("a.gz").find("is compressed by gzip") != std::string::npos);
  CHECK(message("a.txt", {}, folder.path).find("65 ") == 0);
  std::filesystem::remove(folder / "a.ids.progress");
  CHECK(message("long.jsonl").find("long.jsonl:2: the line is longer than 64 MiB") != std::string::npos);
  CHECK(refused([&] { tokenize_files(gpt2, {}, folder / "a.ids"); }).find("65 no text was given") == 0);
  std::filesystem::create_directory(folder / "bare");
  std::filesystem::copy(test_files() / "tokenizers/prefix_default/tokenizer.json", folder / "bare/tokenizer.json");
  CHECK(
      message("a.txt", {}, folder / "bare").find("names no end token; name the token that ends documents with --end") !=
      std::string::npos);
}
