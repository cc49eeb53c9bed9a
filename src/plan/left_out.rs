//! Elements of lists that were wrong, so that the plan goes on without them: the others then have
//! other numbers in the plan than in the file.

use std::collections::BTreeMap;

use crate::plan::path::{Path, Segment};

/// Which elements are left out, by the list's path in the file.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(BTreeMap<Vec<Segment>, Vec<usize>>);

impl LeftOut {
    /// `elements`: their paths in the file.
    pub(crate) fn new(elements: impl Iterator<Item = Path>) -> Self {
        let mut lists: BTreeMap<Vec<Segment>, Vec<usize>> = BTreeMap::new();
        for element in elements {
            let mut list: Vec<Segment> = element.in_its_file().into_iter().cloned().collect();
            if let Some(Segment::Index(index)) = list.pop() {
                lists.entry(list).or_default().push(index);
            }
        }
        for indexes in lists.values_mut() {
            indexes.sort_unstable();
        }
        Self(lists)
    }

    /// The way in the file to what has this way in the plan that was read.
    pub(crate) fn in_file(&self, segments: &[&Segment]) -> Vec<Segment> {
        let mut walked: Vec<Segment> = Vec::new();
        for segment in segments {
            walked.push(match segment {
                Segment::Index(index) if !self.0.is_empty() => {
                    let left_out = self.0.get(&walked).into_iter().flatten();
                    let index = left_out.fold(*index, |at, out| at + usize::from(*out <= at));
                    Segment::Index(index)
                }
                other => (*other).clone(),
            });
        }
        walked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_behind_those_that_are_left_out_keep_their_places_in_the_file() {
        let steps = |group| Path::root().key("groups").index(group).key("steps");
        let out = [steps(1).index(2), steps(1).index(0), Path::root().key("groups").index(0)];
        let left_out = LeftOut::new(out.into_iter());
        // Only the second group is left, without its first and third step.
        for (in_plan, in_file) in [(0, 1), (1, 3), (2, 4)] {
            let path = steps(0).index(in_plan).key("open");
            let found = left_out.in_file(&path.segments());
            let wanted = steps(1).index(in_file).key("open");
            assert_eq!(found.iter().collect::<Vec<_>>(), wanted.segments());
        }
        let untouched = Path::root().key("filters").index(3);
        let found = left_out.in_file(&untouched.segments());
        assert_eq!(found.iter().collect::<Vec<_>>(), untouched.segments());
    }
}
