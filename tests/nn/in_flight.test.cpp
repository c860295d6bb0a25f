#include "comm/values.hpp"
#include "nn/sharded.hpp"

#include <redco/kernel/cpu/small_product.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/model.hpp>
#include <redco/adapt/low_rank.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <ATen/record_function.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// Tests that products are computed while exchanges between shards are in flight. Each call of a
// lane ends only after the expected products have begun.

namespace in_flight_test {

using namespace redco;
using comm_test::must;

/// Counts the matrix products that a thread has begun.
class products {
 public:
  products() {
    counting = this;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&begin).scopes({at::RecordScope::FUNCTION}));
  }
  ~products() {
    at::removeCallback(handle_);
    counting = nullptr;
  }
  products(products const&) = delete;
  products& operator=(products const&) = delete;

  int begun() {
    std::lock_guard const lock(mutex_);
    return begun_;
  }
  void reset() {
    std::lock_guard const lock(mutex_);
    begun_ = 0;
  }
  /// Waits until `many` products have begun. Returns false after 20 s.
  bool reach(int many) {
    std::unique_lock lock(mutex_);
    return bell_.wait_for(lock, std::chrono::seconds(20), [&] { return begun_ >= many; });
  }

 private:
  static std::unique_ptr<at::ObserverContext> begin(at::RecordFunction const& f) {
    std::string_view const name = f.name();
    if (counting != nullptr && (name == "aten::mm" || name == "aten::addmm")) {
      std::lock_guard const lock(counting->mutex_);
      ++counting->begun_;
      counting->bell_.notify_all();
    }
    return nullptr;
  }

  static thread_local products* counting;

  at::CallbackHandle handle_;
  std::mutex mutex_;
  std::condition_variable bell_;
  int begun_ = 0;
};
thread_local products* products::counting = nullptr;

/// A call of a lane, and the number of products that its rank has begun before the call ends.
struct expected_call {
  redco::shape::collective kind;
  int products;
};

/// A group that checks its calls against the expected ones and holds each until its products have
/// begun. Another group computes the results.
class holding_group final : public redco::comm::group {
 public:
  holding_group(redco::comm::group& of, products& made)
      : group(of.rank(), of.size(), "holding"), of_(of), made_(made) {}

  void expect(std::vector<expected_call> calls) {
    must(next_ == calls_.size(), "all calls were made");
    calls_ = std::move(calls);
    next_ = 0;
    made_.reset();
  }

  void abort(exit_code code, std::string const& message) override { of_.abort(code, message); }

 private:
  void hold(redco::shape::collective kind) {
    std::string const which = "call " + std::to_string(next_) + ", " + std::string(name_of(kind));
    must(next_ < calls_.size() && calls_[next_].kind == kind, which + " is expected");
    must(made_.reach(calls_[next_].products), which + " overlaps product " + std::to_string(calls_[next_].products));
    ++next_;
  }

  void do_all_reduce(at::Tensor const& x, at::Tensor const& out, comm::reduce_op op) override {
    hold(redco::shape::collective::all_reduce);
    out.copy_(of_.all_reduced(x, op));
  }
  void do_all_gather(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    hold(redco::shape::collective::all_gather);
    // A rank that does not wait would multiply during this time
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    out.copy_(of_.all_gather(x, dim));
  }
  void do_reduce_scatter(at::Tensor const& x, at::Tensor const& out, std::int64_t dim) override {
    hold(redco::shape::collective::reduce_scatter);
    out.copy_(of_.reduce_scatter(x, dim));
  }
  void do_all_to_all(at::Tensor const&, at::Tensor const&, comm::row_counts const&) override {
    must(false, "no such call");
  }
  void do_broadcast(at::Tensor const&, int) override { must(false, "no such call"); }
  void do_send(at::Tensor const&, int, int) override { must(false, "no such call"); }
  std::unique_ptr<comm::ticket::message> do_send_later(at::Tensor const&, int, int) override {
    must(false, "no such call");
    return nullptr;
  }
  void do_recv(at::Tensor const&, int, int) override { must(false, "no such call"); }
  void do_barrier() override { must(false, "no such call"); }
  void do_meet(comm::detail::operand const&) override { must(false, "no such call"); }
  void do_begin_run() override {}

  redco::comm::group& of_;
  products& made_;
  std::vector<expected_call> calls_;
  std::size_t next_ = 0;
};

constexpr int runs = 3;  // runs of the 5 x 30 rows below, by rows and by examples

