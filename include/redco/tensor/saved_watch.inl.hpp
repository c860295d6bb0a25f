#pragma once

#include <redco/tensor/saved_watch.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::tensors::detail {

inline thread_local saved_watch* watching = nullptr;

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE saved_watch::saved_watch() { detail::watching = this; }

REDCO_INLINE saved_watch::~saved_watch() { detail::watching = nullptr; }

REDCO_INLINE saved_watch::layer::layer(std::string_view component) : watch_(detail::watching) {
  if (watch_ != nullptr) watch_->here_.push_back(component);
}

REDCO_INLINE saved_watch::layer::~layer() {
  if (watch_ == nullptr) return;
  watch_->here_.pop_back();
  watch_->names_.clear();
}

REDCO_INLINE saved_watch::place saved_watch::here() {
  return detail::watching == nullptr ? place() : detail::watching->here_;
}

REDCO_INLINE saved_watch::elsewhere::elsewhere(place other) : watch_(detail::watching), back_(std::move(other)) {
  if (watch_ != nullptr) watch_->here_.swap(back_);
}

REDCO_INLINE saved_watch::elsewhere::~elsewhere() {
  if (watch_ != nullptr) watch_->here_.swap(back_);
}

REDCO_INLINE std::string saved_watch::path() const {
  std::string text;
  for (std::string_view const component : here_) text.append(text.empty() ? "" : ".").append(component);
  return text;
}

REDCO_INLINE std::vector<saved_watch::entry>::iterator saved_watch::find(at::Tensor const& x) {
  return std::ranges::find_if(entries_, [&](entry const& e) { return e.lies_with(x); });
}

REDCO_INLINE saved_link::packed saved_watch::pack(at::Tensor const& x) {
  add(x);
  return {x};
}

REDCO_INLINE void saved_watch::add(at::Tensor const& x) {
  std::string const here = path();
  auto one = find(x);
  if (one == entries_.end()) {
    auto const name = std::ranges::find(names_, x.storage().data(), &name_of_storage::data);
    one = entries_.insert(one, {x, {}, name == names_.end() ? "" : name->slot});
  }
  if (std::ranges::find(one->layers, here) == one->layers.end()) one->layers.push_back(here);
}

REDCO_INLINE void saved_watch::expect(at::Tensor const& x) {
  if (detail::watching != nullptr) detail::watching->add(x);
}

REDCO_INLINE void saved_watch::name(std::string_view slot, at::Tensor const& x) {
  saved_watch* const watch = detail::watching;
  if (watch == nullptr || !x.defined()) return;
  auto const one = watch->find(x);
  if (one == watch->entries_.end()) watch->names_.push_back({x.storage().data(), slot});
  else if (one->slot.empty() && one->layers.front() == watch->path()) one->slot = slot;
}

REDCO_INLINE void saved_watch::leave_out(at::Tensor const& x) {
  std::erase_if(entries_, [&](entry const& e) { return e.lies_with(x); });
}

REDCO_INLINE std::int64_t saved_watch::bytes() const {
  std::int64_t sum = 0;
  for (entry const& one : entries_) sum += one.bytes();
  return sum;
}

}  // namespace redco::tensors
