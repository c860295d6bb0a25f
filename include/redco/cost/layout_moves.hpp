#pragma once

namespace redco::cost {

/// The number of collectives in one forward or backward pass, and their number of elements per
/// token, as moves_of() counts them. In a ring of n ranks, each rank sends `numbers` * (n - 1) / n
/// elements per token.
struct layout_moves {
  int calls = 0;
  double numbers = 0;

  constexpr void add(double factor, double width) {
    if (factor > 0 && width > 0) ++calls, numbers += factor * width;
  }
  constexpr layout_moves& operator+=(layout_moves const& other) {
    calls += other.calls;
    numbers += other.numbers;
    return *this;
  }
};

/// The collectives of forward and the collectives of backward, as moves_of() counts them.
struct pass_moves {
  layout_moves forward, backward;

  constexpr pass_moves& operator+=(pass_moves const& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};

}  // namespace redco::cost
