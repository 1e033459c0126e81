// pto-tune header, sha256 of all lines below: 6d11c07e28514829dbee4cb87c6f6ec8c562d4091c62d38fcb8bff4cf63681d8
// every form on ascend950pr: written by pto-tune, to be exported again rather than edited.
//
// predicted   88.900 us, task timing; 139860 cycles on the device
// verdict     ok, under rule set a5
// pto-isa     default revision of the rule set
// run         3
// holds for   pto-isa 1d873362 (2026-06-24) up to 8d74fb38 (2026-07-16)
// platform    ascend950pr (Ascend 950PR, Ascend 950), sha256 abababababababababababababababababababababababababababababababab
// version     numpy 2.4.0
// version     pto-tune 0.1.0
// problem     causal = 0
// problem     head = 128
// problem     s0 = 4096
// problem     s1 = 4096
// tunable     cube_s0 = 128
// tunable     fifo_depth = 8
// tunable     split = TILE_UP_DOWN
// warning     FIFO gated: the kernel has to call setTileId before every push and pop (npu/a5/TPush.hpp:1296)
//
// Include the PTO library before this header: its pipes, their enumerations and its fixpipe configuration have to be
// declared already. This header does not include it, because its path depends on the build.
#ifndef PTO_TUNE_CONFIG_81309505_HPP
#define PTO_TUNE_CONFIG_81309505_HPP

#if !defined(PTO_NPU_ARCH_A5)
#error "this header was made for Ascend 950: include the PTO library first, and build for that chip (PTO_NPU_ARCH_A5)"
#endif

#include <cstdint>

