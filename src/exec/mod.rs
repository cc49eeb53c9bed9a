//! The engine: runs a [`Program`](crate::program::Program) and tells a
//! [`Sink`](crate::sample::Sink) what happened.
//!
//! One worker for each core, each an OS thread with its own current-thread runtime. Virtual threads
//! are tasks; they are dealt to the workers in turn and never move, so their state needs no locks.
//! A virtual thread interprets the steps of its group. Whenever it waits, for whatever reason, all
//! its connections are pumped: bytes read, pings and closes answered, arrivals stamped.

mod alarm;
mod assertion;
mod attribution;
mod background;
mod check;
mod condition;
mod connections;
mod cursor;
mod data;
mod engine;
mod evaluate;
mod extractor;
mod filter;
mod flow;
mod functions;
mod health;
mod heartbeat;
mod intended;
mod judge;
mod matcher;
mod outcome;
mod pace;
mod pause;
mod phases;
mod rendezvous;
mod row;
mod samplers;
mod schedule;
mod shared;
mod stop;
#[cfg(test)]
mod tests;
mod thread;
mod timer;
mod trace;
mod transaction;
mod wait;
mod worker;

pub use engine::{Running, StartError, start};
pub use stop::Stop;
