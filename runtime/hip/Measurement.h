// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times the launches of a manifest on the first GPU that HIP offers: warm-up, events, operands that
// come from memory and not from a cache, median and spread.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"
#include "runtime/Device.h"
#include "runtime/hip/HipLibrary.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kw {

struct MeasureOptions {
  int warmUps = 10;  ///< repetitions before the first sample
  int samples = 100; ///< at least 1
  /// All buffers lie in device memory several times and repetitions take turns, so that a sample
  /// finds its operands in no cache: together at least this many bytes, twice the Infinity Cache of
  /// 256 MB [gfx950.md 1], unless fewer sets do for every repetition to have its own.
  std::int64_t rotatedBytes = std::int64_t{512} << 20;
  /// A sample is as many repetitions back to back as take about this long (at most 100), since an
  /// event itself costs microseconds.
  double sampleMicroseconds = 200;
  double limitSeconds = defaultLimitSeconds; ///< for each copy and each sample
};

/// Times in microseconds, of one repetition: all launches of the manifest, in order.
struct Measurement {
  HipDeviceInfo device;
  std::vector<double> samples; ///< in the order taken
  int warmUps = 0, repetitionsPerSample = 0;
  int sets = 0; ///< copies of all buffers that were rotated through
  std::int64_t bytesPerSet = 0;

  /// The value below which this share of the samples lies (nearest rank); 0.5: the median.
  double quantile(double share) const;
};

/// In a process of its own (Disposable.h). `buffers`: initial contents, in the manifest's order,
/// which stay as they are. badInput: code for another architecture. failed(): no GPU or library,
/// HIP's own words, or a launch that did not end within the limit. Whoever stores the result must
/// look at device.isEmulator: its times are not a GPU's.
Expected<Measurement> measure(const CodeObject &object, std::span<const BufferView> buffers,
                              const MeasureOptions &options = {});

} // namespace kw
