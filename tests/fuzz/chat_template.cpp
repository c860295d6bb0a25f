// Reads any text as a chat template and renders a conversation: it is refused with exit code 65, or
// marks answers within its text. Templates run in child processes (detail/bounded_child.hpp). The
// children count covered branches in memory that they share with the fuzzer, and note there that a
// sanitizer has found a mistake.
#include <redco/tokenizer/chat_template.hpp>

#include <redco/diag/error.hpp>

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Addresses of the first counter of the compiler's instrumentation, one byte per branch, and of the
// end of the counters. In C++, a declaration of these symbols would hide those of the compiler.
__asm__(
    ".pushsection .data.rel.ro,\"aw\"\n"
    "counter_range: .quad __start___sancov_cntrs, __stop___sancov_cntrs\n"
    ".popsection");
extern "C" std::uintptr_t const counter_range[2];

namespace {

using namespace redco::tokenizer;

/// Name of the mistake that a sanitizer has found in a child; shared memory. Empty if none.
char* mistake = nullptr;
constexpr std::size_t longest_name = 300;

/// Lets children count branches for this process, as far as whole pages hold the counters.
void share_counters() {
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uintptr_t const begin = (counter_range[0] + page - 1) / page * page;
  std::uintptr_t const end = counter_range[1] / page * page;
  auto const* const counters = reinterpret_cast<std::uint8_t*>(begin);
  std::vector<std::uint8_t> const before(counters, counters + (end - begin));
  void* const shared = mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  std::memcpy(shared, before.data(), before.size());
}

[[noreturn]] void fail(std::string const& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// Ends the fuzzer if a child had a mistake.
void check_children() {
  if (*mistake != '\0') fail("a sanitizer found a mistake in a child: " + std::string(mistake));
}

/// Returns the error with exit code 65 of a template, or an empty text.
std::string refusal_of(std::string const& jinja, chat_limits const& limits) {
  std::vector<chat_message> const talk{{"user", "a <|im_end|>"}, {"assistant", "b"}, {"user", "c"}, {"assistant", "a"}};
  std::string refusal;
  try {
    chat_template const chat(jinja, {.begin = "<s>", .end = "</s>"}, "a", limits);
    chat_text const found = chat.marked_text(talk, 0, R"({"tools": [{"name": "f", "parameters": {}}]})");
    std::size_t before = 0;
    for (auto const& [begin, end] : found.answers) {
      if (begin < before || end < begin || end > found.text.size()) std::abort();
      before = end;
    }
  } catch (redco::error const& e) {
    if (e.code() != redco::exit_code::data) std::abort();
    refusal = e.what();
  }
  check_children();
  return refusal;
}

/// Checks the limits, which sanitizers could disable: they reserve memory and change the stack.
void check_limits() {
  std::string const loops = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
                    texts =
                        "{% set n = namespace(s='0123456789', l=[]) %}"
                        "{% for i in range(13) %}{% set n.s = n.s + n.s %}{% endfor %}"
                        "{% for i in range(9999) %}{% set x = n.l.append(n.s + n.s) %}{% endfor %}";
  std::array<std::pair<std::string, std::string_view>, 4> const refused{
      {{texts, "needs more than 256 MiB of memory"},
       {loops, "takes more than 2 seconds of computation"},
       {"{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "overflows the stack"},
       {"{{ " + std::string(200, '(') + " }}", "nested more than 100 deep"}}};
  for (auto const& [jinja, why] : refused)
    if (std::string const found =
            refusal_of(jinja, {.memory = std::size_t{1} << 28, .bytes = 1 << 20, .cpu_seconds = 2, .seconds = 600});
        found.find(why) == std::string::npos)
      fail(jinja.substr(0, 100) + "\nis not refused because it " + std::string(why) + ": " + found);
}

}  // namespace

/// Called by AddressSanitizer after its report. Lack of memory and of stack are limits of a child.
extern "C" void __asan_on_error() {
  std::string_view const name = __asan_get_report_description();
  std::array<std::string_view, 5> const limits{"out-of-memory", "allocation-size-too-big", "calloc-overflow",
                                               "rss-limit-exceeded", "stack-overflow"};
  if (std::find(limits.begin(), limits.end(), name) == limits.end())
    std::snprintf(mistake, longest_name, "%s", name.data());
}

extern "C" void __ubsan_get_current_report_data(char const** kind, char const** message, char const** file,
                                                unsigned* line, unsigned* column, char** address);

/// Called by UndefinedBehaviorSanitizer after its report. Templates compute with numbers that
/// overflow or divide by zero in minja, which ends a child.
extern "C" void __ubsan_on_report() {
  char const *kind = nullptr, *message = nullptr, *file = nullptr;
  unsigned line = 0, column = 0;
  char* address = nullptr;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  std::array<std::string_view, 4> const of_numbers{"signed-integer-overflow", "integer-divide-by-zero",
                                                   "float-divide-by-zero", "float-cast-overflow"};
  if (std::string_view(file).find("/minja/") != std::string_view::npos &&
      std::find(of_numbers.begin(), of_numbers.end(), kind) != of_numbers.end())
    return;
  std::snprintf(mistake, longest_name, "%s in %s:%u", kind, file, line);
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  mistake = static_cast<char*>(mmap(nullptr, longest_name, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (mistake == MAP_FAILED) std::abort();
  share_counters();
  check_limits();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  refusal_of(std::string(reinterpret_cast<char const*>(data), size),
             {.memory = std::size_t{1} << 28, .bytes = 1 << 20, .cpu_seconds = 1, .seconds = 15});
  return 0;
}
