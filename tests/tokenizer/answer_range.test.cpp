#include "catch.hpp"
#include "refusal.hpp"
#include "skip.hpp"
#include "test_files.hpp"

#include <redco/tokenizer/chat_template.hpp>
#include <redco/tokenizer/detail/chat_marks.hpp>
#include <redco/tokenizer/detail/jinja.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Answers in the texts of public templates, which scripts/setup downloads together with minja. The
// texts around an answer were read off the templates.

namespace {

namespace rt = redco::tokenizer;

/// Text of a template from the end of the request for an answer to the answer's content, and the
/// text that closes the answer. `last_*`: these texts for the last answer of a conversation.
struct surroundings {
  std::string opening, closing, last_opening, last_closing;
};

surroundings around(std::string const& name) {
  auto const both = [](std::string const& closing, std::string const& opening = "") {
    return surroundings{opening, closing, opening, closing};
  };
  auto const is = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (is("command-r-plus")) return both("<|END_OF_TURN_TOKEN|>");
  if (is("command-r7b")) return both("<|END_RESPONSE|><|END_OF_TURN_TOKEN|>", "<|START_RESPONSE|>");
  if (is("istral")) return both("</s>");
  if (is("Qwen3")) return {"", "<|im_end|>", "<think>\n\n</think>\n\n", "<|im_end|>"};
  if (is("DeepSeek") || is("deepseek")) return both("<｜end▁of▁sentence｜>");
  if (is("gemma")) return both("<end_of_turn>");
  if (is("granite")) return both("<|end_of_text|>");
  if (is("rwkv")) return both("\n\n", " ");
  if (is("functionary-medium-v3.2")) return both("<|eot_id|>", "all\n");
  if (is("lama-3") || is("Llama-3.") || is("functionary-medium-v3.1")) {
    if (!is("Hermes")) return both("<|eot_id|>");
  }
  if (is("Phi-3.5")) return both("<|end|>");
  std::string const final_channel = "<|channel|>final<|message|>";
  if (is("gpt-oss")) return {final_channel, "<|end|>", final_channel, "<|return|>"};
  return both("<|im_end|>");
}

std::vector<std::string> answers_in(rt::chat_text const& text) {
  std::vector<std::string> all;
  for (auto const& [begin, end] : text.answers) all.push_back(text.text.substr(begin, end - begin));
  return all;
}

/// Returns answers that are parts of a template's own words, and of the questions.
std::set<std::string> difficult_answers(surroundings const& texts, std::string const& template_text) {
  std::set<std::string> all{"a", "d", "e", "end", "hi", "in",        "n",     "k",
                            ">", "/", "<", "|",   "<|", "assistant", "model", "8"};
  std::string const tag = texts.last_closing;
  for (std::size_t const size : {std::size_t{1}, tag.size() / 2, tag.size()}) all.insert(tag.substr(0, size));
  for (std::size_t at = 7; at + 9 < template_text.size() && all.size() < 24; at += template_text.size() / 5)
    all.insert(template_text.substr(at, 3 + at % 5));
  std::erase_if(all, [](std::string const& one) {
    // Templates strip blanks, and minja reads a text as UTF-8.
    bool const blank = one.front() == ' ' || one.back() == ' ' || one.find_first_of("\n\t\r") != std::string::npos;
    return blank || std::ranges::any_of(one, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  });
  return all;
}

}  // namespace

TEST_CASE("an answer is marked from the end of its request to its closing tag, whatever its words are") {
  if (!rt::detail::jinja_template::available) return;
  std::filesystem::path const folder = test_files() / ".." / ".." / ".deps" / "minja" / "templates";
  if (!std::filesystem::is_directory(folder)) return skip("no public templates: run scripts/setup");
  int templates = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    ++templates;
    std::string const name = entry.path().stem().string();
    std::ifstream in(entry.path(), std::ios::binary);
    std::string const jinja{std::istreambuf_iterator<char>(in), {}};
    rt::chat_template const chat(jinja, {.begin = "<s>", .end = "</s>"}, name);
    surroundings const texts = around(name);
    for (std::string const& answer : difficult_answers(texts, jinja)) {
      INFO(name << ", answer " << answer);
      std::string const last = answer + "a" + answer, question = answer + " d " + texts.last_closing + answer;
      std::vector<rt::chat_message> const talk{
          {"user", question}, {"assistant", answer}, {"user", answer}, {"assistant", last}};
      CHECK(answers_in(chat.marked_text(talk)) ==
            std::vector{texts.opening + answer + texts.closing, texts.last_opening + last + texts.last_closing});
    }
  }
  CHECK(templates >= 25);
}

