// A stand-in for the part of the PTO library that an exported header leans on: names, template parameters and the
// compile-time rules of its pipes. PTO_STUB_FULL_PERIOD gives the period of the headers before revision 1d873362,
// PTO_STUB_RENDEZVOUS those before 687af1a6, which have none, and PTO_STUB_SIMULATOR the one declaration that moves
// into the library's namespace where no device compiler brings it.
#ifndef PTO_TUNE_TESTS_PTO_STUB_HPP
#define PTO_TUNE_TESTS_PTO_STUB_HPP

#include <cstdint>

#ifdef PTO_STUB_SIMULATOR
namespace pto {
#endif
enum QuantMode_t { NoQuant, F322F16, QF322B8_PRE, QF322FP8_PRE };
#ifdef PTO_STUB_SIMULATOR
}  // namespace pto
#endif

namespace pto {

enum Direction : std::uint8_t {
    DIR_C2V = 1,
    DIR_V2C = 2,
    DIR_BOTH = 3,
#ifdef PTO_NPU_ARCH_A5
    DIR_C2V_GM = 5,
    DIR_V2C_GM = 6,
    DIR_BOTH_GM = 7,
#endif
};
enum TileSplitAxis : std::uint8_t {
    TILE_NO_SPLIT,
    TILE_UP_DOWN,
    TILE_LEFT_RIGHT,
    TILE_UP_DOWN_ODD,
    TILE_LEFT_RIGHT_ODD
};
enum class FIFOType : std::uint8_t { GM_FIFO, VEC_FIFO, MAT_FIFO };
enum class VecCubeRatio : std::uint8_t { V1C1_VEC0, V1C1_VEC1, V2C1_VECS };

enum class LayoutMode_t : std::uint8_t { NZ2NZ, NZ2ND, NZ2DN };
enum class ReluPreMode : std::uint8_t { NoRelu, NormalRelu };
enum class STPhase : std::uint8_t { Unspecified, Partial, Final };
enum class AtomicType : std::uint8_t { AtomicNone, AtomicAdd };
enum ClipReluMode_t { NOCLIP_RELU, CLIP_RELU };

template <LayoutMode_t L, QuantMode_t Q, ReluPreMode R, STPhase P, std::uint8_t S, AtomicType A, ClipReluMode_t C, bool I>
struct FixpipeParams {
    static constexpr LayoutMode_t LayoutMode = L;
    static constexpr QuantMode_t QuantPre = Q;
    static constexpr ReluPreMode ReluMode = R;
    static constexpr STPhase Phase = P;
    static constexpr std::uint8_t SubBlockId = S;
    static constexpr AtomicType AtomicT = A;
    static constexpr ClipReluMode_t ClipReluMode = C;
    static constexpr bool IsChannelSplit = I;
};

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
    static constexpr bool BothWays = (DirType & 3) == 3;
    static_assert(DirType >= 1 && DirType <= 7 && DirType != 4, "unknown direction");
    static_assert(FlagID + (BothWays ? 3 : 1) < 16, "flag ids end at 15");
    static_assert(SlotNum > 0, "no slots");

public:
#ifndef PTO_STUB_RENDEZVOUS
    static constexpr std::uint32_t SyncPeriod = SparsePeriod(SlotNum);
#endif
    static constexpr std::uint32_t Bytes = SlotSize;
    static constexpr std::uint32_t LocalSlots = LocalSlotNum;
    static constexpr bool NoSplit = IsNoSplit;
    static constexpr bool UnitFlag = EN_UNIT_FLAG;
};

template <std::uint8_t FlagID, FIFOType Type, std::uint8_t FiFoDepth, std::uint8_t FiFoSyncT, typename TileProd,
          typename TileCons, bool EN_UNIT_FLAG = false, std::uint8_t LocalFiFoDepth = 2,
          VecCubeRatio Ratio = VecCubeRatio::V2C1_VECS>
struct TMPipe {
    static_assert(FlagID + 1 < 16, "flag ids end at 15");
};

}  // namespace pto

#endif  // PTO_TUNE_TESTS_PTO_STUB_HPP
