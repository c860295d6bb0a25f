#pragma once

#include <redco/data/detail/computed_iterator.hpp>
#include <redco/data/detail/shares.hpp>
#include <redco/data/examples.hpp>
#include <redco/data/sampler.hpp>
#include <redco/random/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// Options of a mixture.
struct mixture_options {
  std::vector<double> weights;  ///< Shares of the sources, in their order and any unit, above 0
  std::uint64_t seed = 42;      ///< Seed of the orders of the sources
  /// Number of examples; 0: the smallest number that has every example of every source
  std::int64_t size = 0;
};

/// A range of examples drawn from several sources by weights. Example i is a pure function of i,
/// seed, weights and sources. Among the first n examples, the number from each source differs from
/// n times its share by less than one. Each source gives its examples in a keyed random order, each
/// once before any repeats; every further pass over the source has another order. Trainers shuffle
/// the examples of an epoch, so these statements hold for the range and not for each batch.
///
///     redco::data::mixture const all({.weights = {0.7, 0.3}, .seed = 7}, web, books);
template <class Example>
class mixture {
 public:
  using iterator = detail::computed_iterator<mixture, Example>;

  /// Makes a mixture of the sources `ranges`. Refers to each lvalue, which must outlive the
  /// mixture; keeps rvalues. Shares that are not multiples of 1 / P for any P <= 1000 are rounded
  /// to multiples of 1 / 65536. Throws `error` with exit code 64 for wrong weights, and with 65 for
  /// a source without examples.
  template <class... Ranges>
    requires(sizeof...(Ranges) > 0 && (example_range<std::remove_cvref_t<Ranges>> && ...))
  explicit mixture(mixture_options const& options, Ranges&&... ranges)
      : order_(std::make_shared<detail::shares>(options.weights, sizeof...(Ranges))) {
    (add(std::forward<Ranges>(ranges), options.seed), ...);
    std::int64_t whole = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s)
      whole = std::max(whole, order_->smallest_prefix(s, sources_[s].order.size()));
    size_ = static_cast<std::size_t>(options.size > 0 ? options.size : whole);
  }

  std::size_t size() const { return size_; }

  /// Returns an example. Requires 0 <= index < size(). Thread-safe.
  Example operator[](std::ptrdiff_t index) const {
    auto const [source, position] = order_->at(index);
    entry const& from = sources_[source];
    std::int64_t const pass = position / from.order.size();
    return from.read(from.order.at(pass, position % from.order.size()));
  }

  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

  /// Returns the index of the source of an example. Requires 0 <= index < size().
  std::size_t source_of(std::int64_t index) const { return order_->at(index).source; }

 private:
  struct entry {
    sampler order;
    std::function<Example(std::int64_t)> read;
  };

  template <class Range>
  void add(Range&& range, std::uint64_t seed) {
    auto const kept = detail::kept(std::forward<Range>(range));
    std::uint64_t const own_seed = random::seed_of(seed, "mixture source " + std::to_string(sources_.size()));
    sources_.push_back({sampler(detail::count_of(*kept), own_seed),
                        [kept](std::int64_t i) { return Example(detail::example_at(*kept, i)); }});
  }

  std::shared_ptr<detail::shares const> order_;
  std::vector<entry> sources_;
  std::size_t size_ = 0;
};

template <class First, class... Rest>
mixture(mixture_options const&, First&&, Rest&&...) -> mixture<example_of<std::remove_cvref_t<First>>>;

}  // namespace redco::data
