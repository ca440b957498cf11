// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Resources.h"

#include "codegen/HsacoFile.h"
#include "ir/Occupancy.h"
#include "ir/Target.h"

#include <algorithm>
#include <cstring>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Support/AMDHSAKernelDescriptor.h>
#include <optional>

namespace kw {
namespace {

namespace msgpack = llvm::msgpack;

msgpack::DocNode *find(msgpack::MapDocNode &map, llvm::StringRef key) {
  auto entry = map.find(key);
  return entry == map.end() ? nullptr : &entry->second;
}

std::optional<std::int64_t> integer(msgpack::MapDocNode &map, llvm::StringRef key) {
  msgpack::DocNode *node = find(map, key);
  if (node && node->getKind() == msgpack::Type::UInt) {
    return static_cast<std::int64_t>(node->getUInt());
  }
  if (node && node->getKind() == msgpack::Type::Int) {
    return node->getInt();
  }
  return std::nullopt;
}

std::string string(msgpack::MapDocNode &map, llvm::StringRef key) {
  msgpack::DocNode *node = find(map, key);
  return node && node->isString() ? node->getString().str() : std::string();
}

/// The metadata counts VGPRs and AGPRs together; the descriptor says where the AGPRs begin, which
/// is the VGPRs rounded up to 4.
int agprCount(msgpack::MapDocNode &kernel) {
  return static_cast<int>(integer(kernel, ".agpr_count").value_or(0));
}

int vgprCount(msgpack::MapDocNode &kernel, std::span<const std::uint8_t> descriptorBytes) {
  const int total = static_cast<int>(integer(kernel, ".vgpr_count").value_or(0));
  if (agprCount(kernel) == 0) {
    return total;
  }
  llvm::amdhsa::kernel_descriptor_t descriptor;
  std::memcpy(&descriptor, descriptorBytes.data(), sizeof(descriptor));
  const std::uint32_t rsrc3 = descriptor.compute_pgm_rsrc3;
  const int accumOffset =
      4 * (1 + AMDHSA_BITS_GET(rsrc3, llvm::amdhsa::COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET));
  return std::min(total - agprCount(kernel), accumOffset);
}

/// 0 on a GPU of which no facts are known.
int occupancyOf(const KernelResources &resources, msgpack::MapDocNode &kernel,
                const std::string &cpu) {
  const Expected<const Target *> target = findTarget(cpu);
  if (!target) {
    return 0;
  }
  const std::int64_t workItems = integer(kernel, ".max_flat_workgroup_size").value_or(0);
  const auto waves = static_cast<int>((workItems + (*target)->waveSize - 1) / (*target)->waveSize);
  return occupancy(**target, resources.vgpr, resources.agpr, resources.ldsBytes,
                   std::max(waves, 1));
}

Expected<KernelResources> readKernel(msgpack::MapDocNode &kernel, const HsacoFile &file) {
  KernelResources resources;
  resources.kernel = string(kernel, ".name");
  auto section =
      std::find_if(file.kernels.begin(), file.kernels.end(), [&](const KernelSection &candidate) {
        return candidate.name == resources.kernel;
      });
  if (section == file.kernels.end()) {
    return badInput("damaged code object: no descriptor of kernel '" + resources.kernel + "'");
  }
  resources.agpr = agprCount(kernel);
  resources.vgpr = vgprCount(kernel, section->descriptor);
  resources.sgpr = static_cast<int>(integer(kernel, ".sgpr_count").value_or(0));
  resources.vgprSpills = static_cast<int>(integer(kernel, ".vgpr_spill_count").value_or(0));
  resources.sgprSpills = static_cast<int>(integer(kernel, ".sgpr_spill_count").value_or(0));
  resources.ldsBytes = integer(kernel, ".group_segment_fixed_size").value_or(0);
  resources.scratchBytes = integer(kernel, ".private_segment_fixed_size").value_or(0);
  resources.kernargBytes = integer(kernel, ".kernarg_segment_size").value_or(0);
  resources.occupancy = occupancyOf(resources, kernel, file.cpu);
  return resources;
}

} // namespace

Expected<std::vector<KernelResources>> readResources(std::span<const std::uint8_t> hsaco) {
  Expected<HsacoFile> file = parseHsaco(hsaco);
  if (!file) {
    return tl::unexpected(file.error());
  }
  msgpack::Document document;
  const llvm::StringRef metadata(file->metadata.data(), file->metadata.size());
  if (!document.readFromBlob(metadata, /*Multi=*/false) || !document.getRoot().isMap()) {
    return badInput("damaged code object: its metadata note cannot be read");
  }
  msgpack::DocNode *kernels = find(document.getRoot().getMap(), "amdhsa.kernels");
  if (!kernels || !kernels->isArray()) {
    return badInput("damaged code object: its metadata lists no kernels");
  }
  std::vector<KernelResources> result;
  for (msgpack::DocNode &node : kernels->getArray()) {
    if (!node.isMap()) {
      return badInput("damaged code object: a kernel's metadata is not a map");
    }
    Expected<KernelResources> resources = readKernel(node.getMap(), *file);
    if (!resources) {
      return tl::unexpected(resources.error());
    }
    result.push_back(std::move(*resources));
  }
  return result;
}

} // namespace kw
