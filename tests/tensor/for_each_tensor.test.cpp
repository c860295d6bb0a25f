#include "torch_catch.hpp"

#include <redco/tensor/upload.hpp>

#include <any>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