/// Appends the sums of runs that follow `before` products, with `each` products per run. A sum ends
/// after the first product of the next run has begun. The last sum does so only if a product
/// follows it (`product_follows`).
void add_sums(std::vector<expected_call>& calls, redco::shape::collective kind, int before, int each,
              bool product_follows) {
  for (int run = 1; run <= runs; ++run)
    calls.push_back({kind, before + run * each + (run < runs || product_follows ? 1 : 0)});
}

/// Appends the gathers of runs, which are all requested at once. Each but the first ends after the
/// first product of the previous run has begun.
void add_joins(std::vector<expected_call>& calls, int each) {
  for (int run = 0; run < runs; ++run)
    calls.push_back({redco::shape::collective::all_gather, run == 0 ? 0 : (run - 1) * each + 1});
}

constexpr lora_options both{.rank = 2, .targets = "up,down"};
using mlp = sequential<named<"up", linear<6, 10>>, gelu, named<"down", linear<10, 6>>>;
using split_mlp = sequential<redco::layers::split_tokens, residual<mlp>>;

/// Runs a network forward and backward on two shards, and checks the calls of its lane.
template <class Net>
void check(std::vector<expected_call> const& forward, int products_forward, std::vector<expected_call> const& backward,
           int products_backward, std::int64_t min_bytes = 1) {
  // Products are operators of ATen, which are counted
  kernel::cpu::forced_small_work const none(0);
  redco::comm::run_ranks({.tp = 2}, {}, [&](rank_context& me) {
    products made;
    holding_group held(me.world, made);
    comm::lane lane(held, me.tp, me.memory);
    lane.min_bytes = min_bytes;
    auto const net = sharded::maker_of<model_of<Net, input<30, 6>>>()(me.mesh, me.tp_index());
    pass in = redco::nn::evaluation_pass(me);
    in.shard_lane = &lane;
    at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{5, 30, 6}).requires_grad_();
    held.expect(forward);
    at::Tensor const y = net.run(in, nullptr, x);
    must(made.begun() == products_forward, "forward makes " + std::to_string(made.begun()) + " products");
    held.expect(backward);
    sharded::quadratic(y).backward();
    must(made.begun() == products_backward, "backward makes " + std::to_string(made.begun()) + " products");
    held.expect({});
    in.shard_lane = nullptr;
    must(at::allclose(y, net.run(in, nullptr, x), 1e-12, 1e-12), "the values of a pass without a lane");
  });
}

TEST_CASE("the sum of a run overlaps the products of the next run") {
  std::vector<expected_call> forward, backward;
  add_sums(forward, redco::shape::collective::all_reduce, 1, 1, false);  // after up's product
  // After down's two products, before the gradient of up's weight
  add_sums(backward, redco::shape::collective::all_reduce, 2, 1, true);
  check<mlp>(forward, 1 + runs, backward, 2 + runs + 1);
}

TEST_CASE("runs of split tokens are gathered and summed during the products of other runs") {
  std::vector<expected_call> forward, backward;
  add_joins(forward, 1);
  add_sums(forward, redco::shape::collective::reduce_scatter, runs, 1, false);
  add_joins(backward, 1);
  add_sums(backward, redco::shape::collective::reduce_scatter, runs + 1, 1, true);
  check<split_mlp>(forward, 2 * runs, backward, 2 * (runs + 1));
}

TEST_CASE("products of adapters are part of the overlapped sums and of the gradients of gathered runs") {
  std::vector<expected_call> forward, backward;
  add_sums(forward, redco::shape::collective::all_reduce, 4, 2,
           false);  // up's product and the adapter's two, and half of down's adapter
  // After down's two, its adapter's three and up's adapter's four products
  add_sums(backward, redco::shape::collective::all_reduce, 9, 1, false);
  check<redco::adapt::low_rank_adapted<both, mlp>>(forward, 4 + 2 * runs, backward, 9 + runs);
  forward.clear(), backward.clear();
  add_joins(forward, 1);
  add_sums(forward, redco::shape::collective::reduce_scatter, runs + 3, 2, false);
  add_joins(backward, 2);
  add_sums(backward, redco::shape::collective::reduce_scatter, 2 * runs + 7, 1, false);
  check<redco::adapt::low_rank_adapted<both, split_mlp>>(forward, runs + 3 + 2 * runs, backward, 2 * runs + 7 + runs);
}

TEST_CASE("messages too small for a lane's thread are exchanged between products") {
  std::int64_t const bytes = 5 * 30 * 6 * 8;
  check<mlp>({}, 2, {}, 4, bytes + 1);
  std::vector<expected_call> const whole{{redco::shape::collective::all_reduce, 2}},
      last{{redco::shape::collective::all_reduce, 4}};
  check<mlp>(whole, 2, last, 4, bytes);
}

}  // namespace in_flight_test
