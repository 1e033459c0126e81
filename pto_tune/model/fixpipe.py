"""Names of the fixpipe configuration and what they make of an accumulator element, as data.

Source: common/fixpipe.hpp:59-100 of pto-isa. AtomicAdd types: common/arch/memory/tstore_common.hpp:152-155.
"""

from __future__ import annotations

from collections.abc import Mapping

LAYOUTS = ("NZ2ND", "NZ2NZ", "NZ2DN")
RELU_MODES = ("NoRelu", "NormalRelu")
PHASES = ("Unspecified", "Partial", "Final")
ATOMICS = ("AtomicNone", "AtomicAdd")

OUTPUT_TYPES: Mapping[str, str] = {
    "NoQuant": "",
    "F322F16": "half",
    "QF322F16_PRE": "half",
    "VQF322F16_PRE": "half",
    "DEQF16": "half",
    "VDEQF16": "half",
    "F322BF16": "bfloat16",
    "QF322BF16_PRE": "bfloat16",
    "VQF322BF16_PRE": "bfloat16",
    "QS322BF16_PRE": "bfloat16",
    "VQS322BF16_PRE": "bfloat16",
    "QF322B8_PRE": "int8",
    "VQF322B8_PRE": "int8",
    "REQ8": "int8",
    "VREQ8": "int8",
    "QF322HIF8_PRE": "hifloat8",
    "VQF322HIF8_PRE": "hifloat8",
    "QF322FP8_PRE": "float8_e4m3",
    "VQF322FP8_PRE": "float8_e4m3",
}
"""Output type by QuantPre; "" is the accumulator's own (float or int32)."""

A5_ONLY = ("QF322HIF8_PRE", "VQF322HIF8_PRE", "QF322FP8_PRE", "VQF322FP8_PRE")
"""Quantisations that only Ascend 950 has."""

BYTES: Mapping[str, int] = {"": 4, "half": 2, "bfloat16": 2, "int8": 1, "hifloat8": 1, "float8_e4m3": 1}


def output_bytes(quant: str) -> int:
    """Bytes of an output element under a QuantPre; KeyError for an unknown one."""
    return BYTES[OUTPUT_TYPES[quant]]
