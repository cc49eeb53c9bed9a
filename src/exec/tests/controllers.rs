//! Random plans of controllers and jumps against a plain recursive interpreter of what they mean.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{ask, echo, open, peer, run};
use crate::program::*;

/// Iterations of each plan.
const ITERATIONS: u64 = 3;

/// A step, as simple as it can be said.
#[derive(Debug, Clone)]
enum Tree {
    Ask,
    Loop(u64, Vec<Self>),
    /// Whether the first iteration does it, or the others.
    If(bool, Vec<Self>),
    Once(Vec<Self>),
    Interleave(Vec<Vec<Self>>),
    Transaction(Vec<Self>),
    Jump(Jump),
}

fn tree() -> impl Strategy<Value = Tree> {
    let jumps = [Jump::NextPass, Jump::Break, Jump::NextIteration, Jump::StopThread];
    let leaf = prop_oneof![
        8 => Just(Tree::Ask),
        1 => prop::sample::select(jumps.to_vec()).prop_map(Tree::Jump),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let steps = prop::collection::vec(inner, 1..4);
        prop_oneof![
            (0..4_u64, steps.clone()).prop_map(|(times, steps)| Tree::Loop(times, steps)),
            (any::<bool>(), steps.clone()).prop_map(|(first, steps)| Tree::If(first, steps)),
            steps.clone().prop_map(Tree::Once),
            prop::collection::vec(steps.clone(), 1..4).prop_map(Tree::Interleave),
            steps.prop_map(Tree::Transaction),
        ]
    })
}

/// Trees as steps. All labels are numbers, given in the order of the plan.
#[derive(Default)]
struct Builder {
    labels: u32,
    counters: u32,
}

impl Builder {
    fn steps(&mut self, trees: &[Tree]) -> Vec<Step> {
        trees.iter().map(|tree| self.step(tree)).collect()
    }

    fn step(&mut self, tree: &Tree) -> Step {
        let controller = match tree {
            Tree::Ask => {
                let Step::Sampler(mut sampler) = ask() else { unreachable!("it is one") };
                sampler.name = self.label();
                return Step::Sampler(sampler);
            }
            Tree::Jump(jump) => return Step::Jump(*jump),
            Tree::Loop(times, trees) => {
                let times = Setting::Fixed(Times::Count(*times));
                Controller::Loop(Loop { times, steps: self.steps(trees) })
            }
            Tree::If(first, trees) => {
                let one = Operand::Text("1".to_owned());
                let how = if *first { Comparison::Equal } else { Comparison::Unequal };
                let test = Test::Compare(Operand::Iteration, how, one);
                let condition = Condition { source: String::new(), test };
                let then = self.steps(trees);
                Controller::If(If { condition, then, otherwise: Vec::new() })
            }
            Tree::Once(trees) => {
                Controller::Once(Once { reached: self.counter(), steps: self.steps(trees) })
            }
            Tree::Interleave(choices) => Controller::Interleave(Interleave {
                reached: self.counter(),
                choices: choices.iter().map(|trees| self.steps(trees)).collect(),
            }),
            Tree::Transaction(trees) => Controller::Transaction(Transaction {
                name: self.label(),
                include_pauses: Setting::Fixed(false),
                steps: self.steps(trees),
            }),
        };
        Step::Controller(Box::new(controller))
    }

    fn label(&mut self) -> Template {
        self.labels += 1;
        Template::constant(self.labels.to_string())
    }

    fn counter(&mut self) -> CounterId {
        self.counters += 1;
        CounterId(self.counters - 1)
    }
}

/// Says by recursion what the flat machine should do.
#[derive(Default)]
struct Reference {
    rows: Vec<String>,
    iteration: u64,
    /// How often a counter was reached.
    reached: HashMap<CounterId, usize>,
    /// Samples of the transactions around.
    transactions: Vec<u32>,
    loops: u32,
}

impl Reference {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Jump> {
        steps.iter().try_for_each(|step| match step {
            Step::Sampler(sampler) => {
                self.rows.push(format!("{} 200 true", sampler.name.source));
                self.transactions.iter_mut().for_each(|samples| *samples += 1);
                Ok(())
            }
            Step::Jump(Jump::NextPass | Jump::Break) if self.loops == 0 => Ok(()),
            Step::Jump(jump) => Err(*jump),
            Step::Controller(controller) => self.controller(controller),
            _ => Ok(()),
        })
    }

    fn controller(&mut self, controller: &Controller) -> Result<(), Jump> {
        match controller {
            Controller::Loop(own) => {
                let Setting::Fixed(Times::Count(times)) = own.times else { return Ok(()) };
                self.loops += 1;
                let end = (0..times).find_map(|_| match self.steps(&own.steps) {
                    Ok(()) | Err(Jump::NextPass) => None,
                    Err(jump) => Some(jump),
                });
                self.loops -= 1;
                end.filter(|jump| *jump != Jump::Break).map_or(Ok(()), Err)
            }
            Controller::If(own) => {
                let first = matches!(own.condition.test, Test::Compare(_, Comparison::Equal, _));
                if first == (self.iteration == 1) { self.steps(&own.then) } else { Ok(()) }
            }
            Controller::Once(own) => match self.count(own.reached) {
                0 => self.steps(&own.steps),
                _ => Ok(()),
            },
            Controller::Interleave(own) => {
                let choice = self.count(own.reached) % own.choices.len();
                self.steps(&own.choices[choice])
            }
            Controller::Transaction(own) => {
                self.transactions.push(0);
                let done = self.steps(&own.steps);
                if let Some(samples @ 1..) = self.transactions.pop() {
                    let label = &own.name.source;
                    self.rows.push(format!("{label} 200 {} of {samples}", done.is_ok()));
                }
                done
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, counter: CounterId) -> usize {
        let reached = self.reached.entry(counter).or_default();
        *reached += 1;
        *reached - 1
    }

    /// All iterations.
    fn run(mut self, steps: &[Step]) -> Vec<String> {
        for iteration in 1..=ITERATIONS {
            self.iteration = iteration;
            if self.steps(steps) == Err(Jump::StopThread) {
                break;
            }
        }
        self.rows
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_flat_machine_does_what_recursion_would(trees in prop::collection::vec(tree(), 1..4)) {
        let opening = Tree::Once(vec![Tree::Ask]);
        let mut builder = Builder::default();
        let mut steps = builder.steps(&[&[opening][..], &trees].concat());
        let mut wanted = Reference::default().run(&steps);
        wanted[0] = "open 101 true".to_owned();
        let Step::Controller(once) = &mut steps[0] else { unreachable!("it is one") };
        once.parts_mut()[0][0] = open(peer(1, echo));
        let counters = builder.counters as usize;
        let (rows, notes, _) = run(1, Times::Count(ITERATIONS), counters, steps);
        prop_assert_eq!(rows, wanted, "{:?}", notes);
    }
}
