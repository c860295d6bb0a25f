#include "torch_catch.hpp"

#include "tested_device.hpp"

#include <redco/tensor/device.hpp>
#include <redco/tensor/upload.hpp>

#include <any>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct uploaded_batch {
  at::Tensor ids, labels;
  std::vector<at::Tensor> more;
};

at::Tensor sample() { return at::arange(24, at::kLong).view({4, 6}); }

}  // namespace

TEST_CASE("CPU code finds the source of a tensor and its views until one of them is written to") {
  at::Tensor const here = sample(), there = here.clone();
  redco::tensors::cpu_copies known;
  known.add(there, here);
  CHECK(known.find(there)->is_alias_of(here));
  at::Tensor const view = there.narrow(0, 1, 2).narrow(1, 2, 3).t();
  auto const found = known.find(view);
  REQUIRE(found);
  CHECK(found->is_alias_of(here));
  CHECK(at::equal(*found, view));
  CHECK(!known.find(sample()));
  CHECK(!known.find(there.view(at::kDouble)));
  there.add_(1);
  CHECK(!known.find(there));
  CHECK(!known.find(view));
  known.add(there, here);
  known.clear();
  CHECK(!known.find(there));
}

TEST_CASE("a part of a larger tensor is found at its own offset") {
  at::Tensor const whole = sample(), there = whole.clone().narrow(0, 1, 3), here = whole.narrow(0, 1, 3);
  redco::tensors::cpu_copies known;
  known.add(there, here);
  CHECK(at::equal(*known.find(there.narrow(0, 2, 1)), whole.narrow(0, 3, 1)));
  at::Tensor const other = sample().t().contiguous().t();
  known.add(other, here);
  CHECK(!known.find(other));
}

TEST_CASE("a batch that a thread has sent to a device arrives there, and to_cpu reads the CPU copy") {
  at::Device const device = tested_device() == redco::tensors::cpu_device() ? at::Device(at::kMeta) : tested_device();
  uploaded_batch batch{sample().narrow(1, 0, 5), sample().narrow(1, 1, 5), {sample(), at::Tensor()}};
  redco::tensors::upload way;
  std::thread([&] { way = redco::tensors::upload(batch, device); }).join();
  way.arrive();
  CHECK(batch.ids.device().type() == device.type());
  CHECK(!batch.more[1].defined());
  CHECK(at::equal(redco::tensors::to_cpu(batch.ids), sample().narrow(1, 0, 5)));
  CHECK(at::equal(redco::tensors::to_cpu(batch.labels.flatten()), sample().narrow(1, 1, 5).flatten()));
  CHECK(at::equal(redco::tensors::to_cpu(batch.more[0]), sample()));
  if (!device.is_meta()) CHECK(at::equal(batch.labels.to(at::kCPU), sample().narrow(1, 1, 5)));
  redco::tensors::upload().arrive();
  CHECK(!redco::tensors::cpu_copies::of_thread().find(batch.ids));
}

namespace {

struct moved_part {
  at::Tensor mask;
  std::optional<at::Tensor> weights, none;
};

struct moved_batch {
  at::Tensor ids, undefined;
  std::vector<moved_part> parts;
  std::pair<int, at::Tensor> numbered;
  std::map<std::string, at::Tensor> named;
  std::array<at::Tensor, 2> both;
  std::string text;
  std::vector<bool> flags;
  std::string_view seen;
  at::Tensor pair[2];
};

struct inherits : moved_part {
  at::Tensor own;
};

class with_constructor {
 public:
  explicit with_constructor(at::Tensor x) : x_(std::move(x)) {}
  at::Tensor const& x() const { return x_; }

 private:
  at::Tensor x_;
};

void to_meta(at::Tensor& x) { x = x.to(at::kMeta); }

}  // namespace

TEST_CASE("all tensors of a batch are found at any depth") {
  at::Tensor const x = at::ones({2});
  moved_batch batch{x, {}, {{x, x, {}}, {x, {}, {}}}, {1, x}, {{"a", x}}, {x, x}, "text", {true}, "seen", {x, x}};
  redco::tensors::for_each_tensor(batch, to_meta);
  std::vector<at::Tensor> const all{batch.ids,           batch.parts[0].mask,   *batch.parts[0].weights,
                                    batch.parts[1].mask, batch.numbered.second, batch.named.at("a"),
                                    batch.both[1],       batch.pair[1]};
  for (at::Tensor const& one : all) CHECK(one.is_meta());
  CHECK(!batch.undefined.defined());
  CHECK(!batch.parts[0].none);
  CHECK(x.is_cpu());
  at::Tensor alone = x;
  redco::tensors::for_each_tensor(alone, to_meta);
  CHECK(alone.is_meta());
}

TEST_CASE("a member that cannot be visited stays unchanged") {
  at::Tensor const x = at::ones({2});
  inherits derived{{x, {}, {}}, x};
  redco::tensors::for_each_tensor(derived, to_meta);
  CHECK(derived.own.is_cpu());
  with_constructor closed(x);
  redco::tensors::for_each_tensor(closed, to_meta);
  CHECK(closed.x().is_cpu());
  std::any any = x;
  redco::tensors::for_each_tensor(any, to_meta);
  auto shared = std::make_shared<at::Tensor>(x);
  redco::tensors::for_each_tensor(shared, to_meta);
  CHECK(shared->is_cpu());
}
