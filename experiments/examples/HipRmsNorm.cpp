// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plain HIP host program, as one would write it for a GPU: loads an RMSNorm kernel that
// `kw compile "rmsnorm rows=R cols=C dtype=bf16"` made, launches it, and compares the result with
// its own. It knows nothing of Kernelwright; with LD_LIBRARY_PATH set to the build's lib folder it
// runs on the emulator.
//
//   hip_rmsnorm CODE_OBJECT.hsaco KERNEL ROWS COLS
#include <hip/hip_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (const hipError_t status = (call); status != hipSuccess) {                                  \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));                          \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

namespace {

using Bf16 = std::uint16_t;

float toFloat(Bf16 bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

/// Cuts instead of rounding: inputs are what they are.
Bf16 toBf16(float value) {
  std::uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  return static_cast<Bf16>(wide >> 16);
}

std::vector<Bf16> values(std::size_t count, float scale) {
  std::vector<Bf16> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = toBf16(scale * std::sin(0.7f * static_cast<float>(i) + 0.3f));
  }
  return result;
}

/// Elements of y that are further off than half a unit in the last place of bf16 allows.
int countWrong(const std::vector<Bf16> &x, const std::vector<Bf16> &weight,
               const std::vector<Bf16> &y, int rows, int cols, float eps) {
  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int col = 0; col < cols; ++col) {
      const double value = toFloat(x[row * cols + col]);
      sum += value * value;
    }
    for (int col = 0; col < cols; ++col) {
      const double exact = toFloat(x[row * cols + col]) / std::sqrt(sum / cols + eps) *
                           static_cast<double>(toFloat(weight[col]));
      wrong += !(std::abs(toFloat(y[row * cols + col]) - exact) <= std::abs(exact) / 250 + 1e-30);
    }
  }
  return wrong;
}

void *upload(const std::vector<Bf16> &host) {
  void *device = nullptr;
  CHECK(hipMalloc(&device, host.size() * sizeof(Bf16)));
  CHECK(hipMemcpy(device, host.data(), host.size() * sizeof(Bf16), hipMemcpyHostToDevice));
  return device;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "hip_rmsnorm CODE_OBJECT.hsaco KERNEL ROWS COLS\n");
    return 2;
  }
  int rows = std::atoi(argv[3]);
  const int cols = std::atoi(argv[4]);
  float eps = 1e-6f;
  const std::size_t count = static_cast<std::size_t>(rows) * cols;

  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  std::printf("device: %s, %d compute units\n", properties.name, properties.multiProcessorCount);

  const std::vector<Bf16> x = values(count, 3), weight = values(cols, 2);
  std::vector<Bf16> y(count, 0xffff);
  void *xDevice = upload(x), *weightDevice = upload(weight), *yDevice = upload(y);

  hipModule_t module;
  hipFunction_t kernel;
  CHECK(hipModuleLoad(&module, argv[1]));
  CHECK(hipModuleGetFunction(&kernel, module, argv[2]));
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));

  void *arguments[] = {&xDevice, &weightDevice, &yDevice, &rows, &eps};
  CHECK(hipEventRecord(start, nullptr));
  CHECK(hipModuleLaunchKernel(kernel, rows, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipEventRecord(stop, nullptr));
  CHECK(hipEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(hipMemcpy(y.data(), yDevice, y.size() * sizeof(Bf16), hipMemcpyDeviceToHost));

  const int wrong = countWrong(x, weight, y, rows, cols, eps);
  std::printf("%d of %zu elements wrong\n", wrong, count);
  for (void *device : {xDevice, weightDevice, yDevice}) {
    CHECK(hipFree(device));
  }
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipModuleUnload(module));
  return wrong == 0 ? 0 : 1;
}
