#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/exit_code.hpp>

#include <cstdint>
#include <string>

namespace redco::run {

/// Compares an epoch's examples between all ranks, which must call it before each epoch. Ranks with
/// different numbers of steps would wait for each other forever. Throws `error` with exit code 65
/// on every rank if the numbers of examples or the digests differ.
inline void check_same_examples(comm::group& world, std::int64_t examples, std::string const& digest,
                                std::int64_t epoch) {
  comm::agreement data("training examples in epoch " + std::to_string(epoch + 1),
                       "train_of_epoch must give every rank the same ones", exit_code::data);
  data.add("their number", std::to_string(examples));
  data.add("the digest of the first and the last", digest);
  data.check(world);
}

}  // namespace redco::run
