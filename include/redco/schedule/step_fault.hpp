#pragma once

#include <redco/schedule/step_op.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::schedule {

/// A fault in the operations of a step: its kind, rank and position.
struct step_fault {
  enum class kind : std::uint8_t {
    none,
    waits_forever,   ///< a receive without its send, or ranks that wait for different operations
    never_received,  ///< a send without its receive
    no_forward,      ///< backward of a micro-batch without an earlier forward
    no_backward,     ///< forward of a micro-batch without a later backward
    repeated,        ///< an operation on a micro-batch, a sum or the update occurs twice
    not_reduced,     ///< update without an earlier sum of every region's gradients
    not_updated,     ///< no update, or an operation after it
  };

  kind what = kind::none;
  int rank = -1;
  /// Index of the operation in the rank's list; the list's size if the operation is missing.
  std::size_t place = 0;

  constexpr explicit operator bool() const { return what != kind::none; }
  friend constexpr bool operator==(step_fault const&, step_fault const&) = default;
};

constexpr std::string_view text_of(step_fault::kind what) {
  constexpr std::string_view texts[] = {"is sound",
                                        "waits forever",
                                        "is sent and never received",
                                        "has no forward before it",
                                        "has no backward after it",
                                        "is repeated",
                                        "comes before the gradients of all regions are summed",
                                        "is not the update that ends a step"};
  return texts[static_cast<unsigned>(what)];
}

/// Returns a sentence that describes the fault.
inline std::string text_of(step_fault const& fault) {
  if (!fault) return "the step is sound";
  return "operation " + std::to_string(fault.place) + " of rank " + std::to_string(fault.rank) + " " +
         std::string(text_of(fault.what));
}

}  // namespace redco::schedule
