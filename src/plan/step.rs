//! Steps, as written: samplers, controllers, what waits, and what steers a thread.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::controller::{
    Block, Chance, ForEach, If, Include, Interleave, Loop, Once, Random, RunFor, Transaction, While,
};
use crate::plan::http::Http;
use crate::plan::sampler::{Close, Open, PingPong, Read, RequestResponse, SingleRead, SingleWrite};
use crate::plan::setting::{Entries, Setting, Text};
use crate::plan::timer::{Pace, Pause, Rendezvous};

/// One step: a map with one key, its kind.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Connects and upgrades.
    Open(Box<Open>),
    /// Sends a message and waits for its reply.
    RequestResponse(Box<RequestResponse>),
    /// Sends a message.
    SingleWrite(Box<SingleWrite>),
    /// Waits for a message.
    SingleRead(Box<SingleRead>),
    /// Reads many messages into one row.
    Read(Box<Read>),
    /// Sends a ping and waits for its pong.
    PingPong(Box<PingPong>),
    /// Closes the connection.
    Close(Box<Close>),
    /// Sends an HTTP request and waits for its answer.
    Http(Box<Http>),
    /// Runs its steps again and again.
    Loop(Box<Loop>),
    /// Runs its steps again and again while a condition holds.
    While(Box<While>),
    /// Runs its steps once for each of several values.
    ForEach(Box<ForEach>),
    /// Runs its steps again and again for a time.
    RunFor(Box<RunFor>),
    /// Runs some steps where a condition holds, others where it does not.
    If(Box<If>),
    /// Runs its steps the first time that the thread reaches it, and never again.
    Once(Box<Once>),
    /// Runs one of its steps, chosen anew each time.
    Random(Box<Random>),
    /// Runs one of its steps, the next one each time.
    Interleave(Box<Interleave>),
    /// Runs its steps in a percentage of the times that threads reach it.
    Chance(Box<Chance>),
    /// Runs its steps and sums up their samples in a row of its own.
    Transaction(Box<Transaction>),
    /// Runs its steps; gives them settings in common.
    Block(Box<Block>),
    /// Does the steps of another file.
    Include(Box<Include>),
    /// Waits.
    Pause(Pause),
    /// Waits until it is time for the next pass.
    Pace(Pace),
    /// Waits until enough threads are here, which then go on together.
    Rendezvous(Rendezvous),
    /// Gives values to variables of the thread, in order.
    Set(Entries<Setting<Text>>),
    /// Shows a text beside the progress of the run.
    Log(Setting<Text>),
    /// Ends this pass of the innermost loop; the next one begins.
    NextPass,
    /// Ends the innermost loop.
    Break,
    /// Ends this iteration of the thread; the next one begins.
    NextIteration,
    /// JMeter's word for `next_iteration`.
    StartNextLoop,
    /// Ends the thread.
    StopThread,
    /// Ends the run: no new step starts, samplers at work may finish.
    StopTest,
    /// Ends the run at once.
    StopTestNow,
}
