#pragma once

#include <redco/pipeline/collate_info.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <span>
#include <utility>

namespace redco::pipelines {

/// The type of batch that the collate function of `Pipeline` makes from examples of type `Example`.
template <class Pipeline, class Example>
using batch_of =
    decltype(std::declval<Pipeline const&>().collate(std::declval<std::span<Example const> const&>(), collate_info{}));

}  // namespace redco::pipelines
