// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/tune/RunDocument.h"

#include <algorithm>
#include <span>

namespace kw {
namespace {

enum class Is { text, textOrNull, truth, number, numberOrNull, count, object };

struct Field {
  const char *place; ///< JSON pointer
  Is is;
};

constexpr Field documentFields[] = {
    {"/problem", Is::text},
    {"/target", Is::text},
    {"/run", Is::text},
    {"/seed", Is::count},
    {"/strategy", Is::text},
    {"/space/legal", Is::count},
    {"/space/estimated", Is::count},
    {"/space/rejected", Is::object},
    {"/trials/compiled", Is::count},
    {"/trials/validated", Is::count},
    {"/trials/failed", Is::object},
    {"/seconds", Is::number},
};

constexpr Field candidateFields[] = {
    {"/rank", Is::count},
    {"/schedule", Is::text},
    {"/time_us", Is::number},
    {"/source", Is::text},
    {"/interval_us/0", Is::number},
    {"/interval_us/1", Is::number},
    {"/estimates/model", Is::number},
    {"/limiter", Is::text},
    {"/tflops", Is::number},
    {"/gbps", Is::number},
    {"/validated", Is::truth},
    {"/max_rel", Is::numberOrNull},
    {"/hsaco", Is::textOrNull},
    {"/manifest", Is::textOrNull},
    {"/vgpr", Is::numberOrNull},
    {"/agpr", Is::numberOrNull},
    {"/lds_bytes", Is::numberOrNull},
    {"/spills", Is::numberOrNull},
};

constexpr Field compiledFields[] = {
    {"/vgpr", Is::count},
    {"/agpr", Is::count},
    {"/lds_bytes", Is::count},
    {"/spills", Is::count},
    {"/occupancy", Is::count},
    {"/instructions/mfma", Is::count},
    {"/instructions/lds", Is::count},
    {"/instructions/vmem", Is::count},
    {"/instructions/valu", Is::count},
    {"/instructions/salu", Is::count},
};

constexpr Field validatedFields[] = {{"/max_rel", Is::number}};

bool isOf(const Json &value, Is is) {
  switch (is) {
  case Is::text:
    return value.is_string();
  case Is::textOrNull:
    return value.is_string() || value.is_null();
  case Is::truth:
    return value.is_boolean();
  case Is::number:
    return value.is_number();
  case Is::numberOrNull:
    return value.is_number() || value.is_null();
  case Is::count:
    return value.is_number_unsigned();
  case Is::object:
    return value.is_object();
  }
  return false;
}

bool hasAll(const Json &json, std::span<const Field> fields) {
  return json.is_object() && std::ranges::all_of(fields, [&](const Field &field) {
           const Json::json_pointer place(field.place);
           return json.contains(place) && isOf(json.at(place), field.is);
         });
}

} // namespace

bool isRunDocument(const Json &document) {
  if (!hasAll(document, documentFields) || !document.contains("candidates")) {
    return false;
  }
  const Json &candidates = document["candidates"];
  return candidates.is_array() && !candidates.empty() &&
         std::ranges::all_of(
             candidates, [](const Json &candidate) { return hasAll(candidate, candidateFields); });
}

bool isResultValue(Rung rung, const Json &value) {
  switch (rung) {
  case Rung::compiled:
    return hasAll(value, compiledFields);
  case Rung::validated:
    return hasAll(value, validatedFields);
  default:
    return value.is_object();
  }
}

} // namespace kw
