#pragma once

namespace redco {

/// Which curve a learning_rate follows.
enum class schedule_kind { constant, linear_decay, cosine, one_cycle, function };

}  // namespace redco
