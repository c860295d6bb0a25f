#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>

#include <redco/shape/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::fact::detail {

/// The checks by which a layer type compares its sizes with its input, a part of the `recorder`.
/// They record the first mistake in the program instead of throwing, so that the same code runs at
/// compile time.
class size_checks {
 public:
  flow activation;  ///< Current activation, the input of the layer that is declared next

  /// Returns the path of the layer that is being declared.
  constexpr path const& here() const { return here_; }

  /// Checks a size of the current layer and returns it. `name` is for messages, such as "heads". If
  /// `extent` is below `least`, records the mistake `rule` and returns `least`, so that recording
  /// continues.
  constexpr std::int64_t size(std::string_view name, std::int64_t extent, std::int64_t least = 1,
                              mistake rule = mistake::size) {
    if (extent >= least) return extent;
    refuse({.kind = rule, .wanted = least, .found = extent, .reader = here_}, name);
    return least;
  }

  /// Checks that a size of the current layer is a multiple of another. `name` is the name of the
  /// size `extent`, and `by` the name of the size `divisor`. If it is no multiple, records a
  /// mistake.
  constexpr void multiple(std::string_view name, std::int64_t extent, std::string_view by, std::int64_t divisor) {
    if (extent < 1 || divisor < 1 || extent % divisor == 0) return;
    mistake_fact m{.kind = mistake::divisor, .wanted = divisor, .found = extent, .reader = here_};
    m.by.push(by);
    refuse(m, name);
  }

  /// Checks that the current activation has `rank` dimensions: 2 [batch, ids], 3 [batch, tokens,
  /// features], 4 [batch, channels, height, width]. Otherwise records a mistake and returns false;
  /// then the layer must declare nothing more.
  [[nodiscard]] constexpr bool expect_rank(int rank) { return expect_rank(activation, rank); }
  [[nodiscard]] constexpr bool expect_rank(flow& input, int rank) {
    if (input.shape.rank == 2 && rank == 3 && is_open(input)) input.shape.push(1);
    if (input.shape.rank == rank) return true;
    refuse_input(mistake::rank, "", rank, input.shape.rank, input.made);
    return false;
  }

  /// Checks that the current activation has `extent` elements along dimension `dim`; otherwise
  /// records a mistake. `name` is the name of the dimension, such as "features" or "channels".
  constexpr void expect(std::string_view name, int dim, std::int64_t extent) { expect(activation, name, dim, extent); }
  constexpr void expect(flow const& input, std::string_view name, int dim, std::int64_t extent) {
    if (input.shape[dim] != extent) refuse_input(mistake::width, name, extent, input.shape[dim], input.made);
  }

  /// Checks that the last dimension of the current activation has `features` elements; otherwise
  /// records a mistake. If the model does not declare its input and this is the input, sets the
  /// number of features.
  constexpr void expect_features(std::int64_t features) {
    if (is_open(activation)) activation.shape[-1] = features;
    expect("features", -1, features);
  }

  /// Checks that the current activation has the shape of `other`, because it is added to `other` or
  /// is the input of an equal block; otherwise records a mistake.
  constexpr void expect_like(flow const& other) {
    extents const &input = activation.shape, &wanted = other.shape;
    if (input == wanted || is_open(other)) return;
    int dim = input.rank - 1;
    while (input.rank == wanted.rank && input[dim] == wanted[dim]) --dim;
    bool const width = input.rank == wanted.rank;
    refuse({.kind = width ? mistake::width : mistake::rank,
            .wanted = width ? wanted[dim] : wanted.rank,
            .found = width ? input[dim] : input.rank,
            .reader = maker(other.made),
            .producer = maker(activation.made),
            .makers = {other.made, activation.made}},
           !width                                    ? ""
           : dim == input.rank - 1 && input.rank < 4 ? "features"
           : dim == 1                                ? "channels"
                                                     : "positions");
  }

 protected:
  /// If `stated` is false, the model does not declare its input.
  constexpr explicit size_checks(bool stated) : stated_(stated) {}

  static constexpr bool is_input(flow const& f) { return f.id == 0; }
  /// Returns true if `f` is the model's input and the model does not declare its number of
  /// features.
  constexpr bool is_open(flow const& f) const { return is_input(f) && !stated_; }

  /// Returns the number of features in the last dimension, or of channels for an image [batch,
  /// channels, height, width].
  static constexpr std::int64_t width_of(extents const& shape) { return shape[shape.rank == 4 ? 1 : -1]; }

  /// Returns the path of the layer that gave a tensor its number of features, for error messages.
  /// `made` is the tensor's member flow::made; the path is empty for the model's input.
  constexpr path maker(int made) const {
    if (made == 0) return {};
    return program_.layers[static_cast<std::size_t>(makers_[static_cast<std::size_t>(made - 1)])];
  }

  constexpr void refuse_input(mistake kind, std::string_view of, std::int64_t wanted, std::int64_t found, int made) {
    refuse({.kind = kind,
            .wanted = wanted,
            .found = found,
            .reader = here_,
            .producer = maker(made),
            .makers = {-1, made}},
           of);
  }

  constexpr void check_length(path const& name) {
    if (name.missing == 0) return;
    refuse({.kind = mistake::depth,
            .wanted = static_cast<std::int64_t>(path::capacity),
            .found = static_cast<std::int64_t>(name.size + name.missing),
            .reader = name},
           "characters in the path of a layer");
  }

  /// Records a mistake about the size named `of`. Keeps the first mistake. But a wrong number of
  /// dimensions replaces a wrong size, because it prevents a layer from declaring the rest.
  constexpr void refuse(mistake_fact m, std::string_view of) {
    m.of.push(of);
    mistake_fact& first = program_.mistake;
    if (!first || (first.kind == mistake::width && m.kind == mistake::rank)) first = m;
  }

  program program_;
  path here_;  ///< Path of the layer that is being declared
  /// Indices in program::layers of layers that changed the number of features
  std::vector<int> makers_;

 private:
  bool stated_;
};

}  // namespace redco::fact::detail
