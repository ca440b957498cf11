// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Resources.h"

#include "codegen/HsacoFile.h"
#include "ir/Occupancy.h"
#include "ir/Target.h"

#include <algorithm>
#include <cstring>
#include <llvm/Support/AMDHSAKernelDescriptor.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

/// The document is decoded as JSON: LLVM's reader aborts on damaged maps.
using Json = nlohmann::json;

std::int64_t integer(const Json &map, const char *key) {
  const auto entry = map.find(key);
  return entry != map.end() && entry->is_number_integer() ? entry->get<std::int64_t>() : 0;
}

std::string string(const Json &map, const char *key) {
  const auto entry = map.find(key);
  return entry != map.end() && entry->is_string() ? entry->get<std::string>() : std::string();
}

/// The metadata counts VGPRs and AGPRs together; the descriptor says where the AGPRs begin, which
/// is the VGPRs rounded up to 4.
int vgprCount(const Json &kernel, std::span<const std::uint8_t> descriptorBytes) {
  const auto total = static_cast<int>(integer(kernel, ".vgpr_count"));
  const auto agprs = static_cast<int>(integer(kernel, ".agpr_count"));
  if (agprs == 0) {
    return total;
  }
  llvm::amdhsa::kernel_descriptor_t descriptor;
  std::memcpy(&descriptor, descriptorBytes.data(), sizeof(descriptor));
  const std::uint32_t rsrc3 = descriptor.compute_pgm_rsrc3;
  const int accumOffset =
      4 * (1 + AMDHSA_BITS_GET(rsrc3, llvm::amdhsa::COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET));
  return std::min(total - agprs, accumOffset);
}

/// 0 on a GPU of which no facts are known.
int occupancyOf(const KernelResources &resources, const Json &kernel, const std::string &cpu) {
  const Expected<const Target *> target = findTarget(cpu);
  if (!target) {
    return 0;
  }
  const std::int64_t workItems = integer(kernel, ".max_flat_workgroup_size");
  const auto waves = static_cast<int>((workItems + (*target)->waveSize - 1) / (*target)->waveSize);
  return occupancy(**target, resources.vgpr, resources.agpr, resources.ldsBytes,
                   std::max(waves, 1));
}

Expected<KernelResources> readKernel(const Json &kernel, const HsacoFile &file) {
  KernelResources resources;
  resources.kernel = string(kernel, ".name");
  auto section =
      std::find_if(file.kernels.begin(), file.kernels.end(), [&](const KernelSection &candidate) {
        return candidate.name == resources.kernel;
      });
  if (section == file.kernels.end()) {
    return badInput("damaged code object: no descriptor of kernel '" + resources.kernel + "'");
  }
  resources.agpr = static_cast<int>(integer(kernel, ".agpr_count"));
  resources.vgpr = vgprCount(kernel, section->descriptor);
  resources.sgpr = static_cast<int>(integer(kernel, ".sgpr_count"));
  resources.vgprSpills = static_cast<int>(integer(kernel, ".vgpr_spill_count"));
  resources.sgprSpills = static_cast<int>(integer(kernel, ".sgpr_spill_count"));
  resources.ldsBytes = integer(kernel, ".group_segment_fixed_size");
  resources.scratchBytes = integer(kernel, ".private_segment_fixed_size");
  resources.kernargBytes = integer(kernel, ".kernarg_segment_size");
  resources.occupancy = occupancyOf(resources, kernel, file.cpu);
  return resources;
}

} // namespace

Expected<std::vector<KernelResources>> readResources(std::span<const std::uint8_t> hsaco) {
  Expected<HsacoFile> file = parseHsaco(hsaco);
  if (!file) {
    return tl::unexpected(file.error());
  }
  const Json document = Json::from_msgpack(file->metadata, /*strict=*/true,
                                           /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return badInput("damaged code object: its metadata note cannot be read");
  }
  const auto kernels = document.find("amdhsa.kernels");
  if (kernels == document.end() || !kernels->is_array()) {
    return badInput("damaged code object: its metadata lists no kernels");
  }
  std::vector<KernelResources> result;
  for (const Json &kernel : *kernels) {
    if (!kernel.is_object()) {
      return badInput("damaged code object: a kernel's metadata is not a map");
    }
    Expected<KernelResources> resources = readKernel(kernel, *file);
    if (!resources) {
      return tl::unexpected(resources.error());
    }
    result.push_back(std::move(*resources));
  }
  return result;
}

} // namespace kw
