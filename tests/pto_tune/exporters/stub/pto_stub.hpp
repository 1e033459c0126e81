// A stand-in for the part of the PTO library that an exported header leans on: names, template parameters and
// the compile-time rules of TPipe. PTO_STUB_FULL_PERIOD gives the period of the headers before revision 1d873362.
#ifndef PTO_TUNE_TESTS_PTO_STUB_HPP
#define PTO_TUNE_TESTS_PTO_STUB_HPP

#include <cstdint>

namespace pto {

enum Direction : std::uint8_t { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3 };
enum TileSplitAxis : std::uint8_t { TILE_NO_SPLIT, TILE_UP_DOWN, TILE_LEFT_RIGHT };

constexpr std::uint32_t SparsePeriod(std::uint32_t slots)
{
#ifdef PTO_STUB_FULL_PERIOD
    return slots;
#else
    return slots > 2 ? slots / 2 : slots;
#endif
}

template <std::uint8_t FlagID, std::uint8_t DirType, std::uint32_t SlotSize, std::uint32_t SlotNum,
          std::uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool EN_UNIT_FLAG = false>
class TPipe {
    static_assert(DirType == DIR_C2V || DirType == DIR_V2C || DirType == DIR_BOTH, "unknown direction");
    static_assert(FlagID + (DirType == DIR_BOTH ? 3 : 1) < 16, "flag ids end at 15");
    static_assert(SlotNum > 0, "no slots");

public:
    static constexpr std::uint32_t SyncPeriod = SparsePeriod(SlotNum);
    static constexpr std::uint32_t Bytes = SlotSize;
    static constexpr std::uint32_t LocalSlots = LocalSlotNum;
    static constexpr bool NoSplit = IsNoSplit;
    static constexpr bool UnitFlag = EN_UNIT_FLAG;
};

}  // namespace pto

#endif  // PTO_TUNE_TESTS_PTO_STUB_HPP
