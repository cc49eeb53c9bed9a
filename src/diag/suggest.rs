//! The nearest of the names that would have been right.

/// The candidate that `name` was most likely meant to be; `None` if none is close, so that advice
/// never points somewhere absurd. Equal distances: the first candidate.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = folded(name);
    let allowed = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&written, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Spellings that differ only in case, `-`, `_` and blanks are the same mistake.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        let names = ["connect_timeout", "read_timeout", "url"];
        for (written, meant) in [
            ("conect_timeout", Some("connect_timeout")),
            ("connectTimeout", Some("connect_timeout")),
            ("read-timeout", Some("read_timeout")),
            ("ulr", Some("url")),
            ("weather", None),
            ("x", None),
        ] {
            assert_eq!(nearest(written, names), meant, "{written}");
        }
    }
}
