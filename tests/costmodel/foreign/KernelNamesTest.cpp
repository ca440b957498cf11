// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names made up in the form of each generator.
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(NameWords, FindsNumbers) {
  const NameWords words("a__b_t16x32x64_w3_8x8_x1");
  EXPECT_TRUE(words.has("b"));
  EXPECT_EQ(words.number("w"), 3);
  EXPECT_FALSE(words.number("t"));
  EXPECT_EQ(words.findNumbers(3), words.size());
  EXPECT_EQ(words.numbers(words.findNumbers(3, 0, "t"), "t"), (std::vector{16, 32, 64}));
  EXPECT_EQ(words.numbers(words.findNumbers(2)), (std::vector{8, 8}));
}

TEST(NameWords, RefusesWhatIsNoNumber) {
  for (const char *word :
       {"", "x", "1x", "x1", "1xx2", "1y2", "-1x2", "99999999999x1", "9999999"}) {
    EXPECT_TRUE(numbersOf(word).empty()) << word;
  }
}

TEST(CkNames, BlockScaled) {
  const auto record = parseCk(
      "a8w8_blockscale_1x128x128_256x32x64x256_16x16_16x16_1x2_16x16x1_16x16x1_1x16x1x16_4_1x1_"
      "intrawave_v1");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->blockSize, 256);
  EXPECT_EQ(record->perBlockN, 64);
  EXPECT_EQ(record->perXdl, 16);
  EXPECT_EQ(record->xdlPerWaveN, 2);
  EXPECT_EQ(record->pipelineVersion, 1);
  const TileKernel tile = tileKernel(*record);
  EXPECT_EQ(tile.tileK, 256);
  EXPECT_EQ(tile.wavesM, 2);
  EXPECT_EQ(tile.wavesN, 2);
  EXPECT_EQ(tile.pipeline, TilePipeline::serial);
  EXPECT_EQ(tile.bInRegisters, false);
}

TEST(CkNames, RowwiseTellsNoK1) {
  const auto record = parseCk(
      "a8w8_rowwise_256x128x128x128_32x32_2x2_8x32x1_8x32x1_1x32x1x8_8x8x1_1x1_interwave_v4");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->perXdl, 32);
  EXPECT_TRUE(record->interwave);
  EXPECT_EQ(tileKernel(*record).wavesM, 2);
  EXPECT_EQ(tileKernel(*record).stages, 2);
}

TEST(CkNames, PackedFourBitsCountPairs) {
  EXPECT_EQ(
      tileKernel(*parseCk("a4w4_blockscale_256x64x128x128_16x16_16x16_8x32x1_intrawave_v3")).tileK,
      256);
}

TEST(CkNames, Moe) {
  const auto record =
      parseCk("moe_ck2stages_gemm2_128x16x128x64_1x2_TypeCast_v3_Nswizzle0_Quant1_F8_F8_B16");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, "moe_ck2stages_gemm2");
  EXPECT_EQ(tileKernel(*record).wavesN, 2);
}

TEST(CkNames, WavesThatDoNotFitStayUnknown) {
  const auto record = parseCk("a8w8_rowwise_256x128x128x128_32x32_4x4_x_intrawave_v3");
  EXPECT_FALSE(tileKernel(*record).wavesM);
  EXPECT_EQ(tileKernel(*record).waves, 4);
}

TEST(CkNames, RefusesOthers) {
  for (const char *name : {"", "sol2", "a8w8_256x16", "a8w8_256x0x16x16", "x_250x16x16x16"}) {
    EXPECT_FALSE(parseCk(name)) << name;
  }
}

TEST(CkTileNames, TellsBlocksPerCu) {
  const auto record =
      parseCkTile("a8w8_blockscale_cktile_64x256x128_2x2x1_16x16x128_intrawave_0x1x0_3");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->tileN, 256);
  EXPECT_EQ(record->mfmaK, 128);
  EXPECT_EQ(record->blocksPerCu, 3);
  const auto flags =
      parseCkTile("a8w8_bpreshuffle_cktile_0x0x8x4x1x0x0x0x0x2_16x64x512_1x4x1_16x16x128_default");
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->tileK, 512);
  EXPECT_EQ(flags->blocksPerCu, 2);
  EXPECT_EQ(tileKernel(*flags).bInRegisters, true);
}

TEST(CkTileNames, Moe) {
  const auto record =
      parseCkTile("moe_cktile2stages_gemm1_256x32x128x256_1x4_16x16x32_2perCU_1x32_swiglu");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->tileM, 32);
  EXPECT_EQ(record->waveN, 4);
  EXPECT_EQ(record->blocksPerCu, 2);
}

TEST(CkTileNames, StepsInRegistersOfExpertsProducts) {
  const auto tileOf = [](std::string_view name) { return tileKernel(*parseCkTile(name)); };
  const TileKernel moe =
      tileOf("moe_cktile2stages_gemm1_256x32x128x256_1x4_16x16x32_2perCU_1x32_swiglu");
  EXPECT_TRUE(moe.wholeSteps);
  EXPECT_EQ(moe.stages, 2);
  EXPECT_FALSE(
      tileOf("a8w8_bpreshuffle_cktile_0x0x8x4x1x0x0x0x0x2_16x64x512_1x4x1_16x16x128_default")
          .wholeSteps);
}

