// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/CodeObject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const char *const longForm = R"({
  "version": 1, "code_object": "a.hsaco", "provenance": {"by": "somebody"},
  "buffers": {
    "a": {"bytes": 8192, "role": "input", "dtype": "bf16", "shape": [64, 64],
          "init": {"random": "normal", "seed": 7}},
    "c": {"bytes": 16, "role": "output", "init": "zero", "save": "c.bin"},
    "w": {"bytes": 4, "role": "workspace", "init": {"file": "w.bin"}}},
  "launches": [
    {"kernel": "first", "grid": [4, 2, 1], "block": [256, 1, 1], "dynamic_lds": 1024,
     "args": [{"offset": 0, "kind": "buffer", "buffer": "a", "at": 32},
              {"offset": 8, "kind": "i32", "value": -2},
              {"offset": 16, "kind": "null"},
              {"offset": 24, "kind": "bytes", "value": "00fF10"}]},
    {"kernel": "second", "grid": [1], "block": [64],
     "args": [{"kind": "buffer", "buffer": "c"}]}],
  "guards": ["k % 64 == 0"], "problem": "gemm m=1", "schedule": "gemm.1:", "target": "gfx950"})";

const char *const shortForm = R"({
  "code_object": "/elsewhere/b.co", "kernel": "k", "grid": [1, 1, 1], "block": [64, 1, 1],
  "args": [{"offset": 0, "kind": "buffer", "bytes": 64, "init": "poison", "save": "d.bin"},
           {"offset": 16, "kind": "buffer", "bytes": 32,
            "init": {"random": "bytes", "seed": 18446744073709551615}}]})";

Manifest parsed(const Json &json) {
  Expected<Manifest> manifest = parseManifest(json);
  EXPECT_TRUE(manifest) << manifest.error().message;
  return manifest.value_or(Manifest{});
}

/// The short form with `patch` merged in (RFC 7386: null removes a key).
std::string errorOfShort(const char *patch) {
  Json json = Json::parse(shortForm);
  json.merge_patch(Json::parse(patch));
  Expected<Manifest> manifest = parseManifest(json);
  return manifest ? "no error" : manifest.error().message;
}

/// Bytes of the argument `{"kind": KIND, "value": VALUE}`.
std::vector<std::uint8_t> bytesOfValue(const char *kind, const Json &value) {
  Json json = Json::parse(shortForm);
  json["args"] = {{{"kind", kind}, {"value", value}}};
  const Manifest manifest = parsed(json);
  return manifest.launches.empty()
             ? std::vector<std::uint8_t>{}
             : std::get<ValueArgument>(manifest.launches[0].arguments[0].value).bytes;
}

std::string errorOfValue(const char *kind, const Json &value) {
  Json json = Json::parse(shortForm);
  json["args"] = {{{"kind", kind}, {"value", value}}};
  Expected<Manifest> manifest = parseManifest(json);
  return manifest ? "no error" : manifest.error().message;
}

using Bytes = std::vector<std::uint8_t>;

