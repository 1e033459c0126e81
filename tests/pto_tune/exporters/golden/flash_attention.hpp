// pto-tune header, sha256 of all lines below: 63927df99096512885721328527d2681817bc93bf53da448a6a9aa06ee5bfd03
// flash_attention on ascend910b2: written by pto-tune, to be exported again rather than edited.
//
// predicted   88.900 us, task timing; 139860 cycles on the device
// interval    84.250 to 101.500 us: 5 and 95 % of 64 samples of the platform's numbers
// verdict     ok, under rule set a2a3
// pto-isa     default revision of the rule set
// run         3
// platform    ascend910b2 (Ascend910B2, Atlas A2/A3), sha256 abababababababababababababababababababababababababababababababab
// version     numpy 2.4.0
// version     pto-tune 0.1.0
// problem     causal = 0
// problem     head = 128
// problem     s0 = 4096
// problem     s1 = 4096
// tunable     cube_s0 = 128
// tunable     fifo_depth = 8
// tunable     split = TILE_UP_DOWN
//
// Include the PTO library before this header: its pipes, their enumerations and its fixpipe configuration have to be
// declared already. This header does not include it, because its path depends on the build.
#ifndef PTO_TUNE_CONFIG_81309505_HPP
#define PTO_TUNE_CONFIG_81309505_HPP

#if defined(PTO_NPU_ARCH_A5)
#error "this header was made for Atlas A2/A3, and this build is for Ascend 950 (PTO_NPU_ARCH_A5)"
#endif

#include <cstdint>

namespace pto_tune_config {

inline constexpr std::uint32_t CUBE_S0 = 128;
inline constexpr std::uint32_t CUBE_S1 = 128;
inline constexpr std::uint32_t QK_PRELOAD = 4;
inline constexpr std::uint32_t TILE_S1 = 256;

// Pipe qk: TPipe of DIR_C2V
// C2V, ring in GM: AIC calls TALLOC (GlobalData), TPUSH (GlobalData); AIV calls TPOP (GlobalData), TFREE (GlobalData)
// AIV0 and AIV1 both construct the pipe: its flags reach both.
// QkPipe(GM_SLOT_BUFFER, C2V_CONSUMER_BUF, V2C_CONSUMER_BUF), where
//   GM_SLOT_BUFFER: Qk_GM_SLOT_BUFFER_Bytes of GM for each block
//   C2V_CONSUMER_BUF: not used (0)
//   V2C_CONSUMER_BUF: not used (0)
inline constexpr std::uint32_t Qk_FlagID = 0;
inline constexpr std::uint32_t Qk_SlotSize = 131072;
inline constexpr std::uint32_t Qk_FifoDepth = 8;
inline constexpr std::uint32_t Qk_SyncPeriod = 4;
inline constexpr std::uint32_t Qk_LocalSlotNum = 2;
inline constexpr bool Qk_IsNoSplit = false;
inline constexpr bool Qk_EN_UNIT_FLAG = true;
inline constexpr pto::TileSplitAxis Qk_Split = pto::TileSplitAxis::TILE_UP_DOWN;
inline constexpr std::uint64_t Qk_GM_SLOT_BUFFER_Bytes = 1048576;
using QkPipe =
    pto::TPipe<Qk_FlagID, pto::Direction::DIR_C2V, Qk_SlotSize, Qk_FifoDepth,
               Qk_LocalSlotNum, Qk_IsNoSplit, Qk_EN_UNIT_FLAG>;
static_assert(QkPipe::SyncPeriod == Qk_SyncPeriod,
              "QkPipe: the included pto-isa derives another SyncPeriod than the recommended 4");

// Pipe p: TPipe of DIR_V2C
// V2C, ring in GM: AIV calls TALLOC (GlobalData), TPUSH (GlobalData); AIC calls TPOP (GlobalData), TFREE (GlobalData)
// AIV0 and AIV1 both construct the pipe: its flags reach both.
// PPipe(GM_SLOT_BUFFER, C2V_CONSUMER_BUF, V2C_CONSUMER_BUF), where
//   GM_SLOT_BUFFER: P_GM_SLOT_BUFFER_Bytes of GM for each block
//   C2V_CONSUMER_BUF: not used (0)
//   V2C_CONSUMER_BUF: not used (0)
inline constexpr std::uint32_t P_FlagID = 2;
inline constexpr std::uint32_t P_SlotSize = 65536;
inline constexpr std::uint32_t P_FifoDepth = 8;
inline constexpr std::uint32_t P_SyncPeriod = 4;
inline constexpr std::uint32_t P_LocalSlotNum = 2;
inline constexpr bool P_IsNoSplit = false;
inline constexpr bool P_EN_UNIT_FLAG = false;
inline constexpr pto::TileSplitAxis P_Split = pto::TileSplitAxis::TILE_UP_DOWN;
inline constexpr std::uint64_t P_GM_SLOT_BUFFER_Bytes = 524288;
using PPipe =
    pto::TPipe<P_FlagID, pto::Direction::DIR_V2C, P_SlotSize, P_FifoDepth,
               P_LocalSlotNum, P_IsNoSplit, P_EN_UNIT_FLAG>;
static_assert(PPipe::SyncPeriod == P_SyncPeriod,
              "PPipe: the included pto-isa derives another SyncPeriod than the recommended 4");

// Pipe pv: TPipe of DIR_C2V
// C2V, ring in GM: AIC calls TALLOC (GlobalData), TPUSH (GlobalData); AIV calls TPOP (GlobalData), TFREE (GlobalData)
// AIV0 and AIV1 both construct the pipe: its flags reach both.
// PvPipe(GM_SLOT_BUFFER, C2V_CONSUMER_BUF, V2C_CONSUMER_BUF), where
//   GM_SLOT_BUFFER: Pv_GM_SLOT_BUFFER_Bytes of GM for each block
//   C2V_CONSUMER_BUF: not used (0)
//   V2C_CONSUMER_BUF: not used (0)
inline constexpr std::uint32_t Pv_FlagID = 4;
inline constexpr std::uint32_t Pv_SlotSize = 65536;
inline constexpr std::uint32_t Pv_FifoDepth = 2;
inline constexpr std::uint32_t Pv_SyncPeriod = 2;
inline constexpr std::uint32_t Pv_LocalSlotNum = 2;
inline constexpr bool Pv_IsNoSplit = false;
inline constexpr bool Pv_EN_UNIT_FLAG = true;
inline constexpr pto::TileSplitAxis Pv_Split = pto::TileSplitAxis::TILE_NO_SPLIT;
inline constexpr std::uint64_t Pv_GM_SLOT_BUFFER_Bytes = 131072;
using PvPipe =
    pto::TPipe<Pv_FlagID, pto::Direction::DIR_C2V, Pv_SlotSize, Pv_FifoDepth,
               Pv_LocalSlotNum, Pv_IsNoSplit, Pv_EN_UNIT_FLAG>;
static_assert(PvPipe::SyncPeriod == Pv_SyncPeriod,
              "PvPipe: the included pto-isa derives another SyncPeriod than the recommended 2");

}  // namespace pto_tune_config

#endif  // PTO_TUNE_CONFIG_81309505_HPP
