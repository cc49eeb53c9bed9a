//! Any bytes after an accepted upgrade, in any pieces, from either side.
#![no_main]

mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::frames(input));