TEST(Manifest, LongForm) {
  const Manifest manifest = parsed(Json::parse(longForm));
  EXPECT_EQ(manifest.codeObject, "a.hsaco");
  ASSERT_EQ(manifest.buffers.size(), 3U);
  const Buffer *a = manifest.findBuffer("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->bytes, 8192);
  EXPECT_EQ(a->role, BufferRole::input);
  EXPECT_EQ(a->dtype, ElementType::bf16);
  EXPECT_EQ(a->shape, (std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(a->init.kind, BufferInit::Kind::normal);
  EXPECT_EQ(a->init.dtype, ElementType::bf16) << "the buffer's type is the default";
  EXPECT_EQ(a->init.seed, 7U);
  EXPECT_EQ(manifest.findBuffer("c")->init.kind, BufferInit::Kind::zero);
  EXPECT_EQ(manifest.findBuffer("c")->save, "c.bin");
  EXPECT_EQ(manifest.findBuffer("w")->init.file, "w.bin");
  EXPECT_EQ(manifest.findBuffer("none"), nullptr);

  ASSERT_EQ(manifest.launches.size(), 2U);
  const Launch &first = manifest.launches[0];
  EXPECT_EQ(first.kernel, "first");
  EXPECT_EQ(first.grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(first.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(first.dynamicLds, 1024U);
  ASSERT_EQ(first.arguments.size(), 4U);
  EXPECT_EQ(std::get<BufferArgument>(first.arguments[0].value).at, 32);
  EXPECT_EQ(std::get<ValueArgument>(first.arguments[1].value).bytes,
            (Bytes{0xfe, 0xff, 0xff, 0xff}));
  EXPECT_TRUE(std::holds_alternative<NullArgument>(first.arguments[2].value));
  EXPECT_EQ(std::get<ValueArgument>(first.arguments[3].value).bytes, (Bytes{0x00, 0xff, 0x10}));
  EXPECT_EQ(first.arguments[3].offset, 24);
  const Launch &second = manifest.launches[1];
  EXPECT_EQ(second.grid, (std::array<std::uint32_t, 3>{1, 1, 1}));
  EXPECT_EQ(second.arguments[0].offset, std::nullopt);
  EXPECT_EQ(manifest.guards, (std::vector<std::string>{"k % 64 == 0"}));
  EXPECT_EQ(manifest.problem, "gemm m=1");
}

TEST(Manifest, ShortForm) {
  const Manifest manifest = parsed(Json::parse(shortForm));
  ASSERT_EQ(manifest.launches.size(), 1U);
  ASSERT_EQ(manifest.buffers.size(), 2U);
  EXPECT_EQ(std::get<BufferArgument>(manifest.launches[0].arguments[0].value).buffer, "arg0");
  EXPECT_EQ(manifest.buffers[0].save, "d.bin");
  EXPECT_EQ(manifest.buffers[0].role, BufferRole::output) << "what is saved is an output";
  EXPECT_EQ(manifest.buffers[1].name, "arg1");
  EXPECT_EQ(manifest.buffers[1].init.kind, BufferInit::Kind::bytes);
  EXPECT_EQ(manifest.buffers[1].init.seed, ~std::uint64_t{0});
}

TEST(Manifest, PrintsTheLongFormAndParsesBack) {
  for (const char *text : {longForm, shortForm}) {
    const Json printed = toJson(parsed(Json::parse(text)));
    EXPECT_TRUE(printed.contains("launches"));
    EXPECT_EQ(toJson(parsed(Json::parse(printed.dump()))), printed);
  }
  const Json printed = toJson(parsed(Json::parse(longForm)));
  EXPECT_EQ(printed["launches"][0]["args"][1]["value"], -2);
  EXPECT_EQ(printed["launches"][0]["args"][3]["value"], "00ff10");
  EXPECT_EQ(printed["buffers"]["a"]["init"]["random"], "normal");
  EXPECT_EQ(printed["buffers"]["w"]["init"]["file"], "w.bin");
}

TEST(Manifest, ScalarsAreLittleEndian) {
  EXPECT_EQ(bytesOfValue("i8", -128), (Bytes{0x80}));
  EXPECT_EQ(bytesOfValue("u16", 0x1234), (Bytes{0x34, 0x12}));
  EXPECT_EQ(bytesOfValue("i64", INT64_MIN), (Bytes{0, 0, 0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(bytesOfValue("u64", UINT64_MAX), Bytes(8, 0xff));
  EXPECT_EQ(bytesOfValue("f16", 1), (Bytes{0x00, 0x3c}));
  EXPECT_EQ(bytesOfValue("bf16", -1.5), (Bytes{0xc0, 0xbf}));
  EXPECT_EQ(bytesOfValue("f32", 0.1), (Bytes{0xcd, 0xcc, 0xcc, 0x3d}));
  EXPECT_EQ(bytesOfValue("f64", 1), (Bytes{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(bytesOfValue("f32", "-inf"), (Bytes{0, 0, 0x80, 0xff}));
  EXPECT_EQ(bytesOfValue("f16", "nan"), (Bytes{0x00, 0x7e}));
}

TEST(Manifest, ScalarsPrintAsTheyWereRead) {
  for (const auto &[kind, value] : std::vector<std::pair<const char *, Json>>{{"i8", -128},
                                                                              {"i16", -1},
                                                                              {"u32", UINT32_MAX},
                                                                              {"i64", INT64_MIN},
                                                                              {"u64", UINT64_MAX},
                                                                              {"f16", 65504.0},
                                                                              {"bf16", 0.15625},
                                                                              {"f32", -0.0},
                                                                              {"f64", 0.1},
                                                                              {"f32", "inf"},
                                                                              {"f64", "nan"}}) {
    Json json = Json::parse(shortForm);
    json["args"] = {{{"kind", kind}, {"value", value}}};
    const Json printed = toJson(parsed(json))["launches"][0]["args"][0];
    EXPECT_EQ(printed["value"].dump(), value.dump()) << kind;
    EXPECT_EQ(printed["kind"], kind);
  }
}

TEST(Manifest, ScalarsThatDoNotFit) {
  EXPECT_EQ(errorOfValue("i8", 128),
            "manifest: args[0].value: expected an integer from -128 to 127 (i8)");
  EXPECT_THAT(errorOfValue("i8", -129), HasSubstr("-128 to 127"));
  EXPECT_THAT(errorOfValue("u32", -1), HasSubstr("0 to 4294967295"));
  EXPECT_THAT(errorOfValue("u32", 1.5), HasSubstr("expected an integer"));
  EXPECT_THAT(errorOfValue("i64", UINT64_MAX), HasSubstr("9223372036854775807"));
  EXPECT_THAT(errorOfValue("u64", 1e30), HasSubstr("expected an integer"));
  EXPECT_THAT(errorOfValue("f16", 65520), HasSubstr("too large for f16"));
  EXPECT_THAT(errorOfValue("f32", 1e39), HasSubstr("too large for f32"));
  EXPECT_THAT(errorOfValue("f32", "1"), HasSubstr("expected a number"));
  EXPECT_THAT(errorOfValue("f32", nullptr), HasSubstr("args[0].value"));
  EXPECT_THAT(errorOfValue("fp8", 1), HasSubstr("unknown kind \"fp8\""));
  EXPECT_THAT(errorOfValue("bytes", "abc"), HasSubstr("two a byte"));
  EXPECT_THAT(errorOfValue("bytes", "zz"), HasSubstr("hexadecimal"));
}

struct BadCase {
  const char *patch;
  const char *expected;
};

class BadManifest : public testing::TestWithParam<BadCase> {};

TEST_P(BadManifest, IsRefusedByName) {
  const std::string message = errorOfShort(GetParam().patch);
  EXPECT_THAT(message, HasSubstr(GetParam().expected));
  EXPECT_THAT(message, testing::StartsWith("manifest: "));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, BadManifest,
    testing::Values(
        BadCase{R"({"code_object": null})", "code_object: required, but missing"},
        BadCase{R"({"code_object": 7})", "code_object: expected a string"},
        BadCase{R"({"code_object": ""})", "code_object: expected a string that is not empty"},
        BadCase{R"({"code_object": "a\u0000b"})", "code_object: "},
        BadCase{R"({"version": 2})", "version: expected an integer from 1 to 1"},
        BadCase{R"({"kernel": null})", "kernel: required, but missing"},
        BadCase{R"({"grid": null})", "grid: required, but missing"},
        BadCase{R"({"grid": [0, 1, 1]})", "grid[0]: expected an integer from 1"},
        BadCase{R"({"grid": [1, -1, 1]})", "grid[1]: expected an integer from 1"},
        BadCase{R"({"grid": [1, 1, 1, 1]})", "grid: expected [x, y, z]"},
        BadCase{R"({"grid": [1.5]})", "grid[0]: expected an integer"},
        BadCase{R"({"grid": [4294967295]})", "grid: more than 4294967295 work-items"},
        BadCase{R"({"grid": [9223372036854775808]})", "grid[0]: expected an integer"},
        BadCase{R"({"grid": [67000000, 67000000, 67000000]})", "grid: more than"},
        BadCase{R"({"block": [64, 64, 64]})", "block: 262144 work-items"},
        BadCase{R"({"block": []})", "block: expected [x, y, z]"},
        BadCase{R"({"dynamic_lds": -1})", "dynamic_lds: expected an integer from 0"},
        BadCase{R"({"args": {}})", "args: expected an array"},
        BadCase{R"({"args": [7]})", "args[0]: expected an object"},
        BadCase{R"({"args": [{}]})", "args[0].kind: required"},
        BadCase{R"({"args": [{"kind": "quad", "value": 1}]})", "args[0].kind: unknown kind"},
        BadCase{R"({"args": [{"kind": "i32"}]})", "args[0].value: required"},
        BadCase{R"({"args": [{"kind": "i32", "valeu": 1}]})", "args[0]: unknown key \"valeu\""},
        BadCase{R"({"args": [{"kind": "null", "offset": -8}]})", "args[0].offset: expected"},
        BadCase{R"({"args": [{"kind": "null", "offset": 1e3}]})", "args[0].offset: expected"},
        BadCase{R"({"args": [{"kind": "buffer"}]})", "args[0]: expected `buffer`"},
        BadCase{R"({"args": [{"kind": "buffer", "buffer": "x"}]})",
                "args[0].buffer: there is no buffer \"x\""},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 0}]})", "args[0].bytes: expected"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 140737488355328}]})",
                "args[0].bytes: expected an integer from 1 to 140737488355327"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "at": 9}]})",
                "args[0].at: expected an integer from 0 to 8"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "init": "ones"}]})",
                "args[0].init: expected \"zero\""},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "init": {"random": "cauchy"}}]})",
                "args[0].init.random: expected one of normal, uniform, integers, bytes"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "init": {"random": "normal"}}]})",
                "args[0].init.dtype: required"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "init": {"random": "bytes",
                    "seed": -1}}]})",
                "args[0].init.seed: expected"},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "dtype": "b16"}]})",
                "args[0].dtype: unknown type \"b16\""},
        BadCase{R"({"args": [{"kind": "buffer", "bytes": 8, "shape": [2, 0]}]})",
                "args[0].shape[1]: expected"},
        BadCase{R"({"args": [{"kind": "null", "offset": 0}, {"kind": "i32", "offset": 4,
                    "value": 1}]})",
                "args[1].offset: 4 overlaps args[0]"},
        BadCase{R"({"buffers": []})", "buffers: expected an object"},
        BadCase{R"({"buffers": {"a": {"role": "input"}}})", "buffers.a.bytes: required"},
        BadCase{R"({"buffers": {"a": {"bytes": 8, "role": "inout"}}})",
                "buffers.a.role: expected one of input, output, workspace"},
        BadCase{R"({"buffers": {"a\nb": {"bytes": 0}}})", R"(buffers."a\nb".bytes)"},
        BadCase{R"({"buffers": {"": {"bytes": 8}}})", "a buffer needs a name"},
        BadCase{R"({"buffers": {"arg0": {"bytes": 8}}})", "there is a buffer \"arg0\" already"},
        BadCase{R"({"guards": "k % 64 == 0"})", "guards: expected an array"},
        BadCase{R"({"guards": [1]})", "guards[0]: expected a string"},
        BadCase{R"({"problem": []})", "problem: expected a string"},
        BadCase{R"({"launches": []})", "kernel: belongs into `launches`"}));

