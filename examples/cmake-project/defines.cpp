// Constants as compile definitions: no header is included, and nothing checks what the library derives.
#include <pto/pto-inst.hpp>

#include <cstdio>

using QkPipe = pto::TPipe<FA_Qk_FlagID, pto::Direction::FA_Qk_Direction, FA_Qk_SlotSize, FA_Qk_FifoDepth,
                          FA_Qk_LocalSlotNum, FA_Qk_IsNoSplit, FA_Qk_EN_UNIT_FLAG>;

int main()
{
    std::printf("cube_s0=%u qk depth=%u period=%u\n", static_cast<unsigned>(FA_CUBE_S0),
                static_cast<unsigned>(FA_Qk_FifoDepth), QkPipe::SyncPeriod);
    return 0;
}
