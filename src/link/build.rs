//! Lays the release binary out so that a run has few of its pages in memory.
//!
//! The kernel maps 64 KiB around whatever is touched, and of each such piece a run needs little: with what
//! it executes side by side (`order.ld`) it is half as much. It goes for the linker that rustc brings
//! along, on the one platform where it is the default; elsewhere, and with a linker of the user's own, the
//! binary is the same program in another order.

use std::env;
use std::process::Command;

/// The first glibc that relocates by bitmaps (`DT_RELR`).
const BITMAPS_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=src/link/build.rs");
    println!("cargo:rerun-if-changed=src/link/order.ld");
    if !is_release() || !links_by_default() {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-T{}/src/link/order.ld", variable("CARGO_MANIFEST_DIR"));
    // 480 KiB of relocations, all read at the start, in 8 KiB.
    if glibc().is_some_and(|version| version >= BITMAPS_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn is_release() -> bool {
    variable("PROFILE") == "release"
}

fn links_by_default() -> bool {
    let target = variable("TARGET");
    target == "x86_64-unknown-linux-gnu"
        && target == variable("HOST")
        && variable("RUSTC_LINKER").is_empty()
        && !variable("CARGO_ENCODED_RUSTFLAGS").contains("link")
}

/// The version that the binary is linked with, as `(2, 36)`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Empty where it is not set.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
