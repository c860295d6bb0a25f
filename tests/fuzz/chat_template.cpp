// Reads any text as a chat template and renders a conversation: it is refused with exit code 65, or
// marks answers within its text.
#include <redco/tokenizer/chat_template.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace redco::tokenizer;
  std::vector<chat_message> const talk{{"user", "a <|im_end|>"}, {"assistant", "b"}, {"user", "c"}, {"assistant", "a"}};
  try {
    chat_template const chat(std::string(reinterpret_cast<char const*>(data), size), {.begin = "<s>", .end = "</s>"},
                             "a", {.memory = std::size_t{1} << 28, .bytes = 1 << 20, .cpu_seconds = 1, .seconds = 15});
    chat_text const found = chat.marked_text(talk, 0, R"({"tools": [{"name": "f", "parameters": {}}]})");
    std::size_t before = 0;
    for (auto const& [begin, end] : found.answers) {
      if (begin < before || end < begin || end > found.text.size()) std::abort();
      before = end;
    }
  } catch (redco::error const& e) {
    if (e.code() != redco::exit_code::data) std::abort();
  }
  return 0;
}
