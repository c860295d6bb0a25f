#pragma once

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/normalizer.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/unicode.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/meta/utf8.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// The pre-tokenizer of a tokenizer.json, which splits a text into words in several steps. Each
/// step splits the pieces that the preceding step returned.
class splitter {
 public:
  splitter() = default;
  explicit splitter(json_node const& node) { read(node); }

  /// Returns true if the model that encodes the words expects them in GPT-2's byte alphabet, which
  /// has one visible character per byte.
  bool byte_level() const { return byte_level_; }

  /// A set of search states, one per regular expression of a splitter. Each thread needs its own
  /// set.
  class searches {
   public:
    explicit searches(splitter const& of) {
      for (step const& s : of.steps_) {
        all_.emplace_back();
        if (s.pattern) all_.back().emplace(*s.pattern);
      }
    }

   private:
    friend splitter;
    std::vector<std::optional<regex::search>> all_;
  };

  /// Calls word(piece) for each non-empty word of `text`, in order. `at_front` is true if `text`
  /// begins the whole text, and false if an added token precedes it.
  template <class Word>
  void operator()(std::string_view text, bool at_front, searches& with, Word const& word) const {
    run(0, text, at_front, with, word);
  }

 private:
  enum class kind { pattern, leading_space, marked_spaces, white_space, punctuation };
  enum class prepend { always, first, never };
  static constexpr auto prepend_texts =
      meta::enum_texts<prepend>({{prepend::always, "always"}, {prepend::first, "first"}, {prepend::never, "never"}});

  /// The ways in which a step of type Split forms words of the matches of its pattern and the texts
  /// between them.
  enum class behaviour { isolated, removed, merged_with_previous, merged_with_next, contiguous };
  static constexpr auto behaviour_texts = meta::enum_texts<behaviour>({
      {behaviour::isolated, "Isolated"},
      {behaviour::removed, "Removed"},
      {behaviour::merged_with_previous, "MergedWithPrevious"},
      {behaviour::merged_with_next, "MergedWithNext"},
      {behaviour::contiguous, "Contiguous"},
  });

  struct step {
    kind rule;
    std::optional<regex> pattern = {};
    behaviour forms = behaviour::isolated;
    bool inverted = false;  // true: the texts between matches count as the matches
    std::string mark = {};  // for marked_spaces: the text that replaces a space
    prepend in_front = prepend::never;
    bool splits = false;
  };

  template <class Word>
  void run(std::size_t number, std::string_view text, bool at_front, searches& with, Word const& word) const {
    if (text.empty()) return;
    if (number == steps_.size()) return word(text);
    step const& s = steps_[number];
    bool front = at_front;
    auto const next = [&](std::string_view part) {
      run(number + 1, part, front, with, word);
      front = false;
    };
    switch (s.rule) {
      case kind::pattern: return split_by_pattern(s, text, *with.all_[number], next);
      case kind::leading_space: return text[0] == ' ' ? next(text) : next(' ' + std::string(text));
      case kind::marked_spaces: return mark_spaces(s, text, at_front, next);
      case kind::white_space: return split_where(text, is_white_space, false, next);
      case kind::punctuation: return split_where(text, is_bert_punctuation, true, next);
    }
  }

  /// Calls piece(begin, end, is_match) for each match of a pattern and each text between matches,
  /// in order. Skips an empty match directly after another match, as the `tokenizers` library does.
  template <class Piece>
  static void find_pieces(std::string_view text, regex::search& search, Piece const& piece) {
    std::size_t done = 0, from = 0;
    bool any = false;
    while (from <= text.size() && search.find(text, from)) {
      std::size_t const begin = search.begin(), end = search.end();
      if (begin == end && any && end == done) {
        from = end + (end < text.size() ? meta::utf8_size(text[end]) : 1);
        continue;
      }
      if (done < begin) piece(done, begin, false);
      piece(begin, end, true);
      done = from = end;
      any = true;
    }
    if (done < text.size()) piece(done, text.size(), false);
  }

  template <class Next>
  static void split_by_pattern(step const& s, std::string_view text, regex::search& search, Next const& next) {
    // The piece that the next piece may join
    std::size_t open = 0, close = 0;
    bool has_open = false, was_match = false;
    auto const emit = [&] {
      if (open < close) next(text.substr(open, close - open));
    };
    find_pieces(text, search, [&](std::size_t begin, std::size_t end, bool found) {
      bool const is_match = found != s.inverted;
      bool const joins = has_open && ((s.forms == behaviour::merged_with_previous && is_match && !was_match) ||
                                      (s.forms == behaviour::merged_with_next && !is_match && was_match) ||
                                      (s.forms == behaviour::contiguous && is_match == was_match));
      if (!joins) {
        emit();
        open = begin;
      }
      close = s.forms == behaviour::removed && is_match ? open : end;
      has_open = true;
      was_match = is_match;
    });
    emit();
  }

