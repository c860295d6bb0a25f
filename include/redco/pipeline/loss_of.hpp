#pragma once

#include <type_traits>
#include <utility>

namespace redco::pipelines {

/// The type that the loss function of a pipeline returns for a network and a batch.
template <class Pipeline, class Net, class Batch>
using loss_of = std::remove_cvref_t<decltype(std::declval<Pipeline const&>().loss(std::declval<Net const&>(),
                                                                                  std::declval<Batch const&>()))>;

}  // namespace redco::pipelines
