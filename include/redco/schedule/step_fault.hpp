#pragma once

#include <redco/meta/enum_texts.hpp>
#include <redco/schedule/step_op.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace redco::schedule {

/// A fault in the operations that ranks execute in an optimizer step: kind of fault, rank, and
/// position in the rank's list of operations.
struct step_fault {
  enum class kind : std::uint8_t {
    none,
    /// Fault: a receive has no matching send, or ranks wait for different operations.
    waits_forever,
    never_received,  ///< Fault: a send has no matching receive
    no_forward,      ///< Fault: a backward has no earlier forward of its micro-batch
    no_backward,     ///< Fault: a forward has no later backward of its micro-batch
    repeated,        ///< Fault: an operation other than send and receive occurs twice
    not_reduced,     ///< Fault: the update precedes the sum of some parameters' gradients
    not_updated,     ///< Fault: the update is missing, or an operation follows the update
  };

  kind what = kind::none;
  int rank = -1;
  /// Index of the faulty operation in the rank's list, or the size of the list if the operation is
  /// missing.
  std::size_t place = 0;

  constexpr explicit operator bool() const { return what != kind::none; }
  friend constexpr bool operator==(step_fault const&, step_fault const&) = default;
};

inline constexpr auto step_fault_texts = meta::enum_texts<step_fault::kind>({
    {step_fault::kind::none, "is sound"},
    {step_fault::kind::waits_forever, "waits forever"},
    {step_fault::kind::never_received, "is sent and never received"},
    {step_fault::kind::no_forward, "has no forward before it"},
    {step_fault::kind::no_backward, "has no backward after it"},
    {step_fault::kind::repeated, "is repeated"},
    {step_fault::kind::not_reduced, "comes before the gradients of all regions are summed"},
    {step_fault::kind::not_updated, "is not the update that ends a step"},
});

/// Returns a sentence that describes a fault in the operations of a step, for error messages.
inline std::string text_of(step_fault const& fault) {
  if (!fault) return "the step is sound";
  return "operation " + std::to_string(fault.place) + " of rank " + std::to_string(fault.rank) + " " +
         std::string(step_fault_texts.text_of(fault.what));
}

}  // namespace redco::schedule
