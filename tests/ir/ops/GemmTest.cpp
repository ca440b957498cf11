// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

Gemm parsed(std::string_view text) {
  const auto problem = parseProblem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return problem ? problem->gemm() : Gemm();
}

std::string canonical(std::string_view text) {
  const auto problem = parseProblem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return problem ? print(*problem) : "";
}

std::string complaint(std::string_view text) {
  const auto problem = parseProblem(text);
  if (problem) {
    ADD_FAILURE() << text << " was accepted as " << print(*problem);
    return "";
  }
  EXPECT_EQ(problem.error().kind, Error::Kind::badInput);
  EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  return problem.error().message;
}

const Tensor *find(const std::vector<Tensor> &tensors, std::string_view name) {
  for (const Tensor &tensor : tensors) {
    if (tensor.name == name) {
      return &tensor;
    }
  }
  return nullptr;
}

TEST(GemmProblem, FillsInDefaults) {
  const Gemm op = parsed("gemm m=3 n=5 k=7");
  EXPECT_EQ(op.aType, ElementType::bf16);
  EXPECT_EQ(op.outType, ElementType::bf16);
  EXPECT_EQ(op.accType, ElementType::f32);
  EXPECT_EQ(op.lda, 7);
  EXPECT_EQ(op.ldb, 5);
  EXPECT_EQ(op.ldc, 5);
  EXPECT_EQ(op.sa, 21);
  EXPECT_EQ(op.sb, 35);
  EXPECT_EQ(op.sc, 15);
}

TEST(GemmProblem, LeadingDimensionsFollowTheOrder) {
  const Gemm op = parsed("gemm m=3 n=5 k=7 a=km b=nk");
  EXPECT_EQ(op.lda, 3);
  EXPECT_EQ(op.ldb, 7);
  EXPECT_FALSE(op.aKContiguous());
  EXPECT_TRUE(op.bKContiguous());
}

TEST(GemmProblem, PrintsCanonically) {
  EXPECT_EQ(canonical("gemm  k=7 n=5\tm=3"), "gemm m=3 n=5 k=7 dtype=bf16");
  EXPECT_EQ(canonical("gemm m=3 n=5 k=7 dtype=bf16 out=bf16 acc=f32 batch=1 a=mk b=kn lda=7 ldb=5 "
                      "ldc=5 alpha=1.0 beta=-0 preshuffle=0 scale=none"),
            "gemm m=3 n=5 k=7 dtype=bf16");
  EXPECT_EQ(canonical("gemm m=3 n=5 k=7 b=nk a=km lda=8 out=f32 dtype=f16 alpha=0.5 beta=2"),
            "gemm m=3 n=5 k=7 dtype=f16 out=f32 a=km b=nk lda=8 alpha=0.5 beta=2");
  EXPECT_EQ(canonical("gemm m=3 n=5 k=7 batch=2 sb=0 sa=1000"),
            "gemm m=3 n=5 k=7 batch=2 dtype=bf16 sa=1000 sb=0");
  EXPECT_EQ(canonical("gemm m=3 n=5 k=7 epilogue=bias,gelu,quant:fp8 preshuffle=1"),
            "gemm m=3 n=5 k=7 dtype=bf16 epilogue=bias,gelu,quant:fp8 preshuffle=1");
}

TEST(GemmProblem, TypesBringTheirScales) {
  EXPECT_EQ(parsed("gemm m=1 n=1 k=1 dtype=fp8").aScale, ScaleMode::tensor);
  EXPECT_EQ(parsed("gemm m=1 n=1 k=1 dtype=i8").aScale, ScaleMode::none);
  EXPECT_EQ(parsed("gemm m=1 n=1 k=1 dtype=i8").accType, ElementType::i32);
  EXPECT_EQ(parsed("gemm m=1 n=1 k=1 dtype=i8").outType, ElementType::bf16);
  const Gemm mx = parsed("gemm m=1 n=1 k=1 dtype=mxfp4");
  EXPECT_EQ(mx.aType, ElementType::fp4);
  EXPECT_EQ(mx.bScale, ScaleMode::mx);
  EXPECT_EQ(mx.outType, ElementType::bf16);
  EXPECT_EQ(canonical("gemm m=1 n=1 k=1 dtype=fp8 scale=mx"), "gemm m=1 n=1 k=1 dtype=mxfp8");
  EXPECT_EQ(canonical("gemm m=1 n=1 k=1 dtype=fp8 scale=row"),
            "gemm m=1 n=1 k=1 dtype=fp8 scale=row");
  const Gemm mixed = parsed("gemm m=1 n=1 k=1 adtype=f16 bdtype=mxfp4");
  EXPECT_EQ(mixed.aScale, ScaleMode::none);
  EXPECT_EQ(mixed.bScale, ScaleMode::mx);
  EXPECT_EQ(mixed.outType, ElementType::f16);
  EXPECT_EQ(canonical("gemm m=1 n=1 k=1 bdtype=fp8 adtype=bf16 scale=row"),
            "gemm m=1 n=1 k=1 adtype=bf16 bdtype=fp8 scale=row");
}

