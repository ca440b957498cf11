// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of Inductor's Triton templates for GEMM: what their lowering and Triton's AMD backend
// refuse, what would not fit the GPU in any known version of Triton, and what would spill.
#include "ir/generators/TritonKernel.h"
#include "ir/rules/Rules.h"

#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

const TritonGemmSchedule &triton(const Schedule &schedule) {
  return std::get<TritonGemmSchedule>(schedule);
}

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf({Family::gemm, Generator::triton}, names);
}

constexpr int smallestBlock = 16; ///< rows of the smallest matrix instruction

bool isBlock(int size) {
  return size >= smallestBlock && std::has_single_bit(static_cast<unsigned>(size));
}

template <auto block> Rule blockRule(std::string_view name, std::string_view decision) {
  return {
      name, reads({decision}),
      [](const Problem &, const Schedule &s, const Target &) { return isBlock(triton(s).*block); },
      [](const Problem &, const Schedule &s, const Target &) {
        return fmt::format("a block of {}; Triton takes powers of two, its matrix "
                           "instructions at least 16",
                           triton(s).*block);
      }};
}

/// A block that is more than twice as large as the problem needs does nothing but idle work.
template <auto block, auto size> Rule usefulRule(std::string_view name, std::string_view decision) {
  return {name, reads({decision}),
          [](const Problem &p, const Schedule &s, const Target &) {
            return triton(s).*block <=
                   std::max<std::int64_t>(smallestBlock, powerOfTwoFrom(p.gemm().*size));
          },
          [](const Problem &p, const Schedule &s, const Target &) {
            return fmt::format("a block of {} is larger than a size of {} needs", triton(s).*block,
                               p.gemm().*size);
          }};
}

double tiles(const Problem &p, const Schedule &s) {
  const auto count = [](std::int64_t size, int block) {
    return static_cast<double>((size + block - 1) / block);
  };
  return count(p.gemm().m, triton(s).blockM) * count(p.gemm().n, triton(s).blockN);
}

constexpr double mostTiles = 2147483647; // of a launch along x
constexpr int mostWaves = 16;            // 1024 work-items

std::vector<Rule> problemRules() {
  return {
      {"template", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return tritonCall(p.gemm()).op != TritonOp::none;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("no mm, addmm, bmm or baddbmm of Inductor has {}",
                            tritonCall(p.gemm()).refusal);
       }},
      {"decomposeK", 0,
       [](const Problem &p, const Schedule &, const Target &) { return !splitsKInstead(p.gemm()); },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("k is at least 64 times m and n: Inductor splits K there and never "
                            "asks for its Triton template");
       }},
  };
}

std::vector<Rule> blockRules() {
  using T = TritonGemmSchedule;
  return {
      blockRule<&T::blockM>("blockM", "blockM"),
      blockRule<&T::blockN>("blockN", "blockN"),
      blockRule<&T::blockK>("blockK", "blockK"),
      usefulRule<&T::blockM, &Gemm::m>("usefulBlockM", "blockM"),
      usefulRule<&T::blockN, &Gemm::n>("usefulBlockN", "blockN"),
      usefulRule<&T::blockK, &Gemm::k>("usefulBlockK", "blockK"),
      {"gridSize", reads({"blockM", "blockN"}),
       [](const Problem &p, const Schedule &s, const Target &) { return tiles(p, s) <= mostTiles; },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("a grid of {:.0f} workgroups; a launch has at most {:.0f}", tiles(p, s),
                            mostTiles);
       }},
  };
}

std::vector<Rule> instructionRules() {
  return {
      {"numWarps", reads({"numWarps"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return std::has_single_bit(static_cast<unsigned>(triton(s).numWarps)) &&
                triton(s).numWarps <= mostWaves;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("num_warps={} is no power of two up to {}", triton(s).numWarps,
                            mostWaves);
       }},
      {"kpack", reads({"kpack"}),
       [](const Problem &, const Schedule &s, const Target &) { return triton(s).kpack == 1; },
       [](const Problem &, const Schedule &s, const Target &t) {
         return fmt::format("kpack={}: Triton for {} takes 1 and warns", triton(s).kpack, t.name);
       }},
      {"nonKDim", reads({"matrixInstrNonKDim", "blockM", "blockN"}),
       [](const Problem &, const Schedule &s, const Target &) {
         const int size = triton(s).matrixInstrNonKDim;
         return size == 0 || ((size == 16 || size == 32) && triton(s).blockM % size == 0 &&
                              triton(s).blockN % size == 0);
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("matrix_instr_nonkdim={} is none of 0, 16 and 32 that divides {}x{}",
                            triton(s).matrixInstrNonKDim, triton(s).blockM, triton(s).blockN);
       }},
      {"matrixInstruction", reads({"matrixInstrNonKDim", "blockM", "blockN", "blockK"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return tritonKernel(p.gemm(), triton(s), t).mfmaK > 0;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("{} has no matrix instruction of {} for k up to {}", t.name,
                            name(p.gemm().aType), triton(s).blockK);
       }},
  };
}

/// Whether or not Triton is told of matrix_instr_nonkdim.
int mostRegisters(const Gemm &gemm, const TritonGemmSchedule &schedule, const Target &target) {
  TritonGemmSchedule untold = schedule;
  untold.matrixInstrNonKDim = 0;
  return std::max(tritonRegisters(gemm, schedule, target).total,
                  tritonRegisters(gemm, untold, target).total);
}

std::vector<Rule> resourceRules() {
  const DecisionMask kernel =
      reads({"blockM", "blockN", "blockK", "numWarps", "numStages", "matrixInstrNonKDim"});
  return {
      {"lds", kernel,
       [](const Problem &p, const Schedule &s, const Target &t) {
         return tritonLdsBytes(p.gemm(), triton(s), t) <= t.ldsBytes;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("{} bytes of LDS in one of the known versions of Triton; {} has {}",
                            tritonLdsBytes(p.gemm(), triton(s), t), t.name, t.ldsBytes);
       }},
      {"registers", kernel | reads({"wavesPerEu"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return mostRegisters(p.gemm(), triton(s), t) <= tritonRegisterBudget(triton(s), t);
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format(
             "a wave needs about {} registers; with num_warps={} and waves_per_eu={} "
             "it has {}",
             mostRegisters(p.gemm(), triton(s), t), triton(s).numWarps, triton(s).wavesPerEu,
             tritonRegisterBudget(triton(s), t));
       }},
  };
}

} // namespace

std::span<const Rule> tritonGemmRules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (auto part : {problemRules, blockRules, instructionRules, resourceRules}) {
      const std::vector<Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

} // namespace kw
