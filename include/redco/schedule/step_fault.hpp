#pragma once

#include <redco/schedule/step_op.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::schedule {

/// What is wrong with the operations of a step, and where.
struct step_fault {
  enum class kind : std::uint8_t {
    none,
    waits_forever,   ///< a receive without its send, or ranks that wait for different operations
    never_received,  ///< a send without its receive
    no_forward,      ///< backward of a micro-batch that has no forward before it
    no_backward,     ///< forward of a micro-batch that has no backward after it
    repeated,        ///< a micro-batch, a sum or the update twice
    not_reduced,     ///< an update without the sum of a region before it
    not_updated,     ///< no update, or an operation after it
  };

  kind what = kind::none;
  int rank = -1;
  std::size_t place = 0;  ///< of the operation in the rank's list; its end if the operation is missing

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

/// Returns the fault as a sentence.
inline std::string text_of(step_fault const& fault) {
  if (!fault) return "the step is sound";
  return "operation " + std::to_string(fault.place) + " of rank " + std::to_string(fault.rank) + " " +
         std::string(text_of(fault.what));
}

}  // namespace redco::schedule
