#pragma once

// Pictures of two shapes, and captions such as "a red circle above a small blue square". Captions
// with equal words differ in meaning: the relation names the place of the first shape as seen from
// the second, and the second shape is the small one. Also pictures of one shape in a corner.

#include <redco/random/uniform.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scenes {

inline constexpr int side = 32;  ///< Pixels of a picture's side
inline constexpr std::array<char const*, 3> shapes{"circle", "square", "triangle"};
inline constexpr std::array<char const*, 6> colors{"red", "green", "blue", "yellow", "purple", "white"};
inline constexpr std::array<std::array<float, 3>, 6> rgb{{{0.9F, 0.1F, 0.1F},
                                                          {0.1F, 0.7F, 0.2F},
                                                          {0.2F, 0.3F, 0.95F},
                                                          {0.95F, 0.85F, 0.1F},
                                                          {0.6F, 0.15F, 0.75F},
                                                          {0.95F, 0.95F, 0.95F}}};
inline constexpr std::array<char const*, 5> relations{"above", "below", "left of", "right of", "behind"};

/// The content of a picture. The members of a shape are indices into the lists above.
struct description {
  struct thing {
    std::size_t shape, color;
    friend constexpr bool operator==(thing, thing) = default;
  };
  thing large, small;
  std::size_t relation;  ///< Place of the large shape as seen from the small shape

  friend constexpr bool operator==(description const&, description const&) = default;

  std::string caption() const {
    auto const named = [](thing one) { return std::string(colors[one.color]) + " " + shapes[one.shape]; };
    return "a " + named(large) + " " + relations[relation] + " a small " + named(small);
  }
};

/// A picture and its description.
struct scene {
  description shown;
  std::vector<float> pixels;  ///< `[3, side, side]`: red, green and blue, 0 to 1, from the top
};

/// Returns true for a fifth of all descriptions. Held-out scenes show these descriptions, and
/// scenes to train on never do.
constexpr bool reserved(description const& d) {
  return (d.large.shape + 2 * d.large.color + 3 * d.small.shape + d.small.color + 2 * d.relation) % 5 == 0;
}

/// A source of random numbers that depend only on (seed, index).
class choices {
 public:
  choices(std::uint64_t seed, std::uint64_t index, bool held_out)
      : stream_(redco::random::make_stream(seed, redco::random::site_of("scenes"), index, held_out)) {}

  /// Returns a random integer from 0 to `count` - 1.
  std::size_t below(std::size_t count) { return redco::random::below(stream_, drawn_++, count); }
  /// Returns a random number from `least` to `most`.
  double between(double least, double most) {
    return least + (most - least) * redco::random::uniform_at(stream_, drawn_++);
  }

 private:
  redco::random::stream stream_;
  std::uint64_t drawn_ = 0;
};

/// Returns a random description: reserved if `held_out`, else not reserved.
inline description describe(choices& random, bool held_out) {
  for (;;) {
    description const d{{random.below(shapes.size()), random.below(colors.size())},
                        {random.below(shapes.size()), random.below(colors.size())},
                        random.below(relations.size())};
    if (d.large.color != d.small.color && reserved(d) == held_out) return d;
  }
}

/// Paints a shape over `pixels`, with the centre (x0, y0) and radius `r` in pixels. `light` is the
/// brightness of its color.
inline void paint(std::vector<float>& pixels, description::thing const& one, double x0, double y0, double r,
                  double light) {
  auto const covers = [&](double x, double y) {
    if (one.shape == 0) return x * x + y * y <= r * r;
    if (one.shape == 1) return std::max(std::abs(x), std::abs(y)) <= 0.88 * r;
    return y <= 0.85 * r && std::abs(x) <= 0.6 * (y + r);
  };
  // No shape reaches further than 1.2 r in one direction.
  auto const near = [&](double at) { return std::clamp(static_cast<int>(at), 0, side); };
  int const left = near(x0 - 1.2 * r), right = near(x0 + 1.2 * r + 1), bottom = near(y0 + 1.2 * r + 1);
  for (int y = near(y0 - 1.2 * r); y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      int inside_points = 0;
      for (int point = 0; point < 9; ++point)
        inside_points += covers(x + (point % 3 + 0.5) / 3 - x0, y + (point / 3 + 0.5) / 3 - y0);
      float const covered = static_cast<float>(inside_points) / 9;
      for (std::size_t plane = 0; plane < 3; ++plane) {
        float& value = pixels[plane * side * side + static_cast<std::size_t>(y * side + x)];
        value += covered * (static_cast<float>(light) * rgb[one.color][plane] - value);
      }
    }
}

