// Several problem sizes in one binary: each launch takes the pipes of its own size, and a size without a configuration
// is seen before anything is launched.
#include <pto/pto-inst.hpp>

#include "fa_shapes.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

template <typename Config>
int launch()
{
    std::printf("choice=%u tile_s1=%u qk depth=%u period=%u\n", static_cast<unsigned>(Config::Index), Config::TILE_S1,
                Config::Qk_FifoDepth, Config::QkPipe::SyncPeriod);
    return 0;
}

template <std::size_t... Index>
int launch_choice(std::size_t wanted, std::index_sequence<Index...>)
{
    int code = 2;
    (void)((wanted == Index && (code = launch<fa::Choice<Index>>(), true)) || ...);
    return code;
}

}  // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        return launch<fa::ForShape<0, 128, 4096, 4096>>();
    }
    const std::uint64_t s0 = std::strtoull(arguments[1], nullptr, 10);
    const std::uint64_t s1 = std::strtoull(arguments[2], nullptr, 10);
    const std::size_t choice = fa::IndexOf(0, 128, s0, s1);
    if (choice == fa::ShapeCount) {
        std::printf("no configuration for s0=%llu s1=%llu\n", static_cast<unsigned long long>(s0),
                    static_cast<unsigned long long>(s1));
        return 1;
    }
    return launch_choice(choice, std::make_index_sequence<fa::ShapeCount>());
}
