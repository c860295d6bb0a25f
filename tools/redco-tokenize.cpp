// Tokenizes texts to a file of ids, which redco::data::token_file maps for training:
//   redco-tokenize --tokenizer gpt2 --out train.ids --threads 2 books/ web.jsonl
// An interrupted run leaves train.ids.partial and train.ids.progress. The same command continues
// it, and gives the bytes of an uninterrupted run.
// Exit codes: 0 done; 64 options; 65 texts or tokenizer; 74 output; 75 stopped by a signal, run the
// command again.
#include <redco/data/tokenize_files.hpp>

#include <redco/options/parse.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/signals.hpp>
#include <redco/meta/fields.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using redco::exit_code;

struct program_options {
  std::filesystem::path tokenizer;
  std::filesystem::path out;
  std::vector<std::string> input;
  std::string key = redco::data::tokenize_options().key;
  std::string end;
  int threads = 1;
  double invalid_utf8 = 0;
  std::int64_t save_every = 256;

  static constexpr auto fields() {
    using o = program_options;
    using redco::field;
    using redco::required_field;
    return redco::fields(
        required_field<"tokenizer">(&o::tokenizer, "folder of the tokenizer, such as a model's folder")
            .in_group("texts"),
        required_field<"input">(&o::input, "text files, JSON, JSONL, and folders of these; --input may be left out")
            .in_group("texts"),
        field<"key">(&o::key, "key of the text in objects of JSON and JSONL").in_group("texts"),
        field<"end">(&o::end, "token that ends each document; default: the tokenizer's end token").in_group("texts"),
        field<"invalid_utf8">(&o::invalid_utf8, "largest share of a file's bytes that may be NUL or no UTF-8")
            .at_least(0)
            .at_most(1)
            .in_group("texts"),
        required_field<"out">(&o::out, "file of ids to write; OUT.partial and OUT.progress hold an unfinished one")
            .in_group("output"),
        field<"threads">(&o::threads, "threads that tokenize; the ids do not depend on it")
            .at_least(1)
            .at_most(1024)
            .in_group("output"),
        field<"save_every">(&o::save_every, "MB (10^6 bytes) of texts between two saves of the progress")
            .at_least(1)
            .at_most(1'000'000)
            .in_group("output"));
  }
};

/// Returns the words of the command line with the inputs, which no flag precedes, after --input.
std::vector<char const*> with_input_flag(int argc, char const* const* argv) {
  std::vector<char const*> words{"redco-tokenize [--input] INPUT..."}, inputs;
  bool in_input = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word == "--input") {
      in_input = true;
    } else if (in_input && !word.starts_with('-')) {
      inputs.push_back(argv[i]);
    } else if (word.starts_with('-')) {
      in_input = false;
      words.push_back(argv[i]);
      bool const has_value = word != "--help" && word != "-h" && word.find('=') == std::string_view::npos;
      if (has_value && i + 1 < argc) words.push_back(argv[++i]);
    } else {
      inputs.push_back(argv[i]);
    }
  }
  if (!inputs.empty()) words.push_back("--input");
  words.insert(words.end(), inputs.begin(), inputs.end());
  return words;
}

/// Prints the progress to standard error, at most every ten seconds.
class progress_lines {
 public:
  using progress = redco::data::tokenize_progress;

  void show(progress const& at) {
    if (!begun_ && at.continued > 0)
      std::fprintf(stderr, "redco-tokenize: continues at %s\n", part(at.continued, at).c_str());
    begun_ = true;
    auto const now = clock::now();
    if (now - shown_ < std::chrono::seconds(10)) return;
    shown_ = now;
    std::fprintf(stderr, "redco-tokenize: %s, %.1f MB/s, %lld ids\n", part(at.bytes, at).c_str(), speed(at),
                 static_cast<long long>(at.ids));
  }

  /// Returns MB/s since the start.
  double speed(progress const& at) const {
    std::chrono::duration<double> const spent = clock::now() - start_;
    return static_cast<double>(at.bytes - at.continued) / 1e6 / spent.count();
  }

  static std::string part(std::int64_t bytes, progress const& at) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f of %.1f MB", static_cast<double>(bytes) / 1e6,
                  static_cast<double>(at.all_bytes) / 1e6);
    return text;
  }

 private:
  using clock = std::chrono::steady_clock;

  clock::time_point start_ = clock::now(), shown_ = start_;
  bool begun_ = false;
};

exit_code run(int argc, char const* const* argv) {
  std::vector<char const*> const words = with_input_flag(argc, argv);
  auto const o = redco::options::parse<program_options>(static_cast<int>(words.size()), words.data(),
                                                        "Tokenizes texts to a file of ids to train on.");
  redco::diag::let_writes_fail();
  redco::diag::stop_signals const signals;
  progress_lines lines;
  auto const end = redco::data::tokenize_files(o.tokenizer, o.input, o.out,
                                               {.key = o.key,
                                                .end = o.end,
                                                .threads = o.threads,
                                                .invalid_utf8 = o.invalid_utf8,
                                                .save_every = o.save_every * 1'000'000},
                                               [&](redco::data::tokenize_progress const& at) {
                                                 lines.show(at);
                                                 return signals.requested() == 0;
                                               });
  if (!end.finished) {
    std::fprintf(stderr, "redco-tokenize: stopped by %s at %s; run the command again to continue\n",
                 std::string(redco::diag::signal_name(signals.requested())).c_str(),
                 lines.part(end.bytes, end).c_str());
    signals.answered();
    return exit_code::preempted;
  }
  std::fprintf(stderr, "redco-tokenize: %s has %lld ids of %d bytes, %lld documents, %.1f MB at %.1f MB/s\n",
               o.out.c_str(), static_cast<long long>(end.ids), end.width, static_cast<long long>(end.documents),
               static_cast<double>(end.all_bytes) / 1e6, lines.speed(end));
  return exit_code::done;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (redco::error const& e) {
    (e.code() == exit_code::done ? std::cout : std::cerr) << e.what() << std::endl;
    return static_cast<int>(e.code());
  } catch (std::filesystem::filesystem_error const& e) {
    std::cerr << e.what() << "; check the permissions" << std::endl;
    return static_cast<int>(exit_code::io);
  } catch (std::exception const& e) {
    std::cerr << e.what() << "; this is a fault of redco-tokenize" << std::endl;
    return static_cast<int>(exit_code::internal);
  }
}
