//! Any bytes in answer to the upgrade request, in any pieces.
#![no_main]

mod properties;

libfuzzer_sys::fuzz_target!(|input: &[u8]| properties::upgrade(input));