  template <class Next>
  static void split_where(std::string_view text, bool (*const at)(char32_t), bool keep, Next const& next) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t const size = meta::utf8_size(text[i]);
      if (at(meta::code_point(text.substr(i)))) {
        if (done < i) next(text.substr(done, i - done));
        if (keep) next(text.substr(i, size));
        done = i + size;
      }
      i += size;
    }
    if (done < text.size()) next(text.substr(done));
  }

  // "a b" becomes "▁a▁b", and if the step splits, "▁a" and "▁b".
  template <class Next>
  static void mark_spaces(step const& s, std::string_view text, bool at_front, Next const& next) {
    std::string marked = replaced(text, " ", s.mark);
    bool const wanted = s.in_front == prepend::always || (s.in_front == prepend::first && at_front);
    if (wanted && !marked.starts_with(s.mark)) marked.insert(0, s.mark);
    std::string_view rest = marked;
    while (s.splits && rest.size() > s.mark.size()) {
      std::size_t const cut = rest.find(s.mark, rest.starts_with(s.mark) ? s.mark.size() : 0);
      if (cut == std::string_view::npos) break;
      next(rest.substr(0, cut));
      rest.remove_prefix(cut);
    }
    next(rest);
  }

  void read(json_node const& node) {
    if (byte_level_) node.refuse_kind("a step after ByteLevel");
    std::string const type = node.at("type").text();
    if (type == "Sequence") {
      node.knows({"type", "pretokenizers"});
      for (json_node const& inner : node.at("pretokenizers").elements()) read(inner);
    } else if (type == "ByteLevel") {
      node.knows({"type", "add_prefix_space", "trim_offsets", "use_regex"});
      byte_level_ = true;
      if (node.flag("add_prefix_space", true)) steps_.push_back({kind::leading_space});
      if (node.flag("use_regex", true)) add_pattern(gpt2_pattern, node);
    } else if (type == "Split") {
      read_split(node);
    } else if (type == "Digits") {
      node.knows({"type", "individual_digits"});
      add_pattern(node.flag("individual_digits") ? "\\p{N}" : "\\p{N}+", node);
    } else if (type == "Metaspace") {
      read_metaspace(node);
    } else if (type == "BertPreTokenizer") {
      node.knows({"type"});
      steps_.push_back({kind::white_space});
      steps_.push_back({kind::punctuation});
    } else if (type == "WhitespaceSplit") {
      node.knows({"type"});
      steps_.push_back({kind::white_space});
    } else {
      node.refuse_kind("of type " + type);
    }
  }

  void read_split(json_node const& node) {
    node.knows({"type", "pattern", "behavior", "invert"});
    json_node const pattern = node.at("pattern");
    pattern.knows({"Regex", "String"});
    std::string const how = node.at("behavior").text();
    std::optional<behaviour> const known = behaviour_texts.value_of(how);
    if (!known) node.refuse_kind("the behavior " + how);
    if (auto const literal = pattern.find("String")) {
      std::string quoted;
      for (char const c : literal->text()) {
        bool const word = c >= '0' && (c <= '9' || c >= 'A') && (c <= 'Z' || c >= 'a') && c <= 'z';
        if (!word && static_cast<unsigned char>(c) < 0x80) quoted += '\\';
        quoted += c;
      }
      add_pattern(quoted, node);
    } else {
      add_pattern(pattern.at("Regex").text(), node);
    }
    steps_.back().forms = *known;
    steps_.back().inverted = node.flag("invert");
  }

  void read_metaspace(json_node const& node) {
    node.knows({"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
    step s{kind::marked_spaces};
    s.mark = node.at("replacement").text();
    if (s.mark.empty()) node.refuse("replaces a space by nothing; write the file again with the program that made it");
    auto const scheme = node.find("prepend_scheme");
    std::string const how = scheme ? scheme->text() : node.flag("add_prefix_space", true) ? "always" : "never";
    std::optional<prepend> const known = prepend_texts.value_of(how);
    if (!known) node.refuse_kind("the prepend_scheme " + how);
    s.in_front = *known;
    s.splits = node.flag("split", true);
    steps_.push_back(std::move(s));
  }

  void add_pattern(std::string_view pattern, json_node const& node) {
    step s{kind::pattern};
    s.pattern.emplace(pattern, node.location());
    steps_.push_back(std::move(s));
  }

  static constexpr std::string_view gpt2_pattern =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  std::vector<step> steps_;
  bool byte_level_ = false;
};

}  // namespace redco::tokenizer::detail
