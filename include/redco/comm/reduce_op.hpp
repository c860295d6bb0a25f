#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

namespace redco::comm {

/// An operation that combines the elements of all ranks. The results of max and min are NaN if any
/// rank's element is NaN.
enum class reduce_op : std::uint8_t { sum, max, min };

inline constexpr auto reduce_op_texts = meta::enum_texts<reduce_op>({
    {reduce_op::sum, "sum"},
    {reduce_op::max, "max"},
    {reduce_op::min, "min"},
});

/// Returns the name of the operation for messages: "sum", "max" or "min".
constexpr std::string_view name_of(reduce_op op) { return reduce_op_texts.text_of(op); }

}  // namespace redco::comm
