#pragma once

#include <redco/tokenizer/tokenizer.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::tokenizer {

/// A value that holds a tokenizer of any type that satisfies the concept `tokenizer`. Copies share
/// the held tokenizer.
class any_tokenizer {
 public:
  template <class T>
    requires(!std::same_as<std::remove_cvref_t<T>, any_tokenizer> && tokenizer<std::remove_cvref_t<T>>)
  any_tokenizer(T&& held) : held_(std::make_shared<holder<std::remove_cvref_t<T>>>(std::forward<T>(held))) {}

  std::vector<std::int64_t> encode(std::string_view text, encode_options options = {}) const {
    return held_->encode(text, options);
  }
  std::string decode(std::span<std::int64_t const> ids, decode_options options = {}) const {
    return held_->decode(ids, options);
  }
  bool append(std::string& bytes, std::int64_t id, bool first) const { return held_->append(bytes, id, first); }
  std::int64_t vocabulary_size() const { return held_->vocabulary_size(); }
  special_ids const& specials() const { return held_->specials(); }
  bool cleans_spaces() const { return held_->cleans_spaces(); }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual std::vector<std::int64_t> encode(std::string_view, encode_options) const = 0;
    virtual std::string decode(std::span<std::int64_t const>, decode_options) const = 0;
    virtual bool append(std::string&, std::int64_t, bool) const = 0;
    virtual std::int64_t vocabulary_size() const = 0;
    virtual special_ids const& specials() const = 0;
    virtual bool cleans_spaces() const = 0;
  };

  template <class T>
  struct holder final : interface {
    explicit holder(T given) : held(std::move(given)) {}

    std::vector<std::int64_t> encode(std::string_view text, encode_options options) const override {
      return held.encode(text, options);
    }
    std::string decode(std::span<std::int64_t const> ids, decode_options options) const override {
      return held.decode(ids, options);
    }
    bool append(std::string& bytes, std::int64_t id, bool first) const override {
      return held.append(bytes, id, first);
    }
    std::int64_t vocabulary_size() const override { return held.vocabulary_size(); }
    special_ids const& specials() const override { return held.specials(); }
    bool cleans_spaces() const override { return detail::cleans_spaces(held); }

    T held;
  };

  std::shared_ptr<interface const> held_;
};

}  // namespace redco::tokenizer