namespace pto_tune_config {

inline constexpr std::uint32_t CUBE_S0 = 128;
inline constexpr std::uint32_t CUBE_S1 = 128;
inline constexpr std::uint32_t QK_PRELOAD = 4;
inline constexpr std::uint32_t TILE_S1 = 256;

// Pipe both: TPipe of DIR_BOTH
// C2V, ring in UB: AIC calls TPUSH (TileData)
// V2C, ring in L1: AIV0 calls TPUSH (TileData)
// AIV0 alone constructs the pipe and calls it: IsNoSplit.
// BothPipe(GM_SLOT_BUFFER, C2V_CONSUMER_BUF, V2C_CONSUMER_BUF), where
//   GM_SLOT_BUFFER: not used (nullptr)
//   C2V_CONSUMER_BUF: Both_C2V_CONSUMER_BUF_Bytes of UB of AIV0: the ring
//   V2C_CONSUMER_BUF: Both_V2C_CONSUMER_BUF_Bytes of L1: the ring
inline constexpr std::uint32_t Both_FlagID = 0;
inline constexpr std::uint32_t Both_SlotSize = 131072;
inline constexpr std::uint32_t Both_FifoDepth = 8;
inline constexpr std::uint32_t Both_SyncPeriod = 4;
inline constexpr std::uint32_t Both_LocalSlotNum = 2;
inline constexpr bool Both_IsNoSplit = true;
inline constexpr bool Both_EN_UNIT_FLAG = false;
inline constexpr pto::TileSplitAxis Both_Split = pto::TileSplitAxis::TILE_NO_SPLIT;
inline constexpr std::uint64_t Both_C2V_CONSUMER_BUF_Bytes = 65536;
inline constexpr std::uint64_t Both_V2C_CONSUMER_BUF_Bytes = 65536;
using BothPipe =
    pto::TPipe<Both_FlagID, pto::Direction::DIR_BOTH, Both_SlotSize, Both_FifoDepth,
               Both_LocalSlotNum, Both_IsNoSplit, Both_EN_UNIT_FLAG>;
static_assert(BothPipe::SyncPeriod == Both_SyncPeriod,
              "BothPipe: the included pto-isa derives another SyncPeriod than the recommended 4");

// Pipe out: TPipe of DIR_C2V_GM
// C2V, ring in GM: AIC calls TPUSH (TileData, TConfig1), TPUSH (TileData, TConfig2); AIV calls TPOP (TileData)
// AIV0 and AIV1 both construct the pipe: constructor and destructor count on both.
// OutPipe(GM_SLOT_BUFFER, C2V_CONSUMER_BUF, V2C_CONSUMER_BUF), where
//   GM_SLOT_BUFFER: Out_GM_SLOT_BUFFER_Bytes of GM for each block
//   C2V_CONSUMER_BUF: Out_C2V_CONSUMER_BUF_Bytes of UB of each vector sub-core: popped tiles
//   V2C_CONSUMER_BUF: not used (0)
// The kernel turns switches off, offered only with the verdict ok:
//   prod.setAllocateStatus(false)   no push waits for space: the program bounds the tiles in flight
//   cons.setFreeStatus(false)       no pop or release gives a credit of free space
inline constexpr std::uint32_t Out_FlagID = 4;
inline constexpr std::uint32_t Out_SlotSize = 131072;
inline constexpr std::uint32_t Out_FifoDepth = 8;
inline constexpr std::uint32_t Out_SyncPeriod = 4;
inline constexpr std::uint32_t Out_LocalSlotNum = 2;
inline constexpr bool Out_IsNoSplit = false;
inline constexpr bool Out_EN_UNIT_FLAG = true;
inline constexpr pto::TileSplitAxis Out_Split = pto::TileSplitAxis::TILE_LEFT_RIGHT_ODD;
inline constexpr std::uint64_t Out_GM_SLOT_BUFFER_Bytes = 1048576;
inline constexpr std::uint64_t Out_C2V_CONSUMER_BUF_Bytes = 49152;
using OutPipe =
    pto::TPipe<Out_FlagID, pto::Direction::DIR_C2V_GM, Out_SlotSize, Out_FifoDepth,
               Out_LocalSlotNum, Out_IsNoSplit, Out_EN_UNIT_FLAG>;
static_assert(OutPipe::SyncPeriod == Out_SyncPeriod,
              "OutPipe: the included pto-isa derives another SyncPeriod than the recommended 4");

// TConfig1 of pipe out. The device's compiler declares QuantMode_t outside of the library's namespace.
namespace Out_Fixpipe1 {
using namespace pto;
using TConfig =
    FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::F322F16, ReluPreMode::NoRelu, STPhase::Unspecified,
                  0, AtomicType::AtomicNone, ClipReluMode_t::NOCLIP_RELU, false>;
}  // namespace Out_Fixpipe1
using OutTConfig1 = Out_Fixpipe1::TConfig;
inline constexpr auto Out_LayoutMode1 = OutTConfig1::LayoutMode;
inline constexpr auto Out_QuantPre1 = OutTConfig1::QuantPre;
inline constexpr auto Out_ReluMode1 = OutTConfig1::ReluMode;
inline constexpr auto Out_Phase1 = OutTConfig1::Phase;
inline constexpr auto Out_SubBlockId1 = OutTConfig1::SubBlockId;
inline constexpr auto Out_AtomicT1 = OutTConfig1::AtomicT;
inline constexpr auto Out_ClipReluMode1 = OutTConfig1::ClipReluMode;
inline constexpr auto Out_IsChannelSplit1 = OutTConfig1::IsChannelSplit;

// TConfig2 of pipe out. The device's compiler declares QuantMode_t outside of the library's namespace.
namespace Out_Fixpipe2 {
using namespace pto;
using TConfig =
    FixpipeParams<LayoutMode_t::NZ2NZ, QuantMode_t::QF322B8_PRE, ReluPreMode::NormalRelu, STPhase::Final,
                  1, AtomicType::AtomicAdd, ClipReluMode_t::NOCLIP_RELU, false>;
}  // namespace Out_Fixpipe2
using OutTConfig2 = Out_Fixpipe2::TConfig;
inline constexpr auto Out_LayoutMode2 = OutTConfig2::LayoutMode;
inline constexpr auto Out_QuantPre2 = OutTConfig2::QuantPre;
inline constexpr auto Out_ReluMode2 = OutTConfig2::ReluMode;
inline constexpr auto Out_Phase2 = OutTConfig2::Phase;
inline constexpr auto Out_SubBlockId2 = OutTConfig2::SubBlockId;
inline constexpr auto Out_AtomicT2 = OutTConfig2::AtomicT;
inline constexpr auto Out_ClipReluMode2 = OutTConfig2::ClipReluMode;
inline constexpr auto Out_IsChannelSplit2 = OutTConfig2::IsChannelSplit;

// Pipe t: TMPipe of DIR_V2C
// V2C, ring in L1: AIV calls TPUSH (TileData, of TPUSH(tile, pipe))
// AIV0 and AIV1 both construct the pipe: its flags reach both.
// TPipe<TileProd, TileCons>(fifoBase), where
//   fifoBase: T_fifoBase_Bytes of L1: the ring
// The shapes of its tiles give TILE_UP_DOWN and slots of T_SlotSize bytes.
// The kernel gates the switches, tile i counted from 0 at each end:
//   before TPUSH of tile i: prod.setAllocateStatus(T_AllocateGate(i))
//     which is i >= T_FiFoDepth && i % T_FiFoSyncT == 0
//   before TFREE of tile i: cons.setFreeStatus(T_FreeGate(i))
//     which is (i + 1) % T_FiFoSyncT == 0
//   after the last of n tiles: prod.allocate() T_CreditsLeft(n) times, n / T_FiFoSyncT less the number of i < n that
//     the first gate lets wait (none below 0)
// The prediction counts the credit that the constructor sends as one that stays, for the destructor to take: the
//   kernel must not take it.
inline constexpr std::uint32_t T_FlagID = 6;
inline constexpr std::uint32_t T_SlotSize = 131072;
inline constexpr std::uint8_t T_FiFoDepth = 8;
inline constexpr std::uint8_t T_FiFoSyncT = 2;
inline constexpr std::uint8_t T_LocalFiFoDepth = 2;
inline constexpr bool T_EN_UNIT_FLAG = true;
inline constexpr pto::TileSplitAxis T_Split = pto::TileSplitAxis::TILE_UP_DOWN;
inline constexpr std::uint64_t T_fifoBase_Bytes = 32768;
template <typename TileProd, typename TileCons>
using TPipe =
    pto::TMPipe<T_FlagID, pto::FIFOType::MAT_FIFO, T_FiFoDepth, T_FiFoSyncT, TileProd, TileCons,
                T_EN_UNIT_FLAG, T_LocalFiFoDepth, pto::VecCubeRatio::V2C1_VECS>;
static_assert(T_FiFoSyncT > 0 && T_FiFoDepth % T_FiFoSyncT == 0,
              "TPipe: FiFoDepth has to be a multiple of FiFoSyncT, or slots are overwritten");
constexpr bool T_AllocateGate(std::uint64_t i)
{
    return i >= T_FiFoDepth && i % T_FiFoSyncT == 0;
}
constexpr bool T_FreeGate(std::uint64_t i)
{
    return (i + 1) % T_FiFoSyncT == 0;
}
constexpr std::uint64_t T_CreditsLeft(std::uint64_t n)
{
    const std::uint64_t sent = n / T_FiFoSyncT;
    const std::uint64_t last = n > 0 ? (n - 1) / T_FiFoSyncT : 0;
    const std::uint64_t before = (T_FiFoDepth - 1) / T_FiFoSyncT;
    const std::uint64_t taken = last > before ? last - before : 0;
    return sent > taken ? sent - taken : 0;
}

}  // namespace pto_tune_config

#endif  // PTO_TUNE_CONFIG_81309505_HPP
