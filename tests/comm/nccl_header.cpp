// Compares every type, number and function of detail/nccl_api.hpp with NCCL's header, at compile
// time.

#include <redco/comm/detail/nccl_api.hpp>

#include <nccl.h>

#include <cstddef>
#include <type_traits>

namespace ours = redco::comm::detail::nccl;

namespace {

/// True if both types are passed in the same way. A pointee is compared if redco reads or writes
/// it.
template <class Ours, class Theirs>
constexpr bool alike() {
  using left = std::remove_cv_t<Ours>;
  using right = std::remove_cv_t<Theirs>;
  if constexpr (std::is_same_v<left, right>) return true;
  else if constexpr (std::is_same_v<left, ours::stream>) return std::is_same_v<right, cudaStream_t>;
  else if constexpr (std::is_same_v<left, ours::communicator>) return std::is_same_v<right, ncclComm_t>;
  else if constexpr (std::is_same_v<left, ours::result>)
    return std::is_same_v<right, ncclResult_t> && std::is_same_v<std::underlying_type_t<right>, unsigned>;
  else if constexpr (std::is_same_v<left, ours::reduction>)
    return std::is_same_v<right, ncclRedOp_t> && std::is_same_v<std::underlying_type_t<right>, unsigned>;
  else if constexpr (std::is_same_v<left, ours::data_type>)
    return std::is_same_v<right, ncclDataType_t> && std::is_same_v<std::underlying_type_t<right>, unsigned>;
  else if constexpr (std::is_same_v<left, ours::unique_id>)
    return std::is_same_v<right, ncclUniqueId> && sizeof(left) == sizeof(right) && alignof(left) == alignof(right) &&
           std::is_trivially_copyable_v<left> && std::is_trivially_copyable_v<right>;
  else if constexpr (std::is_same_v<left, ours::config>) return std::is_same_v<right, ncclConfig_t>;
  else if constexpr (std::is_pointer_v<left> && std::is_pointer_v<right>)
    return std::is_const_v<std::remove_pointer_t<left>> == std::is_const_v<std::remove_pointer_t<right>> &&
           alike<std::remove_pointer_t<left>, std::remove_pointer_t<right>>();
  else return false;
}

template <class Ours, class Theirs>
struct same_call : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct same_call<R(A...), S(B...)> : std::bool_constant<alike<R, S>() && (alike<A, B>() && ...)> {};

static_assert(same_call<ours::get_version, decltype(ncclGetVersion)>::value);
static_assert(same_call<ours::get_unique_id, decltype(ncclGetUniqueId)>::value);
static_assert(same_call<ours::init_rank, decltype(ncclCommInitRankConfig)>::value);
static_assert(same_call<ours::abort, decltype(ncclCommAbort)>::value);
static_assert(same_call<ours::get_async_error, decltype(ncclCommGetAsyncError)>::value);
static_assert(same_call<ours::get_error_string, decltype(ncclGetErrorString)>::value);
static_assert(same_call<ours::get_last_error, decltype(ncclGetLastError)>::value);
static_assert(same_call<ours::group_edge, decltype(ncclGroupStart)>::value);
static_assert(same_call<ours::group_edge, decltype(ncclGroupEnd)>::value);
static_assert(same_call<ours::all_reduce, decltype(ncclAllReduce)>::value);
static_assert(same_call<ours::all_gather, decltype(ncclAllGather)>::value);
static_assert(same_call<ours::reduce_scatter, decltype(ncclReduceScatter)>::value);
static_assert(same_call<ours::broadcast, decltype(ncclBroadcast)>::value);
static_assert(same_call<ours::send, decltype(ncclSend)>::value);
static_assert(same_call<ours::recv, decltype(ncclRecv)>::value);
static_assert(!same_call<ours::send, decltype(ncclRecv)>::value,
              "the comparison distinguishes pointers to written and to read memory");
static_assert(!same_call<ours::send, decltype(ncclBroadcast)>::value);

constexpr bool equal(unsigned a, unsigned b) { return a == b; }
static_assert(equal(ours::success, ncclSuccess) && equal(ours::invalid_argument, ncclInvalidArgument));
static_assert(equal(ours::invalid_usage, ncclInvalidUsage) && equal(ours::remote_error, ncclRemoteError));
static_assert(equal(ours::in_progress, ncclInProgress) && equal(ours::sum, ncclSum));
static_assert(equal(ours::uint8, ncclUint8) && equal(ours::int32, ncclInt32) && equal(ours::int64, ncclInt64));
static_assert(equal(ours::float16, ncclFloat16) && equal(ours::float32, ncclFloat32));
static_assert(equal(ours::float64, ncclFloat64) && equal(ours::bfloat16, ncclBfloat16));

/// NCCL reads as many bytes of a configuration as its `size` says, if its number and version are
/// right.
static_assert(offsetof(ours::config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(ours::config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(ours::config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(ours::config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(sizeof(ours::config) <= sizeof(ncclConfig_t) && ours::config{}.magic == NCCL_API_MAGIC);
static_assert(ours::config{}.version == NCCL_VERSION(2, 14, 0) && ours::first_version == NCCL_VERSION(2, 18, 0));

}  // namespace