TEST(GemmProblem, EveryTextParsesBackToTheSameProblem) {
  const std::vector<std::string> sizes{"m=1 n=1 k=1", "m=4096 n=4096 k=4096", "m=17 n=31 k=2"};
  const std::vector<std::string> types{"",
                                       "dtype=f32",
                                       "dtype=f16 out=f32",
                                       "dtype=i8 out=i32",
                                       "dtype=fp8",
                                       "dtype=bf8",
                                       "dtype=mxfp8",
                                       "dtype=mxfp6",
                                       "dtype=mxfp4",
                                       "dtype=fp8 scale=none",
                                       "dtype=bf8 scale=mx",
                                       "adtype=bf16 bdtype=mxfp4",
                                       "adtype=fp8 bdtype=bf8 scale=block128",
                                       "adtype=mxfp8 bdtype=mxfp4"};
  const std::vector<std::string> rest{"",
                                      "a=km",
                                      "b=nk ldb=9000",
                                      "batch=3 sa=0",
                                      "batch=3 sc=5000 ldc=15000",
                                      "alpha=0.1 beta=1e-3",
                                      "epilogue=bias,silu,mul,add",
                                      "epilogue=quant:i8"};
  for (const auto &size : sizes) {
    for (const auto &type : types) {
      for (const auto &more : rest) {
        if (type.find("out=") != type.npos && more.find("quant") != more.npos) {
          continue; // quant decides the type of the result
        }
        const std::string text = "gemm " + size + " " + type + " " + more;
        const auto problem = parseProblem(text);
        ASSERT_TRUE(problem) << text << ": " << problem.error().message;
        const auto again = parseProblem(print(*problem));
        ASSERT_TRUE(again) << print(*problem) << ": " << again.error().message;
        EXPECT_EQ(*again, *problem) << text;
        EXPECT_EQ(print(*again), print(*problem));
      }
    }
  }
}

TEST(GemmProblem, RefusesBadKeysByName) {
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 kk=2"), HasSubstr("unknown key \"kk\""));
  EXPECT_THAT(complaint("gemm m=1 n=1"), HasSubstr("key \"k\" is missing; required: m n k"));
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 m=1"), HasSubstr("key \"m\" is given twice"));
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 b=nk b=kn"), HasSubstr("key \"b\" is given twice"));
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 dtype"), HasSubstr("\"dtype\" is not of the form"));
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 dtype="), HasSubstr("key \"dtype\" has no value"));
  EXPECT_THAT(complaint("gemm m=1 n=1 k=1 =3"), HasSubstr("unknown key \"\""));
}

TEST(GemmProblem, RefusesBadSizesByName) {
  for (const char *size :
       {"0", "-1", "2147483648", "9223372036854775808", "1000000000000000000000000000000", "1.5",
        "1e3", "x", " ", "+1", "0x10"}) {
    EXPECT_THAT(complaint("gemm n=1 k=1 m=" + std::string(size)), HasSubstr("\"m\"")) << size;
  }
  EXPECT_EQ(parsed("gemm m=2147483647 n=1 k=1").m, 2147483647);
  EXPECT_THAT(complaint("gemm m=2147483647 n=1 k=2147483647"), HasSubstr("2^50 bytes"));
  EXPECT_THAT(complaint("gemm m=2 n=2 k=2 batch=2147483647 sa=1125899906842624"),
              HasSubstr("2^50 bytes"));
}

