#pragma once

namespace holdfast::integrity {

/// Zeroes the upper halves of the vector registers (VZEROUPPER) where the processor has them. To be called after code
/// that used 256- or 512-bit registers and is not known to do this itself; a few cycles, any thread, any processor.
///
/// SSE instructions that run while the upper halves hold something must keep it, and so wait for the register's earlier
/// value: a loop of additions was measured 2.4 times slower after libxxhash's kernels, for as long as the program went
/// on without AVX (Intel 64 and IA-32 Architectures Optimization Reference Manual, 15.3, "Mixing AVX code with SSE
/// code").
void zero_upper_halves();

}  // namespace holdfast::integrity
