#include "catch.hpp"

#include <redco/options/chosen_dtype.hpp>

#include <redco/diag/error.hpp>

#include <string>

TEST_CASE("the dtype is the requested one or the CPU's fastest, and f16 is refused with a cure") {
  using redco::shape::bf16_instructions, redco::options::choose_dtype, redco::dtype;
  CHECK(choose_dtype({}, bf16_instructions::amx).compute == dtype::bf16);
  CHECK(choose_dtype({}, bf16_instructions::avx512).compute == dtype::bf16);
  CHECK(choose_dtype({}, bf16_instructions::avx512).why == "this CPU multiplies it with AVX512-bf16");
  CHECK(choose_dtype({}, bf16_instructions::none).compute == dtype::f32);
  CHECK(choose_dtype({}, bf16_instructions::none).why == "this CPU has no instructions that multiply bf16");
  CHECK(choose_dtype(dtype::f64, bf16_instructions::amx).compute == dtype::f64);
  try {
    choose_dtype(dtype::f16, bf16_instructions::amx);
    FAIL("f16 is not refused");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).find("use bf16") != std::string::npos);
  }
}

TEST_CASE("the dtype on a device is the requested one, or bf16 if the device has tensor cores for it") {
  using redco::options::choose_device_dtype, redco::dtype;
  CHECK(choose_device_dtype({}, true).compute == dtype::bf16);
  CHECK(choose_device_dtype({}, true).why == "the device multiplies it on tensor cores");
  CHECK(choose_device_dtype({}, false).compute == dtype::f32);
  CHECK(choose_device_dtype(dtype::f64, true).compute == dtype::f64);
  CHECK_THROWS_AS(choose_device_dtype(dtype::f16, true), redco::error);
}