TEST(GemmProblem, RefusesContradictions) {
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 dtype=bf17"), HasSubstr("accepted: f32 f16 bf16"));
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 dtype=bf16 adtype=fp8"),
              HasSubstr("dtype=bf16 contradicts adtype=fp8"));
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 adtype=fp8"), HasSubstr("\"bdtype\" is missing"));
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 adtype=i8 bdtype=bf16"), HasSubstr("i8"));
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 a=kn"), HasSubstr("accepted: mk km"));
  EXPECT_THAT(complaint("gemm m=4 n=4 k=4 b=mk"), HasSubstr("accepted: kn nk"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 lda=5"), HasSubstr("lda=5 is below the row length 6"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 b=nk ldb=5"), HasSubstr("ldb=5 is below"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 sa=24"), HasSubstr("sa is given without a batch"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 batch=2 sc=0"), HasSubstr("overlap"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 dtype=mxfp4 scale=row"), HasSubstr("scale=row"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 scale=row"), HasSubstr("scale=none"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 dtype=i8 acc=f32"), HasSubstr("acc=i32"));
  EXPECT_THAT(complaint("gemm m=4 n=5 k=6 out=f32 epilogue=quant:fp8"), HasSubstr("out=fp8"));
  for (const char *steps :
       {"bias,bias", "quant:fp8,bias", "swiglu", "bias,", ",", "quant:", "quant:f32", "quant"}) {
    EXPECT_THAT(complaint("gemm m=4 n=5 k=6 epilogue=" + std::string(steps)),
                HasSubstr("\"epilogue\""))
        << steps;
  }
  for (const char *alpha : {"inf", "nan", "1e999", "one", "1,0"}) {
    EXPECT_THAT(complaint("gemm m=4 n=5 k=6 alpha=" + std::string(alpha)), HasSubstr("\"alpha\""));
  }
}

TEST(GemmProblem, CompiledPartLeavesRunTimeSizesOut) {
  const auto small = parseProblem("gemm m=3 n=5 k=7 b=nk");
  const auto large = parseProblem("gemm m=300 n=5 k=7 b=nk lda=9 ldc=6");
  const auto other = parseProblem("gemm m=3 n=6 k=7 b=nk");
  EXPECT_EQ(printCompiledPart(*small), "gemm n=5 k=7 dtype=bf16 b=nk");
  EXPECT_EQ(printCompiledPart(*small), printCompiledPart(*large));
  EXPECT_NE(printCompiledPart(*small), printCompiledPart(*other));
}

TEST(GemmProblem, CountsWorkAndBytes) {
  const auto problem = parseProblem("gemm m=3 n=5 k=7 out=f32");
  EXPECT_DOUBLE_EQ(flops(*problem), 2 * 3 * 5 * 7);
  EXPECT_DOUBLE_EQ(compulsoryBytes(*problem), 2 * 3 * 7 + 2 * 7 * 5 + 4 * 3 * 5);
  // b is shared by the batch, c is read and written, padding of rows is not moved.
  const auto batched = parseProblem("gemm m=3 n=5 k=7 batch=4 sb=0 beta=1 lda=100");
  EXPECT_DOUBLE_EQ(flops(*batched), 4 * 2 * 3 * 5 * 7);
  EXPECT_DOUBLE_EQ(compulsoryBytes(*batched), 2 * (4 * 3 * 7 + 7 * 5 + 2 * 4 * 3 * 5));
}

TEST(GemmProblem, TensorsAreInStorageOrder) {
  const auto problem = parseProblem("gemm m=3 n=5 k=7 a=km b=nk lda=4 epilogue=bias,mul,add");
  const std::vector<Tensor> all = tensors(*problem);
  EXPECT_EQ(find(all, "a")->shape, (std::vector<std::int64_t>{7, 3}));
  EXPECT_EQ(find(all, "a")->strides, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(spanBytes(*find(all, "a")), (6 * 4 + 2 + 1) * 2);
  EXPECT_EQ(find(all, "b")->shape, (std::vector<std::int64_t>{5, 7}));
  EXPECT_EQ(find(all, "bias")->shape, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(find(all, "aux")->shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(find(all, "aux2")->shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(find(all, "c")->role, BufferRole::output);
  EXPECT_FALSE(find(all, "c")->accumulates);
  EXPECT_TRUE(find(tensors(*parseProblem("gemm m=3 n=5 k=7 beta=1")), "c")->accumulates);
}

TEST(GemmProblem, ScalesAreTensors) {
  const std::vector<Tensor> blocks =
      tensors(*parseProblem("gemm m=3 n=300 k=257 dtype=fp8 scale=block128"));
  EXPECT_EQ(find(blocks, "scale_a")->shape, (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(find(blocks, "scale_b")->shape, (std::vector<std::int64_t>{3, 3}));
  const std::vector<Tensor> mx = tensors(*parseProblem("gemm m=3 n=5 k=64 dtype=mxfp4"));
  EXPECT_EQ(find(mx, "scale_b")->shape, (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(find(mx, "scale_b")->type, ElementType::e8m0);
  EXPECT_EQ(spanBytes(*find(mx, "a")), 3 * 64 / 2);
}

} // namespace
} // namespace kw