TEST(Manifest, OtherDocumentsAreRefused) {
  for (const char *text : {"null", "7", "\"x\"", "[]", "[{}]", "{}", R"({"launches": []})",
                           R"({"code_object": "a", "launches": {"kernel": "k"}})",
                           R"({"code_object": "a", "launches": [[]]})"}) {
    EXPECT_FALSE(parseManifest(Json::parse(text))) << text;
  }
}

TEST(Manifest, EveryValueReplacedByEveryOtherKindIsHarmless) {
  const Json original = Json::parse(longForm).flatten();
  const std::vector<Json> strangers = {nullptr,        true,         -1,     UINT64_MAX,
                                       1e308,          "",           "zero", Json::array(),
                                       Json::object(), {{"file", 7}}};
  for (const auto &[pointer, ignored] : original.items()) {
    for (Json::json_pointer at{pointer}; !at.empty(); at.pop_back()) {
      for (const Json &stranger : strangers) {
        Json json = Json::parse(longForm);
        json[at] = stranger;
        const Expected<Manifest> manifest = parseManifest(json);
        if (!manifest) {
          EXPECT_EQ(manifest.error().kind, Error::Kind::badInput);
          EXPECT_FALSE(manifest.error().message.empty());
        }
      }
    }
  }
}

} // namespace
} // namespace kw
