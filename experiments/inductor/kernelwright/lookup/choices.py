# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inductor's choices with our rows: what the active table has is taken, all else by `misses`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging

import torch
from torch._inductor.lookup_table.choices import LookupTableChoices
from torch._inductor.utils import use_aten_gemm_kernels, use_triton_template

from .keys import KeyFormatError, TensorKey, parse_key
from .state import active_table

_log = logging.getLogger("kernelwright.lookup")


class MissingRow(RuntimeError):
    """The table has no row for an operation (`misses="error"`)."""


def _expanded(tensor: TensorKey, sizes: tuple[int, ...]) -> TensorKey:
    """A bias as Inductor broadcasts it to the result: stride 0 along what it repeats."""
    padding = len(sizes) - len(tensor.sizes)
    given = (1,) * padding + tensor.sizes
    strides = (0,) * padding + tensor.strides
    kept = [
        stride if size == wanted else 0
        for size, stride, wanted in zip(given, strides, sizes, strict=True)
    ]
    return TensorKey(tensor.dtype, sizes, tuple(kept))


class RowChoices(LookupTableChoices):
    """Serves the active table. Safe to create at any time, in any thread: it holds no table."""

    def _get_lookup_table(self):
        return active_table().rows

    def uuid(self) -> str:
        """Part of the key of Inductor's caches: code made with another table is never reused."""
        state = active_table()
        text = json.dumps([state.rows, state.misses], sort_keys=True)
        return "kernelwright.lookup." + hashlib.sha256(text.encode()).hexdigest()

    def lookup_template_configs(self, kernel_inputs, op_name, template_uids, template_hash_map=None):
        found = super().lookup_template_configs(
            kernel_inputs, op_name, template_uids, template_hash_map
        )
        if found:
            active_table().hits[self.make_lookup_key(kernel_inputs, op_name)] += 1
        return found

    def _triton_key(self, kernel_inputs, op_name) -> str | None:
        """Key under which the Triton template is looked up; for addmm in torch 2.12 and later ATen's
        lookup differs: it is made with the bias as it was given."""
        text = self.make_lookup_key(kernel_inputs, op_name)
        if text is None or op_name != "addmm":
            return text
        try:
            key = parse_key(text)
        except KeyFormatError:
            return text
        bias = _expanded(key.tensors[0], key.sizes[:2])
        return str(dataclasses.replace(key, tensors=(bias, *key.tensors[1:])))

    def _has_triton_row(self, key: str, device: torch.device) -> bool:
        for candidate in (f"{self._get_device_key(device)}+{key}", key):
            if rows := active_table().rows.get(candidate):
                return any(row["template_id"].startswith("triton::") for row in rows)
        return False

    def _fallback(self, template_choices, kernel_inputs, templates, op_name, kwarg_overrides=None):
        state = active_table()
        uids = [template.uid for template in templates]
        key = self._triton_key(kernel_inputs, op_name)
        if key is None:
            return super()._fallback(
                template_choices, kernel_inputs, templates, op_name, kwarg_overrides
            )
        if (
            not any(uid.startswith("triton::") for uid in uids)
            and self._has_triton_row(key, kernel_inputs.device())
            and use_triton_template(kernel_inputs.output_layout(), check_max_autotune=True)
        ):
            return []  # the row comes with the other lookup: one choice, nothing to benchmark
        if any(uid.startswith("aten::") for uid in uids) or not use_aten_gemm_kernels():
            state.misses_of[key] += 1  # once, though addmm is looked up three times
            _log.info("no row for %s", key)
        if state.misses == "error":
            raise MissingRow(f"the lookup table has no row for '{key}' (templates in use: {uids})")
        choices = super()._fallback(
            template_choices, kernel_inputs, templates, op_name, kwarg_overrides
        )
        if state.misses == "autotune":
            return choices
        aten = [choice for choice in choices if choice.template.uid.startswith("aten::")]
        return aten[:1] if aten or use_aten_gemm_kernels() else choices


def make_choices() -> RowChoices:
    """What `inductor_choices_class` calls."""
    return RowChoices()

