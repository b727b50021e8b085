#include "fabric/topology/presets.h"

#include <algorithm>
#include <array>

namespace holdfast::fabric {

namespace {

constexpr std::array<Preset, 24> rows{{
    {"mesh-5x5", "mesh(5,5) links=6 hosts=275 ports=36", 25, 275, 240, "2-D mesh"},
    {"torus-5x5", "torus(5,5) links=6 hosts=275 ports=36", 25, 275, 300, "2-D torus"},
    {"mesh-3x3x3", "mesh(3,3,3) links=4 hosts=270 ports=36", 27, 270, 216, "3-D mesh"},
    {"torus-3x3x3", "torus(3,3,3) links=4 hosts=270 ports=36", 27, 270, 324, "3-D torus"},
    {"kautz-2-4", "kautz(2,4) links=6 hosts=264 ports=36", 24, 264, 288, "Kautz graph"},
    {"random-32", "random(32,16) hosts=256 ports=36", 32, 256, 256, "random regular graph"},
    {"16-ary-2-tree", "tree(16,2) ports=36", 32, 256, 256, "k-ary n-tree"},
    {"xgft-1-22-11", "xgft(1;22;11) hosts=264 ports=36", 33, 264, 242, "extended generalized fat tree"},
    {"dragonfly-10-5-5-4", "dragonfly(10,5,5,4) hosts=280 ports=36", 40, 280, 276, "Dragonfly"},
    {"10-ary-3-tree", "tree(10,3) hosts=1100 ports=36", 300, 1100, 2000, "larger k-ary n-tree"},
    {"torus-7x7x7", "torus(7,7,7) links=5 hosts=2058 ports=36", 343, 2058, 5145, "larger 3-D torus"},
    {"dragonfly-14-7-7-23", "dragonfly(14,7,7,23) ports=36", 322, 2254, 3105, "larger Dragonfly"},
    {"kautz-7-3", "kautz(7,3) links=2 hosts=2352 ports=36", 392, 2352, 5488, "larger Kautz graph"},
    {"14-ary-3-tree", "tree(14,3) hosts=2156 ports=36", 588, 2156, 5488, "larger k-ary n-tree"},
    {"tsubame2-rail", "tsubame2", 258, 1555, 3621, "first rail of TSUBAME2.0, rebuilt"},
    {"deimos-cluster", "deimos", 108, 728, 925, "Deimos, rebuilt: with the hosts' 1,653 links"},
    {"jupiter", "dragonfly-plus(15,16,64,17,27) links=2 hosts=25400 ports=96 rate=4xNDR host-rate=2xNDR", 837, 25400,
     19980, "JUPITER, its groups taken for alike", false},
    {"dgx-superpod-h100", "rails(8,32,4,16) links=2 ports=64 rate=4xNDR", 48, 1024, 1024,
     "NVIDIA's reference architecture, 4 units of 32 hosts", false},
    {"dgx-superpod-h100-16", "rails(8,32,4,4;4,16) links=8 ports=64 rate=4xNDR", 320, 4096, 8192,
     "the same, 16 units in 4 pods", false},
    {"frontera-clx", "frontera", 542, 8008, 8076, "Frontera's compute nodes, rebuilt", false},
    {"summit-compute", "summit", 1484, 9216, 20880, "Summit's compute nodes, rebuilt", false},
    {"sierra-compute", "sierra", 966, 8640, 10152, "Sierra's compute nodes, rebuilt", false},
    {"abci-1", "abci", 332, 2176, 4368, "ABCI 1.0's compute nodes, rebuilt", false},
    {"18-ary-3-tree", "tree(18,3) ports=36", 972, 5832, 11664, "k-ary n-tree of full 36-port switches", false},
}};

}  // namespace

std::span<const Preset> presets() {
  return rows;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Preset::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace holdfast::fabric
