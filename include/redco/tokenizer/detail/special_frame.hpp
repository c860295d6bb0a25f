#pragma once

#include <redco/tokenizer/detail/json_node.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::tokenizer::detail {

/// A frame around a text: ids of the special tokens that a tokenizer puts before and after a text,
/// such as [CLS] and [SEP].
struct special_frame {
  std::vector<std::int64_t> before = {};
  std::vector<std::int64_t> behind = {};

  /// Reads the post_processor of a tokenizer.json. If it is a Sequence of post-processors, the
  /// tokens of a later one enclose the tokens of the earlier ones.
  void read(json_node const& node) {
    std::string const type = node.at("type").text();
    if (type == "Sequence") {
      node.knows({"type", "processors"});
      for (json_node const& inner : node.at("processors").elements()) read(inner);
    } else if (type == "ByteLevel") {
      // Changes only offsets, which redco does not compute
      node.knows({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    } else if (type == "TemplateProcessing") {
      read_template(node);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      node.knows({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
      before.insert(before.begin(), named_id(node.at("cls")));
      behind.push_back(named_id(node.at("sep")));
    } else {
      node.refuse_kind("of type " + type);
    }
  }

 private:
  static std::int64_t named_id(json_node const& pair) {
    auto const parts = pair.elements();
    if (parts.size() != 2)
      pair.refuse("should be a token and its id; write the file again with the program that made it");
    return parts[1].number();
  }

  void read_template(json_node const& node) {
    node.knows({"type", "single", "pair", "special_tokens"});
    special_frame mine;
    bool text_seen = false;
    for (json_node const& piece : node.at("single").elements()) {
      if (auto const special = piece.find("SpecialToken")) {
        json_node const tokens = node.at("special_tokens");
        for (json_node const& id : tokens.at(special->at("id").text()).at("ids").elements())
          (text_seen ? mine.behind : mine.before).push_back(id.number());
      } else if (piece.find("Sequence") && !text_seen) {
        text_seen = true;
      } else {
        piece.refuse_kind("a piece other than SpecialToken and one Sequence");
      }
    }
    if (!text_seen) node.refuse("has no place for the text; write the file again with the program that made it");
    before.insert(before.begin(), mine.before.begin(), mine.before.end());
    behind.insert(behind.end(), mine.behind.begin(), mine.behind.end());
  }
};

}  // namespace redco::tokenizer::detail