/// Draws a description: sizes, places, the shade of the background and the brightness are random.
/// `grown`: pixels, 0 to 2, by which the radius of the small shape is larger. A large shape around
/// a small one grows too.
inline scene draw(description const& shown, choices& random, double grown = 0) {
  double const radius = random.between(6, 7.5) + (shown.relation == 4 ? 1.5 * grown : 0);
  double const small_radius = random.between(3.2, 4) + grown, gap = random.between(1, 3);
  double const length = 2 * (radius + gap / 2 + small_radius);
  double const start = random.between(1, side - 1 - length), across = random.between(radius + 1, side - 1 - radius);
  double const shift = random.between(-4, 4), inside = random.between(-1.5, 1.5), dark = random.between(0, 0.25);
  bool const beside = shown.relation == 2 || shown.relation == 3, last = shown.relation == 1 || shown.relation == 3;
  // Centres along the axis of the relation (x or y) and along the other axis.
  double along = last ? start + length - radius : start + radius;
  double small_along = last ? start + small_radius : start + length - small_radius, small_across = across + shift;
  if (shown.relation == 4) small_along = along + shift / 3, small_across = across + inside;
  small_across = std::clamp(small_across, small_radius + 1, side - 1 - small_radius);

  scene made{shown, std::vector<float>(3 * side * side, static_cast<float>(dark))};
  auto const put = [&](description::thing const& one, double middle, double other, double r) {
    double const light = random.between(0.85, 1);
    paint(made.pixels, one, beside ? middle : other, beside ? other : middle, r, light);
  };
  put(shown.large, along, across, radius);
  put(shown.small, small_along, small_across, small_radius);
  return made;
}

/// Returns the scene with the index `index`, a pure function of the arguments: a reserved one if
/// `held_out`. `grown`: size of the small shape, as for draw().
inline scene example(std::uint64_t seed, std::uint64_t index, bool held_out, double grown = 0) {
  choices random(seed, index, held_out);
  description const shown = describe(random, held_out);
  return draw(shown, random, grown);
}

inline constexpr std::array<char const*, 4> corners{"top left", "top right", "bottom left", "bottom right"};

/// A picture of one shape in a corner: "a red circle at the top left".
struct lone_thing {
  description::thing shown;
  std::size_t corner;         ///< Index into `corners`
  std::vector<float> pixels;  ///< `[3, side, side]`, like those of a `scene`

  std::string caption() const {
    return "a " + std::string(colors[shown.color]) + " " + shapes[shown.shape] + " at the " + corners[corner];
  }
};

/// Returns the picture of one shape with the index `index`, a pure function of the arguments. Any
/// caption can be held out, but no picture is drawn twice.
inline lone_thing lone_example(std::uint64_t seed, std::uint64_t index, bool held_out) {
  choices random(seed, index, held_out);
  lone_thing made{{random.below(shapes.size()), random.below(colors.size())}, random.below(corners.size()), {}};
  double const radius = random.between(5.5, 7.5), dark = random.between(0, 0.25);
  double const x = random.between(radius + 1, 11), y = random.between(radius + 1, 11);
  made.pixels.assign(3 * side * side, static_cast<float>(dark));
  paint(made.pixels, made.shown, made.corner % 2 == 0 ? x : side - x, made.corner < 2 ? y : side - y, radius,
        random.between(0.85, 1));
  return made;
}

}  // namespace scenes
