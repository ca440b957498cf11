// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/LookupTable.h"

#include "costmodel/CostModel.h"
#include "experiments/inductor/LookupKey.h"
#include "experiments/inductor/LookupRow.h"

#include <functional>
#include <gmock/gmock.h>

namespace kw {
namespace {

using json = nlohmann::json;
using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

std::string keyOf(std::string_view problem, std::string_view device = "") {
  return lookupKey(*inductorCall(*parseProblem(problem)), device);
}

std::string refusal(std::string_view problem) {
  return inductorCall(*parseProblem(problem)).error().message;
}

// ---- Keys ----

/// Observed with torch 2.11. [inductor.md 2.2]
TEST(LookupKey, IsInductors) {
  EXPECT_EQ(keyOf("gemm m=4096 n=4096 k=4096 dtype=f16"),
            "((torch.float16, [4096, 4096], [4096, 1]), (torch.float16, [4096, 4096], [4096, "
            "1]))+mm");
  EXPECT_EQ(keyOf("gemm m=64 n=512 k=256 b=nk"),
            "((torch.bfloat16, [64, 256], [256, 1]), (torch.bfloat16, [256, 512], [1, 256]))+mm");
  EXPECT_EQ(keyOf("gemm batch=8 m=256 n=64 k=128 dtype=f32"),
            "((torch.float32, [8, 256, 128], [32768, 128, 1]), (torch.float32, [8, 128, 64], "
            "[8192, 64, 1]))+bmm");
  EXPECT_EQ(keyOf("gemm m=1024 n=512 k=256 b=nk epilogue=bias"),
            "((torch.bfloat16, [1024, 512], [0, 1]), (torch.bfloat16, [1024, 256], [256, 1]), "
            "(torch.bfloat16, [256, 512], [1, 256]))+alpha=1&beta=1+addmm");
  EXPECT_EQ(keyOf("gemm batch=2 m=8 n=4 k=16 beta=0.5 alpha=2"),
            "((torch.bfloat16, [2, 8, 4], [32, 4, 1]), (torch.bfloat16, [2, 8, 16], [128, 16, 1]), "
            "(torch.bfloat16, [2, 16, 4], [64, 4, 1]))+alpha=2&beta=0.5+baddbmm");
  EXPECT_EQ(keyOf("gemm m=8 n=4 k=16 a=km"),
            "((torch.bfloat16, [8, 16], [1, 8]), (torch.bfloat16, [16, 4], [4, 1]))+mm");
  EXPECT_EQ(keyOf("gemm m=8 n=4 k=16 lda=32", "gfx950:sramecc+:xnack-"),
            "gfx950:sramecc+:xnack-+((torch.bfloat16, [8, 16], [32, 1]), (torch.bfloat16, [16, 4], "
            "[4, 1]))+mm");
}

TEST(LookupKey, RefusesWhatHasNone) {
  EXPECT_THAT(refusal("gemm m=8 n=8 k=32 dtype=mxfp8"), HasSubstr("types"));
  EXPECT_THAT(refusal("gemm m=8 n=8 k=8 epilogue=gelu"), HasSubstr("epilogue"));
  EXPECT_THAT(refusal("rmsnorm rows=8 cols=64"), HasSubstr("another family"));
}

TEST(LookupKey, ParsesBackAndGivesTheProblemBack) {
  for (const char *text :
       {"gemm m=4096 n=4096 k=4096 dtype=f16", "gemm m=64 n=512 k=256 dtype=bf16 b=nk",
        "gemm m=8 n=4 k=16 batch=8 dtype=f32", "gemm m=16 n=8 k=24 dtype=bf16 a=km lda=32",
        "gemm m=16 n=8 k=24 dtype=bf16 beta=0.5", "gemm m=1 n=1 k=1 dtype=bf16",
        "gemm m=16 n=8 k=24 batch=2 dtype=bf16 sa=0 epilogue=bias"}) {
    const InductorCall call = *inductorCall(*parseProblem(text));
    for (const std::string &device : {std::string(), deviceKey(gfx950())}) {
      const auto parsed = parseLookupKey(lookupKey(call, device));
      ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
      EXPECT_EQ(parsed->device, device);
      EXPECT_EQ(parsed->call, call) << text;
    }
    const auto problem = problemOf(call);
    ASSERT_TRUE(problem) << text << ": " << problem.error().message;
    EXPECT_EQ(*inductorCall(*problem), call) << text;
  }
}

TEST(LookupKey, PrintsNumbersAsPython) {
  EXPECT_EQ(pythonNumber(1), "1");
  EXPECT_EQ(pythonNumber(-2), "-2");
  EXPECT_EQ(pythonNumber(0.5), "0.5");
  EXPECT_EQ(pythonNumber(0.0001), "0.0001");
  EXPECT_EQ(pythonNumber(0.00001), "1e-05");
  EXPECT_EQ(pythonNumber(0.1 + 0.2), "0.30000000000000004");
}

TEST(LookupKey, SurvivesAnyBytes) {
  const std::string key = keyOf("gemm m=64 n=512 k=256 b=nk epilogue=bias");
  std::uint32_t random = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text = key;
    for (int edit = 0; edit < 2; ++edit) {
      random = random * 1664525 + 1013904223;
      text[random / 256 % text.size()] = static_cast<char>(random >> 24);
    }
    const auto parsed = parseLookupKey(text);
    if (parsed) {
      problemOf(parsed->call);
    } else {
      EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
    }
  }
}

// ---- Tables ----

LookupEntry entryOf(std::string_view problem, std::string_view schedule) {
  const Problem parsed = *parseProblem(problem);
  const Schedule decided = *parseSchedule(schedule);
  const Estimate estimate = CostModel(parsed, gfx950()).estimate(decided);
  return {parsed,
          decided,
          estimate.timeUs,
          "model",
          estimate.lowUs,
          estimate.highUs,
          std::string(name(estimate.limiter))};
}

const std::vector<LookupEntry> &entries() {
  static const std::vector<LookupEntry> all{
      entryOf("gemm m=4096 n=4096 k=4096 b=nk", "triton.gemm.1:BLOCK_M=256,num_warps=8"),
      entryOf("gemm m=4096 n=4096 k=4096 b=nk", "triton.gemm.1:"),
      entryOf("gemm m=100 n=512 k=1000 epilogue=bias b=nk", "triton.gemm.1:BLOCK_N=64"),
      entryOf("gemm m=256 n=256 k=128 batch=4 dtype=f16", "triton.gemm.1:BLOCK_M=64,BLOCK_N=64"),
  };
  return all;
}

LookupTable table(const LookupOptions &options = {}) {
  return *makeLookupTable(entries(), gfx950(), options);
}

std::string lieOf(const LookupTable &made) {
  return lookupLie(made.text, made.notes, gfx950(), made.boundTorch, true);
}

TEST(LookupTable, IsTrueAndTheSameAgain) {
  const LookupTable made = table();
  EXPECT_EQ(lieOf(made), "");
  EXPECT_EQ(made.text, table().text);
  EXPECT_EQ(made.notes, table().notes);
  EXPECT_EQ(made.notes.size(), entries().size());
  const json document = json::parse(made.text);
  EXPECT_EQ(document.size(), 3u);
  EXPECT_EQ(document.dump(2) + "\n", made.text);
  const json &row = document[keyOf("gemm m=4096 n=4096 k=4096 b=nk", deviceKey(gfx950()))][0];
  EXPECT_EQ(row, json::parse(R"({"ACC_TYPE": "tl.float32", "BLOCK_K": 64, "BLOCK_M": 256,
    "BLOCK_N": 128, "EVEN_K": true, "GROUP_M": 8, "USE_FAST_ACCUM": false, "kpack": 1,
    "matrix_instr_nonkdim": 0, "num_stages": 2, "num_warps": 8, "template_id": "triton::mm",
    "waves_per_eu": 0})"));
  EXPECT_EQ(document[keyOf("gemm m=100 n=512 k=1000 epilogue=bias b=nk", deviceKey(gfx950()))][0]
                    ["EVEN_K"],
            false);
}

TEST(LookupTable, FollowsItsOptions) {
  const LookupTable both = table({LookupKeys::both, true, ""});
  EXPECT_EQ(lieOf(both), "");
  const json document = json::parse(both.text);
  EXPECT_EQ(document.size(), 6u);
  EXPECT_EQ(document[keyOf("gemm m=256 n=256 k=128 batch=4 dtype=f16")].back(),
            json({{"template_id", "aten::bmm"}}));
  const LookupTable bound = table({LookupKeys::agnostic, false, "2.13.0"});
  EXPECT_EQ(lieOf(bound), "");
  EXPECT_THAT(bound.text, HasSubstr("d99842e466803e2d"));
  const auto unknown = makeLookupTable(entries(), gfx950(), {LookupKeys::device, false, "1.0"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("2.13.0"));
}

TEST(LookupTable, RefusesWhatCannotBeARow) {
  const auto refused = [](std::string_view problem, std::string_view schedule) {
    const LookupEntry entry{*parseProblem(problem), *parseSchedule(schedule), 1, "model", 1, 1, ""};
    const auto made = makeLookupTable(std::span(&entry, 1), gfx950(), {});
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(refused("gemm m=64 n=64 k=64", "gemm.1:"), HasSubstr("generator triton"));
  EXPECT_THAT(refused("gemm m=4096 n=4096 k=4096",
                      "triton.gemm.1:BLOCK_M=256,BLOCK_N=256,BLOCK_K=128,num_warps=8"),
              HasSubstr("LDS"));
  EXPECT_THAT(refused("gemm m=16 n=16 k=4096", "triton.gemm.1:BLOCK_M=16,BLOCK_N=16"),
              HasSubstr("splits K"));
}

/// One lie in a good table, edited by hand: how, and what must be said of it.
struct LieCase {
  const char *name;
  std::function<void(json &row)> edit; ///< of the first row of the mm
  const char *said;
};

std::vector<LieCase> rowLies() {
  return {
      {"unknown field", [](json &r) { r["comment"] = 1; }, "unknown field \"comment\""},
      {"tf32", [](json &r) { r["ALLOW_TF32"] = true; }, "ALLOW_TF32"},
      {"missing field", [](json &r) { r.erase("GROUP_M"); }, "GROUP_M is missing"},
      {"missing template", [](json &r) { r.erase("template_id"); }, "template_id is missing"},
      {"other template", [](json &r) { r["template_id"] = "triton::bmm"; }, "template_id is"},
      {"foreign hash", [](json &r) { r["template_hash"] = std::string(64, 'a'); }, "template_hash"},
      {"number as text", [](json &r) { r["BLOCK_M"] = "128"; },
       "BLOCK_M is \"128\", not an integer"},
      {"number as boolean", [](json &r) { r["BLOCK_M"] = true; }, "not an integer"},
      {"fraction", [](json &r) { r["num_warps"] = 4.5; }, "num_warps is 4.5, not an integer"},
      {"no power of two", [](json &r) { r["BLOCK_M"] = 96; }, "a block of 96"},
      {"small block", [](json &r) { r["BLOCK_N"] = 8; }, "a block of 8"},
      {"no group", [](json &r) { r["GROUP_M"] = 0; }, "GROUP_M is 0"},
      {"three warps", [](json &r) { r["num_warps"] = 3; }, "num_warps=3"},
      {"32 warps", [](json &r) { r["num_warps"] = 32; }, "num_warps=32"},
      {"no stage", [](json &r) { r["num_stages"] = 0; }, "num_stages is 0"},
      {"odd instruction", [](json &r) { r["matrix_instr_nonkdim"] = 17; },
       "matrix_instr_nonkdim=17"},
      {"occupancy", [](json &r) { r["waves_per_eu"] = 9; }, "waves_per_eu is 9"},
      {"kpack", [](json &r) { r["kpack"] = 2; }, "kpack=2"},
      {"too much LDS", [](json &r) { r["num_stages"] = 4; }, "bytes of LDS"},
      {"too many registers",
       [](json &r) {
         r["BLOCK_N"] = 256;
         r["num_warps"] = 1;
       },
       "registers"},
      {"masks", [](json &r) { r["EVEN_K"] = false; }, "EVEN_K is false"},
      {"even as number", [](json &r) { r["EVEN_K"] = 1; }, "EVEN_K is missing or no boolean"},
      {"accumulator", [](json &r) { r["ACC_TYPE"] = "tl.float16"; }, "ACC_TYPE is"},
      {"fast accumulation", [](json &r) { r["USE_FAST_ACCUM"] = true; }, "USE_FAST_ACCUM is true"},
      {"override", [](json &r) { r["hint_override"] = 5; }, "hint_override is 5"},
      {"no object", [](json &r) { r = 7; }, "is no object"},
      {"another schedule", [](json &r) { r["GROUP_M"] = 4; }, "is not the row of"},
      {"ATen before others", [](json &r) { r = {{"template_id", "aten::mm"}}; }, "not last"},
  };
}

TEST(LookupTable, EveryLieInARowIsFound) {
  const LookupTable good = table();
  const std::string key = keyOf("gemm m=4096 n=4096 k=4096 b=nk", deviceKey(gfx950()));
  for (const LieCase &each : rowLies()) {
    json document = json::parse(good.text);
    each.edit(document[key][0]);
    const std::string lie =
        lookupLie(document.dump(2) + "\n", good.notes, gfx950(), good.boundTorch, true);
    EXPECT_THAT(lie, HasSubstr(each.said)) << each.name;
    EXPECT_EQ(lie.find('\n'), std::string::npos) << each.name;
  }
}

TEST(LookupTable, AnEvenKThatIsNotIsFound) {
  const LookupTable good = table();
  json document = json::parse(good.text);
  const std::string key = keyOf("gemm m=100 n=512 k=1000 epilogue=bias b=nk", deviceKey(gfx950()));
  document[key][0]["EVEN_K"] = true;
  EXPECT_THAT(lookupLie(document.dump(2) + "\n", good.notes, gfx950(), "", true),
              HasSubstr("K=1000 is not a multiple of BLOCK_K=64: wrong numbers"));
}

/// The mm's rows under another key.
std::string lieOfKey(const std::string &key) {
  const LookupTable good = table();
  json document = json::parse(good.text);
  const std::string before = keyOf("gemm m=4096 n=4096 k=4096 b=nk", deviceKey(gfx950()));
  const json rows = document[before];
  document.erase(before);
  document[key] = rows;
  return lookupLie(document.dump(2) + "\n", good.notes, gfx950(), "", true);
}

TEST(LookupTable, EveryLieInAKeyIsFound) {
  const std::string good = keyOf("gemm m=4096 n=4096 k=4096 b=nk");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return lieOfKey(text);
  };
  EXPECT_THAT(lieOfKey("gfx942:sramecc+:xnack-+" + good), HasSubstr("is for the device gfx942"));
  EXPECT_THAT(with("torch.bfloat16", "bfloat16"), HasSubstr("has the dtype"));
  EXPECT_THAT(with("torch.bfloat16", "torch.float16"), HasSubstr("different dtypes"));
  EXPECT_THAT(with("4096, 4096", "4096,4096"), HasSubstr("is not a key"));
  EXPECT_THAT(with("+mm", "+addmm"), HasSubstr("has 2 inputs, addmm takes 3"));
  EXPECT_THAT(with("+mm", "+alpha=1&beta=1+mm"), HasSubstr("has scalars"));
  EXPECT_THAT(with("+mm", "+conv"), HasSubstr("accepted: mm addmm bmm baddbmm"));
  EXPECT_THAT(with("[1, 4096]", "[2, 4096]"), HasSubstr("no contiguous dimension"));
  EXPECT_THAT(with("[4096, 4096], [4096, 1]", "[4096, 2048], [4096, 1]"),
              HasSubstr("don't fit together"));
  EXPECT_THAT(with("[4096, 4096], [4096, 1]", "[2048, 4096], [4096, 1]"), HasSubstr("lookup"));
  EXPECT_THAT(lieOfKey("mm"), HasSubstr("is not a key"));
}

TEST(LookupTable, EveryLieInTheDocumentIsFound) {
  const LookupTable good = table();
  const auto said = [&](const std::string &text) {
    return lookupLie(text, good.notes, gfx950(), "", true);
  };
  const std::string key = keyOf("gemm m=4096 n=4096 k=4096 b=nk", deviceKey(gfx950()));
  EXPECT_THAT(said("[]\n"), HasSubstr("not a JSON object"));
  EXPECT_THAT(said("{"), HasSubstr("not JSON"));
  EXPECT_THAT(said("{\"a\": NaN}\n"), HasSubstr("not JSON"));
  std::string twice = good.text;
  twice.replace(twice.find("\"BLOCK_K\""), 9, "\"BLOCK_M\"");
  EXPECT_THAT(said(twice), HasSubstr("the key 'BLOCK_M' stands twice"));
  EXPECT_THAT(said(good.text + "\n"), HasSubstr("written again it differs"));
  json document = json::parse(good.text);
  document[key] = json::array();
  EXPECT_THAT(said(document.dump(2) + "\n"), HasSubstr("no list of rows"));
  document = json::parse(good.text);
  document[key].erase(1);
  EXPECT_THAT(said(document.dump(2) + "\n"), HasSubstr("is no row of"));
  document = json::parse(good.text);
  std::swap(document[key][0], document[key][1]);
  EXPECT_THAT(said(document.dump(2) + "\n"), HasSubstr("is not the row of"));
  document = json::parse(good.text);
  document[key].push_back(document[key][0]);
  EXPECT_THAT(said(document.dump(2) + "\n"), HasSubstr("lookup"));
  EXPECT_THAT(said("{}\n"), HasSubstr("more notes than"));
}

TEST(LookupTable, NotesOfEarlierBundlesNameNoCalibration) {
  const LookupTable good = table();
  Json notes = good.notes;
  for (Json &note : notes) {
    note.erase("calibration");
  }
  EXPECT_EQ(lookupLie(good.text, notes, gfx950(), "", true), "");
}

TEST(LookupTable, EveryLieInTheNotesIsFound) {
  const LookupTable good = table();
  const auto said = [&](const std::function<void(Json &)> &edit) {
    Json notes = good.notes;
    edit(notes);
    return lookupLie(good.text, notes, gfx950(), "", true);
  };
  EXPECT_THAT(said([](Json &n) { n = 1; }), HasSubstr("lookup is no array"));
  EXPECT_THAT(said([](Json &n) { n.erase(0); }), HasSubstr("is not that of"));
  EXPECT_THAT(said([](Json &n) { n.erase(n.size() - 1); }), HasSubstr("is not in bundle.json"));
  EXPECT_THAT(said([](Json &n) { n[0]["time_us"] = 1.01 * n[0]["time_us"].get<double>(); }),
              HasSubstr("by the model"));
  EXPECT_THAT(said([](Json &n) { n[0]["time_us"] = -1; }), HasSubstr("not positive"));
  EXPECT_THAT(said([](Json &n) { n[0]["source"] = "measured"; }),
              HasSubstr("source is 'measured'"));
  EXPECT_THAT(said([](Json &n) { n[0]["interval_us"][0] = 0; }), HasSubstr("interval_us"));
  EXPECT_THAT(said([](Json &n) { n[0]["limiter"] = "luck"; }), HasSubstr("limiter"));
  EXPECT_THAT(said([](Json &n) { n[0]["lds_bytes"] = 7; }), HasSubstr("lds_bytes"));
  EXPECT_THAT(said([](Json &n) { n[0]["vgpr"] = 7; }), HasSubstr("vgpr"));
  EXPECT_THAT(said([](Json &n) { n[0]["extra"] = 7; }), HasSubstr("unknown field 'extra'"));
  EXPECT_THAT(said([](Json &n) { n[0].erase("limiter"); }), HasSubstr("'limiter' is missing"));
  EXPECT_THAT(said([](Json &n) { n[0]["calibration"]["log"] = 0.5; }), HasSubstr("by the model"));
  EXPECT_THAT(said([](Json &n) { n[0]["calibration"] = "mine"; }), HasSubstr("calibration"));
  EXPECT_THAT(said([](Json &n) { n[0]["problem"] = "gemm m=8 n=8 k=8"; }), HasSubstr("lookup"));
  EXPECT_THAT(said([](Json &n) { n[0]["schedule"] = "gemm.1:"; }), HasSubstr("generator triton"));
}

} // namespace
} // namespace kw