TEST(AsmNames, Demangles) {
  const auto record = parseAsm("_ZN5aiter37bf16gemm_fp32bf16_tn_32x64_pf3_splitkE");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, "bf16gemm_fp32bf16_tn_pf3_splitk");
  EXPECT_EQ(record->tileN, 64);
  EXPECT_EQ(record->prefetch, 3);
  EXPECT_TRUE(record->splitK);
  EXPECT_FALSE(record->tileK);
  EXPECT_FALSE(parseAsm("_ZN5aiter10no_tile_atE"));
}

TEST(TensileNames, MacroTile0RunsAlongN) {
  const auto record = parseTensile(
      "Cijk_Alik_Bljk_BBS_BH_MT256x64x32_MI16x16x1_SN_1LDSB0_DTLA1_DTLB0_GSU0_MIWT8_2_PGR2_SK3_"
      "SKXCCM4_WS64_WG32_8_1");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->streamK, 3);
  const TileKernel tile = tileKernel(*record);
  EXPECT_EQ(tile.tileM, 64);
  EXPECT_EQ(tile.tileN, 256);
  EXPECT_EQ(tile.tileK, 32);
  EXPECT_EQ(tile.waves, 4);
  EXPECT_EQ(tile.wavesM, 2);
  EXPECT_EQ(tile.wavesN, 2);
  EXPECT_TRUE(tile.streamK);
  EXPECT_EQ(tile.direct, false);
  EXPECT_EQ(tile.prefetch, 2);
}

TEST(FlyDslNames, BothWaysToTellStages) {
  const auto older = parseFlyDsl(
      "flydsl_gemm4_abf16_wbf16_bf16_t32x64x128_split_k8_block_m_warp1_block_n_warp2_block_k_warp2_"
      "async_copyTrue_b_to_ldsFalse_b_preshuffleFalse_c_to_ldsFalse_gfx950");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->kind, "hgemm");
  EXPECT_EQ(older->stages, 4);
  EXPECT_EQ(older->splitK, 8);
  EXPECT_EQ(tileKernel(*older).waves, 4);
  EXPECT_EQ(tileKernel(*older).bInRegisters, true);
  const auto newer = parseFlyDsl("flydsl_hgemm_abf16_wbf16_bf16_t16x64x128x7_ks3_w1x2x2_bias0");
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->stages, 7);
  EXPECT_EQ(newer->splitK, 3);
  EXPECT_EQ(newer->warpK, 2);
}

TEST(FlyDslNames, Moe) {
  const auto record = parseFlyDsl("flydsl_moe1_afp4_wfp4_bf16_t32x64x256_w3_kb7_bnt0_go_xcd4_fp4");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, "moe1");
  EXPECT_EQ(record->wavesPerEu, 3);
  EXPECT_EQ(record->splitK, 7);
  EXPECT_EQ(record->xcds, 4);
  EXPECT_TRUE(record->gateOnly);
  EXPECT_TRUE(record->quantised);
  const auto second = parseFlyDsl("flydsl_mxmoe_g2_a4w4_16x256x128_atomic_nt");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tileK, 128);
  EXPECT_TRUE(second->atomic);
  EXPECT_FALSE(second->wavesPerEu);
}

TEST(OpusNames, ThreadsBeyondTheWavesToldLeaveThemUnknown) {
  const auto record = parseOpus("opus_gemm_flatmm_splitk_256x32x64x128_2x1_16x16x32_0x0x0_wgpcu2");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, "gemm_flatmm_splitk");
  EXPECT_EQ(record->workgroupsPerCu, 2);
  EXPECT_FALSE(tileKernel(*record).wavesM);
  EXPECT_EQ(tileKernel(*record).waves, 4);
}

TEST(ReadKernel, ColumnsCompleteTheName) {
  KernelText text;
  text.generator = "asm_f4";
  text.name = "_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E";
  text.tileM = 1; // the name wins
  text.tileK = 256;
  text.splitK = 2;
  const ReadKernel kernel = readKernel(text);
  EXPECT_EQ(kernel.generator, "asm");
  EXPECT_EQ(kernel.tile.tileM, 32);
  EXPECT_EQ(kernel.tile.tileK, 256);
  EXPECT_EQ(kernel.tile.splitK, 2);
  EXPECT_FALSE(kernel.tile.picked);
}

TEST(ReadKernel, ZerosInANameTellNothing) {
  KernelText text;
  text.generator = "opus";
  text.name = "opus_gemm_256x64x64x64_3x1_0x0x0_0x0x0";
  const ReadKernel opus = readKernel(text);
  EXPECT_EQ(opus.tile.tileM, 64);
  EXPECT_FALSE(opus.tile.mfmaM);
  text.name = "_ZN5aiter9x_tn_32x64_bk0E";
  const ReadKernel assembly = readKernel(text);
  EXPECT_FALSE(assembly.tile.tileK);
}

TEST(ReadKernel, ALibraryThatDoesNotTellItsKernelPicks) {
  KernelText text;
  text.generator = "torch_native";
  text.name = "native";
  const ReadKernel kernel = readKernel(text);
  EXPECT_EQ(kernel.generator, "torch_native");
  EXPECT_TRUE(kernel.tile.picked);
  EXPECT_TRUE(readKernel(KernelText{}).tile.picked);
}

} // namespace
} // namespace kw
