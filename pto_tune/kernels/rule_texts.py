"""What the rules of a report mean, for who meets them in an editor."""

from __future__ import annotations

TEXTS = {
    "syntax": "The file is no MLIR here. Nothing of it is checked until it can be parsed.",
    "unreadable": "The file is too long, no UTF-8 text, or cannot be opened.",
    "unknown": "The operation is not known, so that neither its time nor what it touches is. --unknown price takes "
    "such operations at a stated rule; this can hide a hazard that they bring.",
    "unsupported": "The kernel does something that is not followed, or that its operation does not allow.",
    "pipe-end": "Both functions of a kernel have to initialise a pipe: one end alone waits for the other for ever.",
    "pipe-ends": "Both ends of a pipe have to agree in direction, slots and flags: each counts by its own values.",
    "nosplit": "A pipe with nosplit signals the first vector sub-core alone; calls with another split wait for both.",
    "mixed-splits": "Producer and consumer compute the part of a slot that a sub-core moves from the Split of their "
    "own call. With different ones they read what nobody wrote.",
    "reserve-size": "A reserved buffer holds the local slots of a pipe: SlotSize x LocalSlotNum on A2/A3, SlotSize x "
    "SlotNum on Ascend 950. A smaller one is overrun, a larger one is refused by the assembler.",
    "reserve-missing": "What a function imports has to be reserved by the other one under the same name.",
    "tile-in-ring": "A tile lies in the local slots of a pipe, which fills them without regard to it.",
    "rings-meet": "The local slots of two pipes have bytes in common, and each pipe fills its own without regard to "
    "the other's.",
    "flag-never-set": "A pipe waits for a flag that no instruction sets.",
    "deadlock": "Under some timing (the verdict does not depend on durations) every core waits for another one.",
    "slot-reuse": "No order keeps the producer from writing a slot before its last tile is read.",
    "early-release": "The free signal of a slot can leave while the slot is still read.",
    "early-read": "A slot can be read before it is written.",
    "flag-left": "A flag counter is not zero at the end, and poisons the next launch.",
    "flag-counter": "More signals can be outstanding than a flag counter holds.",
    "push-without-talloc": "TPUSH of a GlobalTensor commits the slot that TALLOC has given.",
    "rank-address": "TPUT and TNOTIFY write to another rank, TGET reads from one, TWAIT and TTEST read their own.",
    "signal-order": "A signal can be seen before the data that it announces: there is no barrier before TNOTIFY.",
    "missed-value": "The value that is waited for can be passed over by a second notification.",
}

_ENDINGS = {
    "direction": "The direction of the pipe does not exist on this platform, or cannot be used there.",
    "slot-num": "SlotNum (FifoDepth) is out of range.",
    "slot-size": "A slot has to hold the whole logical tile, before it is split; no header checks it.",
    "flag-id": "The flags of a pipe have to be below 16; a pipe takes two for each way.",
    "gm-bytes": "The buffer in global memory does not hold the ring.",
    "global-data": "The GlobalTensor forms of the pipe calls need a ring in global memory.",
    "talloc": "TPUSH of a GlobalTensor commits the slot that TALLOC has given.",
    "tile-kind": "Cube cores push tiles of L0C and pop tiles of L1; vector cores push and pop tiles of UB.",
    "split": "Split is one of TileSplitAxis, 0 to 4.",
    "odd-split": "The odd splits work for tiles from cube to vector through global memory alone.",
    "ub-split": "A split from L0C into UB needs 4-byte elements, even rows, or columns in multiples of 32.",
    "l1-split": "A split by columns from UB into L1 needs rows in multiples of 32 bytes.",
    "halves": "The parts of both sub-cores have to lie beside each other in the slot.",
    "same-bytes": "Both sub-cores write the same bytes of a slot, and nothing orders them.",
    "layout": "The consumer reads a slot as other rows and columns than the producer has written.",
    "beyond-slot": "A call moves bytes behind the end of its slot.",
    "ratio": "Pushed and popped tiles are 1:1 or 1:2.",
    "local-slot-num": "LocalSlotNum is at least 1 where tiles are popped from a ring in global memory.",
    "local-slots": "LocalSlotNum is at most SlotNum.",
    "local-alias": "Tiles of several sizes overlap in the local slots of Ascend 950.",
    "store-shape": "The accumulator store takes 1 to 8192 rows and 1 to 4095 columns.",
}


def help_of(rule: str) -> str:
    """A sentence or two about a rule."""
    if rule in TEXTS:
        return TEXTS[rule]
    if rule.startswith("capacity-"):
        return f"Tiles, rings and local slots together do not fit into {rule.removeprefix('capacity-')}."
    if rule.startswith("align-"):
        return "Tiles and slots are aligned to 32 bytes."
    if "-flags-of-" in rule:
        return "Two pipes of a kernel need flags of their own: there is one counter for each."
    ending = max((e for e in _ENDINGS if rule.endswith(f"-{e}")), key=len, default="")
    if ending:
        return _ENDINGS[ending]
    if rule.startswith(("remote", "staging", "signal")):
        return "A rule of transfers and signals between ranks (pages of TPUT, TGET, TNOTIFY, TWAIT and TTEST)."
    return "A rule of legality; the message says what is wrong and, where there is one, the nearest legal value."
