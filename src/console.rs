//! console.