TEST_CASE("an answer is marked in a conversation that begins with it, and after another answer") {
  if (!rt::detail::jinja_template::available) return;
  // the second template needs a first message, and writes a system message if there is none
  std::string const turns =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  for (std::string const& jinja :
       {turns, "{% if messages[0].role != 'system' %}<|im_start|>system\nS<|im_end|>\n{% endif %}" + turns}) {
    rt::chat_template const chat(jinja, {}, "a test");
    std::vector<std::string> const expected{"hi<|im_end|>", "im<|im_end|>"};
    CHECK(answers_in(chat.marked_text(std::vector<rt::chat_message>{
              {"assistant", "hi"}, {"user", "assistant"}, {"assistant", "im"}})) == expected);
    CHECK(answers_in(chat.marked_text(
              std::vector<rt::chat_message>{{"user", "hi"}, {"assistant", "hi"}, {"assistant", "im"}})) == expected);
  }
}

TEST_CASE("an answer is marked where the template asks for it after questions only") {
  if (!rt::detail::jinja_template::available) return;
  rt::chat_template const chat(
      "{% for m in messages %}{% if m.role == 'system' %}[S]{{ m.content }}{% else %}[{{ m.role }}]{{ m.content }}[/]"
      "{% if loop.last and add_generation_prompt %}[assistant]{% endif %}{% endif %}{% endfor %}",
      {}, "a test");
  CHECK(answers_in(chat.marked_text(std::vector<rt::chat_message>{{"system", "s"}, {"assistant", "t"}})) ==
        std::vector<std::string>{"t[/]"});
}

TEST_CASE("an answer is marked where the template writes the first letter of a role") {
  if (!rt::detail::jinja_template::available) return;
  rt::chat_template const chat(
      "{% for m in messages %}{{ m.role[0] | upper }}:{{ m.content }}\n{% endfor %}"
      "{% if add_generation_prompt %}A:{% endif %}",
      {}, "a test");
  std::vector<rt::chat_message> const talk{{"user", "To be?"}, {"assistant", "A:"}, {"user", "A"}, {"assistant", "U"}};
  rt::chat_text const found = chat.marked_text(talk);
  CHECK(found.text == "U:To be?\nA:A:\nU:A\nA:U\n");
  CHECK(answers_in(found) == std::vector<std::string>{"A:\n", "U\n"});
}

TEST_CASE("marks of a text do not occur in the template or the conversation") {
  if (!rt::detail::jinja_template::available) return;
  // private-use code points, and the first word that the library takes as a mark
  std::string const marks =
      "a\xF4\x8F\xBF\xBC"
      "b\xF4\x8F\xBF\xBD"
      "c " +
      rt::detail::unused_words(1, {})[0];
  std::vector<rt::chat_message> const talk{{"user", marks}, {"assistant", marks}};
  std::string const tagged =
      "{% for m in messages %}[{{ m.role }}]{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}";
  std::string const plain = "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}";
  rt::chat_text const found = rt::chat_template(plain, {}, "a test").marked_text(talk);
  CHECK(found.text == "[user]" + marks + "[/][assistant]" + marks + "[/]");
  CHECK(answers_in(found) == std::vector{"[assistant]" + marks + "[/]"});
  rt::chat_text const enclosed = rt::chat_template(tagged, {}, "a test").marked_text(talk);
  CHECK(enclosed.text == "[user]" + marks + "[assistant]" + marks);
  CHECK(answers_in(enclosed) == std::vector{marks, marks});
}
