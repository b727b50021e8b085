"""Spack's recipe. In a repository of one's own: `spack repo create holdfast-repo`, this file as
packages/holdfast/package.py, `spack repo add holdfast-repo`; then `spack install holdfast`."""

from spack.package import *


class Holdfast(CMakePackage):
    """Keeps parallel jobs correct and moving when bits flip, packets vanish, links die and switches fail: replication of
    unmodified MPI programs, a reliable libfabric provider over several rails, and tools for InfiniBand fabrics."""

    homepage = "https://holdfast.example"
    # No version can be fetched yet: `spack dev-build holdfast@main` in a checkout.
    version("main")
    version("0.1.0")

    license("Apache-2.0")

    variant("openmpi", default=True, description="Protect programs of Open MPI")
    variant("mpich", default=False, description="Protect programs of MPICH and of what keeps its interface")
    variant("opensm", default=False, description="Route with the real OpenSM beside our engines")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("boost")
    depends_on("cli11@2.1:")
    depends_on("elfutils")
    depends_on("fmt@9:")
    depends_on("libfabric@1.17:")
    depends_on("libsodium")
    depends_on("nlohmann-json@3.11:")
    depends_on("openssl@3:")
    depends_on("sqlite@3.38:")
    depends_on("tomlplusplus@3:")
    depends_on("xxhash@0.8:")
    depends_on("openmpi@4:", when="+openmpi")
    depends_on("mpich@4:", when="+mpich")
    depends_on("opensm", when="+opensm")

    conflicts("%gcc@:11")  # C++20
    conflicts("%clang@:13")

    generator("ninja")
    build_targets = [f"src/{part}/all" for part in ("cli", "fabric", "replicate", "simulate", "transport")]

    def cmake_args(self):
        """The MPIs of the specification, and no other of the machine."""
        arguments = [self.define("HOLDFAST_TESTS", False), self.define("HOLDFAST_UNITY", True)]
        for flavour, library in (("openmpi", "libmpi.so.40"), ("mpich", "libmpi.so.12")):
            if not self.spec.satisfies(f"+{flavour}"):
                arguments.append(self.define(f"HOLDFAST_MPI_{flavour}_CC", f"HOLDFAST_MPI_{flavour}_CC-NOTFOUND"))
                continue
            prefix = self.spec[flavour].prefix
            arguments += [
                self.define(f"HOLDFAST_MPI_{flavour}_CC", join_path(prefix.bin, "mpicc")),
                self.define(f"HOLDFAST_MPI_{flavour}_CXX", join_path(prefix.bin, "mpicxx")),
                self.define(f"HOLDFAST_MPI_{flavour}_LIBRARY", join_path(prefix.lib, library)),
            ]
        return arguments

    def setup_run_environment(self, env):
        """libfabric finds the provider; it is used only where it is asked for by name."""
        env.prepend_path("FI_PROVIDER_PATH", join_path(self.prefix.lib, "holdfast"))
