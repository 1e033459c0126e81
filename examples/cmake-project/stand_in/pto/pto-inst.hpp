// A stand-in for the part of the PTO library that an exported header leans on: the names, template parameters and
// compile-time rules of its pipes. It moves no data.
#ifndef PTO_TUNE_EXAMPLE_STAND_IN_HPP
#define PTO_TUNE_EXAMPLE_STAND_IN_HPP

#include <cstdint>

namespace pto {

enum Direction : std::uint8_t { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3 };
enum TileSplitAxis : std::uint8_t { TILE_NO_SPLIT, TILE_UP_DOWN, TILE_LEFT_RIGHT };

template <std::uint8_t FlagID, std::uint8_t DirType, std::uint32_t SlotSize, std::uint32_t SlotNum,
          std::uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool EN_UNIT_FLAG = false>
class TPipe {
    static_assert(SlotNum > 0, "no slots");
    static_assert(FlagID + (DirType == DIR_BOTH ? 3 : 1) < 16, "flag ids end at 15");

public:
#ifdef STAND_IN_FULL_PERIOD
    static constexpr std::uint32_t SyncPeriod = SlotNum;  // as the headers of one spring had it
#else
    static constexpr std::uint32_t SyncPeriod = SlotNum > 2 ? SlotNum / 2 : SlotNum;
#endif
    static constexpr std::uint64_t RingBytes = std::uint64_t{SlotNum} * SlotSize;
    static constexpr std::uint32_t LocalSlots = LocalSlotNum;
    static constexpr bool NoSplit = IsNoSplit;
    static constexpr bool UnitFlag = EN_UNIT_FLAG;
};

}  // namespace pto

#endif  // PTO_TUNE_EXAMPLE_STAND_IN_HPP
