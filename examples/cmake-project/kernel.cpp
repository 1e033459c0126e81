// The pipes of one problem size. On the chip this would be the kernel; here it says what it was built with.
#include <pto/pto-inst.hpp>

#include "fa_config.hpp"

#include <cstdio>

int main()
{
    std::printf("cube_s0=%u tile_s1=%u preload=%u\n", fa::CUBE_S0, fa::TILE_S1, fa::QK_PRELOAD);
    std::printf("qk depth=%u period=%u ring=%llu\n", fa::Qk_FifoDepth, fa::QkPipe::SyncPeriod,
                static_cast<unsigned long long>(fa::QkPipe::RingBytes));
    return 0;
}
